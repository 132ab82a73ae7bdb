//! Reason why counters are unavailable.

use std::fs;
use std::io;

use rustix::io::Errno;

/// Reason why counters are unavailable.
#[derive(Debug, thiserror::Error)]
pub enum CountersError {
    /// The kernel does not open the counter.
    #[error("open counter {event}: {source}{remedy}")]
    Open {
        /// The counter.
        event: &'static str,
        /// Error of the system.
        source: io::Error,
        /// The remedy after its punctuation, if one is known.
        remedy: String,
    },
    /// The counter can be opened and stands still.
    #[error(
        "use counter {event}: it stays at zero, as in virtual machines that only simulate it; \
         count with valgrind"
    )]
    Still {
        /// The counter.
        event: &'static str,
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
    /// The error of opening `event`, which is permitted while `kernel.perf_event_paranoid` is at
    /// most `needed`.
    pub(crate) fn open(event: &'static str, needed: u8, source: io::Error) -> Self {
        let remedy = match Errno::from_io_error(&source) {
            Some(Errno::ACCESS | Errno::PERM) => {
                let paranoid = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
                format!(
                    " (kernel.perf_event_paranoid is {}); allow it with `sysctl \
                     kernel.perf_event_paranoid={needed}` or the capability CAP_PERFMON, and in a \
                     container let its seccomp profile pass perf_event_open",
                    paranoid.as_deref().map_or("unknown", str::trim)
                )
            }
            Some(Errno::NOENT | Errno::NODEV | Errno::OPNOTSUPP | Errno::NOSYS) => {
                "; this machine does not offer it, as most virtual machines do not: enable the \
                 virtual PMU of the machine, or count with valgrind"
                    .to_owned()
            }
            Some(Errno::MFILE | Errno::NFILE) => "; allow more open files with `ulimit -n`".into(),
            _ => String::new(),
        };
        Self::Open {
            event,
            source,
            remedy,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(errno: Errno) -> String {
        CountersError::open("cycles_kernel", 1, errno.into()).to_string()
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
