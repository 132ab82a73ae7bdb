//! How many of the rows that statements were to change were there, and where that is not the same
//! for all targets.
//!
//! In a fixed time, a faster server deletes more rows, and then asks more often for rows that are
//! gone. Those take less time than rows that are there, so that it seems to be even faster.

use prony_model::Step;
use prony_store::{Store, StoreError};

use crate::analysis::Analysis;
use crate::cell::Measurement;

/// Shares of rows found that differ by more than this are said beside the figures: one percentage
/// point.
const BOUND: f64 = 0.01;

/// Times that a statement ran, and rows that it changed.
#[derive(Debug, Clone, Copy, Default)]
struct Changed {
    count: u64,
    affected: u64,
}

/// Notes on the statements of a cell that may find nothing to change, where they found more or less
/// than the base's in the same blocks.
pub(crate) fn notes(
    analysis: &Analysis<'_>,
    store: &Store,
    step: usize,
    target: usize,
) -> Result<Vec<String>, StoreError> {
    let planned = &analysis.plan.steps[step];
    if target == analysis.plan.base || planned.warm_only {
        return Ok(Vec::new());
    }
    let cell = analysis.cell(step, target);
    let base = analysis.cell(step, analysis.plan.base);
    let mut notes = Vec::new();
    for (name, most) in uncertain(planned) {
        let (mut here, mut there) = (Changed::default(), Changed::default());
        for (mine, other) in cell.paired(base) {
            here.add(store, step, mine, name)?;
            there.add(store, step, other, name)?;
        }
        let (Some(here), Some(there)) = (here.share(most), there.share(most)) else {
            continue;
        };
        if (here - there).abs() > BOUND {
            notes.push(format!(
                "`{name}` found {:.1}% of the rows that it was to change, {}'s {:.1}%: a row that \
                 is gone takes less time",
                here * 100.0,
                analysis.base().name,
                there * 100.0
            ));
        }
    }
    Ok(notes)
}

/// The statements of a step that may rightly change nothing, with the most rows that each run of
/// them changes.
fn uncertain(step: &Step) -> impl Iterator<Item = (&str, u64)> {
    step.workload.statements.iter().filter_map(|statement| {
        let affected = statement.expect.affected?;
        (affected.min == 0 && affected.max > 0).then_some((statement.name.as_str(), affected.max))
    })
}

impl Changed {
    fn add(
        &mut self,
        store: &Store,
        step: usize,
        measurement: &Measurement,
        name: &str,
    ) -> Result<(), StoreError> {
        let statements = store.statements(measurement.row().trial, step)?;
        for statement in statements.iter().filter(|s| s.name == name) {
            self.count += statement.count;
            self.affected += statement.affected;
        }
        Ok(())
    }

    /// Rows changed ÷ rows asked for. `None` when the statement did not run.
    fn share(self, most: u64) -> Option<f64> {
        (self.count > 0).then(|| self.affected as f64 / (self.count as f64 * most as f64))
    }
}
