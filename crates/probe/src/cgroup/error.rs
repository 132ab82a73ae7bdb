//! Reason why there is no control group.

use std::io;
use std::path::PathBuf;

use crate::root::ProbeError;

/// Remedy that permits a user to make control groups.
const REMEDY: &str = "start Prony in a group of its own, with `systemd-run --user --scope -p \
                      Delegate=yes prony …`, and in a container with /sys/fs/cgroup writable";

/// Reason why there is no control group.
#[derive(Debug, thiserror::Error)]
pub enum CgroupError {
    /// The machine has no suitable hierarchy.
    #[error(
        "find control groups: neither version 2 nor `cpuacct` of version 1 is mounted; processor \
         time is read from /proc only"
    )]
    NotMounted,
    /// The mounted hierarchies can't be read.
    #[error(transparent)]
    Unreadable(#[from] ProbeError),
    /// Prony's own group is outside of what is mounted, as in some containers.
    #[error(
        "find the control group of this program below {point}: it is `{group}`; give the container \
         a cgroup namespace of its own"
    )]
    Outside {
        /// Mount point of the hierarchy.
        point: PathBuf,
        /// The group as the kernel names it.
        group: String,
    },
    /// A group would change how processors are shared.
    #[error(
        "create a control group below {folder}: the `cpu` controller would divide the processors \
         between groups and distort the measurement; {REMEDY}"
    )]
    SharesProcessor {
        /// The group in which one would be made.
        folder: PathBuf,
    },
    // Names of groups differ from server to server, and an error of all of them is shown once:
    // these variants name the group above.
    /// The group can't be made.
    #[error("make a control group below {parent}: {source}; {REMEDY}")]
    Make {
        /// The group above.
        parent: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The group shows no processor time.
    #[error(
        "read processor time of a control group below {parent}: kernels before 4.15 show none there"
    )]
    NoTime {
        /// The group above.
        parent: PathBuf,
    },
    /// A process can't be put into the group.
    #[error("put the server into a control group below {parent}: {source}; {REMEDY}")]
    Add {
        /// The group above.
        parent: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
}
