//! Trials that were added to the plan after the run began. The stored plan itself never changes.

use jiff::Timestamp;
use prony_model::{AdditionReason, BlockWithout, Plan, PlannedTrial, TrialKind};
use rusqlite::{Connection, params};
use serde::Deserialize as _;
use serde_json::Value;

use crate::database::{change, read_row, rows};
use crate::values::{Json, Time, Word};
use crate::{Store, StoreError};

/// Whole blocks that are added to a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addition {
    /// The reason.
    pub reason: AdditionReason,
    /// The trials, in the order of execution; all of blocks that the plan does not have yet.
    pub trials: Vec<PlannedTrial>,
    /// Steps that blocks among these leave out.
    pub without: Vec<BlockWithout>,
}

/// Blocks that were added to the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdditionRow {
    /// The time when they were added.
    pub added_at: Timestamp,
    /// Index in [`Store::hosts`] of the host on which they were added.
    pub host: usize,
    /// The blocks.
    pub addition: Addition,
}

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
        Ok(read(&self.connection)?.0)
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

fn extend(plan: &mut Plan, addition: &Addition) {
    plan.trials.extend(&addition.trials);
    plan.without.extend(addition.without.iter().cloned());
}

/// Gives a stored plan the blocks that were added to it. Returns the first kind of trial among them
/// that this version does not know; such trials are left out.
pub(crate) fn complete(
    connection: &Connection,
    plan: &mut Plan,
) -> Result<Option<String>, StoreError> {
    let (additions, unknown) = read(connection)?;
    for row in &additions {
        extend(plan, &row.addition);
    }
    Ok(unknown)
}

/// All additions without trials of unknown kinds, and the first such kind.
fn read(connection: &Connection) -> Result<(Vec<AdditionRow>, Option<String>), StoreError> {
    let mut unknown = None;
    let additions = rows(
        connection,
        "read what was added to the plan",
        "SELECT reason, without, added_at, host_id, trials FROM addition ORDER BY id",
        [],
        |row| {
            let Json(mut trials): Json<Vec<Value>> = row.get(4)?;
            retain_known(&mut trials, &mut unknown);
            let trials = trials.into_iter().map(serde_json::from_value);
            let trials = trials.collect::<Result<_, _>>();
            let trials = trials.map_err(|error| {
                let text = rusqlite::types::Type::Text;
                rusqlite::Error::FromSqlConversionFailure(4, text, Box::new(error))
            })?;
            let addition = read_row! { row, 0 => Addition { reason as Word<_>, without as Json<_> }
            with { trials: trials } }?;
            read_row! { row, 2 => AdditionRow { added_at as Time, host } with { addition: addition } }
        },
    )?;
    Ok((additions, unknown))
}

/// Removes the trials whose kind is not known here, and notes the first such kind.
pub(crate) fn retain_known(trials: &mut Vec<Value>, unknown: &mut Option<String>) {
    trials.retain(|trial| {
        let Some(kind) = trial.get("kind") else {
            return true;
        };
        let is_known = TrialKind::deserialize(kind).is_ok();
        if !is_known {
            unknown.get_or_insert_with(|| kind.to_string());
        }
        is_known
    });
}
