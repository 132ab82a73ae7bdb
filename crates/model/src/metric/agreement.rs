//! Agreement of sources that measure the same.

use crate::metric::Alternatives;
use crate::metric::table::CPU_OF_ALL;
use crate::{Counter, Source, StepReadings};

/// Least difference that is worth a word, in nanoseconds: two ticks of the kernel's clock at each
/// of two readings.
const APART_NS: u64 = 20_000_000;

/// Least difference that is worth a word, in percent of the greater.
const APART_PERCENT: u64 = 2;

/// The most that the task clock leaves out at each context switch: the switching itself, which the
/// other sources count. Seen: 0.25 to 0.62 µs in a virtual machine.
const SWITCH_NS: u64 = 1_000;

const SWITCHES: Counter = Counter::new(Source::Perf, "context_switches");

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
/// so that one of them missed some. The task clock leaves context switches out, which is granted to
/// it.
pub fn cpu_disagreement(samples: &dyn StepReadings) -> Option<CpuDisagreement> {
    farthest(CPU_OF_ALL, samples)
}

/// Grants the task clock what it leaves out, but no more than brings it up to the others.
fn with_switches(
    mut known: Vec<(&'static [Counter], u64)>,
    switches: u64,
) -> Vec<(&'static [Counter], u64)> {
    let is_task_clock = |set: &[Counter]| set.iter().any(|counter| counter.source == Source::Perf);
    let others = known.iter().filter(|(set, _)| !is_task_clock(set));
    let least = others.map(|(_, ns)| *ns).min();
    for (_, ns) in known.iter_mut().filter(|(set, _)| is_task_clock(set)) {
        if let Some(least) = least.filter(|least| *least > *ns) {
            *ns = least.min(ns.saturating_add(switches.saturating_mul(SWITCH_NS)));
        }
    }
    known
}

fn farthest(sources: Alternatives, samples: &dyn StepReadings) -> Option<CpuDisagreement> {
    let known: Vec<(&'static [Counter], u64)> = sources
        .iter()
        .filter_map(|&set| {
            let parts = set.iter().map(|counter| samples.difference(counter).ok());
            Some((set, parts.sum::<Option<u64>>()?))
        })
        .collect();
    let known = with_switches(known, samples.difference(&SWITCHES).unwrap_or(0));
    let least = *known.iter().min_by_key(|(_, ns)| *ns)?;
    let most = *known.iter().max_by_key(|(_, ns)| *ns)?;
    let apart = most.1 - least.1;
    let is_much = apart > APART_NS && apart.saturating_mul(100) > most.1 * APART_PERCENT;
    is_much.then_some(CpuDisagreement { least, most })
}
