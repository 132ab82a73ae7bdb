//! How long an experiment will take.

use prony_model::{Length, Plan};

/// What a prediction rests on, besides the plan. The defaults are those of a small machine and
/// are meant to be replaced by what has been measured on the machine at hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Assumptions {
    /// Milliseconds to make the first data directory of a target and to start and stop the server
    /// on it.
    pub bootstrap_ms: u64,
    /// Rows loaded per second, all tables together, index included. At least 1.
    pub load_rows_per_second: u64,
    /// Milliseconds of a trial before its first step: restore the image, start the server.
    pub start_ms: u64,
    /// Milliseconds of a trial after its last step: stop the server.
    pub stop_ms: u64,
    /// Milliseconds of a step besides warm-up and measuring: start the generator, connect, end.
    pub step_ms: u64,
    /// Operations per second and client, for steps that end after a number of operations. At
    /// least 1.
    pub operations_per_second: u64,
}

impl Default for Assumptions {
    fn default() -> Self {
        Self {
            bootstrap_ms: 10_000,
            load_rows_per_second: 50_000,
            start_ms: 4000,
            stop_ms: 1000,
            step_ms: 200,
            operations_per_second: 1000,
        }
    }
}

/// Milliseconds that a run of the plan takes when no image of its data exists yet:
///
/// ```text
/// targets × (bootstrap + tables × rows ÷ load rate)
///   + trials × (start + Σ over the steps (warm-up + measured time + per step) + stop)
/// ```
///
/// A target whose rows do not come with an image (`memory` tables, an external server) is loaded
/// in every trial instead of once.
/// A step that ends after a number of operations takes operations ÷ (clients × rate). What
/// fetching the builds takes is not in it.
pub fn predicted_ms(plan: &Plan, assumptions: &Assumptions) -> u64 {
    let dataset = &plan.dataset;
    let rows = u64::from(dataset.tables).saturating_mul(dataset.rows);
    let load_ms = rows.saturating_mul(1000) / assumptions.load_rows_per_second.max(1);

    let steps_ms = plan.steps.iter().fold(0_u64, |sum, step| {
        let measured_ms = match step.length {
            Length::Time { ms } => ms,
            Length::Count { operations } => {
                let rate = assumptions.operations_per_second.max(1);
                operations.saturating_mul(1000)
                    / rate.saturating_mul(u64::from(step.clients)).max(1)
            }
        };
        sum.saturating_add(step.warmup_ms)
            .saturating_add(measured_ms)
            .saturating_add(assumptions.step_ms)
    });
    let trial_ms = assumptions
        .start_ms
        .saturating_add(steps_ms)
        .saturating_add(assumptions.stop_ms);

    let targets = plan.targets.iter().fold(0_u64, |sum, target| {
        let loads = if target.external.is_some() || !target.engine.persistent() {
            u64::from(plan.blocks())
        } else {
            1
        };
        let bootstrap_ms = match target.external {
            Some(_) => 0,
            None => assumptions.bootstrap_ms,
        };
        sum.saturating_add(bootstrap_ms)
            .saturating_add(loads.saturating_mul(load_ms))
    });
    let trials = plan.trials.len() as u64;
    targets.saturating_add(trials.saturating_mul(trial_ms))
}
