//! The shapes in which the file answers.

use jiff::Timestamp;
use prony_model::{Backend, ErrorClass, PlannedTrial, TrialState};

use crate::TrialId;

/// The run as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRow {
    /// The id given when it was created.
    pub id: String,
    /// Version of the program that created it.
    pub prony_version: String,
    /// When it was created.
    pub started_at: Timestamp,
    /// When a program last stopped working on it in good order.
    pub ended_at: Option<Timestamp>,
    /// What carries the connections of its load; `None` before that is decided.
    pub backend: Option<Backend>,
}

/// The host at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostRow {
    /// When the facts were recorded.
    pub recorded_at: Timestamp,
    /// A JSON object; see [`crate::NewRun::host_json`].
    pub facts_json: String,
}

/// The build of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildRow {
    /// What the server answers to `SELECT VERSION()`.
    pub server_version: String,
    /// Hash of everything that makes up the build.
    pub content_hash: String,
    /// A JSON object.
    pub facts_json: String,
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
    /// Where it stands.
    pub state: TrialState,
    /// When it began.
    pub began_at: Timestamp,
    /// When it ended; `None` while running, and where its program died.
    pub ended_at: Option<Timestamp>,
    /// Why it failed or was discarded.
    pub reason: Option<String>,
    /// The end of the server's log, where it failed.
    pub log_tail: Option<String>,
}

/// The counts of one step of one done trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutcomeRow {
    /// The trial.
    pub trial: TrialId,
    /// Its block and target.
    pub planned: PlannedTrial,
    /// Index of the step in the plan.
    pub step: usize,
    /// What carried the connections' bytes.
    pub backend: Backend,
    /// Connections used.
    pub clients: u32,
    /// Threads of the load generator.
    pub threads: u32,
    /// Operations completed without a final error.
    pub operations: u64,
    /// Statements answered inside those operations.
    pub queries: u64,
    /// Sum over the clients of their busy time, in nanoseconds.
    pub busy_ns: u64,
    /// Processor time of the load generator in user space, in nanoseconds.
    pub client_user_ns: u64,
    /// The same in the kernel.
    pub client_system_ns: u64,
    /// Server errors of all classes.
    pub errors: u64,
    /// Answers whose counts are not what the workload expects.
    pub unexpected: u64,
}

/// The counts of one statement of a step.
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

/// Errors with one code in one step of one done trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorRow {
    /// The trial.
    pub trial: TrialId,
    /// Index of the step in the plan.
    pub step: usize,
    /// The server's error code.
    pub code: u16,
    /// What it means for the operation.
    pub class: ErrorClass,
    /// How often it came.
    pub count: u64,
    /// The message of the first.
    pub message: String,
}

/// A condition that must be shown beside the figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WarningRow {
    /// The trial it is about; `None` for the whole run.
    pub trial: Option<TrialId>,
    /// Index of the step it is about.
    pub step: Option<usize>,
    /// A short stable word for its kind.
    pub code: String,
    /// One sentence for people.
    pub text: String,
}
