//! Place in which this program may make control groups.

use std::path::{Path, PathBuf};

use super::CgroupError;
use crate::mounts::{Mount, mounts};
use crate::root::{ProbeError, Root};

/// The hierarchies of the machine, and the groups of this program in them.
pub(super) struct Place {
    mounts: Vec<Mount>,
    /// `/proc/self/cgroup`.
    groups: String,
}

impl Place {
    pub(super) fn find(root: &Root) -> Result<Self, ProbeError> {
        Ok(Self {
            mounts: mounts(root)?,
            groups: root.read("proc/self/cgroup")?,
        })
    }

    /// Our group of version 2.
    pub(super) fn unified(&self, root: &Root) -> Result<PathBuf, CgroupError> {
        let mount = self.mount(|mount| mount.kind == "cgroup2")?;
        let folder = self.own(mount, "")?;
        let below = root.read(folder.join("cgroup.subtree_control"))?;
        if below.split_ascii_whitespace().any(|word| word == "cpu") {
            return Err(CgroupError::SharesProcessor { folder });
        }
        Ok(folder)
    }

    /// Our groups of version 1: that of `cpuacct` and, where there is one, that of `blkio`.
    pub(super) fn legacy(&self, root: &Root) -> Result<Vec<PathBuf>, CgroupError> {
        let accounting = self.controller("cpuacct")?;
        let folder = self.own(accounting, "cpuacct")?;
        if accounting.has_option("cpu") {
            return Err(CgroupError::SharesProcessor { folder });
        }
        let blocks = self.controller("blkio").and_then(|mount| {
            let folder = self.own(mount, "blkio")?;
            root.list(&folder)?;
            Ok(folder)
        });
        Ok([folder].into_iter().chain(blocks.ok()).collect())
    }

    fn controller(&self, name: &str) -> Result<&Mount, CgroupError> {
        self.mount(|mount| mount.kind == "cgroup" && mount.has_option(name))
    }

    fn mount(&self, is_it: impl Fn(&Mount) -> bool) -> Result<&Mount, CgroupError> {
        let mut found = self.mounts.iter().filter(|mount| is_it(mount));
        found.next().ok_or(CgroupError::NotMounted)
    }

    /// The folder of our group in the hierarchy of a controller, whose line of `/proc/self/cgroup`
    /// (cgroups(7)) is `number:controllers:group`; version 2 names no controllers.
    fn own(&self, mount: &Mount, controller: &str) -> Result<PathBuf, CgroupError> {
        let group = self.groups.lines().find_map(|line| {
            let (_, line) = line.split_once(':')?;
            let (controllers, group) = line.split_once(':')?;
            has(controllers, controller).then_some(group)
        });
        let group = group.ok_or(CgroupError::NotMounted)?;
        match Path::new(group).strip_prefix(&mount.root) {
            Ok(inside) if !inside.starts_with("..") => Ok(mount.point.join(inside)),
            _ => Err(CgroupError::Outside {
                point: mount.point.clone(),
                group: group.to_owned(),
            }),
        }
    }
}

fn has(controllers: &str, name: &str) -> bool {
    controllers.split(',').any(|other| other == name)
}
