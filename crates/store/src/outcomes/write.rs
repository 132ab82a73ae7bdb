//! Recording a step.

use prony_model::{ErrorCount, GroupOutcome, Interval, Schedule, StepOutcome, ThreadUse};
use rusqlite::Transaction;

use crate::database::insert_row;
use crate::trials::require_running;
use crate::values::Word;
use crate::{Store, StoreError, TrialId};

impl Store {
    /// Records what one step yielded, all of it or nothing.
    ///
    /// # Errors
    /// When the trial is not running, the step is not in the plan or has other groups there, it has
    /// an outcome already, or a count exceeds 2⁶³ − 1.
    pub fn record_step(
        &mut self,
        trial: TrialId,
        step: usize,
        outcome: &StepOutcome,
    ) -> Result<(), StoreError> {
        self.write("record a step", |transaction, plan| {
            require_running(transaction, trial)?;
            if let Some(planned) = plan.steps.get(step)
                && planned.groups.len() != outcome.groups.len()
            {
                return Err(StoreError::GroupsDiffer {
                    trial: trial.0,
                    step: planned.name.clone(),
                    found: outcome.groups.len(),
                    planned: planned.groups.len(),
                });
            }
            let writer = StepWriter {
                transaction,
                trial,
                step,
            };
            writer.write_outcome(outcome)?;
            for (position, group) in outcome.groups.iter().enumerate() {
                writer.write_group(position, group)?;
            }
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
        insert_row! { self.transaction, "record a step", outcome {
            trial_id: self.trial, step_id: self.step, threads: outcome.threads,
            client_user_ns: outcome.client_user_ns, client_system_ns: outcome.client_system_ns,
            start_ns: outcome.start_ns, end_ns: outcome.end_ns,
            timing: Word(&outcome.timing), backend: Word(&outcome.backend),
            scheduling: Word(&outcome.scheduling),
        } }
    }

    fn write_group(&self, position: usize, group: &GroupOutcome) -> Result<(), StoreError> {
        insert_row! { self.transaction, "record the counts of a group of clients", group_outcome {
            trial_id: self.trial, step_id: self.step, group_position: position,
            clients: group.clients, operations: group.operations, queries: group.queries,
            busy_ns: group.busy_ns,
        } }?;
        self.write_histogram(position, 0, &group.histogram)?;
        self.write_statements(position, group)?;
        self.write_errors(position, &group.errors)?;
        self.write_intervals(position, &group.intervals)?;
        match &group.schedule {
            Some(schedule) => self.write_schedule(position, schedule),
            None => Ok(()),
        }
    }

    /// Writes the histogram of the whole operations of a group (`position` 0) or of a statement.
    fn write_histogram(&self, group: usize, position: usize, hdr: &[u8]) -> Result<(), StoreError> {
        insert_row! { self.transaction, "record a histogram", histogram {
            trial_id: self.trial, step_id: self.step, group_position: group, position: position,
            hdr: hdr,
        } }
    }

    fn write_statements(&self, group: usize, outcome: &GroupOutcome) -> Result<(), StoreError> {
        for (position, statement) in (1..).zip(&outcome.statements) {
            insert_row! { self.transaction, "record the counts of a statement", statement_count {
                trial_id: self.trial, step_id: self.step, group_position: group,
                position: position, statement: statement.name, count: statement.count,
                rows: statement.rows, affected: statement.affected,
                unexpected: statement.unexpected,
            } }?;
            self.write_histogram(group, position, &statement.histogram)?;
        }
        Ok(())
    }

    fn write_errors(&self, group: usize, errors: &[ErrorCount]) -> Result<(), StoreError> {
        errors.iter().try_for_each(|error| {
            insert_row! { self.transaction, "record the errors of a step", error_count {
                trial_id: self.trial, step_id: self.step, group_position: group,
                code: error.code.as_str(), class: Word(&error.class), count: error.count,
                message: error.message,
            } }
        })
    }

    fn write_schedule(&self, group: usize, schedule: &Schedule) -> Result<(), StoreError> {
        insert_row! { self.transaction, "record a schedule", schedule {
            trial_id: self.trial, step_id: self.step, group_position: group,
            planned: schedule.planned, backlog: schedule.backlog, left_undone: schedule.left,
            response_hdr: schedule.response, error_hdr: schedule.error,
        } }
    }

    fn write_intervals(&self, group: usize, intervals: &[Interval]) -> Result<(), StoreError> {
        intervals
            .iter()
            .enumerate()
            .try_for_each(|(position, interval)| {
                insert_row! { self.transaction, "record the intervals of a step", interval {
                    trial_id: self.trial, step_id: self.step, group_position: group,
                    position: position, start_ns: interval.start_ns, end_ns: interval.end_ns,
                    operations: interval.operations, queries: interval.queries,
                    errors: interval.errors, latency_ns_p99: interval.latency_ns_p99,
                    latency_ns_max: interval.latency_ns_max,
                    response_ns_p99: interval.response_ns_p99, backlog: interval.backlog,
                } }
            })
    }

    fn write_thread_use(&self, threads: &[ThreadUse]) -> Result<(), StoreError> {
        threads.iter().enumerate().try_for_each(|(thread, used)| {
            insert_row! { self.transaction, "record the threads of the load generator", thread_use {
                trial_id: self.trial, step_id: self.step, thread: thread,
                wall_ns: used.wall_ns, cpu_ns: used.cpu_ns, run_queue_ns: used.run_queue_ns,
            } }
        })
    }
}
