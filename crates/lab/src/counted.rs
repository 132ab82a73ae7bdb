//! Counting trials: every step with a fixed number of operations, the same for all targets.

use prony_model::{Counting, Length, Pace, Plan, Step, Timing};
use prony_store::{OutcomeRow, Store, StoreError};

/// Of the operations that the base completed in a timed trial, one in so many is done again.
const ONE_IN: u64 = 5;
/// The fewest operations of a step.
const OPERATIONS_MIN: u64 = 20;

/// A step as a counting trial runs it: so many operations, as fast as they go and without warm-up, so
/// that every trial does the same. Its times are never used.
pub(crate) fn counted(step: &Step, operations: u64) -> Step {
    Step {
        warmup_ms: 0,
        ramp_ms: 0,
        length: Length::Count { operations },
        timing: Timing::Operations,
        pace: Pace::default(),
        ..step.clone()
    }
}

/// How many operations the counting trials of a step have: what the plan says, or what was decided
/// before, or what the first timed trials make of it, which is then kept. `None` where there is no
/// such trial.
pub(crate) fn operations(
    store: &mut Store,
    plan: &Plan,
    counting: Counting,
    index: usize,
) -> Result<Option<u64>, StoreError> {
    let planned = match plan.steps[index].length {
        Length::Count { operations } => Some(operations),
        Length::Time { .. } => counting.operations,
    };
    if let Some(operations) = planned {
        return Ok(Some(operations));
    }
    if let Some(operations) = store.counting_operations(index)? {
        return Ok(Some(operations));
    }
    let of_step = store
        .outcomes()?
        .into_iter()
        .filter(|row| row.step == index);
    // Of the base, where it has done it; else of whoever was first.
    let place = |row: &OutcomeRow| {
        let is_other = row.planned.target != plan.base;
        (is_other, row.planned.block, row.planned.target)
    };
    let Some(row) = of_step.min_by_key(place) else {
        return Ok(None);
    };
    let operations = (row.operations / ONE_IN).max(OPERATIONS_MIN);
    store
        .record_counting_operations(index, operations)
        .map(Some)
}
