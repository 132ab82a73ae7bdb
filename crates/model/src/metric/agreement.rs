//! Whether sources that measure the same agree.

use crate::metric::Alternatives;
use crate::metric::table::CPU_OF_ALL;
use crate::{Counter, StepSamples};

/// Least difference that is worth a word, in nanoseconds: two ticks of the kernel's clock at each
/// of two readings.
const APART_NS: u64 = 20_000_000;

/// Least difference that is worth a word, in percent of the greater.
const APART_PERCENT: u64 = 2;

/// Two sources that do not agree on the server's processor time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuDisagreement {
    /// The source with the least time, and how much, in nanoseconds.
    pub least: (&'static [Counter], u64),
    /// The one with the most.
    pub most: (&'static [Counter], u64),
}

/// The two sources that are farthest apart on the server's processor time over a step, where they
/// differ by more than 2 % of the greater and by more than 20 ms. The control group, the process
/// clock, the kernel's accounting in ticks and the task clock of perf all count the same processes,
/// so that one of them missed some.
pub fn cpu_disagreement(samples: &StepSamples) -> Option<CpuDisagreement> {
    farthest(CPU_OF_ALL, samples)
}

fn farthest(sources: Alternatives, samples: &StepSamples) -> Option<CpuDisagreement> {
    let known: Vec<(&'static [Counter], u64)> = sources
        .iter()
        .filter_map(|&set| {
            let parts = set.iter().map(|counter| samples.difference(counter).ok());
            Some((set, parts.sum::<Option<u64>>()?))
        })
        .collect();
    let least = *known.iter().min_by_key(|(_, ns)| *ns)?;
    let most = *known.iter().max_by_key(|(_, ns)| *ns)?;
    let apart = most.1 - least.1;
    let is_much = apart > APART_NS && apart.saturating_mul(100) > most.1 * APART_PERCENT;
    is_much.then_some(CpuDisagreement { least, most })
}
