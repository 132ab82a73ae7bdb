//! Recording a step.

use prony_model::{ErrorCount, GroupOutcome, Interval, Schedule, StepOutcome, ThreadUse};
use rusqlite::{Transaction, params};

use crate::database::change;
use crate::trials::require_running;
use crate::values::Word;
use crate::{Store, StoreError, TrialId};

impl Store {
    /// Records what one step yielded, all of it or nothing.
    ///
    /// # Errors
    /// When the trial is not running, the step or one of the groups is not in the plan, the step
    /// has an outcome already, or a count exceeds 2⁶³ − 1.
    pub fn record_step(
        &mut self,
        trial: TrialId,
        step: usize,
        outcome: &StepOutcome,
    ) -> Result<(), StoreError> {
        self.write("record a step", |transaction, _| {
            require_running(transaction, trial)?;
            let writer = StepWriter {
                transaction,
                trial,
                step,
            };
            writer.write_outcome(outcome)?;
            for (position, group) in outcome.groups.iter().enumerate() {
                writer.write_group(position, group)?;
            }
            writer.write_intervals(&outcome.intervals)?;
            writer.write_thread_use(&outcome.thread_use)
        })
    }
}

/// Writes the outcome of one step of one trial.
struct StepWriter<'a> {
    transaction: &'a Transaction<'a>,
    trial: TrialId,
    step: usize,
}

impl StepWriter<'_> {
    fn write_outcome(&self, outcome: &StepOutcome) -> Result<(), StoreError> {
        change(
            self.transaction,
            "record a step",
            "INSERT INTO outcome (trial_id, step_id, threads, client_user_ns, client_system_ns,
                 start_ns, end_ns, timing, backend)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            params![
                self.trial,
                self.step,
                outcome.threads,
                outcome.client_user_ns,
                outcome.client_system_ns,
                outcome.start_ns,
                outcome.end_ns,
                Word(&outcome.timing),
                Word(&outcome.backend)
            ],
        )
        .map(drop)
    }

    fn write_group(&self, position: usize, group: &GroupOutcome) -> Result<(), StoreError> {
        change(
            self.transaction,
            "record the counts of a group of clients",
            "INSERT INTO group_outcome (trial_id, step_id, group_position, clients, operations,
                 queries, busy_ns)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                self.trial,
                self.step,
                position,
                group.clients,
                group.operations,
                group.queries,
                group.busy_ns
            ],
        )?;
        self.write_histogram(position, 0, &group.histogram)?;
        self.write_statements(position, group)?;
        self.write_errors(position, &group.errors)?;
        match &group.schedule {
            Some(schedule) => self.write_schedule(position, schedule),
            None => Ok(()),
        }
    }

    fn write_histogram(&self, group: usize, position: usize, hdr: &[u8]) -> Result<(), StoreError> {
        change(
            self.transaction,
            "record a histogram",
            "INSERT INTO histogram (trial_id, step_id, group_position, position, hdr)
             VALUES (?1, ?2, ?3, ?4, ?5)",
            params![self.trial, self.step, group, position, hdr],
        )
        .map(drop)
    }

    fn write_statements(&self, group: usize, outcome: &GroupOutcome) -> Result<(), StoreError> {
        for (position, statement) in (1..).zip(&outcome.statements) {
            change(
                self.transaction,
                "record the counts of a statement",
                "INSERT INTO statement_count (trial_id, step_id, group_position, position,
                     statement, count, rows, affected, unexpected)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                params![
                    self.trial,
                    self.step,
                    group,
                    position,
                    statement.name,
                    statement.count,
                    statement.rows,
                    statement.affected,
                    statement.unexpected
                ],
            )?;
            self.write_histogram(group, position, &statement.histogram)?;
        }
        Ok(())
    }

    fn write_errors(&self, group: usize, errors: &[ErrorCount]) -> Result<(), StoreError> {
        for error in errors {
            change(
                self.transaction,
                "record the errors of a step",
                "INSERT INTO error_count (trial_id, step_id, group_position, code, class, count,
                     message)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![
                    self.trial,
                    self.step,
                    group,
                    error.code.as_str(),
                    Word(&error.class),
                    error.count,
                    error.message
                ],
            )?;
        }
        Ok(())
    }

    fn write_schedule(&self, group: usize, schedule: &Schedule) -> Result<(), StoreError> {
        change(
            self.transaction,
            "record a schedule",
            "INSERT INTO schedule (trial_id, step_id, group_position, planned, backlog,
                 left_undone, response_hdr, error_hdr)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            params![
                self.trial,
                self.step,
                group,
                schedule.planned,
                schedule.backlog,
                schedule.left,
                schedule.response,
                schedule.error
            ],
        )
        .map(drop)
    }

    fn write_intervals(&self, intervals: &[Interval]) -> Result<(), StoreError> {
        for (position, interval) in intervals.iter().enumerate() {
            change(
                self.transaction,
                "record the intervals of a step",
                "INSERT INTO interval (trial_id, step_id, position, start_ns, end_ns, operations,
                     queries, errors, latency_ns_p99, latency_ns_max, response_ns_p99, backlog)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
                params![
                    self.trial,
                    self.step,
                    position,
                    interval.start_ns,
                    interval.end_ns,
                    interval.operations,
                    interval.queries,
                    interval.errors,
                    interval.latency_ns_p99,
                    interval.latency_ns_max,
                    interval.response_ns_p99,
                    interval.backlog
                ],
            )?;
        }
        Ok(())
    }

    fn write_thread_use(&self, threads: &[ThreadUse]) -> Result<(), StoreError> {
        for (thread, used) in threads.iter().enumerate() {
            change(
                self.transaction,
                "record the threads of the load generator",
                "INSERT INTO thread_use
                     (trial_id, step_id, thread, wall_ns, cpu_ns, run_queue_ns)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![
                    self.trial,
                    self.step,
                    thread,
                    used.wall_ns,
                    used.cpu_ns,
                    used.run_queue_ns
                ],
            )?;
        }
        Ok(())
    }
}
