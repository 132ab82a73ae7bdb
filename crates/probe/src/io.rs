//! `/proc/PID/io`: data that processes have asked to be read and written.

use crate::root::{ProbeError, Root};
use crate::text::value;

/// Names of the counters, and the words before them in the file. Source: proc(5), io. They include
/// ended threads and reaped children.
pub(crate) const FIGURES: [(&str, &str); 6] = [
    ("read_chars", "rchar:"),
    ("written_chars", "wchar:"),
    ("read_calls", "syscr:"),
    ("write_calls", "syscw:"),
    ("read_bytes", "read_bytes:"),
    ("written_bytes", "write_bytes:"),
];

/// Reads the figures of a process.
pub(crate) fn read(root: &Root, pid: u32) -> Result<[u64; FIGURES.len()], ProbeError> {
    let path = format!("proc/{pid}/io");
    root.parse(path, "the lines of proc(5), io", |text| {
        let mut figures = [0; FIGURES.len()];
        for (figure, (_, word)) in figures.iter_mut().zip(FIGURES) {
            *figure = value(text, word)?;
        }
        Some(figures)
    })
}
