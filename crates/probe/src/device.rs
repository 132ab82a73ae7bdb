//! The block device that holds a data directory.

use std::path::Path;

use prony_model::{Gap, Source};

use crate::draft::Draft;
use crate::mounts::{Mount, holding, mounts};
use crate::root::{ProbeError, Root};

/// The kernel's figures count in sectors of 512 bytes, whatever those of the device are.
const SECTOR_BYTES: u64 = 512;
const MILLISECOND_NS: u64 = 1_000_000;

/// Names, positions and units of the figures of `/sys/dev/block/MAJOR:MINOR/stat`. Source of the
/// layout: the kernel's documentation, block/stat. Older kernels have the first eleven only.
const FIGURES: [(&str, usize, u64); 11] = [
    ("reads", 0, 1),
    ("read_merges", 1, 1),
    ("read_bytes", 2, SECTOR_BYTES),
    ("read_ns", 3, MILLISECOND_NS),
    ("writes", 4, 1),
    ("write_merges", 5, 1),
    ("written_bytes", 6, SECTOR_BYTES),
    ("write_ns", 7, MILLISECOND_NS),
    ("busy_ns", 9, MILLISECOND_NS),
    ("discards", 11, 1),
    ("flushes", 15, 1),
];

/// How many figures every kernel has.
const FIGURES_MIN: usize = 11;

/// Reads one device.
#[derive(Debug)]
pub(crate) struct Device {
    path: String,
}

/// Why there is no device to read.
#[derive(Debug, thiserror::Error)]
enum DeviceError {
    #[error(transparent)]
    Unreadable(#[from] ProbeError),
    #[error("find the file system of {path}: no mount holds it")]
    NotMounted { path: String },
    #[error(
        "find the block device of {path}: it lies on {kind}, which has none of its own; put the \
         cache folder on a file system of a disk"
    )]
    NoDevice { path: String, kind: String },
}

impl Device {
    /// Finds the device of a folder, an absolute path without symbolic links.
    pub(crate) fn find(root: &Root, folder: &Path, absences: &mut Vec<Gap>) -> Option<Self> {
        let found = Self::of(root, folder);
        if let Err(error) = &found {
            absences.push(Gap {
                source: Source::Device,
                reason: error.to_string(),
            });
        }
        found.ok()
    }

    fn of(root: &Root, folder: &Path) -> Result<Self, DeviceError> {
        let path = || folder.display().to_string();
        let mounts = mounts(root)?;
        let mount =
            holding(&mounts, folder).ok_or_else(|| DeviceError::NotMounted { path: path() })?;
        let number = number(root, mount).ok_or_else(|| DeviceError::NoDevice {
            path: path(),
            kind: mount.kind.clone(),
        })?;
        let device = Self {
            path: format!("sys/dev/block/{number}/stat"),
        };
        device.read(root)?;
        Ok(device)
    }

    fn read(&self, root: &Root) -> Result<Vec<(&'static str, u64)>, ProbeError> {
        let text = root.read(&self.path)?;
        parse(&text).ok_or_else(|| root.unexpected(&self.path, "at least eleven numbers"))
    }

    /// Takes a sample.
    pub(crate) fn sample(&self, root: &Root, draft: &mut Draft) {
        match self.read(root) {
            Ok(figures) => {
                for (name, value) in figures {
                    draft.put(Source::Device, name, value);
                }
            }
            Err(error) => draft.gap(Source::Device, &error),
        }
    }
}

/// Major and minor number of the device that is mounted. File systems that can span several
/// devices, as btrfs can, have a number of their own (with major 0) and name one of them.
fn number(root: &Root, mount: &Mount) -> Option<String> {
    if !mount.device.starts_with("0:") {
        return Some(mount.device.clone());
    }
    let name = Path::new(mount.source.strip_prefix("/dev/")?).file_name()?;
    let path = Path::new("sys/class/block").join(name).join("dev");
    root.read(path).ok().map(|text| text.trim().to_owned())
}

/// The figures in the file's numbers; `None` if some are missing or no numbers.
pub(crate) fn parse(text: &str) -> Option<Vec<(&'static str, u64)>> {
    let numbers: Option<Vec<u64>> = text
        .split_ascii_whitespace()
        .map(|word| word.parse().ok())
        .collect();
    let numbers = numbers.filter(|numbers| numbers.len() >= FIGURES_MIN)?;
    FIGURES
        .iter()
        .filter_map(|(name, position, unit)| Some((*name, numbers.get(*position)?, *unit)))
        .map(|(name, number, unit)| Some((name, number.checked_mul(unit)?)))
        .collect()
}
