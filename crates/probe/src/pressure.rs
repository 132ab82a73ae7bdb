//! Pressure stall information of the host: time in which something had to wait for a resource.

use prony_model::{Gap, Source};

use crate::draft::Draft;
use crate::root::Root;

/// The files, and the names of their two lines. Source of the layout: the kernel's documentation,
/// accounting/psi.
const FILES: [(&str, &str, &str); 3] = [
    ("proc/pressure/cpu", "cpu_some_ns", "cpu_full_ns"),
    ("proc/pressure/io", "io_some_ns", "io_full_ns"),
    ("proc/pressure/memory", "memory_some_ns", "memory_full_ns"),
];

/// Reads the pressure.
#[derive(Debug)]
pub(crate) struct Pressure {
    present: bool,
}

impl Pressure {
    /// Finds out whether the kernel tells it.
    pub(crate) fn new(root: &Root, absences: &mut Vec<Gap>) -> Self {
        let first = root.read(FILES[0].0);
        if let Err(error) = &first {
            absences.push(Gap {
                source: Source::Pressure,
                reason: format!("{error}: start the kernel with `psi=1` (kernels from 4.20 on)"),
            });
        }
        Self {
            present: first.is_ok(),
        }
    }

    /// Takes a sample.
    pub(crate) fn sample(&self, root: &Root, draft: &mut Draft) {
        for (path, some, full) in FILES.iter().filter(|_| self.present) {
            match root.read(path) {
                Ok(text) => {
                    // Older kernels have no second line for processors.
                    draft.put_known(Source::Pressure, some, total_ns(&text, "some "));
                    draft.put_known(Source::Pressure, full, total_ns(&text, "full "));
                }
                Err(error) => draft.gap(Source::Pressure, &error),
            }
        }
    }
}

/// The total of a line such as `some avg10=0.00 avg60=0.00 avg300=0.00 total=12`, which is in
/// microseconds.
pub(crate) fn total_ns(text: &str, word: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(word))?;
    let total = line
        .split_ascii_whitespace()
        .find_map(|word| word.strip_prefix("total="))?;
    total.parse::<u64>().ok()?.checked_mul(1_000)
}
