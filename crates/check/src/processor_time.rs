//! Processor time as the kernel accounts for it, and the programs that used it.

use std::collections::BTreeMap;

use prony_host::usable_cpus;
use prony_model::Taken;
use prony_probe::{ProcessSample, ProcessorTimes, Root, monotonic_ns, process_cpu_ns};

/// Names of programs that a finding shows at most.
const NAMES: usize = 3;

/// Processor time of other programs over a time, as shares of all processors of this program.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Others {
    /// All of it, in percent: other programs and the kernel's own threads.
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

/// Processor time used until one moment.
pub(crate) struct Account {
    at_ns: u64,
    /// That of this program; `None` where it is unknown.
    own_ns: Option<u64>,
    /// That of the processors of this program; `None` if it can't be read.
    times: Option<ProcessorTimes>,
    /// That of every other process that can be seen, by its id, in nanoseconds.
    processes: BTreeMap<u32, u64>,
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
        let times = usable_cpus().ok();
        Self {
            at_ns: monotonic_ns(),
            own_ns: process_cpu_ns(root, own),
            times: times.and_then(|cpus| ProcessorTimes::read(root, &cpus).ok()),
            processes,
        }
    }

    /// Shares of the processors of this program that were taken since an earlier moment. `None` if
    /// the time was too short, or the kernel's file can't be read.
    pub(crate) fn taken_since(&self, before: &Self) -> Option<Taken> {
        let own_ns = self.own_ns?.saturating_sub(before.own_ns?);
        let wall_ns = self.at_ns.saturating_sub(before.at_ns);
        let used = self.times?.since(before.times?, wall_ns, own_ns);
        used.taken()
    }

    /// Other programs since an earlier moment.
    pub(crate) fn others_since(&self, before: &Self, root: &Root) -> Option<Others> {
        let taken = self.taken_since(before)?;
        let wall_ns = self.at_ns.saturating_sub(before.at_ns) as f64;
        let all = wall_ns * f64::from(self.times?.processors);
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
            percent: 100.0 * taken.others,
            culprits,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::testing::recorded;

    #[test]
    fn a_busy_thread_is_its_own_and_no_other_program() {
        let before = Account::take(&Root::live());
        let begin = Instant::now();
        while begin.elapsed().as_millis() < 400 {}
        let now = Account::take(&Root::live());
        let own_ns = now.own_ns.unwrap() - before.own_ns.unwrap();
        assert!(own_ns > 0);
        let taken = now.taken_since(&before).unwrap();
        // Of two or more processors it kept one busy; what others took is the rest at most.
        let wall_ns = (now.at_ns - before.at_ns) as f64;
        let own = own_ns as f64 / (wall_ns * f64::from(now.times.unwrap().processors));
        assert!(own + taken.others <= 1.01, "{own} {taken:?}");
        let others = now.others_since(&before, &Root::live()).unwrap();
        assert!((others.percent - 100.0 * taken.others).abs() < 1e-9);
        assert!(others.culprits.len() <= NAMES);
    }

    #[test]
    fn a_machine_without_files_is_no_error() {
        let (_folder, root) = recorded(&[]);
        let now = Account::take(&root);
        assert!(now.taken_since(&now).is_none());
        assert!(now.others_since(&now, &root).is_none());
    }
}
