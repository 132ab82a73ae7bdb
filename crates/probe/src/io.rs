//! `/proc/PID/io`: what processes have asked to be read and written.

use crate::root::{ProbeError, Root};
use crate::text::value;

/// The figures of proc(5), io; those of ended threads and reaped children are part of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Io {
    pub(crate) read_chars: u64,
    pub(crate) written_chars: u64,
    pub(crate) read_calls: u64,
    pub(crate) write_calls: u64,
    pub(crate) read_bytes: u64,
    pub(crate) written_bytes: u64,
}

impl Io {
    /// Reads those of a process.
    pub(crate) fn of(root: &Root, pid: u32) -> Result<Self, ProbeError> {
        let path = format!("proc/{pid}/io");
        let text = root.read(&path)?;
        Self::parse(&text).ok_or_else(|| root.unexpected(path, "the lines of proc(5), io"))
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        Some(Self {
            read_chars: value(text, "rchar:")?,
            written_chars: value(text, "wchar:")?,
            read_calls: value(text, "syscr:")?,
            write_calls: value(text, "syscw:")?,
            read_bytes: value(text, "read_bytes:")?,
            written_bytes: value(text, "write_bytes:")?,
        })
    }

    /// The sum of both; `None` for more than can be.
    pub(crate) fn plus(self, other: Self) -> Option<Self> {
        Some(Self {
            read_chars: self.read_chars.checked_add(other.read_chars)?,
            written_chars: self.written_chars.checked_add(other.written_chars)?,
            read_calls: self.read_calls.checked_add(other.read_calls)?,
            write_calls: self.write_calls.checked_add(other.write_calls)?,
            read_bytes: self.read_bytes.checked_add(other.read_bytes)?,
            written_bytes: self.written_bytes.checked_add(other.written_bytes)?,
        })
    }
}
