//! The states of a trial: planned, running, then done, failed, discarded or excluded.

use std::collections::BTreeSet;

use jiff::Timestamp;
use prony_model::{PlannedTrial, TrialState};
use rusqlite::types::{FromSql, FromSqlResult, ToSqlOutput, ValueRef};
use rusqlite::{Row, ToSql, Transaction, params};

use crate::database::{change, first, insert, read_row, rows};
use crate::values::{Time, Word, time, word};
use crate::{Store, StoreError};

/// The condition of SQL that a trial is done and its times count.
pub(crate) const DONE_TIMED: &str = "state = 'done' AND trial.kind = 'timed'";

/// Names one attempt at a trial within its result file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TrialId(pub(crate) i64);

impl ToSql for TrialId {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.0.to_sql()
    }
}

impl FromSql for TrialId {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_i64().map(Self)
    }
}

/// One attempt at a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialRow {
    /// Its id in this file; later attempts have higher ones.
    pub id: TrialId,
    /// Its block, target and kind.
    pub planned: PlannedTrial,
    /// Number of the attempt, from 1.
    pub attempt: u32,
    /// Index in [`Store::hosts`] of the host that it ran on.
    pub host: usize,
    /// Its state.
    pub state: TrialState,
    /// The time when it began.
    pub began_at: Timestamp,
    /// The time when it ended; `None` while running, and where its program died.
    pub ended_at: Option<Timestamp>,
    /// The reason for its failure, or for discarding or excluding it.
    pub reason: Option<String>,
    /// The end of the server's log, where it failed.
    pub log_tail: Option<String>,
}

/// Numbers of trials of all kinds, by state.
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
    /// Attempts that were excluded by their canaries; the same trial can have several.
    pub excluded: u64,
}

impl TrialCounts {
    /// Planned trials that are neither done nor failed.
    pub fn missing(&self) -> u64 {
        self.planned.saturating_sub(self.done + self.failed)
    }
}

impl Store {
    /// Begins a trial on the host that was recorded last. Earlier discarded and excluded attempts at
    /// it stay on record.
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
            let id = insert(
                transaction,
                "begin a trial",
                "INSERT INTO trial (block, target_id, kind, attempt, host_id, state, began_at)
                 SELECT ?1, ?2, ?3, count(*) + 1, (SELECT max(id) FROM host), 'running', ?4
                 FROM trial WHERE block = ?1 AND target_id = ?2 AND kind = ?3",
                params![block, target, Word(&kind), Time(at)],
            )?;
            let reopen = "UPDATE run SET ended_at = NULL";
            change(transaction, "begin a trial", reopen, [])?;
            Ok(TrialId(id))
        })
    }

    /// Ends a trial as done: from now on its figures count.
    ///
    /// # Errors
    /// When it is not running, or has no outcome of a step that it runs by the plan.
    pub fn finish_trial(&mut self, trial: TrialId, at: Timestamp) -> Result<(), StoreError> {
        self.write("finish a trial", |transaction, plan| {
            let without_outcome: Vec<(usize, PlannedTrial)> = rows(
                transaction,
                "finish a trial",
                "SELECT step.id, block, target_id, kind FROM step JOIN trial ON trial.id = ?1
                 WHERE step.id NOT IN (SELECT step_id FROM outcome WHERE trial_id = ?1)",
                [trial],
                |row| Ok((row.get(0)?, read_planned(row, 1)?)),
            )?;
            let missing = without_outcome.into_iter();
            let missing = missing.filter(|&(step, planned)| plan.runs(planned, step));
            let missing = missing.count();
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

    /// Ends a trial that ran to its end and does not count, by a rule that was declared before the
    /// run. It keeps its data, which reports do not read, and counts as missing.
    ///
    /// # Errors
    /// When it is not running.
    pub fn exclude_trial(
        &mut self,
        trial: TrialId,
        reason: &str,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        self.write("exclude a trial", |transaction, _| {
            end(
                transaction,
                trial,
                TrialState::Excluded,
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
            change(
                transaction,
                "discard the trials left running",
                "UPDATE trial SET state = 'discarded', reason = ?1 WHERE state = 'running'",
                [reason],
            )
        })
    }

    /// Turns failed trials into discarded ones, so that they are missing and `resume` runs them
    /// again, and returns how many that were. Their reasons, logs and data are kept.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn retry_failed(&mut self) -> Result<u64, StoreError> {
        self.write("discard the failed trials", |transaction, _| {
            let discard = "UPDATE trial SET state = 'discarded' WHERE state = 'failed'";
            change(transaction, "discard the failed trials", discard, []).map(|count| count as u64)
        })
    }

    /// Every attempt at every trial of a kind that this version knows, in the order in which they
    /// began.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn trials(&self) -> Result<Vec<TrialRow>, StoreError> {
        let trials = rows(
            &self.connection,
            "read the trials",
            "SELECT id, block, target_id, kind, attempt, host_id, state, began_at, ended_at, reason,
                 log_tail
             FROM trial ORDER BY id",
            [],
            read_trial,
        )?;
        Ok(trials.into_iter().flatten().collect())
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

    /// The missing trials of blocks that have no done trial of another host than the last one on
    /// record: trials of one block on two hosts are no pairs. Of a part, those of its own blocks.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn missing_here(&self) -> Result<Vec<PlannedTrial>, StoreError> {
        let hosts = self.same_hosts()?;
        let trials = self.trials()?.into_iter();
        let done = trials.filter(|trial| trial.state == TrialState::Done);
        let elsewhere = done.filter(|trial| hosts.get(trial.host) != hosts.last());
        let elsewhere: BTreeSet<u32> = elsewhere.map(|trial| trial.planned.block).collect();
        let mut missing = self.missing_trials()?;
        missing.retain(|trial| !elsewhere.contains(&trial.block));
        if let Some(part) = self.part()? {
            missing.retain(|trial| part.blocks.contains(&trial.block));
        }
        Ok(missing)
    }

    /// The numbers of trials, by state.
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
                TrialState::Excluded => counts.excluded += 1,
            }
        }
        Ok(counts)
    }
}

/// Reads block, target and kind from the columns from `first` on.
fn read_planned(row: &Row<'_>, first: usize) -> rusqlite::Result<PlannedTrial> {
    read_row! { row, first => PlannedTrial { block, target, kind as Word<_> } }
}

/// Reads one attempt; `None` where its kind is not known here.
fn read_trial(row: &Row<'_>) -> rusqlite::Result<Option<TrialRow>> {
    let Ok(planned) = read_planned(row, 1) else {
        return Ok(None);
    };
    Ok(Some(TrialRow {
        id: row.get(0)?,
        planned,
        attempt: row.get(4)?,
        host: row.get(5)?,
        state: word(row, 6)?,
        began_at: time(row, 7)?,
        ended_at: row.get::<_, Option<Time>>(8)?.map(|at| at.0),
        reason: row.get(9)?,
        log_tail: row.get(10)?,
    }))
}

/// The target of a trial that is running.
///
/// # Errors
/// When the trial has ended or never was.
pub(crate) fn require_running(
    transaction: &Transaction<'_>,
    trial: TrialId,
) -> Result<usize, StoreError> {
    let target = first(
        transaction,
        "look up a trial",
        "SELECT target_id FROM trial WHERE id = ?1 AND state = 'running'",
        [trial],
        |row| row.get(0),
    )?;
    target.ok_or(StoreError::NotRunning { trial: trial.0 })
}

/// The state of the attempt that was neither discarded nor excluded, if there is one.
fn state_that_counts(
    transaction: &Transaction<'_>,
    trial: PlannedTrial,
) -> Result<Option<TrialState>, StoreError> {
    first(
        transaction,
        "look up a trial",
        "SELECT state FROM trial
         WHERE block = ?1 AND target_id = ?2 AND kind = ?3
             AND state NOT IN ('discarded', 'excluded')",
        params![trial.block, trial.target, Word(&trial.kind)],
        |row| word(row, 0),
    )
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
    change(
        transaction,
        "end a trial",
        "UPDATE trial SET state = ?2, ended_at = ?3, reason = ?4, log_tail = ?5 WHERE id = ?1",
        params![trial, Word(&state), Time(at), reason, log_tail],
    )
    .map(drop)
}
