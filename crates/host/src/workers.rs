//! Processes of a server that lead sessions of their own and outlive its first process, when that is killed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// The beginning of the titles that PostgreSQL gives to all of its processes but the first.
const TITLE: &[u8] = b"postgres: ";

/// Kills all such processes that work in a folder or below it, also if it has been removed since, and returns their
/// numbers and names. Other processes there, such as a user's shell, are left alone.
pub(crate) fn kill_workers(folder: &Path) -> Vec<(u32, String)> {
    let folder = real(folder);
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let killed = numbers.filter_map(|pid| {
        // Those that end meanwhile, or are another user's, are none of this folder.
        let name = kill_worker(pid, &folder).ok()??;
        Some((pid, name))
    });
    killed.collect()
}

/// Kills the process if it is one; returns its name then.
fn kill_worker(pid: u32, folder: &Path) -> io::Result<Option<String>> {
    let Some(raw) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return Ok(None);
    };
    // Opened before looking, so that its number is no other process's when it is killed.
    let handle = pidfd_open(raw, PidfdFlags::empty())?;
    let process = PathBuf::from(format!("/proc/{pid}"));
    let works_there = fs::read_link(process.join("cwd"))?.starts_with(folder);
    if !works_there || !fs::read(process.join("cmdline"))?.starts_with(TITLE) {
        return Ok(None);
    }
    let name = fs::read_to_string(process.join("comm"))?;
    pidfd_send_signal(&handle, Signal::KILL)?;
    Ok(Some(name.trim_end().to_owned()))
}

/// The path as the kernel shows it: without links on the way to it, of which a removed folder has its parent's only.
fn real(folder: &Path) -> PathBuf {
    let whole = folder.canonicalize();
    whole.unwrap_or_else(|_| match (folder.parent(), folder.file_name()) {
        (Some(parent), Some(name)) => parent
            .canonicalize()
            .map_or_else(|_| folder.to_owned(), |parent| parent.join(name)),
        _ => folder.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};

    use super::*;

    fn titled(title: &str, folder: &Path) -> Child {
        let mut command = Command::new("sleep");
        command.arg0(title).arg("600").current_dir(folder);
        command.spawn().unwrap()
    }

    #[test]
    fn workers_of_a_folder_are_killed_and_others_live() {
        let root = tempfile::tempdir().unwrap();
        let [here, there] = ["here", "there"].map(|name| root.path().join(name).join("data"));
        for folder in [&here, &there] {
            fs::create_dir_all(folder).unwrap();
        }
        let mut worker = titled("postgres: idle", &here);
        let mut others = [titled("sleep", &here), titled("postgres: idle", &there)];
        // Also under another name of the folder.
        let link = root.path().join("link");
        std::os::unix::fs::symlink(root.path(), &link).unwrap();
        let killed = kill_workers(&link.join("here"));
        assert_eq!(killed, [(worker.id(), "sleep".to_owned())]);
        assert!(!worker.wait().unwrap().success());
        for other in &mut others {
            assert!(other.try_wait().unwrap().is_none());
        }
        let [mut shell, mut removed] = others;
        fs::remove_dir_all(there.parent().unwrap()).unwrap();
        let killed = kill_workers(there.parent().unwrap());
        assert_eq!(killed, [(removed.id(), "sleep".to_owned())]);
        removed.wait().unwrap();
        shell.kill().unwrap();
        shell.wait().unwrap();
    }
}
