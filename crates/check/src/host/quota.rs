//! The limit of processor time of this program's control group.

use std::path::{Path, PathBuf};

use prony_model::Finding;
use prony_model::FindingState::{Bad, Good, Unknown};
use prony_model::HostProperty::Quota;
use prony_probe::Root;

use crate::processors::allowed;

/// Folders in which version 2 of control groups, or the controller `cpu` of version 1, is mounted.
const MOUNTS: [&str; 4] = [
    "sys/fs/cgroup",
    "sys/fs/cgroup/unified",
    "sys/fs/cgroup/cpu",
    "sys/fs/cgroup/cpu,cpuacct",
];

/// Judges the tightest limit.
pub(super) fn judge(root: &Root) -> Finding {
    let Ok(groups) = root.read("proc/self/cgroup") else {
        return Finding::new(Quota, Unknown, "/proc/self/cgroup can't be read");
    };
    let is_mounted = |mount: &&str| root.list(mount).is_ok_and(|names| !names.is_empty());
    if !MOUNTS.iter().any(is_mounted) {
        return Finding::new(
            Quota,
            Unknown,
            "control groups are not mounted in /sys/fs/cgroup",
        );
    }
    let limit = folders(&groups)
        .iter()
        .filter_map(|folder| processors(root, folder))
        .reduce(f64::min);
    let cpus = allowed().map_or(1, |allowed| allowed.len()) as f64;
    match limit {
        Some(limit) if limit < cpus => Finding::new(
            Quota,
            Bad,
            format!("the control group may use {limit:.1} processors at a time, of {cpus}"),
        )
        .effect("a server that uses it up stands still for the rest of each period, by 100 ms")
        .remedy("remove the limit (`docker run --cpus`, `CPUQuota=`), or name whole processors instead (`--cpuset-cpus`, `AllowedCPUs=`)")
        .figure("limit_processors", limit),
        Some(limit) => Finding::new(Quota, Good, "not below the processors")
            .figure("limit_processors", limit),
        None => Finding::new(Quota, Good, "none"),
    }
}

/// Folders of the group of this program and of all groups around it. Source of the layout:
/// cgroups(7), `/proc/self/cgroup`.
fn folders(groups: &str) -> Vec<PathBuf> {
    let paths = groups.lines().filter_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        let decides = controllers.is_empty() || controllers.split(',').any(|name| name == "cpu");
        decides.then(|| Path::new(path.trim_start_matches('/')))
    });
    let around = |path: &Path| -> Vec<PathBuf> {
        let each = path.ancestors();
        each.flat_map(|path| MOUNTS.map(|mount| Path::new(mount).join(path)))
            .collect()
    };
    paths.flat_map(around).collect()
}

/// Processors that a group may use at a time. `None` if it has no limit.
fn processors(root: &Root, folder: &Path) -> Option<f64> {
    if let Ok(limit) = root.read(folder.join("cpu.max")) {
        let (quota, period) = limit.trim().split_once(' ')?;
        return Some(quota.parse::<f64>().ok()? / period.parse::<f64>().ok()?);
    }
    // The quota of version 1 is -1 without a limit.
    let quota = root.number(folder.join("cpu.cfs_quota_us"))?;
    let period = root.number(folder.join("cpu.cfs_period_us"))?;
    (period > 0).then(|| quota as f64 / period as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::recorded;

    #[test]
    fn the_tightest_limit_around_this_program_counts() {
        let unified = ("proc/self/cgroup", "0::/a/b\n");
        let legacy = ("proc/self/cgroup", "9:pids:/\n1:cpu,cpuacct:/a\n");
        let tight = "50000 100000\n";
        for (files, state) in [
            (vec![unified], Unknown),
            (
                vec![unified, ("sys/fs/cgroup/a/b/cpu.max", "max 100000\n")],
                Good,
            ),
            (vec![unified, ("sys/fs/cgroup/a/cpu.max", tight)], Bad),
            (vec![unified, ("sys/fs/cgroup/c/cpu.max", tight)], Good),
            (
                vec![unified, ("sys/fs/cgroup/cpu.max", "102400000 100000\n")],
                Good,
            ),
            (
                vec![
                    legacy,
                    ("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "50000\n"),
                    ("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n"),
                ],
                Bad,
            ),
            (
                vec![
                    legacy,
                    ("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1\n"),
                    ("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n"),
                ],
                Good,
            ),
            (vec![], Unknown),
        ] {
            let (_folder, root) = recorded(&files);
            assert_eq!(judge(&root).state, state, "{files:?}");
        }
    }
}
