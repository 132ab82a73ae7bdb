//! Content of a group's files.

use std::collections::BTreeSet;

/// Names of the figures of [`Transfers`], and their keys in `io.stat`.
pub(super) const TRANSFERS: [(&str, &str); 4] = [
    ("read_bytes", "rbytes"),
    ("written_bytes", "wbytes"),
    ("reads", "rios"),
    ("writes", "wios"),
];

/// Transfers of a group to and from block devices.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Transfers {
    /// The devices, by major and minor number.
    pub(super) devices: BTreeSet<String>,
    pub(super) figures: [u64; TRANSFERS.len()],
}

impl Transfers {
    /// Parses `io.stat`, such as `8:0 rbytes=90 wbytes=0 rios=1 wios=0 dbytes=0 dios=0`, for the
    /// devices that `counts` chooses. Source of the layout: the kernel's documentation,
    /// admin-guide/cgroup-v2, io.stat.
    pub(super) fn unified(text: &str, counts: impl Fn(&str) -> bool) -> Option<Self> {
        let mut total = Self::default();
        for line in text.lines() {
            let mut words = line.split_ascii_whitespace();
            // A device without figures has a line without words behind its number.
            let Some(device) = words.next().filter(|device| counts(device)) else {
                continue;
            };
            total.devices.insert(device.to_owned());
            for (key, number) in words.filter_map(|word| word.split_once('=')) {
                let index = TRANSFERS.iter().position(|(_, known)| *known == key);
                if let Some(index) = index {
                    total.add(index, number)?;
                }
            }
        }
        Some(total)
    }

    /// Parses the two files of `blkio`, with lines such as `8:0 Read 4096`. Source of the layout:
    /// the kernel's documentation, admin-guide/cgroup-v1/blkio-controller.
    pub(super) fn legacy(
        bytes: &str,
        operations: &str,
        counts: impl Fn(&str) -> bool,
    ) -> Option<Self> {
        let mut total = Self::default();
        for (text, first) in [(bytes, 0), (operations, 2)] {
            for line in text.lines() {
                let words: Vec<&str> = line.split_ascii_whitespace().collect();
                let (device, index, number) = match words[..] {
                    [device, "Read", number] => (device, first, number),
                    [device, "Write", number] => (device, first + 1, number),
                    _ => continue,
                };
                if counts(device) {
                    total.add(index, number)?;
                    total.devices.insert(device.to_owned());
                }
            }
        }
        // Some kernels fill these files only where a limit is set: then nothing is known.
        (!total.devices.is_empty()).then_some(total)
    }

    fn add(&mut self, index: usize, number: &str) -> Option<()> {
        let sum = &mut self.figures[index];
        *sum = sum.checked_add(number.parse().ok()?)?;
        Some(())
    }
}
