//! Facts of the machine, and the counters that show disturbance by other programs.

mod processors;

use prony_model::{Gap, Moment, Source};
use serde::{Deserialize, Serialize};

use crate::draft::Draft;
use crate::root::{ProbeError, Root, ticks_to_ns};
use processors::Processors;

/// Facts of the host that do not change during a run. What can't be found out is `None`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostFacts {
    /// Model name of the first processor.
    pub cpu_model: Option<String>,
    /// Processors that this program may use.
    pub cpus: u32,
    /// `true` if the kernel sees a hypervisor.
    pub virtual_machine: Option<bool>,
    /// Memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Kernel release, such as `6.1.0-18-amd64`.
    pub kernel: Option<String>,
    /// Frequency governor of the first processor.
    pub governor: Option<String>,
    /// Transparent huge pages: `always`, `madvise` or `never`.
    pub transparent_huge_pages: Option<String>,
}

/// Counters of the whole host since its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct HostReading {
    /// Time that a hypervisor gave to others while this machine wanted to run, summed over its
    /// processors, in nanoseconds.
    steal_ns: u64,
    /// Time that any process of this machine ran, summed over its processors, in nanoseconds.
    busy_ns: u64,
}

impl HostFacts {
    /// Reads the facts; whatever is not there stays `None`.
    pub fn read(root: &Root) -> Self {
        let cpuinfo = root.read("proc/cpuinfo").ok();
        let cpuinfo_value = |key: &str| {
            let text = cpuinfo.as_deref()?;
            text.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                (name.trim() == key).then(|| value.trim().to_owned())
            })
        };
        let trimmed = |path: &str| root.read(path).ok().map(|text| text.trim().to_owned());
        Self {
            cpu_model: cpuinfo_value("model name"),
            cpus: std::thread::available_parallelism()
                .map_or(1, |cpus| u32::try_from(cpus.get()).unwrap_or(u32::MAX)),
            virtual_machine: cpuinfo_value("flags").map(|flags| {
                flags
                    .split_ascii_whitespace()
                    .any(|flag| flag == "hypervisor")
            }),
            memory_bytes: root
                .read("proc/meminfo")
                .ok()
                .as_deref()
                .and_then(total_memory),
            kernel: trimmed("proc/sys/kernel/osrelease"),
            governor: trimmed("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            transparent_huge_pages: trimmed("sys/kernel/mm/transparent_hugepage/enabled")
                .as_deref()
                .and_then(bracketed),
        }
    }
}

impl HostReading {
    /// Reads the first line of `/proc/stat`. Source of the layout: proc(5), stat.
    fn take(root: &Root) -> Result<Self, ProbeError> {
        let path = "proc/stat";
        let text = root.read(path)?;
        let expected = || root.unexpected(path, "`cpu` and at least eight numbers");
        let ticks = text
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("cpu "))
            .ok_or_else(expected)?
            .split_ascii_whitespace()
            .map(str::parse::<u64>)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|_| expected())?;
        // user nice system idle iowait irq softirq steal; guest time is contained in user.
        let [user, nice, system, _idle, _iowait, irq, softirq, steal, ..] = ticks[..] else {
            return Err(expected());
        };
        Ok(Self {
            steal_ns: ticks_to_ns(steal).ok_or_else(expected)?,
            busy_ns: [user, nice, system, irq, softirq]
                .into_iter()
                .try_fold(0_u64, u64::checked_add)
                .and_then(ticks_to_ns)
                .ok_or_else(expected)?,
        })
    }
}

/// Reads the host.
#[derive(Debug)]
pub(crate) struct Host {
    processors: Processors,
}

impl Host {
    /// Finds out what the host tells.
    pub(crate) fn new(root: &Root, absences: &mut Vec<Gap>) -> Self {
        Self {
            processors: Processors::find(root, absences),
        }
    }

    /// Takes a sample.
    pub(crate) fn sample(&self, root: &Root, moment: Moment, draft: &mut Draft) {
        match HostReading::take(root) {
            Ok(reading) => {
                draft.put(Source::Host, "busy_ns", reading.busy_ns);
                draft.put(Source::Host, "steal_ns", reading.steal_ns);
            }
            Err(error) => draft.gap(Source::Host, &error),
        }
        self.processors.sample(root, moment, draft);
    }
}

fn total_memory(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// The chosen word of a line such as `always [madvise] never`.
fn bracketed(line: &str) -> Option<String> {
    let (_, behind) = line.split_once('[')?;
    behind.split_once(']').map(|(word, _)| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tick_ns;

    fn recorded(files: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let root = Root::recorded(folder.path());
        (folder, root)
    }

    #[test]
    fn reads_the_facts() {
        let (_folder, root) = recorded(&[
            (
                "proc/cpuinfo",
                "processor\t: 0\nmodel name\t: Example 1\nflags\t\t: fpu hypervisor\n",
            ),
            (
                "proc/meminfo",
                "MemTotal:       24000000 kB\nMemFree: 1 kB\n",
            ),
            ("proc/sys/kernel/osrelease", "6.1.0\n"),
            (
                "sys/kernel/mm/transparent_hugepage/enabled",
                "always [madvise] never\n",
            ),
        ]);
        let facts = HostFacts::read(&root);
        assert_eq!(facts.cpu_model.as_deref(), Some("Example 1"));
        assert_eq!(facts.virtual_machine, Some(true));
        assert_eq!(facts.memory_bytes, Some(24_000_000 * 1024));
        assert_eq!(facts.kernel.as_deref(), Some("6.1.0"));
        assert_eq!(facts.governor, None);
        assert_eq!(facts.transparent_huge_pages.as_deref(), Some("madvise"));
    }

    #[test]
    fn reads_steal_time() {
        let (_folder, root) = recorded(&[("proc/stat", "cpu  10 1 20 500 3 2 1 7 0 0\ncpu0 1\n")]);
        let reading = HostReading::take(&root).unwrap();
        assert_eq!(reading.steal_ns, 7 * tick_ns());
        assert_eq!(reading.busy_ns, 34 * tick_ns());
    }

    #[test]
    fn a_short_line_is_an_error() {
        let (_folder, root) = recorded(&[("proc/stat", "cpu  10 1 20\n")]);
        assert!(HostReading::take(&root).is_err());
    }
}
