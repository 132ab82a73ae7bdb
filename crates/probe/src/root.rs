//! Root of the kernel's files.

use std::io;
use std::path::{Path, PathBuf};

/// The folder that stands for `/`: the real one, or a recorded copy in tests.
#[derive(Debug, Clone)]
pub struct Root {
    folder: PathBuf,
    live: bool,
}

/// Reason why a reading could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The kernel's file can't be read, for instance because the process has ended.
    #[error("read {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The file does not look as documented in proc(5).
    #[error("read {path}: expected {expected}")]
    Unexpected {
        /// The file.
        path: PathBuf,
        /// Expected content.
        expected: &'static str,
    },
}

impl ProbeError {
    /// Returns `true` if the kernel keeps the file from us.
    pub(crate) fn is_denied(&self) -> bool {
        matches!(self, Self::Read { source, .. } if source.kind() == io::ErrorKind::PermissionDenied)
    }

    /// Returns `true` if the process or thread that the file tells of has ended.
    pub(crate) fn is_gone(&self) -> bool {
        let Self::Read { source, .. } = self else {
            return false;
        };
        // Opening the file of a thread that has ended fails in one way, reading it in the other.
        source.kind() == io::ErrorKind::NotFound
            || source.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error())
    }
}

impl Root {
    /// The live machine.
    pub fn live() -> Self {
        Self {
            folder: PathBuf::from("/"),
            live: true,
        }
    }

    /// A folder that holds `proc/` and `sys/` as the kernel lays them out.
    pub fn recorded(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            live: false,
        }
    }

    /// Returns `true` if it is the machine that this program runs on, whose processes have clocks.
    pub(crate) fn is_live(&self) -> bool {
        self.live
    }

    /// Location of a path of the machine.
    pub(crate) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.folder.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// The kernel's name for the time since the machine was started, or `None` where it has none.
    pub fn boot_id(&self) -> Option<String> {
        let text = self.read("proc/sys/kernel/random/boot_id").ok()?;
        Some(text.trim().to_owned())
    }

    /// A folder of the live machine without symbolic links in its path; recorded ones have none.
    pub(crate) fn real(&self, folder: &Path) -> Result<PathBuf, ProbeError> {
        if !self.live {
            return Ok(folder.to_owned());
        }
        folder.canonicalize().map_err(|source| ProbeError::Read {
            path: folder.to_owned(),
            source,
        })
    }

    /// The text of a file. What is no text in it, as the names of processes may be, is replaced.
    ///
    /// The kernel ends its files with a line break: one that does not is not all there, and its
    /// last number may not be either.
    ///
    /// # Errors
    /// If the file can't be read, or does not end with a line break.
    pub fn read(&self, path: impl AsRef<Path>) -> Result<String, ProbeError> {
        let path = self.path(path);
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(source) => return Err(ProbeError::Read { path, source }),
        };
        if bytes.last().is_some_and(|last| *last != b'\n') {
            let expected = "a line break at the end";
            return Err(ProbeError::Unexpected { path, expected });
        }
        Ok(String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    /// Reads and parses a file.
    pub(crate) fn parse<T>(
        &self,
        path: impl AsRef<Path>,
        expected: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, ProbeError> {
        let text = self.read(&path)?;
        let path = self.path(path);
        parse(&text).ok_or(ProbeError::Unexpected { path, expected })
    }

    /// The number that is all of a file; `None` if it can't be read.
    pub fn number(&self, path: impl AsRef<Path>) -> Option<u64> {
        self.read(path).ok()?.trim().parse().ok()
    }

    /// The words of a file that is a single line without an end; none where it can't be read.
    pub(crate) fn words(&self, path: impl AsRef<Path>) -> Vec<String> {
        let text = std::fs::read_to_string(self.path(path)).unwrap_or_default();
        text.split_ascii_whitespace().map(str::to_owned).collect()
    }

    /// The names in a folder.
    ///
    /// # Errors
    /// If the folder can't be read.
    pub fn list(&self, path: impl AsRef<Path>) -> Result<Vec<String>, ProbeError> {
        let path = self.path(path);
        std::fs::read_dir(&path)
            .and_then(|entries| {
                entries
                    .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
                    .collect()
            })
            .map_err(|source| ProbeError::Read { path, source })
    }

    pub(crate) fn unexpected(&self, path: impl AsRef<Path>, expected: &'static str) -> ProbeError {
        ProbeError::Unexpected {
            path: self.path(path),
            expected,
        }
    }
}

/// Nanoseconds of one clock tick of the kernel's accounting files.
pub(crate) fn tick_ns() -> u64 {
    1_000_000_000 / rustix::param::clock_ticks_per_second().max(1)
}

/// Clock ticks in nanoseconds; `None` for more than can be.
pub(crate) fn ticks_to_ns(ticks: u64) -> Option<u64> {
    ticks.checked_mul(tick_ns())
}

/// Pages of memory in bytes; `None` for more than can be.
pub(crate) fn pages_to_bytes(pages: u64) -> Option<u64> {
    pages.checked_mul(rustix::param::page_size() as u64)
}

/// Nanoseconds of the host's monotonic clock: the time that a reading carries. Comparable between
/// processes of one host until it is restarted.
pub fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}
