//! Failures of result files.

mod remedy;

use std::io;
use std::path::PathBuf;

use prony_model::{Backend, TrialState};
use rusqlite::Connection;

/// A result file that could not be created, opened, written or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is a file already where a new one was to be created.
    #[error("create {path}: the file exists already; choose another folder or resume that run")]
    Exists {
        /// The path asked for.
        path: PathBuf,
    },
    /// There is no file to open.
    #[error("open {path}: there is no such file; name the folder of a run")]
    Missing {
        /// The path asked for.
        path: PathBuf,
    },
    /// Another program works on this run.
    #[error(
        "lock {path}: this run is in use{owner}; wait for that program or stop it",
        owner = pid.map(|pid| format!(" by process {pid}")).unwrap_or_default()
    )]
    InUse {
        /// The lock file.
        path: PathBuf,
        /// The process that holds the lock, where it is known.
        pid: Option<u32>,
    },
    /// The lock file could not be created or locked.
    #[error(
        "lock {path}: {source}{remedy}",
        remedy = remedy::for_system(source, path)
    )]
    Lock {
        /// The lock file.
        path: PathBuf,
        /// The answer of the system.
        source: io::Error,
    },
    /// The result file can't be looked at.
    #[error(
        "open {path}: {source}{remedy}",
        remedy = remedy::for_system(source, path)
    )]
    Inaccessible {
        /// The path asked for.
        path: PathBuf,
        /// The answer of the system.
        source: io::Error,
    },
    /// The file lacks its end.
    #[error(
        "open {path}: the file was cut short, it has {found} bytes{expected}; restore it from a \
         copy, or run the experiment again",
        expected = expected.map(|bytes| format!(" of {bytes}")).unwrap_or_default()
    )]
    CutShort {
        /// The file.
        path: PathBuf,
        /// Its size in bytes.
        found: u64,
        /// The size that its header says, where it has a header.
        expected: Option<u64>,
    },
    /// The file is something else.
    #[error("open {path}: this is not a result file of Prony; name the folder of a run")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file was created, but its program died before the run began.
    #[error(
        "open {path}: the run was cut short before it began; delete its folder and run the experiment again"
    )]
    NeverBegun {
        /// The file.
        path: PathBuf,
    },
    /// The file has one of the layouts that came before the first release.
    #[error(
        "open {path}: it was made by a Prony from before the first release, whose layout this one \
         does not read; run the experiment again, or make its report with the Prony that made it"
    )]
    Unreleased {
        /// The file.
        path: PathBuf,
    },
    /// The plan has trials of a kind that only later versions of Prony know.
    #[error(
        "continue with {path}: its plan has trials of the kind {kind}, which this Prony does not \
         know; \
         use a newer Prony"
    )]
    UnknownKind {
        /// The file.
        path: PathBuf,
        /// The kind, as it is written in the plan.
        kind: String,
    },
    /// The file is from a later version of Prony.
    #[error(
        "open {path}: its schema has version {found}, this Prony knows versions up to {known}; use a newer Prony"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema version.
        found: i64,
        /// The latest version known here.
        known: i64,
    },
    /// The store was opened for reading.
    #[error("write to the result file: it was opened for reading only")]
    ReadOnly,
    /// A database operation failed.
    #[error(
        "{action} in {path}: {source}{remedy}",
        remedy = remedy::for_database(source, path)
    )]
    Database {
        /// The attempt, as a fragment that fits after "failed to".
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The answer of SQLite.
        source: rusqlite::Error,
    },
    /// A value in the file does not mean anything.
    #[error(
        "read {place} in {path}: {problem}; the file is damaged or was edited by hand: restore it \
         from a copy, or run the experiment again"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Table and column.
        place: &'static str,
        /// The fault of the value.
        problem: String,
    },
    /// The trial is not part of the plan.
    #[error("begin a {kind} trial of target {target} in block {block}: the plan has no such trial")]
    NotPlanned {
        /// Block, counted from 0.
        block: u32,
        /// Index of the target.
        target: usize,
        /// Its kind.
        kind: &'static str,
    },
    /// The trial was begun already, and neither discarded nor excluded.
    #[error("begin a {kind} trial of target {target} in block {block}: it is {state} already")]
    Taken {
        /// Block, counted from 0.
        block: u32,
        /// Index of the target.
        target: usize,
        /// Its kind.
        kind: &'static str,
        /// The state of the attempt that counts.
        state: TrialState,
    },
    /// Only new blocks of known targets can be added to a plan.
    #[error("add trials to the plan: {problem}")]
    BadAddition {
        /// The fault of the trials.
        problem: String,
    },
    /// Only running trials can be written to or ended.
    #[error("write to trial {trial}: it is not running")]
    NotRunning {
        /// Number of the trial.
        trial: i64,
    },
    /// A trial is done when every step has its outcome, and not before.
    #[error("finish trial {trial}: {missing} of its steps have no outcome")]
    StepsMissing {
        /// Number of the trial.
        trial: i64,
        /// Number of steps without an outcome.
        missing: usize,
    },
    /// Every planned group of clients has an outcome, and no other.
    #[error(
        "record step `{step}` in trial {trial}: the number of its groups of clients is {found}, \
         that of the plan is {planned}"
    )]
    GroupsDiffer {
        /// Number of the trial.
        trial: i64,
        /// Name of the step.
        step: String,
        /// Number of groups with an outcome.
        found: usize,
        /// Number of groups in the plan.
        planned: usize,
    },
    /// The samples of a step are recorded all at once.
    #[error("record the samples of {of} in trial {trial}: they are already recorded")]
    SampledTwice {
        /// Number of the trial.
        trial: i64,
        /// The step with its connections, which tell it from others of its name, or the load.
        of: String,
    },
    /// A target was to be measured with another build than before.
    #[error(
        "continue with target {target}: its build is now {now}, this run began with {before}; \
         start a new run"
    )]
    BuildChanged {
        /// Name of the target.
        target: String,
        /// Version and content hash on record.
        before: String,
        /// Version and content hash now.
        now: String,
    },
    /// A target was to be measured under another configuration than before.
    #[error(
        "continue with target {target}: this run began with another `{option}` in its options; \
         start a new run"
    )]
    OptionsChanged {
        /// Name of the target.
        target: String,
        /// The first option that is not the same.
        option: String,
    },
    /// The load was to be driven in another way than before.
    #[error(
        "continue with {now}: this run began with {before}, and figures of two backends can't be \
         compared; start a new run"
    )]
    BackendChanged {
        /// The backend on record.
        before: Backend,
        /// The backend now.
        now: Backend,
    },
    /// The load was to come from another host than before.
    #[error(
        "continue with client {now}: this run began with client {before}, and loads from two hosts \
         can't be compared; continue with --client {before}, or start a new run"
    )]
    ClientHostChanged {
        /// The client host on record.
        before: String,
        /// The one now.
        now: String,
    },
    /// The file is that of a run of one host, or has measured something.
    #[error(
        "use {path} as the plan of a fleet: {problem}; submit the experiment with `prony submit`"
    )]
    NotSubmitted {
        /// The file.
        path: PathBuf,
        /// The reason.
        problem: &'static str,
    },
    /// A part is continued as another part.
    #[error(
        "continue the part {path}: it is of {before}, and this is {now}; remove the file to begin anew"
    )]
    OtherPart {
        /// The file.
        path: PathBuf,
        /// Host and blocks on record.
        before: String,
        /// Host and blocks now.
        now: String,
    },
    /// A copy of the result file could not be written.
    #[error("copy the result file to {path}: {source}")]
    Copy {
        /// The new file.
        path: PathBuf,
        /// The answer of the system.
        source: io::Error,
    },
    /// There is no target with this index.
    #[error("record data of target {target}: the plan has no such target")]
    NoSuchTarget {
        /// Index of the target.
        target: usize,
    },
}

impl StoreError {
    /// A failure of what was attempted on the file of this connection.
    pub(crate) fn database(
        action: &'static str,
        connection: &Connection,
        source: rusqlite::Error,
    ) -> Self {
        Self::Database {
            action,
            path: path_of(connection),
            source,
        }
    }

    /// A value in the file of this connection that does not mean anything.
    pub(crate) fn damaged(connection: &Connection, place: &'static str, problem: String) -> Self {
        Self::Damaged {
            path: path_of(connection),
            place,
            problem,
        }
    }
}

fn path_of(connection: &Connection) -> PathBuf {
    connection.path().unwrap_or_default().into()
}

/// Gives a database error its context.
pub(crate) trait Context<T> {
    /// Names what was attempted, as a fragment that fits after "failed to", and the file.
    fn during(self, action: &'static str, connection: &Connection) -> Result<T, StoreError>;
}

impl<T> Context<T> for rusqlite::Result<T> {
    fn during(self, action: &'static str, connection: &Connection) -> Result<T, StoreError> {
        self.map_err(|source| StoreError::database(action, connection, source))
    }
}

#[cfg(test)]
mod tests;
