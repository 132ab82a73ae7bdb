//! Loads of data, settling of engines, and the debt that they had before steps.

use prony_model::{Debt, LoadOutcome, SettleOutcome};
use rusqlite::{Row, Transaction, params};

use crate::database::{change, exists, rows};
use crate::trials::{DONE_TIMED, require_running};
use crate::values::{Json, Word, json, word};
use crate::{Store, StoreError, TrialId};

/// The image that a target's trials start from.
#[derive(Debug, Clone, Copy)]
pub struct LoadRecord<'a> {
    /// The load of its data; `None` where the image does not say, and where it holds no data.
    pub outcome: Option<&'a LoadOutcome>,
    /// Settling after that; `None` where there was none.
    pub settle: Option<&'a SettleOutcome>,
    /// Key of the image.
    pub image: &'a str,
    /// True where it was there already.
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
    /// True where an earlier run made the image.
    pub reused: bool,
    /// The load of the data, where it is known.
    pub outcome: Option<LoadOutcome>,
    /// Settling after that, where there was any.
    pub settle: Option<SettleOutcome>,
}

/// Settling before one step of one done trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettleRow {
    /// The trial.
    pub trial: TrialId,
    /// Index of the step in the plan.
    pub step: usize,
    /// Its outcome.
    pub outcome: SettleOutcome,
}

/// One kind of work left over before one step of one done trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DebtRow {
    /// The trial.
    pub trial: TrialId,
    /// Index of the step in the plan.
    pub step: usize,
    /// Its kind and amount.
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
            let has = |sql| {
                exists(
                    transaction,
                    "record a load",
                    sql,
                    params![target, load.image],
                )
            };
            if load.reused && has("SELECT 1 FROM load WHERE target_id = ?1 AND image = ?2")? {
                return Ok(());
            }
            // Targets that differ only in how they are reached share an image.
            let made_here =
                has("SELECT 1 FROM load WHERE target_id <> ?1 AND image = ?2 AND reused = 0")?;
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

    /// Records the load of the data in a trial that has no image to bring it: of an engine that
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
            let new = NewLoad {
                target: require_running(transaction, trial)?,
                trial: Some(trial),
                image: None,
                reused: false,
                outcome: Some(outcome),
                settle,
            };
            insert_load(transaction, &new)
        })
    }

    /// Records the outcome of settling before a step.
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
            change(
                transaction,
                "record how settling went",
                "INSERT INTO settle (trial_id, step_id, took_ms, waited_ms, unmet, debt, levels)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![
                    trial,
                    step,
                    outcome.took_ms,
                    outcome.waited_ms,
                    Json(&outcome.unmet),
                    Json(&outcome.debt),
                    Json(&outcome.levels)
                ],
            )
            .map(drop)
        })
    }

    /// Records the debt of the engine before a step.
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
            for debt in debts {
                change(
                    transaction,
                    "record what an engine left undone",
                    "INSERT INTO debt (trial_id, step_id, kind, value) VALUES (?1, ?2, ?3, ?4)",
                    params![trial, step, Word(&debt.kind), debt.value],
                )?;
            }
            Ok(())
        })
    }

    /// The images of all targets and the loads of all done timed trials, in the order of their
    /// recording.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn loads(&self) -> Result<Vec<LoadRow>, StoreError> {
        rows(
            &self.connection,
            "read the loads",
            &format!(
                "SELECT load.target_id, trial_id, image, reused, rows, rows_ns, index_ns, method,
                     settle_took_ms, settle_waited_ms, settle_unmet, settle_debt, settle_levels
                 FROM load LEFT JOIN trial ON trial.id = trial_id
                 WHERE state IS NULL OR {DONE_TIMED} ORDER BY load.id"
            ),
            [],
            |row| {
                Ok(LoadRow {
                    target: row.get(0)?,
                    trial: row.get(1)?,
                    image: row.get(2)?,
                    reused: row.get(3)?,
                    outcome: load_outcome(row, 4)?,
                    settle: load_settle(row, 8)?,
                })
            },
        )
    }

    /// Settling in all done timed trials, by trial and step.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn settles(&self) -> Result<Vec<SettleRow>, StoreError> {
        rows(
            &self.connection,
            "read how settling went",
            &format!(
                "SELECT trial_id, step_id, took_ms, waited_ms, unmet, debt, levels
                 FROM settle JOIN trial ON trial.id = trial_id
                 WHERE {DONE_TIMED} ORDER BY trial_id, step_id"
            ),
            [],
            |row| {
                Ok(SettleRow {
                    trial: row.get(0)?,
                    step: row.get(1)?,
                    outcome: settle_outcome(row, 2)?,
                })
            },
        )
    }

    /// The debt of engines before the steps of all done timed trials, by trial, step and kind.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn debts(&self) -> Result<Vec<DebtRow>, StoreError> {
        rows(
            &self.connection,
            "read what engines left undone",
            &format!(
                "SELECT trial_id, step_id, debt.kind, value FROM debt JOIN trial ON trial.id = trial_id
                 WHERE {DONE_TIMED} ORDER BY trial_id, step_id, debt.kind"
            ),
            [],
            |row| {
                Ok(DebtRow {
                    trial: row.get(0)?,
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
    change(
        transaction,
        "record a load",
        "INSERT INTO load (target_id, trial_id, image, reused, rows, rows_ns, index_ns, method,
             settle_took_ms, settle_waited_ms, settle_unmet, settle_debt, settle_levels)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        params![
            load.target,
            load.trial,
            load.image,
            load.reused,
            outcome.map(|outcome| outcome.rows),
            outcome.map(|outcome| outcome.rows_ns),
            outcome.map(|outcome| outcome.index_ns),
            outcome.map(|outcome| outcome.method.as_str()),
            settle.map(|settle| settle.took_ms),
            settle.map(|settle| settle.waited_ms),
            settle.map(|settle| Json(&settle.unmet)),
            settle.map(|settle| Json(&settle.debt)),
            settle.map(|settle| Json(&settle.levels)),
        ],
    )
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
        unmet: json(row, first + 2)?,
        debt: json(row, first + 3)?,
        levels: json(row, first + 4)?,
    })
}
