//! The processors of a measurement.

use prony_host::usable_cpus;
use prony_probe::{Root, processor_place};
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::CheckError;

/// One processor, and another one for a partner.
///
/// The last processors come first, because the first one of a machine serves most interrupts. The
/// partner is on another core of the same package, if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// The processor.
    pub one: usize,
    /// The partner's processor. `None` if this program may use one processor only.
    pub other: Option<usize>,
}

impl Pair {
    /// Chooses from the processors that the calling thread may use.
    ///
    /// # Errors
    /// If the kernel does not name them.
    pub fn choose(root: &Root) -> Result<Self, CheckError> {
        Ok(Self::of(&allowed()?, root))
    }

    /// Chooses from `allowed`, which is ascending.
    fn of(allowed: &[usize], root: &Root) -> Self {
        let Some((&one, others)) = allowed.split_last() else {
            return Self {
                one: 0,
                other: None,
            };
        };
        let place = |cpu: usize| processor_place(root, u16::try_from(cpu).unwrap_or(u16::MAX));
        let ours = place(one);
        let rank = |cpu: usize| {
            let place = place(cpu);
            (place.core == ours.core, place.package != ours.package)
        };
        let other = others.iter().rev().copied().min_by_key(|cpu| rank(*cpu));
        Self { one, other }
    }
}

/// The processors that the calling thread may use, ascending.
pub(crate) fn allowed() -> Result<Vec<usize>, CheckError> {
    let cpus = usable_cpus().map_err(CheckError::Affinity)?;
    Ok(cpus.cpus().iter().copied().map(usize::from).collect())
}

/// Binds the calling thread to a processor.
pub(crate) fn bind(cpu: usize) -> Result<(), CheckError> {
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set).map_err(|errno| CheckError::Bind {
        cpu,
        source: errno.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Processors of a machine by number, those of its core and those of its package.
    fn machine(cpus: &[(usize, &str, &str)]) -> (tempfile::TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        for (cpu, siblings, package) in cpus {
            let topology = format!("sys/devices/system/cpu/cpu{cpu}/topology");
            let topology = folder.path().join(topology);
            std::fs::create_dir_all(&topology).unwrap();
            let write = |name: &str, text: String| {
                std::fs::write(topology.join(name), text + "\n").unwrap();
            };
            write("thread_siblings_list", (*siblings).to_owned());
            write("core_siblings_list", (*package).to_owned());
        }
        let root = Root::recorded(folder.path());
        (folder, root)
    }

    #[test]
    fn a_partner_is_near_and_no_sibling() {
        let two_cores = [
            (0, "0,2", "0-3"),
            (1, "1,3", "0-3"),
            (2, "0,2", "0-3"),
            (3, "1,3", "0-3"),
        ];
        let one_core = [(0, "0-1", "0-1"), (1, "0-1", "0-1")];
        let packages = [
            (0, "0", "0,2"),
            (1, "1", "1,3"),
            (2, "2", "0,2"),
            (3, "3", "1,3"),
        ];
        for (machine, allowed, one, other) in [
            (machine(&two_cores), vec![0, 1, 2, 3], 3, Some(2)),
            (machine(&two_cores), vec![1, 3], 3, Some(1)),
            (machine(&one_core), vec![0, 1], 1, Some(0)),
            (machine(&packages), vec![0, 1, 2, 3], 3, Some(1)),
            (machine(&packages), vec![0, 2, 3], 3, Some(2)),
            (machine(&[]), vec![0, 1, 5], 5, Some(1)),
            (machine(&[]), vec![4], 4, None),
        ] {
            let pair = Pair::of(&allowed, &machine.1);
            assert_eq!(pair, Pair { one, other }, "{allowed:?}");
        }
    }
}
