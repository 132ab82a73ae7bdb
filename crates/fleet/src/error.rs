//! Failures of a fleet.

use std::io;
use std::path::{Path, PathBuf};

use prony_store::StoreError;

/// A run of several hosts that could not be submitted, looked at or collected.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// A result file could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file or folder could not be read or written.
    #[error("{action} {path}: {source}")]
    Io {
        /// The attempt, as a fragment that fits after "failed to".
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The answer of the system.
        source: io::Error,
    },
    /// The folder is that of no submitted run.
    #[error("open {path}: there is no plan of a fleet; name the folder that `prony submit` made")]
    NotARun {
        /// The folder.
        path: PathBuf,
    },
    /// A file of the run's folder, or of the user, has other contents than expected.
    #[error("read {path}: {problem}")]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong, and the remedy.
        problem: String,
    },
    /// No host has delivered anything.
    #[error("collect {path}: no part is there yet; `prony status` shows what its jobs do")]
    Nothing {
        /// The folder of the run.
        path: PathBuf,
    },
    /// Blocks were measured by unlike hosts.
    #[error(
        "merge parts of unlike hosts:\n{classes}\n\
         ratios between them would mix their kinds: submit again with a --constraint that selects one \
         kind, or merge all the same with --mixed-hosts"
    )]
    MixedHosts {
        /// A line for each kind of host.
        classes: String,
    },
    /// The engine refused.
    #[error("{action} with `{command}`: {answer}")]
    Engine {
        /// The attempt.
        action: &'static str,
        /// The command.
        command: String,
        /// Its answer.
        answer: String,
    },
}

/// Gives an error of the system its context.
pub(crate) trait At<T> {
    /// Names what was attempted, and the file or folder.
    fn at(self, action: &'static str, path: &Path) -> Result<T, FleetError>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, action: &'static str, path: &Path) -> Result<T, FleetError> {
        self.map_err(|source| FleetError::Io {
            action,
            path: path.to_owned(),
            source,
        })
    }
}
