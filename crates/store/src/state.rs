//! Loads of data, settling of engines, and the debt that they had before steps.

use prony_model::{Debt, LoadOutcome, SettleOutcome};
use rusqlite::{Row, Transaction, params};

use crate::database::{exists, first, insert_row, read_row, rows};
use crate::trials::{DONE_TIMED, require_running};
use crate::values::{Json, Word};
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
    /// Index in [`Store::hosts`] of its host; `None` where an older file does not say.
    pub host: Option<usize>,
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
    /// made it for another target counts as made by this run. Images of other hosts are others.
    ///
    /// # Errors
    /// When there is no such target, or a count exceeds 2⁶³ − 1.
    pub fn record_load(&mut self, target: usize, load: &LoadRecord<'_>) -> Result<(), StoreError> {
        if target >= self.plan().targets.len() {
            return Err(StoreError::NoSuchTarget { target });
        }
        let same = self.same_hosts()?;
        let here: Vec<usize> = (0..same.len())
            .filter(|host| same.get(*host) == same.last())
            .collect();
        self.write("record a load", |transaction, _| {
            let has = |condition| {
                exists(
                    transaction,
                    "record a load",
                    &format!(
                        "SELECT 1 FROM load WHERE {condition} AND image = ?2
                         AND (host_id IS NULL OR host_id IN (SELECT value FROM json_each(?3)))"
                    ),
                    params![target, load.image, Json(&here)],
                )
            };
            if load.reused && has("target_id = ?1")? {
                return Ok(());
            }
            // Targets that differ only in how they are reached share an image.
            let made_here = has("target_id <> ?1 AND reused = 0")?;
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
        self.write("record the settling", |transaction, _| {
            require_running(transaction, trial)?;
            insert_row! { transaction, "record the settling", settle {
                trial_id: trial, step_id: step, took_ms: outcome.took_ms,
                waited_ms: outcome.waited_ms, unmet: Json(&outcome.unmet),
                debt: Json(&outcome.debt), levels: Json(&outcome.levels),
            } }
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
        self.write("record the work left over", |transaction, _| {
            require_running(transaction, trial)?;
            debts.iter().try_for_each(|debt| {
                insert_row! { transaction, "record the work left over", debt {
                    trial_id: trial, step_id: step, kind: Word(&debt.kind), value: debt.value,
                } }
            })
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
                "SELECT load.target_id, trial_id, image, load.host_id, reused, rows, rows_ns, index_ns, method,
                     settle_took_ms, settle_waited_ms, settle_unmet, settle_debt, settle_levels
                 FROM load LEFT JOIN trial ON trial.id = trial_id
                 WHERE state IS NULL OR {DONE_TIMED} ORDER BY load.id"
            ),
            [],
            |row| {
                let (outcome, settle) = (load_outcome(row, 5)?, load_settle(row, 9)?);
                read_row! { row, 0 => LoadRow { target, trial, image, host, reused } with {
                    outcome: outcome, settle: settle,
                } }
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
            "read the settling",
            &format!(
                "SELECT trial_id, step_id, took_ms, waited_ms, unmet, debt, levels
                 FROM settle JOIN trial ON trial.id = trial_id
                 WHERE {DONE_TIMED} ORDER BY trial_id, step_id"
            ),
            [],
            |row| {
                let outcome = settle_outcome(row, 2)?;
                read_row! { row, 0 => SettleRow { trial, step } with { outcome: outcome } }
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
            "read the work left over",
            &format!(
                "SELECT trial_id, step_id, debt.kind, value FROM debt JOIN trial ON trial.id = trial_id
                 WHERE {DONE_TIMED} ORDER BY trial_id, step_id, debt.kind"
            ),
            [],
            |row| {
                let debt = read_row! { row, 2 => Debt { kind as Word<_>, value } }?;
                read_row! { row, 0 => DebtRow { trial, step } with { debt: debt } }
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
    let host = first(
        transaction,
        "record a load",
        "SELECT max(id) FROM host",
        [],
        |row| row.get::<_, Option<i64>>(0),
    )?;
    insert_row! { transaction, "record a load", load {
        target_id: load.target, trial_id: load.trial, image: load.image, host_id: host.flatten(),
        reused: load.reused,
        rows: outcome.map(|outcome| outcome.rows),
        rows_ns: outcome.map(|outcome| outcome.rows_ns),
        index_ns: outcome.map(|outcome| outcome.index_ns),
        method: outcome.map(|outcome| outcome.method.as_str()),
        settle_took_ms: settle.map(|settle| settle.took_ms),
        settle_waited_ms: settle.map(|settle| settle.waited_ms),
        settle_unmet: settle.map(|settle| Json(&settle.unmet)),
        settle_debt: settle.map(|settle| Json(&settle.debt)),
        settle_levels: settle.map(|settle| Json(&settle.levels)),
    } }
}

/// The four columns of a load from `first` on, all of them or none.
fn load_outcome(row: &Row<'_>, first: usize) -> rusqlite::Result<Option<LoadOutcome>> {
    let rows: Option<u64> = row.get(first)?;
    rows.map(|_| read_row! { row, first => LoadOutcome { rows, rows_ns, index_ns, method } })
        .transpose()
}

/// The five columns of settling from `first` on, all of them or none.
fn load_settle(row: &Row<'_>, first: usize) -> rusqlite::Result<Option<SettleOutcome>> {
    let took_ms: Option<u64> = row.get(first)?;
    took_ms.map(|_| settle_outcome(row, first)).transpose()
}

fn settle_outcome(row: &Row<'_>, first: usize) -> rusqlite::Result<SettleOutcome> {
    read_row! { row, first => SettleOutcome {
        took_ms, waited_ms, unmet as Json<_>, debt as Json<_>, levels as Json<_>,
    } }
}
