//! Threads of processes, and the processors that they may use.

use std::fs;
use std::io;
use std::path::Path;

use prony_model::{CpuSet, ThreadsOn};
use rustix::process::Pid;
use rustix::thread::{CpuSet as CpuMask, sched_getaffinity, sched_setaffinity};

/// Fields of `stat` that follow the name of the program, `proc_pid_stat(5)`, counted from 0.
const PARENT_FIELD: usize = 1;
const GROUP_FIELD: usize = 2;
const START_FIELD: usize = 19;

/// A thread, or a process that has one thread. Its id can belong to another one after its end, its
/// start can't.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Thread {
    /// The kernel's id of it.
    pub id: u32,
    /// The parent of its process.
    pub parent: u32,
    /// The start in clock ticks since the host's.
    pub started_ticks: u64,
}

/// The kernel's mask of a set of processors.
pub(crate) fn mask_of(cpus: &CpuSet) -> CpuMask {
    let mut mask = CpuMask::new();
    for cpu in cpus.cpus() {
        mask.set(usize::from(*cpu));
    }
    mask
}

/// The processors that this process may use, and therefore its children.
///
/// # Errors
/// When the kernel does not answer, or names none below 1024.
pub fn usable_cpus() -> io::Result<CpuSet> {
    let mask = sched_getaffinity(None)?;
    let cpus = (0..=CpuSet::MAX).filter(|cpu| mask.is_set(usize::from(*cpu)));
    CpuSet::of(cpus).ok_or_else(|| io::Error::other("the kernel names no processor"))
}

/// The processors that a thread may use, as `/proc` shows them.
///
/// # Errors
/// When the thread has ended, or the file can't be read.
pub fn thread_cpus(thread: u32) -> io::Result<CpuSet> {
    let path = format!("/proc/{thread}/status");
    let text = fs::read_to_string(&path)?;
    let list = text
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let cpus = list.and_then(|list| list.trim().parse().ok());
    cpus.ok_or_else(|| unexpected(&path, "a line `Cpus_allowed_list`"))
}

/// Binds a thread to processors. The kernel leaves out those that there are not.
///
/// # Errors
/// When the thread has ended, belongs to another user, or none of the processors exists.
pub fn bind_thread(thread: u32, cpus: &CpuSet) -> io::Result<()> {
    let id = i32::try_from(thread).ok().and_then(Pid::from_raw);
    let id = id.ok_or_else(|| io::Error::other("the thread has no id"))?;
    Ok(sched_setaffinity(Some(id), &mask_of(cpus))?)
}

/// The threads of a process. Those that end meanwhile are left out.
///
/// # Errors
/// When the process has ended, or `/proc` can't be read.
pub fn threads_of(process: u32) -> io::Result<Vec<Thread>> {
    list(&format!("/proc/{process}/task"), |_, thread| Some(thread))
}

/// The processes of a group. Those that end meanwhile are left out.
///
/// # Errors
/// When `/proc` can't be read.
pub fn group_members(group: u32) -> io::Result<Vec<Thread>> {
    list("/proc", |its_group, process| {
        (its_group == group).then_some(process)
    })
}

/// The children of a process. Those that end meanwhile are left out.
///
/// # Errors
/// When `/proc` can't be read.
pub fn children_of(process: u32) -> io::Result<Vec<Thread>> {
    let Ok(listed) = listed_children(process) else {
        // Kernels without `CONFIG_PROC_CHILDREN` list none.
        return list("/proc", |_, child| {
            (child.parent == process).then_some(child)
        });
    };
    let mut children = Vec::new();
    for id in listed
        .split_ascii_whitespace()
        .filter_map(|id| id.parse().ok())
    {
        let path = format!("/proc/{id}/stat");
        match fs::read_to_string(&path) {
            Ok(text) => children.push(parse(id, &text, Path::new(&path))?.1),
            Err(error) if is_gone(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(children)
}

/// The numbers of the children of a process, which the kernel lists by the threads that made them.
fn listed_children(process: u32) -> io::Result<String> {
    let mut listed = String::new();
    for thread in fs::read_dir(format!("/proc/{process}/task"))? {
        listed.push_str(&fs::read_to_string(thread?.path().join("children"))?);
        listed.push(' ');
    }
    Ok(listed)
}

/// The threads of all processes of a group.
///
/// # Errors
/// When `/proc` can't be read.
pub fn group_threads(group: u32) -> io::Result<Vec<Thread>> {
    let mut threads = Vec::new();
    for process in group_members(group)? {
        match threads_of(process.id) {
            Ok(of_process) => threads.extend(of_process),
            Err(error) if is_gone(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(threads)
}

/// Counts threads by the processors that they may use, in the order of these. Threads that have
/// ended are left out.
///
/// # Errors
/// When `/proc` can't be read.
pub fn threads_by_cpus<'a>(
    threads: impl IntoIterator<Item = &'a Thread>,
) -> io::Result<Vec<ThreadsOn>> {
    let mut counts: Vec<ThreadsOn> = Vec::new();
    for thread in threads {
        let cpus = match thread_cpus(thread.id) {
            Ok(cpus) => cpus,
            Err(error) if is_gone(&error) => continue,
            Err(error) => return Err(error),
        };
        match counts.iter_mut().find(|count| count.cpus == cpus) {
            Some(count) => count.threads += 1,
            None => counts.push(ThreadsOn { cpus, threads: 1 }),
        }
    }
    counts.sort_by(|one, other| one.cpus.cpus().cmp(other.cpus.cpus()));
    Ok(counts)
}

/// Reads what has a `stat` in a folder. `keep` gets the process group first.
fn list(folder: &str, keep: impl Fn(u32, Thread) -> Option<Thread>) -> io::Result<Vec<Thread>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let Some(id) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        let path = entry.path().join("stat");
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if is_gone(&error) => continue,
            Err(error) => return Err(error),
        };
        let (group, thread) = parse(id, &text, &path)?;
        found.extend(keep(group, thread));
    }
    Ok(found)
}

/// The process group and the rest.
fn parse(id: u32, stat: &str, path: &Path) -> io::Result<(u32, Thread)> {
    let read = || {
        // The name is in parentheses and can contain anything.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
        let thread = Thread {
            id,
            parent: fields.get(PARENT_FIELD)?.parse().ok()?,
            started_ticks: fields.get(START_FIELD)?.parse().ok()?,
        };
        Some((fields.get(GROUP_FIELD)?.parse().ok()?, thread))
    };
    read().ok_or_else(|| unexpected(&path.display(), "the fields of a process"))
}

/// True where an error says that the thread has ended: opening its file fails in one way, reading
/// it in the other.
pub fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
        || error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error())
}

fn unexpected(path: &impl std::fmt::Display, expected: &str) -> io::Error {
    io::Error::other(format!("read {path}: expected {expected}"))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn a_new_thread_has_the_processors_of_its_maker() {
        let process = std::process::id();
        let (ids, id) = channel();
        let (end, wait) = channel::<()>();
        let maker = std::thread::spawn(move || {
            let own = rustix::thread::gettid().as_raw_pid().unsigned_abs();
            let usable = usable_cpus().unwrap();
            let last = CpuSet::of(usable.cpus().last().copied()).unwrap();
            bind_thread(own, &last).unwrap();
            let child = std::thread::spawn(move || {
                let own = rustix::thread::gettid().as_raw_pid().unsigned_abs();
                ids.send((own, last)).unwrap();
                let _ = wait.recv();
            });
            child.join().unwrap();
        });
        let (child, last) = id.recv().unwrap();
        assert_eq!(thread_cpus(child).unwrap(), last);
        let threads = threads_of(process).unwrap();
        let found = threads.iter().find(|thread| thread.id == child).unwrap();
        assert!(found.started_ticks > 0);
        drop(end);
        maker.join().unwrap();
        assert!(thread_cpus(process).is_ok());
        let gone = bind_thread(child, &last).unwrap_err();
        assert!(is_gone(&gone), "{gone}");
    }

    #[test]
    fn processes_are_listed_by_group() {
        let own = rustix::process::getpgrp().as_raw_pid().unsigned_abs();
        let members = group_members(own).unwrap();
        let process = std::process::id();
        let found = members.iter().find(|member| member.id == process).unwrap();
        assert_eq!(found.parent, std::os::unix::process::parent_id());
    }

    #[test]
    fn children_are_listed_by_their_parent() {
        use std::io::{BufRead as _, BufReader};
        let mut parent = std::process::Command::new("sh")
            .args(["-c", "sleep 60 & echo $!; wait"])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let said = parent.stdout.take().unwrap();
        BufReader::new(said).read_line(&mut line).unwrap();
        let children = children_of(parent.id()).unwrap();
        let ids: Vec<String> = children.iter().map(|one| one.id.to_string()).collect();
        for child in &children {
            let id = Pid::from_raw(child.id.cast_signed()).unwrap();
            rustix::process::kill_process(id, rustix::process::Signal::KILL).unwrap();
        }
        parent.wait().unwrap();
        assert_eq!(ids, [line.trim()]);
        assert_eq!(children_of(parent.id()).unwrap_or_default(), []);
    }

    #[test]
    fn names_can_contain_anything() {
        let stat = "7 (a) b (c) S 3 5 5 0 -1 0 0 0 0 0 1 2 3 4 20 0 1 0 99 8 9 10\n";
        let (group, thread) = parse(7, stat, Path::new("stat")).unwrap();
        let expected = Thread {
            id: 7,
            parent: 3,
            started_ticks: 99,
        };
        assert_eq!((group, thread), (5, expected));
        assert!(parse(7, "7 (a) S 3\n", Path::new("stat")).is_err());
    }
}
