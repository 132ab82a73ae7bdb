//! What hands parts to hosts.

use std::path::Path;

use crate::error::FleetError;
use crate::folder::RunFolder;
use crate::round::Round;

/// What an engine is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The folder that all hosts see.
    pub folder: &'a RunFolder,
    /// Name of the experiment.
    pub name: &'a str,
    /// The blocks of each task, and the user's options.
    pub round: &'a Round,
    /// Minutes after which a task is ended.
    pub limit_minutes: u64,
    /// The script of a task.
    pub script: &'a Path,
}

/// The state of a task in the words of its engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskState {
    /// Number of the task in its round.
    pub task: usize,
    /// Its state.
    pub state: String,
    /// Its host, where it has one.
    pub host_name: String,
    /// The reason why it waits, where it does.
    pub reason: String,
}

/// An engine that runs tasks on hosts: each alone on its host, which has a disk of its own.
pub trait Engine {
    /// Hands over the tasks of a round, and a last one that collects. Returns the engine's name for
    /// them.
    ///
    /// # Errors
    /// When the engine refuses.
    fn submit(&self, request: &Request<'_>) -> Result<String, FleetError>;

    /// The tasks that the engine still knows and that have not ended.
    ///
    /// # Errors
    /// When the engine does not answer.
    fn states(&self, job: &str) -> Result<Vec<TaskState>, FleetError>;
}
