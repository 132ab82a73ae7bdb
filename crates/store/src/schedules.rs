//! How arrival schedules were kept, and what the generator's threads did.

use prony_model::{Interval, Schedule, StepOutcome, ThreadUse};
use rusqlite::{Transaction, params};

use crate::error::Context as _;
use crate::{Store, StoreError, TrialId};

/// The first version of the schema that has schedules, groups of clients and calibrations.
pub(crate) const SINCE: i64 = 4;

/// How the clients of a step, or of a group beside them, kept to their schedule in a done trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleRow {
    /// The trial.
    pub trial: TrialId,
    /// Index of the step in the plan.
    pub step: usize,
    /// 0 for the step's own clients, else the group's [`crate::GroupRow::position`].
    pub group: usize,
    /// What was kept.
    pub schedule: Schedule,
}

/// What one thread of the generator did in a step of a done trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadUseRow {
    /// The trial.
    pub trial: TrialId,
    /// Index of the step in the plan.
    pub step: usize,
    /// Number of the thread, from 0.
    pub thread: usize,
    /// What it used and waited for.
    pub used: ThreadUse,
}

impl Store {
    /// How all schedules of done timed trials were kept, by trial, step and group. What began operations
    /// only when the last had ended has none.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn schedules(&self) -> Result<Vec<ScheduleRow>, StoreError> {
        if self.version < SINCE {
            return Ok(Vec::new());
        }
        self.rows(
            "read the schedules",
            &format!(
                "SELECT trial_id, step_id, group_position, planned, backlog, left_undone,
                     response_hdr, error_hdr
                 FROM schedule JOIN trial ON trial.id = trial_id
                 WHERE {} ORDER BY trial_id, step_id, group_position",
                self.done_timed()
            ),
            [],
            |row| {
                Ok(ScheduleRow {
                    trial: TrialId(row.get(0)?),
                    step: row.get(1)?,
                    group: row.get(2)?,
                    schedule: Schedule {
                        planned: row.get(3)?,
                        backlog: row.get(4)?,
                        left: row.get(5)?,
                        response: row.get(6)?,
                        error: row.get(7)?,
                    },
                })
            },
        )
    }

    /// What the generator's threads did in all done timed trials, by trial, step and thread.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn thread_uses(&self) -> Result<Vec<ThreadUseRow>, StoreError> {
        if self.version < SINCE {
            return Ok(Vec::new());
        }
        self.rows(
            "read what the generator's threads did",
            &format!(
                "SELECT trial_id, step_id, thread, wall_ns, cpu_ns, run_queue_ns
                 FROM thread_use JOIN trial ON trial.id = trial_id
                 WHERE {} ORDER BY trial_id, step_id, thread",
                self.done_timed()
            ),
            [],
            |row| {
                Ok(ThreadUseRow {
                    trial: TrialId(row.get(0)?),
                    step: row.get(1)?,
                    thread: row.get(2)?,
                    used: ThreadUse {
                        wall_ns: row.get(3)?,
                        cpu_ns: row.get(4)?,
                        run_queue_ns: row.get(5)?,
                    },
                })
            },
        )
    }

    /// The intervals of a step, in order.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn intervals(&self, trial: TrialId, step: usize) -> Result<Vec<Interval>, StoreError> {
        let paced = if self.version < SINCE {
            "0, 0"
        } else {
            "response_ns_p99, backlog"
        };
        self.rows(
            "read the intervals",
            &format!(
                "SELECT start_ns, end_ns, operations, queries, errors, latency_ns_p99,
                     latency_ns_max, {paced}
                 FROM interval WHERE trial_id = ?1 AND step_id = ?2 ORDER BY position"
            ),
            params![trial.0, step],
            |row| {
                Ok(Interval {
                    start_ns: row.get(0)?,
                    end_ns: row.get(1)?,
                    operations: row.get(2)?,
                    queries: row.get(3)?,
                    errors: row.get(4)?,
                    latency_ns_p99: row.get(5)?,
                    latency_ns_max: row.get(6)?,
                    response_ns_p99: row.get(7)?,
                    backlog: row.get(8)?,
                })
            },
        )
    }
}

/// Keeps the schedules of a step's own clients and of the groups beside them.
pub(crate) fn insert_schedules(
    transaction: &Transaction<'_>,
    trial: TrialId,
    step: usize,
    outcome: &StepOutcome,
) -> Result<(), StoreError> {
    let groups = outcome.beside.iter().map(|group| group.schedule.as_ref());
    let all = std::iter::once(outcome.schedule.as_ref()).chain(groups);
    for (group, schedule) in all.enumerate() {
        let Some(schedule) = schedule else { continue };
        transaction
            .prepare_cached(
                "INSERT INTO schedule (trial_id, step_id, group_position, planned, backlog,
                     left_undone, response_hdr, error_hdr)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )
            .and_then(|mut insert| {
                insert.execute(params![
                    trial.0,
                    step,
                    group,
                    schedule.planned,
                    schedule.backlog,
                    schedule.left,
                    schedule.response,
                    schedule.error
                ])
            })
            .during("record a schedule")?;
    }
    Ok(())
}

/// Keeps what the generator's threads did in a step.
pub(crate) fn insert_thread_use(
    transaction: &Transaction<'_>,
    trial: TrialId,
    step: usize,
    outcome: &StepOutcome,
) -> Result<(), StoreError> {
    for (thread, used) in outcome.thread_use.iter().enumerate() {
        transaction
            .prepare_cached(
                "INSERT INTO thread_use
                     (trial_id, step_id, thread, wall_ns, cpu_ns, run_queue_ns)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )
            .and_then(|mut insert| {
                insert.execute(params![
                    trial.0,
                    step,
                    thread,
                    used.wall_ns,
                    used.cpu_ns,
                    used.run_queue_ns
                ])
            })
            .during("record what the generator's threads did")?;
    }
    Ok(())
}
