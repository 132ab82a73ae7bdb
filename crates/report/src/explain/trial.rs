//! Costs of one trial.

use prony_model::Plan;
use prony_profile::{Costs, ProfileError, Taking};
use prony_store::OutcomeRow;

use crate::error::ReportError;

/// The costs in a trial of one step on one target.
pub(super) struct TrialCosts {
    pub(super) step: usize,
    pub(super) target: usize,
    pub(super) operations: u64,
    pub(super) costs: Costs,
    /// Of samples only.
    pub(super) taking: Option<Taking>,
    pub(super) slowed: Option<f64>,
}

/// A profile can't be read.
pub(super) fn damaged(plan: &Plan, row: &OutcomeRow, problem: ProfileError) -> ReportError {
    ReportError::Profile {
        target: plan.targets[row.planned.target].name.clone(),
        step: plan.steps[row.step].name.clone(),
        problem,
    }
}
