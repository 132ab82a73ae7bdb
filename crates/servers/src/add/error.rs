//! Errors of adding a server.

use std::io;
use std::path::PathBuf;

use prony_client::ClientError;
use prony_host::IoError;

use crate::build::catalogue::CatalogueError;
use crate::build::fetch::FetchError;
use crate::build::unpack::UnpackError;
use crate::config::render::RenderError;
use crate::instance::verify::VerifyError;
use crate::instance::{InstanceError, StopError};

/// The reason that a server was not added.
#[derive(Debug, thiserror::Error)]
pub enum AddError {
    /// A file or folder can't be read or written.
    #[error(transparent)]
    Io(#[from] IoError),
    /// There is no server in it.
    #[error(
        "find a server in {}: it has no mariadbd or mysqld in bin, sbin, libexec, usr/sbin, usr/libexec or at its top; name the folder that such a folder lies in",
        path.display()
    )]
    NoServer {
        /// The folder or archive.
        path: PathBuf,
    },
    /// A file with a server's name is none.
    #[error(
        "use {} of {}: it is no program but a script or a text; name the folder of an unpacked server",
        program.display(),
        path.display()
    )]
    NoProgram {
        /// The folder or archive.
        path: PathBuf,
        /// The file in it.
        program: PathBuf,
    },
    /// The server is made for other machines.
    #[error(
        "use {} of {}: it is made for {made_for}, and this machine is {}; get the build for this machine",
        program.display(),
        path.display(),
        std::env::consts::ARCH
    )]
    Processor {
        /// The folder or archive.
        path: PathBuf,
        /// The program in it.
        program: PathBuf,
        /// The processor it is made for.
        made_for: String,
    },
    /// Libraries that it needs are not there.
    #[error(
        "load {} of {}: there is no {}; install what has it, or {}",
        program.display(),
        path.display(),
        missing.join(", no "),
        bring_along(*archive)
    )]
    Libraries {
        /// The folder or archive.
        path: PathBuf,
        /// The program in it.
        program: PathBuf,
        /// Names of libraries, and versions of the C library.
        missing: Vec<String>,
        /// True for an archive, which nothing can be put into.
        archive: bool,
    },
    /// The program can't be started or watched.
    #[error("run the server program: {source}")]
    Run {
        /// The answer of the operating system.
        source: io::Error,
    },
    /// A program does not come to an end.
    #[error(
        "ask the server program what it is: it did not come to an end in {seconds} s; start it by hand with --version to see why"
    )]
    Silent {
        /// The time that was waited.
        seconds: u64,
    },
    /// It does not say which version it is.
    #[error("ask {} of {} for its version: it says `{said}`; start it by hand with --version, or write its catalogue entry yourself", program.display(), path.display())]
    Version {
        /// The folder or archive.
        path: PathBuf,
        /// The program in it.
        program: PathBuf,
        /// Its answer.
        said: String,
    },
    /// No way to make a data directory is found.
    #[error(
        "find out how {} makes a data directory: it does not know --initialize-insecure, and has neither a script mysql_system_tables.sql nor a data directory with mysql/user.frm; add the files that its release has beside it",
        path.display()
    )]
    NoBootstrap {
        /// The folder or archive.
        path: PathBuf,
    },
    /// The catalogue has a build of this name.
    #[error("add a build `{id}`: the catalogue has one of this name; give it another by --id")]
    Exists {
        /// The name.
        id: String,
    },
    /// The catalogue has a file of this name.
    #[error("write {}: it exists; remove it, or give the build another name by --id", file.display())]
    FileExists {
        /// The file.
        file: PathBuf,
    },
    /// The name is none that a build can have.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    /// Something that it needs can't be had.
    #[error("get the files of the server: {0}")]
    Fetch(FetchError),
    /// The archive can't be unpacked.
    #[error(transparent)]
    Unpack(UnpackError),
    /// It can't be told the baseline.
    #[error("configure the server: {0}")]
    Render(#[from] RenderError),
    /// It does not start.
    #[error(transparent)]
    Instance(InstanceError),
    /// It does not answer.
    #[error("ask the server for its engines: {source}")]
    Ask {
        /// The client's error.
        source: ClientError,
    },
    /// It does not stop.
    #[error("stop the server: {source}")]
    Stop {
        /// The failure.
        source: StopError,
    },
    /// It has no engine that Prony can load data into.
    #[error("find an engine of the server that Prony knows: it has {}; get a build with InnoDB or MyISAM", found.join(", "))]
    NoEngines {
        /// The engines it has.
        found: Vec<String>,
    },
    /// It starts, and something else fails.
    #[error(transparent)]
    Verify(#[from] VerifyError),
    /// The user wished to stop.
    #[error("stopped")]
    Stopped,
}

/// The way to give libraries to a server.
fn bring_along(archive: bool) -> &'static str {
    if archive {
        "unpack the archive, put it into a folder `lib` beside the server's other folders, and add the unpacked folder"
    } else {
        "put it into a folder `lib` beside the server's other folders"
    }
}

impl AddError {
    /// The end of the server's own log, where there is one.
    pub fn log_tail(&self) -> Option<&str> {
        match self {
            Self::Instance(error) => error.log_tail(),
            Self::Verify(error) => error.log_tail(),
            Self::Stop { source } => Some(source.log_tail()),
            _ => None,
        }
    }
}

impl From<FetchError> for AddError {
    fn from(error: FetchError) -> Self {
        match error {
            FetchError::Stopped => Self::Stopped,
            error => Self::Fetch(error),
        }
    }
}

impl From<UnpackError> for AddError {
    fn from(error: UnpackError) -> Self {
        match error {
            UnpackError::Stopped { .. } => Self::Stopped,
            error => Self::Unpack(error),
        }
    }
}

impl From<InstanceError> for AddError {
    fn from(error: InstanceError) -> Self {
        match error {
            InstanceError::Stopped => Self::Stopped,
            error => Self::Instance(error),
        }
    }
}

#[cfg(test)]
mod tests;
