//! The process of Prony that a folder or a child process belongs to, and whether it still lives.

use std::fmt;
use std::fs;
use std::os::linux::fs::MetadataExt;
use std::path::Path;
use std::str::FromStr;

/// The environment variable that every child process carries; its value is an [`Owner`].
pub(crate) const OWNER_VARIABLE: &str = "PRONY_OWNER";

/// The PID namespace that a kernel starts with: `PROC_PID_INIT_INO` of Linux's `proc_ns.h`.
const INITIAL_NAMESPACE: u64 = 0xEFFF_FFFC;

/// A place where a process id names one process: a PID namespace of one boot of one machine.
///
/// A fact that can't be read is empty, and equal to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// Inode of the PID namespace, `pid_namespaces(7)`; 0 where it can't be read.
    pub namespace: u64,
    /// Id of the kernel's boot.
    pub boot: String,
    /// Id of the machine, `machine-id(5)`. Copies of a machine, and containers, may share it.
    pub machine: String,
    /// Name of the host, for people; also tells copies of a machine apart.
    pub host: String,
}

/// A process, named so that no other process of any host is taken for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// Process id.
    pub pid: u32,
    /// Start time, in clock ticks since the machine started.
    pub start_ticks: u64,
    /// The place where the id means it; `None` in marks of a Prony that did not write it.
    pub site: Option<Site>,
}

/// The state of an owner as far as it is known from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnerState {
    /// It lives.
    Alive,
    /// It is gone, and what it owned is a leftover.
    Dead,
    /// It belongs to another host or PID namespace, so that nothing can be known of it.
    Elsewhere,
}

/// A text that does not name a process.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` does not name a process")]
pub struct OwnerError(String);

impl Site {
    /// The place of this process.
    pub fn here() -> Self {
        let read = |path: &str| {
            let text = fs::read_to_string(path).unwrap_or_default();
            text.trim().replace('/', "-")
        };
        let namespace = fs::metadata("/proc/self/ns/pid");
        Self {
            namespace: namespace.map_or(0, |namespace| namespace.st_ino()),
            boot: read("/proc/sys/kernel/random/boot_id"),
            machine: read("/etc/machine-id"),
            host: read("/proc/sys/kernel/hostname"),
        }
    }

    fn is_initial(&self) -> bool {
        self.namespace == INITIAL_NAMESPACE
    }

    /// True where a process id of `other` means the same process here.
    fn shares_processes_with(&self, other: &Self) -> bool {
        let known = self.namespace != 0 && !self.boot.is_empty();
        let same = (self.namespace, &self.boot, &self.machine)
            == (other.namespace, &other.boot, &other.machine);
        known && same
    }

    /// True where `other` is certainly an earlier boot of this machine, none of whose processes
    /// can live. Containers are no evidence: their images bring machine ids along.
    fn has_rebooted_since(&self, other: &Self) -> bool {
        let known = [&self.machine, &self.host, &self.boot, &other.boot];
        known.iter().all(|text| !text.is_empty())
            && self.is_initial()
            && other.is_initial()
            && (&self.machine, &self.host) == (&other.machine, &other.host)
            && self.boot != other.boot
    }
}

impl Owner {
    /// This process.
    ///
    /// # Errors
    /// When `/proc` can't be read.
    pub fn current() -> Result<Self, OwnerError> {
        let pid = std::process::id();
        let start_ticks = start_of(pid).ok_or_else(|| OwnerError(format!("/proc/{pid}/stat")))?;
        Ok(Self {
            pid,
            start_ticks,
            site: Some(Site::here()),
        })
    }

    /// Its state as seen from `here`, which is the place of this process.
    pub fn state(&self, here: &Site) -> OwnerState {
        let judged = match &self.site {
            Some(site) if here.has_rebooted_since(site) => return OwnerState::Dead,
            Some(site) => here.shares_processes_with(site),
            None => here.is_initial(),
        };
        if !judged {
            OwnerState::Elsewhere
        } else if start_of(self.pid) == Some(self.start_ticks) {
            OwnerState::Alive
        } else {
            OwnerState::Dead
        }
    }

    /// The name of its host, as far as it is known.
    pub fn host(&self) -> &str {
        let host = self.site.as_ref().map_or("", |site| &site.host);
        if host.is_empty() { "unknown" } else { host }
    }
}

/// When the living process with this id started, in clock ticks since the machine started; `None`
/// when there is none, or only a zombie of it.
pub(crate) fn start_of(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")).ok()?;
    living_since(&stat)
}

/// Field 22 of `/proc/PID/stat` (proc(5)), unless field 3 says that the process is dead. The
/// command in field 2 may hold spaces and brackets, so fields are counted after its last bracket.
fn living_since(stat: &str) -> Option<u64> {
    let mut fields = stat[stat.rfind(')')? + 1..].split_ascii_whitespace();
    if matches!(fields.next()?, "Z" | "X" | "x") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

/// `PID:START/NAMESPACE/BOOT/MACHINE/HOST`.
impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.pid, self.start_ticks)?;
        match &self.site {
            Some(site) => write!(
                f,
                "/{}/{}/{}/{}",
                site.namespace, site.boot, site.machine, site.host
            ),
            None => Ok(()),
        }
    }
}

impl FromStr for Owner {
    type Err = OwnerError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || OwnerError(text.to_owned());
        let parts: Vec<&str> = text.split('/').collect();
        let (process, site) = match parts[..] {
            [process] => (process, None),
            [process, namespace, boot, machine, host] => {
                let namespace = namespace.parse().map_err(|_| error())?;
                let site = Site {
                    namespace,
                    boot: boot.to_owned(),
                    machine: machine.to_owned(),
                    host: host.to_owned(),
                };
                (process, Some(site))
            }
            _ => return Err(error()),
        };
        let (pid, start) = process.split_once(':').ok_or_else(error)?;
        Ok(Self {
            pid: pid.parse().map_err(|_| error())?,
            start_ticks: start.parse().map_err(|_| error())?,
            site,
        })
    }
}

#[cfg(test)]
mod tests;
