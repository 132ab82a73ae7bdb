//! Facts of the machine, and the counters that show disturbance by other programs.

mod processor_times;
mod processors;
pub(crate) mod topology;

use prony_model::{Gap, Moment, Source};
use serde::{Deserialize, Serialize};

use crate::draft::Draft;
use crate::root::{ProbeError, Root, ticks_to_ns};
use crate::text::{kibibytes, numbers, sum};
use processors::Processors;

pub use self::processor_times::ProcessorTimes;

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
        let meminfo = root.read("proc/meminfo").ok();
        let trimmed = |path: &str| root.read(path).ok().map(|text| text.trim().to_owned());
        Self {
            cpu_model: cpuinfo_value("model name"),
            cpus: std::thread::available_parallelism()
                .map_or(1, |cpus| u32::try_from(cpus.get()).unwrap_or(u32::MAX)),
            virtual_machine: cpuinfo_value("flags")
                .map(|flags| flags.split_ascii_whitespace().any(|f| f == "hypervisor")),
            memory_bytes: meminfo.and_then(|text| kibibytes(&text, "MemTotal:")),
            kernel: trimmed("proc/sys/kernel/osrelease"),
            governor: trimmed("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            transparent_huge_pages: trimmed("sys/kernel/mm/transparent_hugepage/enabled")
                .as_deref()
                .and_then(bracketed),
        }
    }
}

/// Time in nanoseconds, since the host's start and summed over its processors, that any process ran
/// and that a hypervisor gave to others while this machine wanted to run: the first line of
/// `/proc/stat`. Source of the layout: proc(5), stat.
fn busy_and_steal_ns(root: &Root) -> Result<[u64; 2], ProbeError> {
    root.parse("proc/stat", "`cpu` and at least eight numbers", |text| {
        let times = numbers(text.lines().next()?.strip_prefix("cpu ")?)?;
        // Guest time, which follows, is contained in user.
        let [user, nice, system, _idle, _iowait, irq, softirq, steal] = times;
        let busy = sum([user, nice, system, irq, softirq])?;
        Some([ticks_to_ns(busy)?, ticks_to_ns(steal)?])
    })
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
        match busy_and_steal_ns(root) {
            Ok([busy_ns, steal_ns]) => {
                draft.put(Source::Host, "busy_ns", busy_ns);
                draft.put(Source::Host, "steal_ns", steal_ns);
            }
            Err(error) => draft.gap(Source::Host, &error),
        }
        self.processors.sample(root, moment, draft);
    }
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
        let times = busy_and_steal_ns(&root).unwrap();
        assert_eq!(times, [34 * tick_ns(), 7 * tick_ns()]);
    }

    #[test]
    fn a_short_line_is_an_error() {
        let (_folder, root) = recorded(&[("proc/stat", "cpu  10 1 20\n")]);
        assert!(busy_and_steal_ns(&root).is_err());
    }
}
