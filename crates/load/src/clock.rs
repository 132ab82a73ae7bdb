//! Time and processor time, from the host.

use std::fs;
use std::io;

use prony_model::ThreadUse;
use rustix::time::{ClockId, clock_gettime};

const NS_PER_SECOND: u64 = 1_000_000_000;

/// Nanoseconds of the host's monotonic clock: the same for every process of the machine.
pub(crate) fn now_ns() -> u64 {
    read(ClockId::Monotonic)
}

fn read(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    // Neither clock runs below zero.
    time.tv_sec.cast_unsigned() * NS_PER_SECOND + time.tv_nsec.cast_unsigned()
}

/// Processor time and waiting of the calling thread since it started.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ThreadTime {
    /// All in nanoseconds.
    at: u64,
    cpu: u64,
    run_queue: Option<u64>,
}

impl ThreadTime {
    /// Reads it from the system.
    pub(crate) fn now() -> Self {
        let schedstat = fs::read_to_string("/proc/thread-self/schedstat").ok();
        Self {
            at: now_ns(),
            cpu: read(ClockId::ThreadCPUTime),
            run_queue: schedstat.as_deref().and_then(parse_schedstat),
        }
    }

    /// Processor time and waiting since `earlier`.
    pub(crate) fn since(self, earlier: Self) -> ThreadUse {
        let waited = self.run_queue.zip(earlier.run_queue);
        ThreadUse {
            wall_ns: self.at.saturating_sub(earlier.at),
            cpu_ns: self.cpu.saturating_sub(earlier.cpu),
            run_queue_ns: waited.map(|(later, earlier)| later.saturating_sub(earlier)),
        }
    }
}

/// The second of the three numbers in `/proc/PID/schedstat`: nanoseconds spent waiting on a run
/// queue (Documentation/scheduler/sched-stats.rst).
fn parse_schedstat(schedstat: &str) -> Option<u64> {
    schedstat.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Processor time of this process, all threads together, since it started.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CpuTime {
    /// In nanoseconds, exact.
    total_ns: u64,
    /// In user space, in clock ticks.
    user_ticks: u64,
    /// In the kernel, in clock ticks.
    system_ticks: u64,
}

impl CpuTime {
    /// Reads it from the system.
    pub(crate) fn of_process() -> io::Result<Self> {
        let total_ns = read(ClockId::ProcessCPUTime);
        let stat = fs::read_to_string("/proc/self/stat")?;
        let (user_ticks, system_ticks) = parse_stat(&stat).ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidData, "unexpected /proc/self/stat")
        })?;
        Ok(Self {
            total_ns,
            user_ticks,
            system_ticks,
        })
    }

    /// Nanoseconds in user space and in the kernel since `earlier`. The sum is exact; the parts
    /// are in the proportion of the kernel's ticks.
    pub(crate) fn since(self, earlier: Self) -> (u64, u64) {
        let total = self.total_ns.saturating_sub(earlier.total_ns);
        let user = self.user_ticks.saturating_sub(earlier.user_ticks);
        let system = self.system_ticks.saturating_sub(earlier.system_ticks);
        let user_ns = match user + system {
            0 => total,
            ticks => u64::try_from(u128::from(total) * u128::from(user) / u128::from(ticks))
                .unwrap_or(total),
        };
        (user_ns, total - user_ns)
    }
}

/// Fields 14 and 15 of `/proc/PID/stat` (`proc_pid_stat(5)`). The second field is the program's
/// name in parentheses and may hold anything.
fn parse_stat(stat: &str) -> Option<(u64, u64)> {
    let after_name = &stat[stat.rfind(')')? + 1..];
    let mut fields = after_name.split_ascii_whitespace().skip(11);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_passes() {
        let before = now_ns();
        assert!(before > 0);
        assert!(now_ns() >= before);
    }

    #[test]
    fn threads_say_what_they_waited_for() {
        assert_eq!(parse_schedstat("120 45 6\n"), Some(45));
        assert_eq!(parse_schedstat(""), None);
        let used = ThreadTime::now().since(ThreadTime::now());
        assert_eq!(used.cpu_ns, 0);
    }

    #[test]
    fn finds_the_fields_behind_any_name() {
        let stat = "7 (a) (b c) S 1 7 7 0 -1 4194304 90 0 0 0 123 45 0 0 20 0 1 0";
        assert_eq!(parse_stat(stat), Some((123, 45)));
        assert_eq!(parse_stat("7 (a) S 1"), None);
        assert_eq!(parse_stat(""), None);
    }

    #[test]
    fn splits_the_exact_total() {
        let at = |total_ns, user_ticks, system_ticks| CpuTime {
            total_ns,
            user_ticks,
            system_ticks,
        };
        assert_eq!(at(1100, 4, 9).since(at(100, 2, 1)), (200, 800));
        assert_eq!(at(300, 2, 1).since(at(100, 2, 1)), (200, 0));
        assert!(CpuTime::of_process().is_ok());
    }
}
