//! Outcomes for reports. What is asked for often is read whole; histograms one by one.

use prony_model::{ErrorCode, Interval, PlannedTrial, Schedule, ThreadUse, TrialKind};
use rusqlite::{Row, params};

use super::{ErrorRow, OutcomeRow, ScheduleRow, StatementRow, ThreadUseRow};
use crate::database::{first, rows};
use crate::trials::DONE_TIMED;
use crate::values::{Parsed, Word, word};
use crate::{Store, StoreError, TrialId};

impl Store {
    /// The counts of every group of clients in every step of every done timed trial, by block,
    /// target, step and group.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn outcomes(&self) -> Result<Vec<OutcomeRow>, StoreError> {
        self.outcomes_of(TrialKind::Timed)
    }

    /// The same of every done counting trial. Their times mean nothing.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn counted(&self) -> Result<Vec<OutcomeRow>, StoreError> {
        self.outcomes_of(TrialKind::Counting)
    }

    fn outcomes_of(&self, kind: TrialKind) -> Result<Vec<OutcomeRow>, StoreError> {
        rows(
            &self.connection,
            "read the outcomes",
            "SELECT trial_id, block, target_id, step_id, group_position, backend, threads,
                 client_user_ns, client_system_ns, clients, operations, queries, busy_ns,
                 (SELECT coalesce(sum(count), 0) FROM error_count AS e
                  WHERE e.trial_id = g.trial_id AND e.step_id = g.step_id
                      AND e.group_position = g.group_position),
                 (SELECT coalesce(sum(unexpected), 0) FROM statement_count AS s
                  WHERE s.trial_id = g.trial_id AND s.step_id = g.step_id
                      AND s.group_position = g.group_position)
             FROM group_outcome AS g
                 JOIN outcome USING (trial_id, step_id)
                 JOIN trial ON trial.id = trial_id
             WHERE state = 'done' AND kind = ?1
             ORDER BY block, target_id, step_id, group_position",
            [Word(&kind)],
            |row| outcome(row, kind),
        )
    }

    /// The service time of a group's whole operations (`position` 0) or of one of its statements
    /// ([`StatementRow::position`]): HDR V2, deflated, in nanoseconds.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn histogram(
        &self,
        trial: TrialId,
        step: usize,
        group: usize,
        position: usize,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        first(
            &self.connection,
            "read a histogram",
            "SELECT hdr FROM histogram
             WHERE trial_id = ?1 AND step_id = ?2 AND group_position = ?3 AND position = ?4",
            params![trial, step, group, position],
            |row| row.get(0),
        )
    }

    /// The counts of a group's statements, in the order of its workload.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn statements(
        &self,
        trial: TrialId,
        step: usize,
        group: usize,
    ) -> Result<Vec<StatementRow>, StoreError> {
        rows(
            &self.connection,
            "read the counts of the statements",
            "SELECT position, statement, count, rows, affected, unexpected FROM statement_count
             WHERE trial_id = ?1 AND step_id = ?2 AND group_position = ?3 ORDER BY position",
            params![trial, step, group],
            |row| {
                Ok(StatementRow {
                    position: row.get(0)?,
                    name: row.get(1)?,
                    count: row.get(2)?,
                    rows: row.get(3)?,
                    affected: row.get(4)?,
                    unexpected: row.get(5)?,
                })
            },
        )
    }

    /// The server errors of all done timed trials, by trial, step, group and code.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn errors(&self) -> Result<Vec<ErrorRow>, StoreError> {
        rows(
            &self.connection,
            "read the errors",
            &format!(
                "SELECT trial_id, step_id, group_position, code, class, count, message
                 FROM error_count JOIN trial ON trial.id = trial_id
                 WHERE {DONE_TIMED} ORDER BY trial_id, step_id, group_position, code"
            ),
            [],
            |row| {
                Ok(ErrorRow {
                    trial: row.get(0)?,
                    step: row.get(1)?,
                    group: row.get(2)?,
                    code: row.get::<_, Parsed<ErrorCode>>(3)?.0,
                    class: word(row, 4)?,
                    count: row.get(5)?,
                    message: row.get(6)?,
                })
            },
        )
    }

    /// The schedules of all done timed trials, by trial, step and group. Groups that begin
    /// operations only when the last has ended have none.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn schedules(&self) -> Result<Vec<ScheduleRow>, StoreError> {
        rows(
            &self.connection,
            "read the schedules",
            &format!(
                "SELECT trial_id, step_id, group_position, planned, backlog, left_undone,
                     response_hdr, error_hdr
                 FROM schedule JOIN trial ON trial.id = trial_id
                 WHERE {DONE_TIMED} ORDER BY trial_id, step_id, group_position"
            ),
            [],
            |row| {
                Ok(ScheduleRow {
                    trial: row.get(0)?,
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

    /// The threads of the load generator in all done timed trials, by trial, step and thread.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn thread_uses(&self) -> Result<Vec<ThreadUseRow>, StoreError> {
        rows(
            &self.connection,
            "read the threads of the load generator",
            &format!(
                "SELECT trial_id, step_id, thread, wall_ns, cpu_ns, run_queue_ns
                 FROM thread_use JOIN trial ON trial.id = trial_id
                 WHERE {DONE_TIMED} ORDER BY trial_id, step_id, thread"
            ),
            [],
            |row| {
                Ok(ThreadUseRow {
                    trial: row.get(0)?,
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

    /// The intervals of a step's own clients, in order.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn intervals(&self, trial: TrialId, step: usize) -> Result<Vec<Interval>, StoreError> {
        rows(
            &self.connection,
            "read the intervals",
            "SELECT start_ns, end_ns, operations, queries, errors, latency_ns_p99, latency_ns_max,
                 response_ns_p99, backlog
             FROM interval WHERE trial_id = ?1 AND step_id = ?2 ORDER BY position",
            params![trial, step],
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

fn outcome(row: &Row<'_>, kind: TrialKind) -> rusqlite::Result<OutcomeRow> {
    Ok(OutcomeRow {
        trial: row.get(0)?,
        planned: PlannedTrial {
            block: row.get(1)?,
            target: row.get(2)?,
            kind,
        },
        step: row.get(3)?,
        group: row.get(4)?,
        backend: word(row, 5)?,
        threads: row.get(6)?,
        client_user_ns: row.get(7)?,
        client_system_ns: row.get(8)?,
        clients: row.get(9)?,
        operations: row.get(10)?,
        queries: row.get(11)?,
        busy_ns: row.get(12)?,
        errors: row.get(13)?,
        unexpected: row.get(14)?,
    })
}
