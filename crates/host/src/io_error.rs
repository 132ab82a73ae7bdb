//! What goes wrong with files, with the place that it went wrong at.

use std::io::{self, Read};
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

/// Fills as much of `buffer` as the stream has left; returns how much that is.
pub(crate) fn read_up_to(stream: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut read = 0;
    while read < buffer.len() {
        match stream.read(&mut buffer[read..]) {
            Ok(0) => break,
            Ok(count) => read += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}
