//! Content of a group's files.

use std::collections::BTreeSet;

use crate::text::value;

/// Processor time of a group, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cpu {
    pub(super) total: u64,
    pub(super) user: Option<u64>,
    pub(super) system: Option<u64>,
}

impl Cpu {
    /// Parses `cpu.stat`. Source of the layout: the kernel's documentation,
    /// admin-guide/cgroup-v2, cpu.stat.
    pub(super) fn unified(text: &str) -> Option<Self> {
        let time = |word| value(text, word)?.checked_mul(1_000);
        Some(Self {
            total: time("usage_usec ")?,
            user: time("user_usec "),
            system: time("system_usec "),
        })
    }
}

/// Transfers of a group to and from block devices.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Transfers {
    /// The devices, by major and minor number.
    pub(super) devices: BTreeSet<String>,
    pub(super) read_bytes: u64,
    pub(super) written_bytes: u64,
    pub(super) reads: u64,
    pub(super) writes: u64,
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
            for word in words {
                let Some((key, number)) = word.split_once('=') else {
                    continue;
                };
                let sum = match key {
                    "rbytes" => &mut total.read_bytes,
                    "wbytes" => &mut total.written_bytes,
                    "rios" => &mut total.reads,
                    "wios" => &mut total.writes,
                    _ => continue,
                };
                *sum = sum.checked_add(number.parse().ok()?)?;
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
        for (text, read, written) in [
            (bytes, &mut total.read_bytes, &mut total.written_bytes),
            (operations, &mut total.reads, &mut total.writes),
        ] {
            for line in text.lines() {
                let words: Vec<&str> = line.split_ascii_whitespace().collect();
                let (device, sum, number) = match words[..] {
                    [device, "Read", number] => (device, &mut *read, number),
                    [device, "Write", number] => (device, &mut *written, number),
                    _ => continue,
                };
                if counts(device) {
                    *sum = sum.checked_add(number.parse().ok()?)?;
                    total.devices.insert(device.to_owned());
                }
            }
        }
        // Some kernels fill these files only where a limit is set: then nothing is known.
        (!total.devices.is_empty()).then_some(total)
    }
}
