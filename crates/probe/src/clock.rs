//! Processor time by the clocks of processes and threads, exact to the nanosecond.

use nix::time::{clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;
use rustix::time::ClockId;

use crate::root::Root;

/// Processor time that a live process has used, its ended threads included, in nanoseconds. `None`
/// where it has ended, and on a recorded machine, which has no clocks.
pub fn process_cpu_ns(root: &Root, pid: u32) -> Option<u64> {
    if !root.is_live() {
        return None;
    }
    let clock = clock_getcpuclockid(Pid::from_raw(i32::try_from(pid).ok()?)).ok()?;
    let time = clock_gettime(clock).ok()?;
    nanoseconds(time.tv_sec(), time.tv_nsec())
}

/// Processor time of this program.
pub(crate) fn own_cpu_ns() -> Option<u64> {
    own(ClockId::ProcessCPUTime)
}

/// Processor time of the calling thread.
pub(crate) fn own_thread_cpu_ns() -> Option<u64> {
    own(ClockId::ThreadCPUTime)
}

fn own(clock: ClockId) -> Option<u64> {
    let time = rustix::time::clock_gettime(clock);
    nanoseconds(time.tv_sec, time.tv_nsec)
}

fn nanoseconds(seconds: i64, nanoseconds: i64) -> Option<u64> {
    u64::try_from(seconds)
        .ok()?
        .checked_mul(1_000_000_000)?
        .checked_add(u64::try_from(nanoseconds).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_of_this_process_agree() {
        let before = own_cpu_ns().unwrap();
        let between = process_cpu_ns(&Root::live(), std::process::id()).unwrap();
        let after = own_cpu_ns().unwrap();
        assert!(before <= between && between <= after);
        let thread = own_thread_cpu_ns().unwrap();
        assert!(thread > 0 && thread <= own_cpu_ns().unwrap());
    }

    #[test]
    fn a_recorded_machine_has_no_clocks() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::recorded(folder.path());
        assert_eq!(process_cpu_ns(&root, std::process::id()), None);
    }
}
