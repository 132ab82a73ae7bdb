//! The states of a trial: planned, running, then done, failed or discarded.

use jiff::Timestamp;
use prony_model::{PlannedTrial, TrialState};
use rusqlite::{OptionalExtension as _, Transaction, params};

use crate::error::Context as _;
use crate::values::{Time, Word};
use crate::{Store, StoreError};

/// Names one attempt at a trial within its result file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TrialId(pub(crate) i64);

/// How many trials of both kinds stand where.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TrialCounts {
    /// Trials of the plan.
    pub planned: u64,
    /// Planned trials that are done.
    pub done: u64,
    /// Planned trials that failed.
    pub failed: u64,
    /// Trials begun and not ended.
    pub running: u64,
    /// Attempts that were cut short; the same trial can have several.
    pub discarded: u64,
}

impl TrialCounts {
    /// Planned trials that are neither done nor failed.
    pub fn missing(&self) -> u64 {
        self.planned.saturating_sub(self.done + self.failed)
    }
}

impl Store {
    /// Begins a trial. Earlier discarded attempts at it stay on record.
    ///
    /// # Errors
    /// When the plan has no such trial, or an attempt at it is running, done or failed.
    pub fn begin_trial(
        &mut self,
        trial: PlannedTrial,
        at: Timestamp,
    ) -> Result<TrialId, StoreError> {
        let PlannedTrial {
            block,
            target,
            kind,
        } = trial;
        self.write("begin a trial", |transaction, plan| {
            if !plan.trials.contains(&trial) {
                return Err(StoreError::NotPlanned {
                    block,
                    target,
                    kind: kind.name(),
                });
            }
            if let Some(state) = state_that_counts(transaction, trial)? {
                return Err(StoreError::Taken {
                    block,
                    target,
                    kind: kind.name(),
                    state,
                });
            }
            transaction
                .execute(
                    "INSERT INTO trial (block, target_id, kind, attempt, state, began_at)
                     SELECT ?1, ?2, ?3, count(*) + 1, 'running', ?4
                     FROM trial WHERE block = ?1 AND target_id = ?2 AND kind = ?3",
                    params![block, target, Word(&kind), Time(at)],
                )
                .during("begin a trial")?;
            let id = transaction.last_insert_rowid();
            transaction
                .execute("UPDATE run SET ended_at = NULL", [])
                .during("begin a trial")?;
            Ok(TrialId(id))
        })
    }

    /// Ends a trial as done: from now on its figures count.
    ///
    /// # Errors
    /// When it is not running or a step has no outcome.
    pub fn finish_trial(&mut self, trial: TrialId, at: Timestamp) -> Result<(), StoreError> {
        self.write("finish a trial", |transaction, _| {
            let missing: u64 = transaction
                .query_row(
                    "SELECT count(*) FROM step WHERE id NOT IN
                         (SELECT step_id FROM outcome WHERE trial_id = ?1)",
                    [trial.0],
                    |row| row.get(0),
                )
                .during("finish a trial")?;
            if missing > 0 {
                return Err(StoreError::StepsMissing {
                    trial: trial.0,
                    missing,
                });
            }
            end(transaction, trial, TrialState::Done, at, None, None)
        })
    }

    /// Ends a trial as failed by the server or the load. It keeps its data, which reports do not
    /// read, and is repeated only after [`Store::retry_failed`].
    ///
    /// # Errors
    /// When it is not running.
    pub fn fail_trial(
        &mut self,
        trial: TrialId,
        reason: &str,
        log_tail: &str,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        self.write("record the failure of a trial", |transaction, _| {
            end(
                transaction,
                trial,
                TrialState::Failed,
                at,
                Some(reason),
                Some(log_tail),
            )
        })
    }

    /// Ends a trial that was cut short from outside. It keeps its data, which reports do not read,
    /// and counts as missing.
    ///
    /// # Errors
    /// When it is not running.
    pub fn discard_trial(
        &mut self,
        trial: TrialId,
        reason: &str,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        self.write("discard a trial", |transaction, _| {
            end(
                transaction,
                trial,
                TrialState::Discarded,
                at,
                Some(reason),
                None,
            )
        })
    }

    /// Discards what a program that died left running, and returns how many trials that were.
    /// When they ended is not known.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn abandon_running(&mut self, reason: &str) -> Result<usize, StoreError> {
        self.write("discard the trials left running", |transaction, _| {
            transaction
                .execute(
                    "UPDATE trial SET state = 'discarded', reason = ?1 WHERE state = 'running'",
                    [reason],
                )
                .during("discard the trials left running")
        })
    }

    /// Turns failed trials into discarded ones, so that they are missing and `resume` runs them
    /// again, and returns how many that were. Their reasons, logs and data are kept.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn retry_failed(&mut self) -> Result<u64, StoreError> {
        self.write("discard the failed trials", |transaction, _| {
            transaction
                .execute(
                    "UPDATE trial SET state = 'discarded' WHERE state = 'failed'",
                    [],
                )
                .during("discard the failed trials")
                .map(|count| count as u64)
        })
    }

    /// The planned trials that are neither done nor failed, in the planned order.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn missing_trials(&self) -> Result<Vec<PlannedTrial>, StoreError> {
        let ended: Vec<PlannedTrial> = self
            .trials()?
            .into_iter()
            .filter(|trial| matches!(trial.state, TrialState::Done | TrialState::Failed))
            .map(|trial| trial.planned)
            .collect();
        Ok(self
            .plan()
            .trials
            .iter()
            .filter(|trial| !ended.contains(trial))
            .copied()
            .collect())
    }

    /// How many trials stand where.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn trial_counts(&self) -> Result<TrialCounts, StoreError> {
        let mut counts = TrialCounts {
            planned: self.plan().trials.len() as u64,
            ..TrialCounts::default()
        };
        for trial in self.trials()? {
            match trial.state {
                TrialState::Running => counts.running += 1,
                TrialState::Done => counts.done += 1,
                TrialState::Failed => counts.failed += 1,
                TrialState::Discarded => counts.discarded += 1,
            }
        }
        Ok(counts)
    }
}

/// Refuses to touch a trial that has ended or never was.
pub(crate) fn require_running(
    transaction: &Transaction<'_>,
    trial: TrialId,
) -> Result<(), StoreError> {
    let running = transaction
        .prepare_cached("SELECT 1 FROM trial WHERE id = ?1 AND state = 'running'")
        .and_then(|mut statement| statement.exists([trial.0]))
        .during("look up a trial")?;
    if running {
        Ok(())
    } else {
        Err(StoreError::NotRunning { trial: trial.0 })
    }
}

/// The state of the attempt that was not discarded, if there is one.
fn state_that_counts(
    transaction: &Transaction<'_>,
    trial: PlannedTrial,
) -> Result<Option<TrialState>, StoreError> {
    transaction
        .query_row(
            "SELECT state FROM trial
             WHERE block = ?1 AND target_id = ?2 AND kind = ?3 AND state <> 'discarded'",
            params![trial.block, trial.target, Word(&trial.kind)],
            |row| row.get(0).map(|Word(state)| state),
        )
        .optional()
        .during("look up a trial")
}

fn end(
    transaction: &Transaction<'_>,
    trial: TrialId,
    state: TrialState,
    at: Timestamp,
    reason: Option<&str>,
    log_tail: Option<&str>,
) -> Result<(), StoreError> {
    require_running(transaction, trial)?;
    transaction
        .execute(
            "UPDATE trial SET state = ?2, ended_at = ?3, reason = ?4, log_tail = ?5 WHERE id = ?1",
            params![trial.0, Word(&state), Time(at), reason, log_tail],
        )
        .during("end a trial")
        .map(drop)
}
