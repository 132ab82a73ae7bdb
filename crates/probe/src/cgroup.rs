//! A control group for one server: what everything in it has used, whatever processes it makes.
//!
//! A group never limits anything. None is made where that would change how the machine is shared,
//! which is so where the kernel's `cpu` controller would see the group.

mod error;
mod place;
mod usage;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use prony_model::Source;

use crate::draft::Draft;
use crate::root::{ProbeError, Root};
use crate::stat::Stat;
use crate::text::value;
use place::Place;
use usage::{TRANSFERS, Transfers};

pub use error::CgroupError;

/// Prefix of the names of all our groups.
const PREFIX: &str = "prony.";

/// Number of attempts to remove a group while its last processes end, and the time between them.
const REMOVE_TRIES: u32 = 40;
const REMOVE_PAUSE: Duration = Duration::from_millis(5);

/// Counts groups of this process, so that no two have the same name.
static SERIAL: AtomicU64 = AtomicU64::new(0);

/// A control group that is removed when this is dropped.
#[derive(Debug)]
pub struct Cgroup {
    root: Root,
    layout: Layout,
    /// Its folders, one for each hierarchy, absolute; at least one.
    folders: Vec<PathBuf>,
    /// The devices that it had moved data to or from when it was read last.
    devices: BTreeSet<String>,
}

/// Source of a group's usage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Version 2: one folder with `cpu.stat` and, where that controller is on, `io.stat`.
    Unified,
    /// Version 1: a folder of the hierarchy with `cpuacct` and, second, of that with `blkio`.
    Legacy,
}

impl Cgroup {
    /// Makes a group below that of this program, of version 2 where that is possible, else of
    /// version 1. Groups that a killed Prony left there are removed first.
    ///
    /// # Errors
    /// If the machine, its rights or the place do not allow that.
    pub fn create(root: &Root, name: &str) -> Result<Self, CgroupError> {
        let place = Place::find(root)?;
        let name = folder_name(root, name)?;
        let unified = place
            .unified(root)
            .and_then(|parent| Self::make(root, Layout::Unified, &[parent], &name));
        match (unified, place.legacy(root)) {
            (Ok(group), _) => Ok(group),
            (Err(_), Ok(parents)) => Self::make(root, Layout::Legacy, &parents, &name),
            (Err(CgroupError::NotMounted), Err(error)) | (Err(error), Err(_)) => Err(error),
        }
    }

    /// Makes a folder `name` in each of the parents.
    fn make(
        root: &Root,
        layout: Layout,
        parents: &[PathBuf],
        name: &str,
    ) -> Result<Self, CgroupError> {
        // An incomplete group is removed again on any error.
        let mut group = Self {
            root: root.clone(),
            layout,
            folders: Vec::new(),
            devices: BTreeSet::new(),
        };
        for parent in parents {
            sweep(root, parent);
            let folder = parent.join(name);
            fs::create_dir(root.path(&folder)).map_err(|source| CgroupError::Make {
                parent: parent.clone(),
                source,
            })?;
            group.folders.push(folder);
        }
        if root.is_live() && group.times()[0].is_none() {
            let parent = parents[0].clone();
            return Err(CgroupError::NoTime { parent });
        }
        Ok(group)
    }

    /// The folder with its processor time.
    #[cfg(test)]
    pub(crate) fn folder(&self) -> &Path {
        &self.folders[0]
    }

    /// Puts a process with all its threads into the group; what it makes later is born there.
    ///
    /// # Errors
    /// If the process is gone or the system refuses.
    pub fn add(&self, pid: u32) -> Result<(), CgroupError> {
        for folder in &self.folders {
            let path = self.root.path(folder.join("cgroup.procs"));
            fs::OpenOptions::new()
                .write(true)
                .open(path)
                .and_then(|mut file| io::Write::write_all(&mut file, pid.to_string().as_bytes()))
                .map_err(|source| CgroupError::Add {
                    parent: folder.parent().unwrap_or(folder).to_owned(),
                    source,
                })?;
        }
        Ok(())
    }

    /// Takes a sample.
    pub(crate) fn sample(&mut self, draft: &mut Draft) {
        let times = self.times();
        if times[0].is_some() {
            for (name, time) in ["cpu_ns", "user_ns", "system_ns"].into_iter().zip(times) {
                draft.put(Source::Cgroup, name, time);
            }
        } else {
            let reason = "the control group no longer shows processor time";
            draft.gap(Source::Cgroup, reason);
        }
        let Some(Transfers { devices, figures }) = self.transfers() else {
            return;
        };
        if !devices.is_superset(&self.devices) {
            // Their share of the sums is gone, and would be missing from any difference.
            let reason = "the control group no longer shows a device that it had used";
            return draft.gap(Source::Cgroup, reason);
        }
        self.devices = devices;
        for ((name, _), value) in TRANSFERS.into_iter().zip(figures) {
            draft.put(Source::Cgroup, name, value);
        }
    }

    /// Processor time in nanoseconds: all of it, that in user space, and that in the kernel. Source
    /// of the layouts: the kernel's documentation, admin-guide/cgroup-v2, cpu.stat, and
    /// admin-guide/cgroup-v1/cpuacct.
    fn times(&self) -> [Option<u64>; 3] {
        let folder = &self.folders[0];
        match self.layout {
            Layout::Unified => {
                let text = self.root.read(folder.join("cpu.stat")).unwrap_or_default();
                ["usage_usec ", "user_usec ", "system_usec "]
                    .map(|word| value(&text, word)?.checked_mul(1_000))
            }
            Layout::Legacy => ["cpuacct.usage", "cpuacct.usage_user", "cpuacct.usage_sys"]
                .map(|name| self.root.number(folder.join(name))),
        }
    }

    fn transfers(&self) -> Option<Transfers> {
        let read = |folder: &Path, name: &str| self.root.read(folder.join(name)).ok();
        // Devices that are made of others would be counted twice.
        let counts = |device: &str| {
            let below = self.root.list(format!("sys/dev/block/{device}/slaves"));
            below.is_ok_and(|below| below.is_empty())
        };
        match self.layout {
            Layout::Unified => Transfers::unified(&read(&self.folders[0], "io.stat")?, counts),
            Layout::Legacy => {
                let folder = self.folders.get(1)?;
                Transfers::legacy(
                    &read(folder, "blkio.throttle.io_service_bytes")?,
                    &read(folder, "blkio.throttle.io_serviced")?,
                    counts,
                )
            }
        }
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        for folder in &self.folders {
            let path = self.root.path(folder);
            for _ in 0..REMOVE_TRIES {
                match fs::remove_dir(&path) {
                    Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                        thread::sleep(REMOVE_PAUSE);
                    }
                    // The next Prony removes what is left.
                    _ => break,
                }
            }
        }
    }
}

/// The name of a new group: whose it is, and what for.
fn folder_name(root: &Root, name: &str) -> Result<String, ProbeError> {
    let pid = std::process::id();
    let started = Stat::of(root, pid)?.started_ticks;
    let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
    let name: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    Ok(format!("{PREFIX}{pid}.{started}.{serial}.{name}"))
}

/// Removes groups below `parent` whose owner has ended. One that still has processes stays.
fn sweep(root: &Root, parent: &Path) {
    for name in root.list(parent).unwrap_or_default() {
        if owner(&name).is_some_and(|(pid, started)| !lives(root, pid, started)) {
            let _ = fs::remove_dir(root.path(parent.join(name)));
        }
    }
}

/// Process and start time of the owner that a group's name tells.
fn owner(name: &str) -> Option<(u32, u64)> {
    let mut words = name.strip_prefix(PREFIX)?.split('.');
    Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

fn lives(root: &Root, pid: u32, started: u64) -> bool {
    match Stat::of(root, pid) {
        Ok(stat) => stat.started_ticks == started,
        Err(error) => !error.is_gone(),
    }
}

#[cfg(test)]
mod tests;
