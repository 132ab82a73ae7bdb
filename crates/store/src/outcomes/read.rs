//! Outcomes for reports. What is asked for often is read whole; histograms one by one.

use prony_model::{Interval, PlannedTrial, Schedule, ThreadUse, TrialKind};
use rusqlite::params;

use super::{
    ErrorRow, HistogramRow, OutcomeRow, ScheduleRow, StatementRow, Stretch, StretchRow,
    ThreadUseRow,
};
use crate::database::{first, read_row, rows};
use crate::trials::DONE_TIMED;
use crate::values::{Parsed, Word};
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

    /// The same of every done profiling trial. Their times mean nothing.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn profiled(&self) -> Result<Vec<OutcomeRow>, StoreError> {
        self.outcomes_of(TrialKind::Profiling)
    }

    fn outcomes_of(&self, kind: TrialKind) -> Result<Vec<OutcomeRow>, StoreError> {
        let mut outcomes = rows(
            &self.connection,
            "read the outcomes",
            "SELECT trial_id, block, target_id, step_id, group_position, backend, scheduling,
                 threads, client_user_ns, client_system_ns, clients, operations, queries, busy_ns,
                 (SELECT coalesce(sum(count), 0) FROM error_count AS e
                  WHERE e.trial_id = g.trial_id AND e.step_id = g.step_id
                      AND e.group_position = g.group_position),
                 (SELECT coalesce(sum(unexpected), 0) FROM statement_count AS s
                  WHERE s.trial_id = g.trial_id AND s.step_id = g.step_id
                      AND s.group_position = g.group_position)
             FROM trial
                 CROSS JOIN group_outcome AS g ON g.trial_id = trial.id
                 CROSS JOIN outcome USING (trial_id, step_id)
             WHERE state = 'done' AND kind = ?1",
            [Word(&kind)],
            |row| {
                let (block, target) = (row.get(1)?, row.get(2)?);
                let trial = row.get(0)?;
                read_row! { row, 3 => OutcomeRow {
                    step, group, backend as Word<_>, scheduling as Word<_>, threads,
                    client_user_ns, client_system_ns, clients, operations, queries, busy_ns,
                    errors, unexpected,
                } with { trial: trial, planned: PlannedTrial { block, target, kind } } }
            },
        )?;
        // Read in this order already, which SQLite does not know and would sort for.
        outcomes.sort_by_key(|row| (row.planned.block, row.planned.target, row.step, row.group));
        Ok(outcomes)
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

    /// The service times of the whole operations of all groups of a trial, by step and group: HDR V2,
    /// deflated, in nanoseconds.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn histograms(&self, trial: TrialId) -> Result<Vec<HistogramRow>, StoreError> {
        rows(
            &self.connection,
            "read the histograms",
            "SELECT step_id, group_position, hdr FROM histogram
             WHERE trial_id = ?1 AND position = 0 ORDER BY step_id, group_position",
            [trial],
            |row| read_row! { row, 0 => HistogramRow { step, group, hdr } },
        )
    }

    /// The counts of the statements of all groups of a trial, by step and group and in the order of
    /// the workload.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn statements_of(
        &self,
        trial: TrialId,
    ) -> Result<Vec<(usize, usize, StatementRow)>, StoreError> {
        rows(
            &self.connection,
            "read the counts of the statements",
            "SELECT step_id, group_position, position, statement, count, rows, affected, unexpected
             FROM statement_count WHERE trial_id = ?1 ORDER BY step_id, group_position, position",
            [trial],
            |row| {
                let statement = read_row! { row, 2 => StatementRow {
                    position, name, count, rows, affected, unexpected,
                } }?;
                Ok((row.get(0)?, row.get(1)?, statement))
            },
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
                read_row! { row, 0 => StatementRow {
                    position, name, count, rows, affected, unexpected,
                } }
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
                read_row! { row, 0 => ErrorRow {
                    trial, step, group, code as Parsed<_>, class as Word<_>, count, message,
                } }
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
                let schedule = read_row! { row, 3 => Schedule {
                    planned, backlog, left, response, error,
                } }?;
                read_row! { row, 0 => ScheduleRow { trial, step, group } with {
                    schedule: schedule,
                } }
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
                let used = read_row! { row, 3 => ThreadUse { wall_ns, cpu_ns, run_queue_ns } }?;
                read_row! { row, 0 => ThreadUseRow { trial, step, thread } with { used: used } }
            },
        )
    }

    /// Start, end, operations and longest operation of all intervals of a trial, by step and group and
    /// in order: what throughput within the steps is made of.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn stretches(&self, trial: TrialId) -> Result<Vec<StretchRow>, StoreError> {
        rows(
            &self.connection,
            "read the intervals",
            "SELECT step_id, group_position, start_ns, end_ns, operations, latency_ns_max
             FROM interval WHERE trial_id = ?1 ORDER BY step_id, group_position, position",
            [trial],
            |row| {
                let stretch =
                    read_row! { row, 2 => Stretch { start_ns, end_ns, operations, longest_ns } }?;
                read_row! { row, 0 => StretchRow { step, group } with { stretch: stretch } }
            },
        )
    }

    /// The intervals of a group of clients in a step, in order. Groups beside have none in files that
    /// began with a version of the schema before 6.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn intervals(
        &self,
        trial: TrialId,
        step: usize,
        group: usize,
    ) -> Result<Vec<Interval>, StoreError> {
        rows(
            &self.connection,
            "read the intervals",
            "SELECT start_ns, end_ns, operations, queries, errors, latency_ns_p99, latency_ns_max,
                 response_ns_p99, backlog
             FROM interval WHERE trial_id = ?1 AND step_id = ?2 AND group_position = ?3
             ORDER BY position",
            params![trial, step, group],
            |row| {
                read_row! { row, 0 => Interval {
                    start_ns, end_ns, operations, queries, errors, latency_ns_p99,
                    latency_ns_max, response_ns_p99, backlog,
                } }
            },
        )
    }
}
