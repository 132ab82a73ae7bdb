//! Counting trials: every step with a fixed number of operations, the same for all targets.

use prony_model::{Counting, Length, Pace, Plan, Step, Timing};
use prony_store::{OutcomeRow, Store, StoreError};

/// Of the operations that the base completed in a timed trial, one in so many is done again.
const ONE_IN: u64 = 5;
/// The fewest operations of a step.
const OPERATIONS_MIN: u64 = 20;
/// Of the operations that a client is counted over, it does one in so many before, to warm up.
const WARMUP_ONE_IN: u64 = 10;
/// The most operations of that kind: they are there for caches and prepared statements, not for time.
const WARMUP_MAX: u64 = 1_000;

/// A step as a counting trial runs it: so many operations, as fast as they go and without a warm-up
/// whose work the time decides, so that every trial does the same. Its times are never used.
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

/// Operations with which each client of a step warms up in a counting trial: a tenth of what it is
/// counted over, at least 1, and at most 1,000.
pub(crate) fn warmup_operations(operations: u64, clients: u32) -> u64 {
    let of_each = operations / u64::from(clients).max(1);
    (of_each / WARMUP_ONE_IN).clamp(1, WARMUP_MAX)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warming_up_is_a_tenth_within_bounds() {
        let cases = [
            (1, 1, 1),
            (19, 1, 1),
            (20, 1, 2),
            (20, 64, 1),
            (6_400, 64, 10),
            (10_000, 1, 1_000),
            (1_000_000_000, 16, 1_000),
        ];
        for (operations, clients, expected) in cases {
            assert_eq!(warmup_operations(operations, clients), expected);
        }
    }
}
