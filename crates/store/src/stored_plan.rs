//! The plan as the result file holds it: that of the beginning, and what was added to it.

use jiff::Timestamp;
use prony_model::{AdditionReason, BlockWithout, Plan, PlannedTrial, TrialKind};
use rusqlite::Connection;
use serde::Deserialize as _;
use serde_json::Value;

use crate::StoreError;
use crate::database::{first, read_row, rows};
use crate::values::{Json, Time, Word, json};

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
    /// Index in [`Store::hosts`](crate::Store::hosts) of the host on which they were added.
    pub host: usize,
    /// The blocks.
    pub addition: Addition,
}

/// The plan with what was added to it, without the trials whose kind is not known here, and the
/// first such kind.
pub(crate) fn read_plan(connection: &Connection) -> Result<(Plan, Option<String>), StoreError> {
    let damaged = |problem| StoreError::damaged(connection, "run.plan", problem);
    let plan: Option<Value> = first(
        connection,
        "read the plan from the result file",
        "SELECT plan FROM run",
        [],
        |row| json(row, 0),
    )?;
    let mut plan = plan.ok_or_else(|| damaged("there is none".to_owned()))?;
    let mut unknown = None;
    if let Some(trials) = plan.get_mut("trials").and_then(Value::as_array_mut) {
        retain_known(trials, &mut unknown);
    }
    let mut plan = serde_json::from_value(plan).map_err(|error| damaged(error.to_string()))?;
    let (additions, of_additions) = read_additions(connection)?;
    for row in &additions {
        extend(&mut plan, &row.addition);
    }
    Ok((plan, unknown.or(of_additions)))
}

/// Gives a plan the blocks of an addition.
pub(crate) fn extend(plan: &mut Plan, addition: &Addition) {
    plan.trials.extend(&addition.trials);
    plan.without.extend(addition.without.iter().cloned());
}

/// All additions without trials of unknown kinds, and the first such kind.
pub(crate) fn read_additions(
    connection: &Connection,
) -> Result<(Vec<AdditionRow>, Option<String>), StoreError> {
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
fn retain_known(trials: &mut Vec<Value>, unknown: &mut Option<String>) {
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
