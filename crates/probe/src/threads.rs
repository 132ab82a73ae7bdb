//! What the scheduler knows of the living threads of a process.

use crate::root::{ProbeError, Root};

/// Counters of the living threads of one process, summed since each began. The difference of two
/// readings is exact to the nanosecond, but for the clock tick under way, as long as no thread
/// ends in between: what a thread used goes with it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ThreadsReading {
    /// Time on a processor, in nanoseconds.
    pub run_ns: u64,
    /// Time ready to run and without a processor, in nanoseconds.
    pub run_queue_ns: u64,
    /// How often a thread was put on a processor.
    pub slices: u64,
}

impl ThreadsReading {
    /// Reads `/proc/PID/task/*/schedstat`. Source of the layout: the kernel's
    /// Documentation/scheduler/sched-stats.rst.
    ///
    /// # Errors
    /// When the process is gone, the kernel keeps no such statistics, or a file is not as
    /// documented.
    pub fn take(root: &Root, pid: u32) -> Result<Self, ProbeError> {
        let folder = format!("proc/{pid}/task");
        let mut sum = Self::default();
        for thread in root.list(&folder)? {
            let path = format!("{folder}/{thread}/schedstat");
            let text = match root.read(&path) {
                Ok(text) => text,
                Err(error) if error.is_gone() => continue,
                Err(error) => return Err(error),
            };
            let thread =
                parse(&text).ok_or_else(|| root.unexpected(&path, "three numbers of schedstat"))?;
            sum.run_ns += thread.run_ns;
            sum.run_queue_ns += thread.run_queue_ns;
            sum.slices += thread.slices;
        }
        Ok(sum)
    }
}

fn parse(text: &str) -> Option<ThreadsReading> {
    let mut numbers = text.split_ascii_whitespace().map(str::parse);
    let mut next = || numbers.next()?.ok();
    Some(ThreadsReading {
        run_ns: next()?,
        run_queue_ns: next()?,
        slices: next()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_up_the_threads() {
        let folder = tempfile::tempdir().unwrap();
        for (thread, text) in [("42", "1000 20 3\n"), ("43", "5 6 7\n")] {
            let task = folder.path().join("proc/42/task").join(thread);
            std::fs::create_dir_all(&task).unwrap();
            std::fs::write(task.join("schedstat"), text).unwrap();
        }
        // A thread that has ended since it was listed.
        std::fs::create_dir_all(folder.path().join("proc/42/task/44")).unwrap();
        let reading = ThreadsReading::take(&Root::recorded(folder.path()), 42).unwrap();
        let expected = ThreadsReading {
            run_ns: 1005,
            run_queue_ns: 26,
            slices: 10,
        };
        assert_eq!(reading, expected);
    }

    #[test]
    fn what_is_missing_or_odd_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::recorded(folder.path());
        let error = ThreadsReading::take(&root, 7).unwrap_err();
        assert!(error.to_string().contains("proc/7/task"), "{error}");
        let task = folder.path().join("proc/7/task/7");
        std::fs::create_dir_all(&task).unwrap();
        std::fs::write(task.join("schedstat"), "12 x 3").unwrap();
        let error = ThreadsReading::take(&root, 7).unwrap_err();
        assert!(error.to_string().contains("three numbers"), "{error}");
    }

    #[test]
    fn reads_itself() {
        let reading = ThreadsReading::take(&Root::live(), std::process::id()).unwrap();
        assert!(reading.run_ns > 0 && reading.slices > 0);
    }
}
