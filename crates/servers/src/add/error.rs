//! Errors of adding a server.

use std::io;
use std::path::{Path, PathBuf};

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
    /// There is no server in this folder or archive.
    #[error(
        "find a server in {}: it has no mariadbd or mysqld in bin, sbin, libexec, usr/sbin, usr/libexec or at its top; name the folder that such a folder lies in",
        .0.display()
    )]
    NoServer(PathBuf),
    /// Its program can't run here.
    #[error("{verb} {} of {}: {reason}", program.display(), path.display())]
    Program {
        /// The attempt, such as `load`.
        verb: &'static str,
        /// The folder or archive.
        path: PathBuf,
        /// The file in it.
        program: PathBuf,
        /// The reason, and the way out.
        reason: String,
    },
    /// The program can't be started or watched.
    #[error("run the server program: {0}")]
    Run(io::Error),
    /// A program does not come to an end in so many seconds.
    #[error(
        "ask the server program what it is: it did not come to an end in {0} s; start it by hand with --version to see why"
    )]
    Silent(u64),
    /// It does not say which version it is.
    #[error("ask {} of {} for its version: it answered `{said}`; run it by hand with --version, \
             or write its catalogue entry yourself", program.display(), path.display())]
    Version {
        /// The folder or archive.
        path: PathBuf,
        /// The program in it.
        program: PathBuf,
        /// Its answer.
        said: String,
    },
    /// No way to make a data directory is found in this folder or archive.
    #[error(
        "find out how {} makes a data directory: it does not know --initialize-insecure, and has neither a script mysql_system_tables.sql nor a data directory with mysql/user.frm; add the files that its release has beside it",
        .0.display()
    )]
    NoBootstrap(PathBuf),
    /// The catalogue has a build of this name.
    #[error("add a build `{0}`: the catalogue has one of this name; give it another by --id")]
    Exists(String),
    /// The catalogue has this file.
    #[error("write {}: it exists; remove it, or give the build another name by --id", .0.display())]
    FileExists(PathBuf),
    /// The name is none that a build can have.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    /// Something that it needs is unavailable.
    #[error("get the files of the server: {0}")]
    Fetch(#[from] FetchError),
    /// The archive can't be unpacked.
    #[error(transparent)]
    Unpack(#[from] UnpackError),
    /// It can't be told the baseline.
    #[error("configure the server: {0}")]
    Render(#[from] RenderError),
    /// It does not start.
    #[error(transparent)]
    Instance(#[from] InstanceError),
    /// It does not answer.
    #[error("ask the server for its engines: {0}")]
    Ask(ClientError),
    /// It does not stop.
    #[error("stop the server: {0}")]
    Stop(StopError),
    /// It has only these engines, and Prony can load data into none of them.
    #[error("find an engine of the server that Prony knows: it has {}; get a build with InnoDB or MyISAM", .0.join(", "))]
    NoEngines(Vec<String>),
    /// It starts, and something else fails.
    #[error(transparent)]
    Verify(#[from] VerifyError),
    /// The user wished to stop.
    #[error("stopped")]
    Stopped,
}

impl AddError {
    /// Its program is none, but a script or a text.
    pub(super) fn no_program(path: &Path, program: &Path) -> Self {
        let reason = "it is no program but a script or a text; name the folder of an unpacked \
                      server";
        Self::program("use", path, program, reason.to_owned())
    }

    /// Its program is made for another processor.
    pub(super) fn processor(path: &Path, program: &Path, made_for: &str) -> Self {
        let here = std::env::consts::ARCH;
        let reason = format!(
            "it is made for {made_for}, and this machine is {here}; get the build for this machine"
        );
        Self::program("use", path, program, reason)
    }

    /// Libraries, or versions of the C library, are not there. Nothing can be put into an archive.
    pub(super) fn libraries(
        path: &Path,
        program: &Path,
        missing: &[String],
        archive: bool,
    ) -> Self {
        let (unpack, add) = if archive {
            ("unpack the archive, ", ", and add the unpacked folder")
        } else {
            ("", "")
        };
        let reason = format!(
            "there is no {}; install what has it, or {unpack}put it into a folder `lib` beside the \
             server's other folders{add}",
            missing.join(", no ")
        );
        Self::program("load", path, program, reason)
    }

    fn program(verb: &'static str, path: &Path, program: &Path, reason: String) -> Self {
        let (path, program) = (path.to_owned(), program.to_owned());
        Self::Program {
            verb,
            path,
            program,
            reason,
        }
    }

    /// The end of the server's own log, where there is one.
    pub fn log_tail(&self) -> Option<&str> {
        match self {
            Self::Instance(error) => error.log_tail(),
            Self::Verify(error) => error.log_tail(),
            Self::Stop(error) => Some(error.log_tail()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
