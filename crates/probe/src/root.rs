//! Where the kernel's files are read from.

use std::io;
use std::path::{Path, PathBuf};

/// The folder that stands for `/`: the real one, or a recorded copy in tests.
#[derive(Debug, Clone)]
pub struct Root(PathBuf);

/// Why a reading could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The kernel's file can't be read, for instance because the process has ended.
    #[error("read {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file does not look as documented in proc(5).
    #[error("read {path}: expected {expected}")]
    Unexpected {
        /// The file.
        path: PathBuf,
        /// What should be there.
        expected: &'static str,
    },
}

impl ProbeError {
    /// Whether the process or thread that the file tells of has ended.
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
        Self(PathBuf::from("/"))
    }

    /// A folder that holds `proc/` and `sys/` as the kernel lays them out.
    pub fn recorded(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    /// The kernel's name for the time since the machine was started, or `None` where it has none.
    pub fn boot_id(&self) -> Option<String> {
        let text = self.read("proc/sys/kernel/random/boot_id").ok()?;
        Some(text.trim().to_owned())
    }

    pub(crate) fn read(&self, path: impl AsRef<Path>) -> Result<String, ProbeError> {
        let path = self.0.join(path);
        std::fs::read_to_string(&path).map_err(|source| ProbeError::Read { path, source })
    }

    /// The names in a folder.
    pub(crate) fn list(&self, path: impl AsRef<Path>) -> Result<Vec<String>, ProbeError> {
        let path = self.0.join(path);
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
            path: self.0.join(path),
            expected,
        }
    }
}

/// Nanoseconds of one clock tick of the kernel's accounting files.
pub(crate) fn tick_ns() -> u64 {
    1_000_000_000 / rustix::param::clock_ticks_per_second().max(1)
}

/// Nanoseconds of the host's monotonic clock: the time that a reading carries. Comparable between
/// processes of one host until it is restarted.
pub fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}
