//! Counters of one process, threads that have ended included.

use crate::root::{ProbeError, Root, pages_to_bytes, ticks_to_ns};
use crate::stat::Stat;
use crate::text::{kibibytes, numbers};

/// Counters of a process since its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessSample {
    /// Processor time in user space of all its threads, in nanoseconds; moves in clock ticks.
    pub user_ns: u64,
    /// The same in the kernel.
    pub system_ns: u64,
    /// Resident memory, in bytes.
    pub resident_bytes: u64,
    /// Threads alive.
    pub threads: u64,
}

impl ProcessSample {
    /// Reads `/proc/PID/stat`. Source of the layout: proc(5).
    ///
    /// # Errors
    /// If the process is gone or the file is not as documented.
    pub fn take(root: &Root, pid: u32) -> Result<Self, ProbeError> {
        root.parse(
            format!("proc/{pid}/stat"),
            "the fields of proc(5), stat",
            |text| {
                let stat = Stat::parse(text)?;
                Some(Self {
                    user_ns: ticks_to_ns(stat.user_ticks[0])?,
                    system_ns: ticks_to_ns(stat.system_ticks[0])?,
                    threads: stat.threads,
                    resident_bytes: pages_to_bytes(stat.resident_pages)?,
                })
            },
        )
    }
}

/// The most resident memory that a process has had so far, in bytes: `VmHWM` of `/proc/PID/status`.
/// Source of the layout: proc(5), status.
///
/// # Errors
/// If the process is gone or the file is not as documented.
pub fn resident_peak_bytes(root: &Root, pid: u32) -> Result<u64, ProbeError> {
    let path = format!("proc/{pid}/status");
    root.parse(path, "a line `VmHWM: … kB`", |text| {
        kibibytes(text, "VmHWM:")
    })
}

/// Processor time of a process with a single thread, user and kernel together, in nanoseconds:
/// exact, whereas a [`ProcessSample`] moves in clock ticks. Source of the layout: the kernel's
/// documentation, scheduler/sched-stats.
///
/// # Errors
/// If the process is gone, the kernel keeps no such figures, or the file is not as documented.
pub fn thread_cpu_ns(root: &Root, pid: u32) -> Result<u64, ProbeError> {
    let path = format!("proc/{pid}/schedstat");
    root.parse(path, "three numbers", |text| {
        numbers::<1>(text).map(|[ns]| ns)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tick_ns;

    #[test]
    fn reads_the_peak_of_memory() {
        let status = "Name:\tx\nVmPeak:\t  9 kB\nVmHWM:\t    1234 kB\nVmRSS:\t 7 kB\n";
        assert_eq!(kibibytes(status, "VmHWM:"), Some(1234 * 1024));
        assert_eq!(kibibytes("Name:\tx\n", "VmHWM:"), None);
        assert!(resident_peak_bytes(&Root::live(), std::process::id()).unwrap() > 0);
    }

    #[test]
    fn reads_a_command_with_spaces_and_parentheses() {
        let folder = tempfile::tempdir().unwrap();
        let process = folder.path().join("proc/42");
        std::fs::create_dir_all(&process).unwrap();
        let line = "42 (my (sql) d) S 1 42 42 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 31 0 9999 \
                    123456789 2000 18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 1 0 0\n";
        std::fs::write(process.join("stat"), line).unwrap();
        let reading = ProcessSample::take(&Root::recorded(folder.path()), 42).unwrap();
        assert_eq!(reading.user_ns, 250 * tick_ns());
        assert_eq!(reading.system_ns, 50 * tick_ns());
        assert_eq!(reading.threads, 31);
        assert_eq!(
            reading.resident_bytes,
            2000 * rustix::param::page_size() as u64
        );
    }

    #[test]
    fn a_process_that_is_gone_is_an_error_that_names_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let error = ProcessSample::take(&Root::recorded(folder.path()), 7).unwrap_err();
        assert!(error.to_string().contains("proc/7/stat"), "{error}");
    }

    #[test]
    fn reads_itself() {
        let reading = ProcessSample::take(&Root::live(), std::process::id()).unwrap();
        assert!(reading.resident_bytes > 0);
        assert!(reading.threads > 0);
    }

    #[test]
    fn reads_the_time_of_a_thread() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::recorded(folder.path());
        let process = folder.path().join("proc/42");
        std::fs::create_dir_all(&process).unwrap();
        assert!(thread_cpu_ns(&root, 42).is_err());
        std::fs::write(process.join("schedstat"), "1234567 89 10\n").unwrap();
        assert_eq!(thread_cpu_ns(&root, 42).unwrap(), 1_234_567);
        std::fs::write(process.join("schedstat"), "\n").unwrap();
        assert!(thread_cpu_ns(&root, 42).is_err());
    }
}
