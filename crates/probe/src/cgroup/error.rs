//! Reason why there is no control group.

use std::io;
use std::path::{Path, PathBuf};

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
         time is read from /proc alone"
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
        "make a control group below {folder}: the `cpu` controller would divide the processors \
         between groups and change what is measured; {REMEDY}"
    )]
    SharesProcessor {
        /// The group in which one would be made.
        folder: PathBuf,
    },
    /// The group can't be made.
    #[error("make a control group below {}: {source}; {REMEDY}", above(folder))]
    Make {
        /// The group.
        folder: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The group shows no processor time.
    #[error(
        "read processor time of a control group below {}: kernels before 4.15 show none there",
        above(folder)
    )]
    NoTime {
        /// The group.
        folder: PathBuf,
    },
    /// A process can't be put into the group.
    #[error(
        "put the server into a control group below {}: {source}; {REMEDY}",
        above(folder)
    )]
    Add {
        /// The group.
        folder: PathBuf,
        /// The process.
        pid: u32,
        /// Error of the system.
        source: io::Error,
    },
}

/// The group above: names of groups differ from server to server, and what is wrong with all of
/// them is to be said once.
fn above(folder: &Path) -> std::path::Display<'_> {
    folder.parent().unwrap_or(folder).display()
}
