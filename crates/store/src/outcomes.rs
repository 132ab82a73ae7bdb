//! Outcomes of the steps of trials, by group of clients.

mod read;
mod write;

use prony_model::{Backend, ErrorClass, ErrorCode, PlannedTrial, Schedule, Scheduling, ThreadUse};

use crate::TrialId;

/// The counts of one group of clients in one step of one done trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutcomeRow {
    /// The trial.
    pub trial: TrialId,
    /// Its block, target and kind.
    pub planned: PlannedTrial,
    /// Index of the step in the plan.
    pub step: usize,
    /// Index of the group in the step; 0 for the step's own clients.
    pub group: usize,
    /// The backend that carried the connections of all groups of the step.
    pub backend: Backend,
    /// The scheduling policy of the load generator's threads.
    pub scheduling: Scheduling,
    /// Threads of the load generator, which drove all groups of the step.
    pub threads: u32,
    /// Processor time of the load generator in user space for all groups of the step, in
    /// nanoseconds.
    pub client_user_ns: u64,
    /// The same in the kernel.
    pub client_system_ns: u64,
    /// Connections used.
    pub clients: u32,
    /// Operations completed without a final error.
    pub operations: u64,
    /// Statements answered inside those operations.
    pub queries: u64,
    /// Sum over the clients of their busy time, in nanoseconds.
    pub busy_ns: u64,
    /// Server errors of all classes.
    pub errors: u64,
    /// Answers whose counts are not what the workload expects.
    pub unexpected: u64,
}

/// The counts of one statement of a group of clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementRow {
    /// Its place in the workload, from 1.
    pub position: usize,
    /// Its name in the workload, or `begin`, `commit`, `connect`.
    pub name: String,
    /// Times answered without error.
    pub count: u64,
    /// Rows returned.
    pub rows: u64,
    /// Rows changed, as the server reports them.
    pub affected: u64,
    /// Answers whose counts are not what the workload expects.
    pub unexpected: u64,
}

/// The service times of one group of clients in one step of a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistogramRow {
    /// Index of the step in the plan.
    pub step: usize,
    /// Index of the group in the step.
    pub group: usize,
    /// HDR V2, deflated, in nanoseconds.
    pub hdr: Vec<u8>,
}

/// Errors with one code of one group of clients in one step of one done trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorRow {
    /// The trial.
    pub trial: TrialId,
    /// Index of the step in the plan.
    pub step: usize,
    /// Index of the group in the step.
    pub group: usize,
    /// The server's error code.
    pub code: ErrorCode,
    /// Its meaning for the operation.
    pub class: ErrorClass,
    /// Number of occurrences.
    pub count: u64,
    /// The message of the first.
    pub message: String,
}

/// Adherence of a group of clients to its schedule in one step of one done trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleRow {
    /// The trial.
    pub trial: TrialId,
    /// Index of the step in the plan.
    pub step: usize,
    /// Index of the group in the step.
    pub group: usize,
    /// Counts and times.
    pub schedule: Schedule,
}

/// Use of one thread of the load generator in one step of one done trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadUseRow {
    /// The trial.
    pub trial: TrialId,
    /// Index of the step in the plan.
    pub step: usize,
    /// Number of the thread, from 0.
    pub thread: usize,
    /// Its time, by use.
    pub used: ThreadUse,
}

/// One interval of one group of clients in one step of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StretchRow {
    /// Index of the step in the plan.
    pub step: usize,
    /// Index of the group in the step; 0 for the step's own clients.
    pub group: usize,
    /// Its operations.
    pub stretch: Stretch,
}

/// Operations of a group of clients in one interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// Begin, in nanoseconds after the start of the measured time.
    pub start_ns: u64,
    /// End, likewise.
    pub end_ns: u64,
    /// Operations completed in it.
    pub operations: u64,
    /// The longest service time of these, in nanoseconds; 0 without operations.
    pub longest_ns: u64,
}
