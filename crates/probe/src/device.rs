//! The block device that holds a data directory.

use std::path::Path;

use prony_model::{Gap, Source};

use crate::draft::{Draft, gap};
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

/// Number of figures that every kernel has.
const FIGURES_MIN: usize = 11;

/// Reads one device.
#[derive(Debug)]
pub(crate) struct Device {
    path: String,
}

/// Reason why there is no device to read.
#[derive(Debug, thiserror::Error)]
enum DeviceError {
    #[error(transparent)]
    Unreadable(#[from] ProbeError),
    #[error("find the file system of {path}: no mount contains it")]
    NotMounted { path: String },
    #[error(
        "find the block device of {path}: it is on {kind}, which has none; put the cache folder \
         on a file system of a disk"
    )]
    NoDevice { path: String, kind: String },
}

impl Device {
    /// Finds the device of a folder.
    pub(crate) fn find(root: &Root, folder: &Path, absences: &mut Vec<Gap>) -> Option<Self> {
        Self::of(root, folder)
            .map_err(|error| absences.push(gap(Source::Device, error.to_string())))
            .ok()
    }

    fn of(root: &Root, folder: &Path) -> Result<Self, DeviceError> {
        let path = || folder.display().to_string();
        let mounts = mounts(root)?;
        let mount = holding(&mounts, &root.real(folder)?)
            .ok_or_else(|| DeviceError::NotMounted { path: path() })?;
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
        root.parse(&self.path, "at least eleven numbers", parse)
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
fn parse(text: &str) -> Option<Vec<(&'static str, u64)>> {
    let words = text.split_ascii_whitespace();
    let numbers: Vec<u64> = words.map(|word| word.parse().ok()).collect::<Option<_>>()?;
    let figure = |(name, position, unit): (&'static str, usize, u64)| {
        let number = numbers.get(position)?;
        Some(number.checked_mul(unit).map(|value| (name, value)))
    };
    let figures = FIGURES
        .into_iter()
        .filter_map(figure)
        .collect::<Option<_>>();
    figures.filter(|_| numbers.len() >= FIGURES_MIN)
}

#[cfg(test)]
mod tests {
    use prony_model::{Collect, Counter, Moment, NoDifference};

    use super::*;
    use crate::prober::{Prober, ServerPlace};
    use crate::testing::{Machine, gaps, value};

    const MOUNTS: &str = "\
22 1 8:1 / / rw - ext4 /dev/sda1 rw
23 22 0:40 / /dev/shm rw - tmpfs shm rw
24 22 0:41 / /pool rw - btrfs /dev/mapper/vg-pool rw
25 22 253:3 / /lv rw - xfs /dev/mapper/vg-lv rw
26 22 0:50 / /box rw - overlay overlay rw,lowerdir=/a
";
    const STAT: &str = "10 20 30 40 50 60 70 80 0 90 100 110 120 130 140 150 160\n";

    fn machine() -> Machine {
        let machine = Machine::new();
        machine.write("proc/self/mountinfo", MOUNTS);
        machine.write("sys/dev/block/8:1/stat", STAT);
        // A kernel of before 4.18, and a device-mapper device.
        machine.write("sys/dev/block/253:3/stat", "1 2 3 4 5 6 7 8 0 9 10\n");
        machine.write("sys/class/block/vg-pool/dev", "8:1\n");
        machine
    }

    fn prober(machine: &Machine, folder: &str) -> Prober {
        let place = ServerPlace {
            pid: 42,
            data_dir: Some(folder.into()),
            cgroup: None,
            counters: None,
        };
        Prober::new(machine.root(), Some(place), &Collect::default())
    }

    fn absence(folder: &str) -> String {
        let absences = prober(&machine(), folder).absences();
        let found = absences
            .into_iter()
            .find(|gap| gap.source == Source::Device);
        found.map(|gap| gap.reason).unwrap_or_default()
    }

    #[test]
    fn partitions_and_spanning_file_systems_have_a_device() {
        for folder in ["/data/1", "/pool/data"] {
            let sample = prober(&machine(), folder).sample(Moment::Period);
            let of = |name| value(&sample, Source::Device, name);
            assert_eq!(of("reads"), Some(10));
            assert_eq!(of("read_bytes"), Some(30 * 512));
            assert_eq!(of("read_ns"), Some(40_000_000));
            assert_eq!(of("write_merges"), Some(60));
            assert_eq!(of("written_bytes"), Some(70 * 512));
            assert_eq!(of("busy_ns"), Some(90_000_000));
            assert_eq!((of("discards"), of("flushes")), (Some(110), Some(150)));
        }
    }

    #[test]
    fn older_kernels_tell_no_flushes() {
        let sample = prober(&machine(), "/lv/data").sample(Moment::Start);
        assert_eq!(value(&sample, Source::Device, "busy_ns"), Some(9_000_000));
        assert_eq!(value(&sample, Source::Device, "flushes"), None);
        assert_eq!(absence("/lv/data"), "");
    }

    #[test]
    fn memory_and_overlays_have_none() {
        assert!(absence("/dev/shm/data").contains("is on tmpfs"));
        assert!(absence("/box/data").contains("is on overlay"));
    }

    #[test]
    fn a_device_that_goes_away_or_turns_odd_leaves_a_gap() {
        for text in [None, Some("1 2 3\n"), Some("1 2 3 4 5 6 7 8 0 x 10\n")] {
            let machine = machine();
            let mut prober = prober(&machine, "/data/1");
            let start = prober.sample(Moment::Start);
            match text {
                None => machine.remove("sys/dev/block/8:1"),
                Some(text) => machine.write("sys/dev/block/8:1/stat", text),
            }
            let end = prober.sample(Moment::End);
            let reads = Counter::new(Source::Device, "reads");
            assert_eq!(end.since(&start, &reads), Err(NoDifference::Lost));
            assert_eq!(gaps(&end, Source::Device).len(), 1);
        }
    }
}
