//! Scheduling groups: the parts into which the kernel divides processor time first.

use std::fmt;

/// Processes that share one part of the processor time. The kernel divides it between groups
/// first, and then between the threads of a group: a thread that is alone in its group gets as
/// much as all threads of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchedulingGroup {
    /// Processes without a group of their own.
    Root,
    /// Processes of one session, such as that of a terminal; by the group's number.
    Autogroup(u64),
    /// Processes of a control group that has the processor controller; by its path.
    Cgroup(String),
}

/// Writes `autogroup 30`.
impl fmt::Display for SchedulingGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => f.write_str("the root group"),
            Self::Autogroup(number) => write!(f, "autogroup {number}"),
            Self::Cgroup(path) => write!(f, "control group {path}"),
        }
    }
}

/// Scheduling groups of an external server and of the load generator, by the names that
/// [`SchedulingGroup`] writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchedulingGroups {
    /// The server's, or the reason why it is unknown, which fits after "failed to".
    pub server: Result<String, String>,
    /// The load generator's.
    pub generator: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_have_names() {
        let cgroup = SchedulingGroup::Cgroup("/system.slice/mysql.service".into());
        for (group, name) in [
            (SchedulingGroup::Root, "the root group"),
            (SchedulingGroup::Autogroup(30), "autogroup 30"),
            (cgroup, "control group /system.slice/mysql.service"),
        ] {
            assert_eq!(group.to_string(), name);
        }
    }
}
