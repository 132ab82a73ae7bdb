//! The scheduling group of a process.

use std::path::{Path, PathBuf};

use prony_model::SchedulingGroup;

use crate::mounts::{Mount, mounts};
use crate::root::{ProbeError, Root};

/// Setting that turns autogroups on, sched(7).
const AUTOGROUPS: &str = "proc/sys/kernel/sched_autogroup_enabled";

/// Scheduling group of a process: the nearest control group that has the processor controller,
/// else the autogroup of its session where the kernel makes these, else the root group.
///
/// # Errors
/// If the process has ended or `/proc` can't be read.
pub fn scheduling_group(root: &Root, pid: u32) -> Result<SchedulingGroup, ProbeError> {
    let groups = root.read(format!("proc/{pid}/cgroup"))?;
    let mounts = mounts(root)?;
    if let Some(path) = legacy(root, &mounts, &groups).or_else(|| unified(root, &mounts, &groups)) {
        return Ok(SchedulingGroup::Cgroup(path));
    }
    if root.number(AUTOGROUPS) != Some(1) {
        return Ok(SchedulingGroup::Root);
    }
    // A process of the kernel's first session has an empty file.
    let number = root.words(format!("proc/{pid}/autogroup"));
    let number = number.first().and_then(|name| {
        let number = name.strip_prefix("/autogroup-")?;
        number.parse().ok()
    });
    Ok(number.map_or(SchedulingGroup::Root, SchedulingGroup::Autogroup))
}

/// Group of version 1 with the controller `cpu`. `None` for the root of its hierarchy.
fn legacy(root: &Root, mounts: &[Mount], groups: &str) -> Option<String> {
    let mount = mounts
        .iter()
        .find(|mount| mount.kind == "cgroup" && mount.has_option("cpu"))?;
    let path = group_of(groups, "cpu")?;
    // In a namespace every group that one begins at is called `/`. Only the root has this file.
    let is_root = path == "/" && root.path(mount.point.join("release_agent")).exists();
    (!is_root).then(|| path.to_owned())
}

/// Nearest group of version 2 with the controller `cpu`. `None` if that is the root.
fn unified(root: &Root, mounts: &[Mount], groups: &str) -> Option<String> {
    let mount = mounts.iter().find(|mount| mount.kind == "cgroup2")?;
    let path = Path::new(group_of(groups, "")?);
    let Ok(inside) = path.strip_prefix(&mount.root) else {
        return Some(path.display().to_string());
    };
    if inside.starts_with("..") {
        // Outside this program's namespace: another container, or the host.
        return Some(path.display().to_string());
    }
    inside.ancestors().find_map(|inside| {
        let folder: PathBuf = mount.point.join(inside);
        let has_controller = root.path(folder.join("cpu.weight")).exists();
        has_controller.then(|| mount.root.join(inside).display().to_string())
    })
}

/// Group in the hierarchy of a controller, whose line (cgroups(7)) is `number:controllers:group`;
/// version 2 names no controllers.
fn group_of<'a>(groups: &'a str, controller: &str) -> Option<&'a str> {
    groups.lines().find_map(|line| {
        let (_, line) = line.split_once(':')?;
        let (controllers, group) = line.split_once(':')?;
        let mut controllers = controllers.split(',');
        controllers
            .any(|other| other == controller)
            .then_some(group)
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    const LEGACY: &str = "32 31 0:29 / /cg/cpu rw - cgroup cgroup rw,cpu\n\
                          33 31 0:30 / /cg/memory rw - cgroup cgroup rw,memory\n\
                          34 31 0:31 / /cg/unified rw - cgroup2 cgroup2 rw\n";
    const UNIFIED: &str = "32 31 0:29 / /cg rw - cgroup2 cgroup2 rw\n";

    /// A machine with one process, number 7, and empty files.
    fn machine(mounts: &str, groups: &str, autogroup: (&str, &str), files: &[&str]) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("proc/self/mountinfo", mounts);
        write("proc/7/cgroup", groups);
        write(AUTOGROUPS, autogroup.0);
        write("proc/7/autogroup", autogroup.1);
        for file in files {
            write(file, "");
        }
        folder
    }

    #[test]
    fn the_nearest_group_with_the_controller_counts() {
        let on = ("1\n", "/autogroup-30 nice 0\n");
        let off = ("0\n", "/autogroup-30 nice 0\n");
        let old_root = "cg/cpu/release_agent";
        let service = "0::/system.slice/mysql.service\n";
        let slice = "cg/system.slice/cpu.weight";
        let cgroup = |path: &str| SchedulingGroup::Cgroup(path.into());
        let cases = [
            // Version 1: the root, with autogroups on, off and not known for the session.
            (
                LEGACY,
                "1:cpu:/\n0::/\n",
                on,
                old_root,
                SchedulingGroup::Autogroup(30),
            ),
            (
                LEGACY,
                "1:cpu:/\n0::/\n",
                off,
                old_root,
                SchedulingGroup::Root,
            ),
            (
                LEGACY,
                "1:cpu:/\n0::/\n",
                ("1\n", ""),
                old_root,
                SchedulingGroup::Root,
            ),
            // A group of its own, by name or in a namespace.
            (LEGACY, "1:cpu,cpuacct:/db\n", on, old_root, cgroup("/db")),
            (LEGACY, "1:cpu:/\n", on, "cg/cpu/tasks", cgroup("/")),
            // Version 2: the controller may be that of a group above, or of none.
            (UNIFIED, service, on, slice, cgroup("/system.slice")),
            (
                UNIFIED,
                service,
                on,
                "cg/cpu.stat",
                SchedulingGroup::Autogroup(30),
            ),
            (UNIFIED, "0::/../db\n", on, "cg/cpu.stat", cgroup("/../db")),
        ];
        for (mounts, groups, autogroup, file, expected) in cases {
            let folder = machine(mounts, groups, autogroup, &[file]);
            let root = Root::recorded(folder.path());
            assert_eq!(scheduling_group(&root, 7).unwrap(), expected, "{groups}");
        }
    }

    #[test]
    fn a_child_is_in_the_group_of_its_parent() {
        let root = Root::live();
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let found = scheduling_group(&root, child.id()).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(found, scheduling_group(&root, std::process::id()).unwrap());
        assert!(scheduling_group(&root, u32::MAX).is_err());
    }
}
