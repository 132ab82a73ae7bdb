//! What ends a whole run.

use std::io;
use std::path::PathBuf;

use prony_equality::{UnequalTargets, VariableTableError};
use prony_servers::{FetchError, RenderError};
use prony_store::StoreError;

/// Why a run can't begin or go on. The failure of a trial is not among these: it is a result.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The plan names a build that the catalogue no longer has.
    #[error("find the server build `{build}` of target `{target}` in the catalogue")]
    UnknownBuild {
        /// The target.
        target: String,
        /// The build's id.
        build: String,
    },
    /// A version can't honour what is asked of it.
    #[error("configure target `{target}`: {source}")]
    Render {
        /// The target.
        target: String,
        /// What it can't honour.
        source: RenderError,
    },
    /// The password of an external server is not where the experiment says.
    #[error("find the password of target `{target}`: {reason}")]
    Password {
        /// The target.
        target: String,
        /// What to do.
        reason: String,
    },
    /// The table of variables can't be read: a defect of this program.
    #[error(transparent)]
    Variables(#[from] VariableTableError),
    /// The targets differ in what is known to matter for speed.
    #[error(transparent)]
    Unequal(#[from] UnequalTargets),
    /// A server build can't be had.
    #[error("fetch {build}: {source}")]
    Fetch {
        /// The build's id.
        build: String,
        /// Why.
        source: FetchError,
    },
    /// The result file can't be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An artefact can't be written beside the result file.
    #[error("write {path}: {source}")]
    Artefact {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}
