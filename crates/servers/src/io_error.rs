//! What goes wrong with files, with the place that it went wrong at.

use std::io;
use std::path::{Path, PathBuf};

/// An error of the operating system and the path it is about.
#[derive(Debug, thiserror::Error)]
#[error("{action} {}: {source}", path.display())]
pub struct IoError {
    /// What was tried, such as `create`.
    pub action: &'static str,
    /// The file or folder it was tried on.
    pub path: PathBuf,
    /// The answer of the operating system.
    pub source: io::Error,
}

/// Adds the place to an [`io::Result`].
pub(crate) trait At<T> {
    /// Names what was tried on which path.
    fn at(self, action: &'static str, path: &Path) -> Result<T, IoError>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, action: &'static str, path: &Path) -> Result<T, IoError> {
        self.map_err(|source| IoError {
            action,
            path: path.to_owned(),
            source,
        })
    }
}

impl<T> At<T> for Result<T, rustix::io::Errno> {
    fn at(self, action: &'static str, path: &Path) -> Result<T, IoError> {
        self.map_err(io::Error::from).at(action, path)
    }
}
