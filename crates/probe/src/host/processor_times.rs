//! Time of processors by the kernel's account: `/proc/stat`, one line for each.

use prony_model::{CpuSet, HostUse};

use crate::root::{ProbeError, Root, ticks_to_ns};
use crate::text::{behind, numbers, sum};

/// Times of some processors since the host's start, summed, in nanoseconds.
///
/// Idle time is exact on kernels whose clock tick stops on idle processors. Times of work are not:
/// they are sampled by the tick, which misses programs that sleep through it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessorTimes {
    /// Number of the processors.
    pub processors: u32,
    /// Idle, with or without a wait for storage.
    pub idle_ns: u64,
    /// In interrupts.
    pub interrupt_ns: u64,
    /// Taken by a hypervisor while this machine wanted to run.
    pub steal_ns: u64,
}

impl ProcessorTimes {
    /// Reads the times of the processors. Source of the layout: proc(5), stat.
    ///
    /// # Errors
    /// If the file can't be read, or lacks one of the processors.
    pub fn read(root: &Root, cpus: &CpuSet) -> Result<Self, ProbeError> {
        let expected = "a line of eight numbers for each processor";
        root.parse("proc/stat", expected, |text| {
            let mut total = [0_u64; 3];
            for cpu in cpus.cpus() {
                let line = behind(text, &format!("cpu{cpu} "))?;
                let [_user, _nice, _system, idle, wait, irq, softirq, steal] = numbers(line)?;
                let times = [sum([idle, wait])?, sum([irq, softirq])?, steal];
                total = crate::text::add(total, times)?;
            }
            let [idle, interrupt, steal] = total;
            Some(Self {
                processors: u32::try_from(cpus.cpus().len()).ok()?,
                idle_ns: ticks_to_ns(idle)?,
                interrupt_ns: ticks_to_ns(interrupt)?,
                steal_ns: ticks_to_ns(steal)?,
            })
        })
    }

    /// Use of the processors since an earlier moment, from which `wall_ns` have passed, with
    /// `own_ns` of processor time that belongs to a measurement.
    #[must_use]
    pub fn since(self, before: Self, wall_ns: u64, own_ns: u64) -> HostUse {
        HostUse {
            processors: self.processors,
            wall_ns,
            idle_ns: self.idle_ns.saturating_sub(before.idle_ns),
            interrupt_ns: self.interrupt_ns.saturating_sub(before.interrupt_ns),
            steal_ns: self.steal_ns.saturating_sub(before.steal_ns),
            own_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tick_ns;
    use crate::testing::Machine;

    const STAT: &str = "cpu  1 1 1 1 1 1 1 1 0 0\ncpu0 10 1 20 500 3 2 1 7 0 0\n\
                        cpu1 1 1 1 50 3 0 1 0 0 0\ncpu10 1 1 1 1 1 1 1 1 0 0\nintr 5\n";

    #[test]
    fn times_are_those_of_the_named_processors() {
        let machine = Machine::new();
        machine.write("proc/stat", STAT);
        let root = machine.root();
        let read = |cpus: &str| ProcessorTimes::read(&root, &cpus.parse().unwrap());
        let tick = tick_ns();
        assert_eq!(
            read("0-1").unwrap(),
            ProcessorTimes {
                processors: 2,
                idle_ns: 556 * tick,
                interrupt_ns: 4 * tick,
                steal_ns: 7 * tick,
            }
        );
        assert_eq!(read("1").unwrap().idle_ns, 53 * tick);
        assert!(read("0,2").is_err());
    }
}
