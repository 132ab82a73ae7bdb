//! Trials that were added to the plan after the run began. The stored plan itself never changes.

use jiff::Timestamp;
use prony_model::Plan;
use rusqlite::params;

use crate::database::change;
use crate::stored_plan::{extend, read_additions};
use crate::values::{Json, Time, Word};
use crate::{Addition, AdditionRow, Store, StoreError};

impl Store {
    /// Adds blocks to the plan: from now on [`Store::plan`] has them, and they are missing. The
    /// stored plan and all earlier blocks stay as they are.
    ///
    /// # Errors
    /// When there are no trials, a block is in the plan already, or a target, or a step that is
    /// left out, is not in the plan.
    pub fn add_trials(&mut self, addition: &Addition, at: Timestamp) -> Result<(), StoreError> {
        if let Some(problem) = problem_of(self.plan(), addition) {
            return Err(StoreError::BadAddition { problem });
        }
        self.write("add trials to the plan", |transaction, _| {
            change(
                transaction,
                "add trials to the plan",
                "INSERT INTO addition (added_at, host_id, reason, trials, without)
                 SELECT ?1, max(id), ?2, ?3, ?4 FROM host",
                params![
                    Time(at),
                    Word(&addition.reason),
                    Json(&addition.trials),
                    Json(&addition.without)
                ],
            )
            .map(drop)
        })?;
        extend(self.plan_mut(), addition);
        Ok(())
    }

    /// The blocks that were added to the plan after the run began, oldest first.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn additions(&self) -> Result<Vec<AdditionRow>, StoreError> {
        Ok(read_additions(&self.connection)?.0)
    }

    /// Number of blocks that the plan had when the run began.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn blocks_at_first(&self) -> Result<u32, StoreError> {
        let additions = self.additions()?;
        let trials = additions.iter().flat_map(|row| &row.addition.trials);
        let first = trials.map(|trial| trial.block).min();
        Ok(first.unwrap_or_else(|| self.plan().blocks()))
    }
}

/// The fault of an addition to a plan.
fn problem_of(plan: &Plan, addition: &Addition) -> Option<String> {
    let Addition {
        trials, without, ..
    } = addition;
    if trials.is_empty() {
        return Some("there are none".to_owned());
    }
    let has = |block| plan.trials.iter().any(|known| known.block == block);
    if let Some(known) = trials.iter().find(|trial| has(trial.block)) {
        return Some(format!("block {} is in the plan already", known.block));
    }
    let targets = plan.targets.len();
    if let Some(trial) = trials.iter().find(|trial| trial.target >= targets) {
        return Some(format!("there is no target {}", trial.target));
    }
    let is_added = |block| trials.iter().any(|trial| trial.block == block);
    if let Some(left) = without.iter().find(|left| !is_added(left.block)) {
        return Some(format!("steps of block {} are left out of it", left.block));
    }
    let mut left_out = without.iter().flat_map(|left| &left.steps);
    let step = left_out.find(|step| **step >= plan.steps.len())?;
    Some(format!("there is no step {step}"))
}
