//! How the data came into the servers, how engines were settled, and what they still had to do.

use prony_model::{Debt, LoadOutcome, SettleOutcome};
use rusqlite::types::Type;
use rusqlite::{Row, Transaction, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Context as _;
use crate::read::word;
use crate::trials::require_running;
use crate::values::Word;
use crate::{Store, StoreError, TrialId};

/// The first version of the schema that has loads, settling and debt.
const SINCE: i64 = 3;

/// The image that a target's trials start from.
#[derive(Debug, Clone, Copy)]
pub struct LoadRecord<'a> {
    /// How its data was loaded; `None` where the image does not say, and where it holds no data.
    pub outcome: Option<&'a LoadOutcome>,
    /// How the engine was settled after that; `None` where it was not.
    pub settle: Option<&'a SettleOutcome>,
    /// Key of the image.
    pub image: &'a str,
    /// Whether it was there already.
    pub reused: bool,
}

/// One load of a target's data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadRow {
    /// Index of the target.
    pub target: usize,
    /// The trial that it was done in; `None` for an image.
    pub trial: Option<TrialId>,
    /// Key of the image; `None` for the load of a trial.
    pub image: Option<String>,
    /// Whether an earlier run made the image.
    pub reused: bool,
    /// How the data was loaded, where that is known.
    pub outcome: Option<LoadOutcome>,
    /// How the engine was settled after that, where it was.
    pub settle: Option<SettleOutcome>,
}

/// How settling went before one step of one done trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettleRow {
    /// The trial.
    pub trial: TrialId,
    /// Index of the step in the plan.
    pub step: usize,
    /// How it went.
    pub outcome: SettleOutcome,
}

/// One kind of work left over before one step of one done trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DebtRow {
    /// The trial.
    pub trial: TrialId,
    /// Index of the step in the plan.
    pub step: usize,
    /// What was left over, and how much.
    pub debt: Debt,
}

impl Store {
    /// Records the image that a target's trials start from. An image that was there already and is
    /// on record, as after `resume`, is not recorded again. One that was there because this run
    /// made it for another target counts as made by this run.
    ///
    /// # Errors
    /// When there is no such target, or a count exceeds 2⁶³ − 1.
    pub fn record_load(&mut self, target: usize, load: &LoadRecord<'_>) -> Result<(), StoreError> {
        if target >= self.plan().targets.len() {
            return Err(StoreError::NoSuchTarget { target });
        }
        self.write("record a load", |transaction, _| {
            let exists = |sql| {
                transaction
                    .prepare_cached(sql)
                    .and_then(|mut statement| statement.exists(params![target, load.image]))
                    .during("record a load")
            };
            if load.reused && exists("SELECT 1 FROM load WHERE target_id = ?1 AND image = ?2")? {
                return Ok(());
            }
            // Targets that differ only in how they are reached share an image.
            let made_here =
                exists("SELECT 1 FROM load WHERE target_id <> ?1 AND image = ?2 AND reused = 0")?;
            let new = NewLoad {
                target,
                trial: None,
                image: Some(load.image),
                reused: load.reused && !made_here,
                outcome: load.outcome,
                settle: load.settle,
            };
            insert_load(transaction, &new)
        })
    }

    /// Records how the data was loaded in a trial that has no image to bring it: of an engine that
    /// forgets its rows, or on an external server.
    ///
    /// # Errors
    /// When the trial is not running, or a count exceeds 2⁶³ − 1.
    pub fn record_trial_load(
        &mut self,
        trial: TrialId,
        outcome: &LoadOutcome,
        settle: Option<&SettleOutcome>,
    ) -> Result<(), StoreError> {
        self.write("record a load", |transaction, _| {
            require_running(transaction, trial)?;
            let target = transaction
                .query_row(
                    "SELECT target_id FROM trial WHERE id = ?1",
                    [trial.0],
                    |row| row.get(0),
                )
                .during("look up a trial")?;
            let new = NewLoad {
                target,
                trial: Some(trial),
                image: None,
                reused: false,
                outcome: Some(outcome),
                settle,
            };
            insert_load(transaction, &new)
        })
    }

    /// Records how settling before a step went.
    ///
    /// # Errors
    /// When the trial is not running, the step is not in the plan or has this on record already,
    /// or a count exceeds 2⁶³ − 1.
    pub fn record_settle(
        &mut self,
        trial: TrialId,
        step: usize,
        outcome: &SettleOutcome,
    ) -> Result<(), StoreError> {
        self.write("record how settling went", |transaction, _| {
            require_running(transaction, trial)?;
            transaction
                .execute(
                    "INSERT INTO settle
                         (trial_id, step_id, took_ms, waited_ms, unmet, debt, levels)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                    params![
                        trial.0,
                        step,
                        outcome.took_ms,
                        outcome.waited_ms,
                        json(&outcome.unmet)?,
                        json(&outcome.debt)?,
                        json(&outcome.levels)?
                    ],
                )
                .during("record how settling went")
                .map(drop)
        })
    }

    /// Records what the engine still had to do before a step.
    ///
    /// # Errors
    /// When the trial is not running, the step is not in the plan, a kind is on record for it
    /// already, or a value exceeds 2⁶³ − 1.
    pub fn record_debt(
        &mut self,
        trial: TrialId,
        step: usize,
        debts: &[Debt],
    ) -> Result<(), StoreError> {
        self.write("record what an engine left undone", |transaction, _| {
            require_running(transaction, trial)?;
            let mut insert = transaction
                .prepare_cached(
                    "INSERT INTO debt (trial_id, step_id, kind, value) VALUES (?1, ?2, ?3, ?4)",
                )
                .during("record what an engine left undone")?;
            for debt in debts {
                insert
                    .execute(params![trial.0, step, Word(&debt.kind), debt.value])
                    .during("record what an engine left undone")?;
            }
            Ok(())
        })
    }

    /// The images of all targets and the loads of all done timed trials, in the order of their recording.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn loads(&self) -> Result<Vec<LoadRow>, StoreError> {
        if self.version < SINCE {
            return Ok(Vec::new());
        }
        self.rows(
            "read the loads",
            &format!(
                "SELECT load.target_id, trial_id, image, reused, rows, rows_ns, index_ns, method,
                     settle_took_ms, settle_waited_ms, settle_unmet, settle_debt, settle_levels
                 FROM load LEFT JOIN trial ON trial.id = trial_id
                 WHERE state IS NULL OR {} ORDER BY load.id",
                self.done_timed()
            ),
            [],
            |row| {
                Ok(LoadRow {
                    target: row.get(0)?,
                    trial: row.get::<_, Option<i64>>(1)?.map(TrialId),
                    image: row.get(2)?,
                    reused: row.get(3)?,
                    outcome: load_outcome(row, 4)?,
                    settle: load_settle(row, 8)?,
                })
            },
        )
    }

    /// How settling went in all done timed trials, by trial and step.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn settles(&self) -> Result<Vec<SettleRow>, StoreError> {
        if self.version < SINCE {
            return Ok(Vec::new());
        }
        self.rows(
            "read how settling went",
            &format!(
                "SELECT trial_id, step_id, took_ms, waited_ms, unmet, debt, levels
                 FROM settle JOIN trial ON trial.id = trial_id
                 WHERE {} ORDER BY trial_id, step_id",
                self.done_timed()
            ),
            [],
            |row| {
                Ok(SettleRow {
                    trial: TrialId(row.get(0)?),
                    step: row.get(1)?,
                    outcome: settle_outcome(row, 2)?,
                })
            },
        )
    }

    /// What engines still had to do before the steps of all done timed trials, by trial, step and kind.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn debts(&self) -> Result<Vec<DebtRow>, StoreError> {
        if self.version < SINCE {
            return Ok(Vec::new());
        }
        self.rows(
            "read what engines left undone",
            &format!(
                "SELECT trial_id, step_id, debt.kind, value FROM debt JOIN trial ON trial.id = trial_id
                 WHERE {} ORDER BY trial_id, step_id, debt.kind",
                self.done_timed()
            ),
            [],
            |row| {
                Ok(DebtRow {
                    trial: TrialId(row.get(0)?),
                    step: row.get(1)?,
                    debt: Debt {
                        kind: word(row, 2)?,
                        value: row.get(3)?,
                    },
                })
            },
        )
    }
}

/// One row to be.
struct NewLoad<'a> {
    target: usize,
    trial: Option<TrialId>,
    image: Option<&'a str>,
    reused: bool,
    outcome: Option<&'a LoadOutcome>,
    settle: Option<&'a SettleOutcome>,
}

fn insert_load(transaction: &Transaction<'_>, load: &NewLoad<'_>) -> Result<(), StoreError> {
    let NewLoad {
        outcome, settle, ..
    } = load;
    transaction
        .execute(
            "INSERT INTO load (target_id, trial_id, image, reused, rows, rows_ns, index_ns,
                 method, settle_took_ms, settle_waited_ms, settle_unmet, settle_debt,
                 settle_levels)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
            params![
                load.target,
                load.trial.map(|trial| trial.0),
                load.image,
                load.reused,
                outcome.map(|outcome| outcome.rows),
                outcome.map(|outcome| outcome.rows_ns),
                outcome.map(|outcome| outcome.index_ns),
                outcome.map(|outcome| outcome.method.as_str()),
                settle.map(|settle| settle.took_ms),
                settle.map(|settle| settle.waited_ms),
                settle.map(|settle| json(&settle.unmet)).transpose()?,
                settle.map(|settle| json(&settle.debt)).transpose()?,
                settle.map(|settle| json(&settle.levels)).transpose()?,
            ],
        )
        .during("record a load")
        .map(drop)
}

/// The four columns of a load from `first` on, all of them or none.
fn load_outcome(row: &Row<'_>, first: usize) -> rusqlite::Result<Option<LoadOutcome>> {
    let rows: Option<u64> = row.get(first)?;
    rows.map(|rows| {
        Ok(LoadOutcome {
            rows,
            rows_ns: row.get(first + 1)?,
            index_ns: row.get(first + 2)?,
            method: row.get(first + 3)?,
        })
    })
    .transpose()
}

/// The five columns of settling from `first` on, all of them or none.
fn load_settle(row: &Row<'_>, first: usize) -> rusqlite::Result<Option<SettleOutcome>> {
    let took_ms: Option<u64> = row.get(first)?;
    took_ms.map(|_| settle_outcome(row, first)).transpose()
}

fn settle_outcome(row: &Row<'_>, first: usize) -> rusqlite::Result<SettleOutcome> {
    Ok(SettleOutcome {
        took_ms: row.get(first)?,
        waited_ms: row.get(first + 1)?,
        unmet: parsed(row, first + 2)?,
        debt: parsed(row, first + 3)?,
        levels: parsed(row, first + 4)?,
    })
}

fn json<T: Serialize>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|source| StoreError::Json { source })
}

fn parsed<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
    })
}
