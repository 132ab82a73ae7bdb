//! Counting trials: every step with a fixed number of operations, the same for all targets.

use prony_model::{Counting, Length, Pace, Plan, Step, Timing};
use prony_store::{OutcomeRow, Store, StoreError};

/// Operations of the base in a timed trial for each one of a counting trial.
const TIMED_PER_COUNTED: u64 = 5;
/// The fewest operations of a step.
const OPERATIONS_MIN: u64 = 20;
/// Counted operations of a client for each one that it runs first as warm-up.
const COUNTED_PER_WARMUP: u64 = 2;
/// The most operations of warm-up. InnoDB builds its adaptive hash index in the first two thousand point
/// queries on 10,000 rows, which then cost a tenth more than later ones.
const WARMUP_MAX: u64 = 2_000;

/// A step as a counting trial runs it: a number of operations, at no pace and without a timed
/// warm-up, so that every trial does the same work. Its times are never used.
pub(crate) fn counted(step: &Step, operations: u64) -> Step {
    let mut step = step.clone();
    step.groups.own_mut().pace = Pace::default();
    Step {
        warmup_ms: 0,
        ramp_ms: 0,
        length: Length::Count { operations },
        timing: Timing::Operations,
        ..step
    }
}

/// Operations with which each client of a step warms up in a counting trial: half of what it is
/// counted over, at least 1, and at most 2,000.
pub(crate) fn warmup_operations(operations: u64, clients: u32) -> u64 {
    let of_each = operations / u64::from(clients).max(1);
    (of_each / COUNTED_PER_WARMUP).clamp(1, WARMUP_MAX)
}

/// Operations that the clients of a step completed on average in this time.
fn completed_in(row: &OutcomeRow, ms: u64) -> u64 {
    let busy_ns_of_each = u128::from(row.busy_ns / u64::from(row.clients).max(1)).max(1);
    let operations = u128::from(row.operations) * u128::from(ms) * 1_000_000 / busy_ns_of_each;
    u64::try_from(operations).unwrap_or(u64::MAX)
}

/// The number of operations of a step in counting trials: from the plan, or as decided before, or
/// derived from the first timed trials and then kept. `None` where no such trial ran the step for
/// any time.
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
        .filter(|row| row.step == index && row.group == 0);
    // Of the base, where it has done the step; else of the first target.
    let place = |row: &OutcomeRow| {
        let is_other = row.planned.target != plan.base;
        (is_other, row.planned.block, row.planned.target)
    };
    let Some(row) = of_step.min_by_key(place) else {
        return Ok(None);
    };
    let operations = match counting.time_ms {
        Some(ms) => completed_in(&row, ms).max(1),
        None => (row.operations / TIMED_PER_COUNTED).max(OPERATIONS_MIN),
    };
    store
        .record_counting_operations(index, operations)
        .map(Some)
}

#[cfg(test)]
mod tests;
