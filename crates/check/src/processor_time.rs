//! Processor time as the kernel accounts for it, and the programs that used it.

use std::collections::BTreeMap;
use std::time::Instant;

use prony_probe::{ProcessSample, Root};
use rustix::time::{ClockId, clock_gettime};

use crate::processors::allowed;

/// Names of programs that a finding shows at most.
const NAMES: usize = 3;

/// Processor time of other programs over a time, as shares of all processors of this program.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Others {
    /// All of it, in percent: other programs, the kernel's own threads and interrupts.
    pub(crate) percent: f64,
    /// The most expensive programs, at most three.
    pub(crate) culprits: Vec<Culprit>,
}

/// A program and its share over all processes of its name that have not ended, in percent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Culprit {
    pub(crate) name: String,
    pub(crate) percent: f64,
}

/// Sums over the processors that this program may use, since the host's start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProcessorTime {
    /// Time in which a thread or an interrupt ran, in nanoseconds.
    pub(crate) busy_ns: u64,
    /// Time that the hypervisor gave to other machines, in nanoseconds.
    pub(crate) steal_ns: u64,
    /// Number of processors.
    pub(crate) cpus: u32,
}

impl ProcessorTime {
    /// Reads `/proc/stat`, whose layout is in proc(5). `None` if it can't be read.
    pub(crate) fn read(root: &Root) -> Option<Self> {
        let text = root.read("proc/stat").ok()?;
        let allowed = allowed().ok()?;
        let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
        let mut sum = Self {
            busy_ns: 0,
            steal_ns: 0,
            cpus: 0,
        };
        for line in text.lines().filter_map(|line| line.strip_prefix("cpu")) {
            let mut words = line.split(' ');
            // The line of all processors has no number.
            let Some(Ok(cpu)) = words.next().map(str::parse::<usize>) else {
                continue;
            };
            let times: Vec<u64> = words.filter_map(|word| word.parse().ok()).collect();
            let [user, nice, system, _idle, _iowait, irq, softirq, steal, ..] = times[..] else {
                return None;
            };
            if allowed.contains(&cpu) {
                sum.busy_ns += (user + nice + system + irq + softirq) * tick_ns;
                sum.steal_ns += steal * tick_ns;
                sum.cpus += 1;
            }
        }
        (sum.cpus > 0).then_some(sum)
    }
}

/// Processor time used until one moment.
pub(crate) struct Account {
    at: Instant,
    own_ns: u64,
    time: Option<ProcessorTime>,
    /// Processor time of every process that can be seen, by its id, in nanoseconds.
    processes: BTreeMap<u32, u64>,
}

/// Processor time between two moments, as shares of all processors of this program, in percent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shares {
    /// Time in which anything else ran.
    pub(crate) others: f64,
    /// Time that the hypervisor took.
    pub(crate) steal: f64,
}

impl Account {
    /// Takes that of the present moment.
    pub(crate) fn take(root: &Root) -> Self {
        let pids = root.list("proc").unwrap_or_default();
        let pids = pids.iter().filter_map(|name| name.parse::<u32>().ok());
        let own = std::process::id();
        let used = |pid: u32| {
            let sample = ProcessSample::take(root, pid).ok()?;
            Some((pid, sample.user_ns + sample.system_ns))
        };
        let processes = pids.filter(|pid| *pid != own).filter_map(used).collect();
        Self {
            at: Instant::now(),
            own_ns: own_ns(),
            time: ProcessorTime::read(root),
            processes,
        }
    }

    /// Shares of the time since an earlier moment. `None` if the kernel's file can't be read.
    pub(crate) fn shares_since(&self, before: &Self) -> Option<Shares> {
        let (now, then) = (self.time?, before.time?);
        let all = self.capacity_ns(before)?;
        let own = self.own_ns.saturating_sub(before.own_ns) as f64;
        let busy = now.busy_ns.saturating_sub(then.busy_ns) as f64;
        let steal = now.steal_ns.saturating_sub(then.steal_ns) as f64;
        Some(Shares {
            others: 100.0 * (busy - own).max(0.0) / all,
            steal: 100.0 * steal / all,
        })
    }

    /// Other programs since an earlier moment.
    pub(crate) fn others_since(&self, before: &Self, root: &Root) -> Option<Others> {
        let all = self.capacity_ns(before)?;
        let mut by_name: BTreeMap<String, f64> = BTreeMap::new();
        for (pid, ns) in &self.processes {
            let before_ns = before.processes.get(pid).unwrap_or(&0);
            let used_ns = ns.saturating_sub(*before_ns);
            if used_ns > 0 {
                let name = root.read(format!("proc/{pid}/comm"));
                let name =
                    name.map_or_else(|_| format!("process {pid}"), |name| name.trim().into());
                *by_name.entry(name).or_default() += 100.0 * used_ns as f64 / all;
            }
        }
        let mut culprits: Vec<Culprit> = by_name
            .into_iter()
            .map(|(name, percent)| Culprit { name, percent })
            .filter(|culprit| culprit.percent >= 0.1)
            .collect();
        culprits.sort_by(|left, right| right.percent.total_cmp(&left.percent));
        culprits.truncate(NAMES);
        Some(Others {
            percent: self.shares_since(before)?.others,
            culprits,
        })
    }

    /// Time of all processors of this program since an earlier moment.
    fn capacity_ns(&self, before: &Self) -> Option<f64> {
        let wall_ns = self.at.duration_since(before.at).as_nanos() as f64;
        let all = wall_ns * f64::from(self.time?.cpus);
        (all > 0.0).then_some(all)
    }
}

/// Processor time of this program, in nanoseconds.
fn own_ns() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000
        + u64::try_from(time.tv_nsec).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::recorded;

    #[test]
    fn only_processors_of_this_program_count() {
        let (_folder, root) = recorded(&[(
            "proc/stat",
            "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 1 1 1 5 5 1 1 2 0 0\ncpu4000 7 7 7 7 7 7 7 7 0 0\n",
        )]);
        let expected = allowed().unwrap().contains(&0);
        let time = ProcessorTime::read(&root);
        assert_eq!(time.is_some(), expected);
        if let Some(time) = time {
            assert_eq!((time.busy_ns, time.steal_ns), (50_000_000, 20_000_000));
            assert_eq!(time.cpus, 1);
        }
    }

    #[test]
    fn a_busy_thread_is_its_own_and_no_other_program() {
        let before = Account::take(&Root::live());
        let begin = Instant::now();
        while begin.elapsed().as_millis() < 50 {}
        let now = Account::take(&Root::live());
        let shares = now.shares_since(&before).unwrap();
        assert!(shares.others >= 0.0 && shares.steal >= 0.0);
        assert!(
            now.others_since(&before, &Root::live())
                .unwrap()
                .culprits
                .len()
                <= NAMES
        );
    }

    #[test]
    fn a_machine_without_files_is_no_error() {
        let (_folder, root) = recorded(&[]);
        let now = Account::take(&root);
        assert!(now.shares_since(&now).is_none());
        assert!(now.others_since(&now, &root).is_none());
    }
}
