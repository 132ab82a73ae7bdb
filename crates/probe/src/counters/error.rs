//! Reason why counters can't be had.

use std::fs;
use std::io;

use rustix::io::Errno;

/// Reason why counters can't be had.
#[derive(Debug, thiserror::Error)]
pub enum CountersError {
    /// The kernel does not let this user count.
    #[error(
        "open counter {event}: {source} (kernel.perf_event_paranoid is {paranoid}); allow it with \
         `sysctl kernel.perf_event_paranoid={needed}` or the capability CAP_PERFMON, and in a \
         container let its seccomp profile pass perf_event_open"
    )]
    Denied {
        /// The counter.
        event: &'static str,
        /// The kernel's setting, as it is written.
        paranoid: String,
        /// The highest value of the setting at which it can be had.
        needed: u8,
        /// Error of the system.
        source: io::Error,
    },
    /// The machine or kernel has no such counter.
    #[error(
        "open counter {event}: {source}; this machine does not offer it, as most virtual machines \
         do not: enable the virtual PMU of the machine, or count with valgrind"
    )]
    NotOffered {
        /// The counter.
        event: &'static str,
        /// Error of the system.
        source: io::Error,
    },
    /// No more files may be open.
    #[error("open counter {event}: {source}; allow more open files with `ulimit -n`")]
    TooMany {
        /// The counter.
        event: &'static str,
        /// Error of the system.
        source: io::Error,
    },
    /// The counter can be opened and stands still.
    #[error(
        "use counter {event}: it stays at zero, as in virtual machines that only pretend to have \
         it; count with valgrind"
    )]
    Still {
        /// The counter.
        event: &'static str,
    },
    /// Another reason, for instance that the process has ended.
    #[error("open counter {event}: {source}")]
    Open {
        /// The counter.
        event: &'static str,
        /// Error of the system.
        source: io::Error,
    },
    /// An open counter can't be read.
    #[error("read counter {event}: {source}")]
    Read {
        /// The counter.
        event: &'static str,
        /// Error of the system.
        source: io::Error,
    },
}

impl CountersError {
    /// The error of opening `event`, which can be had while `kernel.perf_event_paranoid` is at most
    /// `needed`.
    pub(super) fn of(event: &'static str, needed: u8, source: io::Error) -> Self {
        match Errno::from_io_error(&source) {
            Some(Errno::ACCESS | Errno::PERM) => Self::Denied {
                event,
                paranoid: fs::read_to_string("/proc/sys/kernel/perf_event_paranoid")
                    .map_or_else(|_| "unknown".to_owned(), |text| text.trim().to_owned()),
                needed,
                source,
            },
            Some(Errno::NOENT | Errno::NODEV | Errno::OPNOTSUPP | Errno::NOSYS) => {
                Self::NotOffered { event, source }
            }
            Some(Errno::MFILE | Errno::NFILE) => Self::TooMany { event, source },
            _ => Self::Open { event, source },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(errno: Errno) -> String {
        CountersError::of("cycles_kernel", 1, errno.into()).to_string()
    }

    #[test]
    fn errors_say_what_to_do() {
        for (errno, remedy) in [
            (Errno::ACCESS, "sysctl kernel.perf_event_paranoid=1"),
            (Errno::PERM, "CAP_PERFMON"),
            (Errno::NOENT, "count with valgrind"),
            (Errno::NODEV, "enable the virtual PMU"),
            (Errno::OPNOTSUPP, "enable the virtual PMU"),
            (Errno::NOSYS, "count with valgrind"),
            (Errno::MFILE, "ulimit -n"),
            (Errno::NFILE, "ulimit -n"),
            (Errno::SRCH, "No such process"),
        ] {
            let message = message(errno);
            assert!(message.contains(remedy), "{message}");
            assert!(
                message.starts_with("open counter cycles_kernel: "),
                "{message}"
            );
        }
    }
}
