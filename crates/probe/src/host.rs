//! Facts of the machine, and the counters that show disturbance by other programs.

mod processor_times;
mod processors;
pub(crate) mod topology;

use prony_model::{CpuSet, Gap, Moment, Source};
use serde::{Deserialize, Serialize};

use crate::draft::Draft;
use crate::root::{ProbeError, Root, ticks_to_ns};
use crate::text::{kibibytes, numbers, sum};
use processors::Processors;

pub use self::processor_times::ProcessorTimes;
use self::topology::ProcessorPlace;

const CPU: &str = "sys/devices/system/cpu";

/// Facts of the host that do not change during a run. What can't be found out is `None`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostFacts {
    /// Model name of the first processor.
    pub cpu_model: Option<String>,
    /// Processors that this program may use.
    pub cpus: u32,
    /// Sockets with a running processor, as the kernel sees them; a hypervisor may make them up, as it
    /// may the cores.
    pub sockets: Option<u32>,
    /// Cores with a running processor.
    pub cores: Option<u32>,
    /// Running processors of the machine: threads of its cores.
    pub threads: Option<u32>,
    /// `true` if cores run several threads at once.
    pub smt: Option<bool>,
    /// `true` if processors may exceed their nominal frequency.
    pub turbo: Option<bool>,
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
        let running = running(root);
        let trimmed = |path: &str| root.read(path).ok().map(|text| text.trim().to_owned());
        Self {
            cpu_model: cpuinfo_value("model name"),
            cpus: std::thread::available_parallelism()
                .map_or(1, |cpus| u32::try_from(cpus.get()).unwrap_or(u32::MAX)),
            sockets: running
                .as_deref()
                .and_then(|all| topology::count(all, |place| place.package)),
            cores: running
                .as_deref()
                .and_then(|all| topology::count(all, |place| place.core)),
            threads: running
                .as_deref()
                .and_then(|all| topology::count(all, |place| place.cpu)),
            smt: root
                .number(format!("{CPU}/smt/active"))
                .map(|active| active != 0),
            turbo: turbo(root),
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

/// The places of the running processors. `None` if the machine does not tell.
fn running(root: &Root) -> Option<Vec<ProcessorPlace>> {
    let running: CpuSet = root
        .read(format!("{CPU}/online"))
        .ok()?
        .trim()
        .parse()
        .ok()?;
    let cpus = running.cpus().iter();
    cpus.map(|cpu| topology::known_place(root, *cpu)).collect()
}

/// Boost of the processors. Source of the names: the kernel's documentation, admin-guide/pm/cpufreq and
/// admin-guide/pm/intel_pstate.
fn turbo(root: &Root) -> Option<bool> {
    let boost = root.number(format!("{CPU}/cpufreq/boost"));
    let no_turbo = || root.number(format!("{CPU}/intel_pstate/no_turbo"));
    boost
        .map(|on| on != 0)
        .or_else(|| no_turbo().map(|off| off == 0))
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
    fn sockets_cores_threads_and_turbo() {
        let topology = |cpu: u16, core: &str, package: &str| {
            let file = |name| format!("{CPU}/cpu{cpu}/topology/{name}");
            [
                (file("core_cpus_list"), format!("{core}\n")),
                (file("package_cpus_list"), format!("{package}\n")),
            ]
        };
        let places = [
            topology(0, "0,4", "0-1,4"),
            topology(1, "1", "0-1,4"),
            topology(2, "2", "2"),
            topology(4, "0,4", "0-1,4"),
        ];
        let of = |settings: &[(&str, &str)], places: &[[(String, String); 2]]| {
            let settings = settings
                .iter()
                .map(|(file, text)| (format!("{CPU}/{file}"), (*text).to_owned()));
            let files: Vec<_> = settings.chain(places.iter().flatten().cloned()).collect();
            let files: Vec<_> = files
                .iter()
                .map(|(file, text)| (file.as_str(), text.as_str()))
                .collect();
            let (_folder, root) = recorded(&files);
            let facts = HostFacts::read(&root);
            let counts = [facts.sockets, facts.cores, facts.threads];
            (counts, facts.smt, facts.turbo)
        };
        let online = ("online", "0-2,4\n");
        let all = [online, ("smt/active", "1\n"), ("cpufreq/boost", "0\n")];
        let counts = [Some(2), Some(3), Some(4)];
        assert_eq!(of(&all, &places), (counts, Some(true), Some(false)));
        let off = [online, ("intel_pstate/no_turbo", "1\n")];
        assert_eq!(of(&off, &places), (counts, None, Some(false)));
        let on = [online, ("intel_pstate/no_turbo", "0\n")];
        // One processor whose place is unknown makes all counts unknown.
        assert_eq!(of(&on, &places[1..]), ([None; 3], None, Some(true)));
        assert_eq!(of(&[], &places), ([None; 3], None, None));
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
