//! Rows that statements were to change and that were gone, where that is not the same for all
//! targets.
//!
//! In a fixed time, a faster server deletes more rows, and then asks more often for rows that are
//! gone. Those take less time than rows that are there, so that it seems to be even faster.

use prony_model::Step;

use crate::analysis::measurement::Measurement;
use crate::analysis::pairing;

/// The greatest difference between shares of rows found that needs no warning: one percentage
/// point.
const BOUND: f64 = 0.01;

/// Runs of a statement, and rows that it changed.
#[derive(Debug, Clone, Copy, Default)]
struct Changed {
    count: u64,
    affected: u64,
}

/// Warnings about the statements of a step that may find nothing to change, where they found more
/// or less than the base's in the same blocks.
pub(crate) fn warnings(
    step: &Step,
    measurements: &[Measurement],
    (base_name, base): (&str, &[Measurement]),
) -> Vec<String> {
    let warning = |(name, most): (&str, u64)| {
        let (mut here, mut there) = (Changed::default(), Changed::default());
        for (mine, other) in pairing::in_blocks(measurements, base) {
            here.add(mine, name);
            there.add(other, name);
        }
        let (here, there) = (here.share(most)?, there.share(most)?);
        ((here - there).abs() > BOUND).then(|| {
            format!(
                "`{name}` found {:.1}% of its rows, {}'s found {:.1}%: a missing row takes less \
                 time",
                here * 100.0,
                base_name,
                there * 100.0
            )
        })
    };
    uncertain(step).filter_map(warning).collect()
}

/// The statements of a step that may rightly change nothing, with the most rows that each run of
/// them changes.
fn uncertain(step: &Step) -> impl Iterator<Item = (&str, u64)> {
    step.own()
        .workload
        .statements
        .iter()
        .filter_map(|statement| {
            let affected = statement.expect.affected?;
            (affected.min == 0 && affected.max > 0)
                .then_some((statement.name.as_str(), affected.max))
        })
}

impl Changed {
    fn add(&mut self, measurement: &Measurement, name: &str) {
        for statement in measurement.statements.iter().filter(|s| s.name == name) {
            self.count += statement.count;
            self.affected += statement.affected;
        }
    }

    /// Rows changed ÷ rows asked for. `None` when the statement did not run.
    fn share(self, most: u64) -> Option<f64> {
        (self.count > 0).then(|| self.affected as f64 / (self.count as f64 * most as f64))
    }
}
