//! Leftovers of a killed Prony: processes that outlived it and folders that nobody owns.
//!
//! The parent-death signal ends children together with Prony; what is found here is the rest,
//! such as a child of a child.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::folder::{Abandoned, STAGING, remove_abandoned};
use crate::io_error::IoError;
use crate::owner::{OWNER_VARIABLE, Owner, OwnerState, Site, start_of};
use crate::roots::Roots;
use crate::workers::kill_workers;

/// The time that killed processes may take to vanish.
const DYING: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(10);

/// Something that another Prony left behind, or may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leftover {
    /// A process, which was killed.
    Process {
        /// Its id.
        pid: u32,
        /// Its name.
        name: String,
    },
    /// A folder, which was removed.
    Folder {
        /// Its path.
        path: PathBuf,
    },
    /// A folder of another host or container, which was left alone: nothing here can tell whether
    /// it is in use.
    Elsewhere {
        /// Its path.
        path: PathBuf,
        /// The name of the host.
        host: String,
        /// The process, by its number there.
        pid: u32,
    },
}

impl fmt::Display for Leftover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Process { pid, name } => write!(f, "killed process {pid} ({name})"),
            Self::Folder { path } => write!(f, "removed folder {}", path.display()),
            Self::Elsewhere { path, host, pid } => write!(
                f,
                "folder {} belongs to process {pid} of another host or container, {host}, left \
                 alone; remove it if that process is gone",
                path.display()
            ),
        }
    }
}

/// Kills processes whose Prony is dead, and removes folders of instances and half-made folders
/// whose Prony is dead. A Prony of another host, or of another PID namespace, is not judged: its
/// folders are left alone. Returns all of it, for the user to see.
///
/// # Errors
/// When a folder can't be read or removed.
pub fn clear_leftovers(roots: &Roots) -> Result<Vec<Leftover>, IoError> {
    let here = Site::here();
    let mut cleared = kill_orphans(&here);
    for (shelf, prefix) in [
        (roots.instances(), ""),
        (roots.downloads(), ""),
        (roots.builds(), STAGING),
        (roots.support(), STAGING),
        (roots.images(), STAGING),
        (roots.certificates(), STAGING),
    ] {
        let Abandoned { removed, elsewhere } = remove_abandoned(&shelf, prefix)?;
        let workers = removed.iter().flat_map(|folder| kill_workers(folder));
        cleared.extend(workers.map(|(pid, name)| Leftover::Process { pid, name }));
        cleared.extend(removed.into_iter().map(|path| Leftover::Folder { path }));
        for (path, owner) in elsewhere {
            let (host, pid) = (owner.host().to_owned(), owner.pid);
            cleared.push(Leftover::Elsewhere { path, host, pid });
        }
    }
    Ok(cleared)
}

fn kill_orphans(here: &Site) -> Vec<Leftover> {
    let Ok(processes) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let mut killed = Vec::new();
    for process in processes.flatten() {
        if let Ok(pid) = process.file_name().to_string_lossy().parse()
            && let Ok(Some(name)) = kill_orphan(pid, here)
        {
            killed.push((pid, name));
        }
    }
    let end = Instant::now() + DYING;
    let lives = |(pid, _): &(u32, String)| start_of(*pid).is_some();
    while killed.iter().any(lives) && Instant::now() < end {
        thread::sleep(LOOK);
    }
    let killed = killed.into_iter();
    killed
        .map(|(pid, name)| Leftover::Process { pid, name })
        .collect()
}

/// Kills the process if it carries the mark of a dead owner, and returns its name then. Errors
/// mean that it ended meanwhile or is somebody else's.
fn kill_orphan(pid: u32, here: &Site) -> io::Result<Option<String>> {
    let own = std::process::id();
    let Some(raw) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return Ok(None);
    };
    // Opened before looking: what is looked at is then what is killed, even if it ends meanwhile
    // and its number is given to another process.
    let handle = pidfd_open(raw, PidfdFlags::empty())?;
    let folder = PathBuf::from(format!("/proc/{pid}"));
    let Some(owner) = owner_in(&fs::read(folder.join("environ"))?) else {
        return Ok(None);
    };
    let elsewhere = namespace(&folder)? != namespace(Path::new("/proc/self"))?;
    if pid == own || owner.state(here) != OwnerState::Dead || elsewhere {
        return Ok(None);
    }
    let name = fs::read_to_string(folder.join("comm"))?;
    pidfd_send_signal(&handle, Signal::KILL)?;
    Ok(Some(name.trim_end().to_owned()))
}

/// Numbers of processes mean something only within one namespace, `pid_namespaces(7)`.
fn namespace(process: &Path) -> io::Result<PathBuf> {
    fs::read_link(process.join("ns/pid"))
}

/// The owner in an environment as `/proc/PID/environ` shows it.
fn owner_in(environment: &[u8]) -> Option<Owner> {
    let text = String::from_utf8_lossy(environment);
    let mut variables = text.split('\0');
    let owner = variables.find_map(|one| one.strip_prefix(OWNER_VARIABLE)?.strip_prefix('='));
    owner?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;
    use crate::folder::MARK;

    fn sleeper(owner: &str) -> std::process::Child {
        Command::new("sleep")
            .arg("600")
            .env(OWNER_VARIABLE, owner)
            .stdin(Stdio::null())
            .spawn()
            .unwrap()
    }

    #[test]
    fn orphans_are_killed_and_named_and_others_live() {
        let this = Owner::current().unwrap();
        let dead = Owner {
            start_ticks: 1,
            ..this.clone()
        };
        let foreign = Owner {
            site: Some(Site {
                namespace: 1,
                ..Site::here()
            }),
            ..dead.clone()
        };
        let mut orphan = sleeper(&dead.to_string());
        let owned = sleeper(&this.to_string());
        let other = sleeper(&foreign.to_string());
        let root = tempfile::tempdir().unwrap();
        let roots = Roots {
            cache: root.path().to_owned(),
        };
        let folder = roots.instances().join("1-0");
        fs::create_dir_all(folder.join("data")).unwrap();
        fs::write(folder.join(MARK), format!("{dead}\n")).unwrap();
        let distant = roots.instances().join("2-0");
        fs::create_dir_all(distant.join("data")).unwrap();
        fs::write(distant.join(MARK), format!("{foreign}\n")).unwrap();
        // A zombie is as good as gone: this test is the parent of both.
        let cleared = clear_leftovers(&roots).unwrap();
        let wanted = Leftover::Process {
            pid: orphan.id(),
            name: "sleep".into(),
        };
        assert!(cleared.contains(&wanted), "{cleared:?}");
        assert!(cleared.contains(&Leftover::Folder {
            path: folder.clone()
        }));
        assert!(!folder.exists());
        let left_alone = Leftover::Elsewhere {
            path: distant.clone(),
            host: foreign.host().to_owned(),
            pid: foreign.pid,
        };
        assert!(cleared.contains(&left_alone), "{cleared:?}");
        assert!(
            left_alone.to_string().contains("left alone"),
            "{left_alone}"
        );
        assert!(distant.join("data").exists());
        assert!(!orphan.wait().unwrap().success());
        for mut child in [owned, other] {
            assert!(child.try_wait().unwrap().is_none());
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert_eq!(clear_leftovers(&roots).unwrap(), [left_alone]);
    }

    #[test]
    fn owners_are_read_from_environments() {
        let environment = b"A=1\0PRONY_OWNER=7:9\0B=2\0";
        assert_eq!(
            owner_in(environment),
            Some(Owner {
                pid: 7,
                start_ticks: 9,
                site: None
            })
        );
        assert_eq!(owner_in(b"XPRONY_OWNER=7:9\0"), None);
        assert_eq!(owner_in(b"PRONY_OWNER=no\0"), None);
        assert_eq!(owner_in(b""), None);
    }
}
