//! The start of every child process: through the guard, in its own process group, marked with its
//! owner.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use prony_model::HugePages;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid,
};

use crate::guard::{ChildSetup, Death};
use crate::owner::{OWNER_VARIABLE, Owner, OwnerError};
use crate::threads::children_of;
use crate::workers::kill_workers;

/// The time that a child may take to end by SIGQUIT. PostgreSQL itself kills what has not ended after 5 s, and
/// nobody else reaches it.
const QUIT_LIMIT: Duration = Duration::from_secs(10);
/// The time between two looks at a child that is waited for.
const POLL: Duration = Duration::from_millis(10);

/// Starts child processes that die with this process. Clones share one keeper thread.
///
/// The kernel sends the parent-death signal when the *thread* that started the child ends, not
/// the process. All children are therefore started by one thread, which lives as long as any
/// clone of the launcher.
#[derive(Debug, Clone)]
pub struct Launcher {
    prony: PathBuf,
    /// The `PATH` that programs are looked up on.
    search: OsString,
    owner: Owner,
    keeper: Sender<Order>,
}

/// A command to be started, and the way back for its process.
type Order = (Command, Sender<io::Result<Child>>);

/// A launcher that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum LauncherError {
    /// This process can't be named.
    #[error(transparent)]
    Owner(#[from] OwnerError),
    /// No thread can be started.
    #[error("start a thread: {0}")]
    Thread(io::Error),
}

impl Launcher {
    /// A launcher that uses `prony` for the hidden sub-command `guard`.
    ///
    /// # Errors
    /// When `/proc` can't be read or no thread can be started.
    pub fn new(prony: PathBuf) -> Result<Self, LauncherError> {
        let owner = Owner::current()?;
        let (keeper, orders) = channel::<Order>();
        thread::Builder::new()
            .name("launcher".into())
            .spawn(move || {
                for (mut command, reply) in orders {
                    // The asker may have gone; its child is then dropped, not awaited.
                    let _ = reply.send(command.spawn());
                }
            })
            .map_err(LauncherError::Thread)?;
        Ok(Self {
            prony,
            search: std::env::var_os("PATH").unwrap_or_default(),
            owner,
            keeper,
        })
    }

    /// The same with another `PATH`, for itself and its children.
    #[must_use]
    pub fn searching(mut self, path: OsString) -> Self {
        self.search = path;
        self
    }

    /// The full path of a program on `PATH`.
    pub fn find_program(&self, name: &str) -> Option<PathBuf> {
        std::env::split_paths(&self.search)
            .map(|folder| folder.join(name))
            .find(|candidate| is_executable(candidate))
    }

    /// A command for `program` (looked up on `PATH`) that runs guarded, in a process group of its
    /// own, with the owner in its environment. Add arguments to it, then [`Self::spawn`] it.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        self.command_with(program, &ChildSetup::default())
    }

    /// The same with a setup. Where the guard holds, standard input has to be a pipe, and the
    /// program begins when this end of it is closed.
    pub fn command_with(&self, program: impl AsRef<OsStr>, setup: &ChildSetup) -> Command {
        let mut command = Command::new(&self.prony);
        command.args(["guard", "--parent", &self.owner.pid.to_string()]);
        if let Some(cpus) = &setup.cpus {
            command.arg("--cpus").arg(cpus.to_string());
        }
        if setup.huge_pages == HugePages::Never {
            command.arg("--no-huge-pages");
        }
        for library in &setup.preload {
            command.arg("--preload").arg(library);
        }
        if setup.not_as_root {
            command.arg("--not-as-root");
        }
        if setup.death == Death::Quit {
            command.args(["--death", "quit"]);
        }
        if setup.hold {
            command.arg("--hold");
        }
        command
            .arg("--")
            .arg(program)
            .env("PATH", &self.search)
            .env(OWNER_VARIABLE, self.owner.to_string())
            .process_group(0);
        command
    }

    /// Starts what [`Self::command`] made.
    ///
    /// # Errors
    /// When the process can't be started. A program that the guard fails to execute shows as an
    /// exit with its message on standard error.
    pub fn spawn(&self, command: Command) -> io::Result<Process> {
        let (reply, answer) = channel();
        let gone = || io::Error::other("the thread that starts processes has ended");
        let sent = self.keeper.send((command, reply));
        sent.map_err(|_| gone())?;
        let child = answer.recv().map_err(|_| gone())??;
        Ok(Process {
            child,
            status: None,
            workers: None,
        })
    }
}

/// A child process and its process group, which ends with it: threads of very old servers are
/// processes of their own. Dropping it kills both and waits.
#[derive(Debug)]
pub struct Process {
    child: Child,
    status: Option<ExitStatus>,
    /// The folder that all of its processes work in, if they lead sessions of their own.
    workers: Option<PathBuf>,
}

impl Process {
    /// Its process id, which is also the id of its group.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The pipes that were asked for.
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Its end, if it has ended.
    ///
    /// # Errors
    /// When the operating system refuses to say.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.status.is_none() && self.has_ended(WaitIdOptions::NOHANG)? {
            self.reap()?;
        }
        Ok(self.status)
    }

    /// Waits until it ends.
    ///
    /// # Errors
    /// When the operating system refuses to say.
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        self.has_ended(WaitIdOptions::empty())?;
        self.reap()
    }

    /// Waits until it ends or the time is over; `None` says the latter.
    ///
    /// # Errors
    /// When the operating system refuses to say.
    pub fn wait_timeout(&mut self, time: Duration) -> io::Result<Option<ExitStatus>> {
        let end = Instant::now() + time;
        loop {
            let status = self.try_wait()?;
            if status.is_some() || Instant::now() >= end {
                return Ok(status);
            }
            thread::sleep(POLL);
        }
    }

    /// The same for a server whose processes lead sessions of their own, and all work in `folder`: it is killed
    /// by SIGQUIT, which it hands on to them, and whatever is left of them is killed with it.
    #[must_use]
    pub fn with_workers(mut self, folder: PathBuf) -> Self {
        self.workers = Some(folder);
        self
    }

    /// Asks it to end, by SIGTERM.
    pub fn terminate(&mut self) {
        self.signal(Signal::TERM);
    }

    /// Asks it to end, by SIGINT.
    pub fn interrupt(&mut self) {
        self.signal(Signal::INT);
    }

    fn signal(&mut self, signal: Signal) {
        if let Some(pid) = self.running_pid() {
            // It may have ended in this moment, which is what was asked for.
            let _ = kill_process(pid, signal);
        }
    }

    /// Stops it, its process group and, of a server whose processes lead groups of their own, its children
    /// where they are, by SIGSTOP, until it [goes on](Self::go_on).
    /// Returns at once: the last of its threads stops some microseconds later.
    pub fn pause(&mut self) {
        // The first process last: it would take the stop of a child for its end.
        self.signal_children(Signal::STOP);
        self.signal_group(Signal::STOP);
        // Children that it had made meanwhile.
        self.signal_children(Signal::STOP);
    }

    /// Lets all of them go on after a [pause](Self::pause).
    pub fn go_on(&mut self) {
        self.signal_children(Signal::CONT);
        self.signal_group(Signal::CONT);
    }

    /// Signals the children of a server that is many processes, each of which leads its group.
    fn signal_children(&mut self, signal: Signal) {
        if self.workers.is_none() || self.running_pid().is_none() {
            return;
        }
        let children = children_of(self.id()).unwrap_or_default();
        for child in children {
            let id = i32::try_from(child.id).ok().and_then(Pid::from_raw);
            if let Some(id) = id {
                let _ = kill_process(id, signal);
            }
        }
    }

    /// What has ended needs no signal, and hears none.
    fn signal_group(&mut self, signal: Signal) {
        if let Some(pid) = self.running_pid() {
            let _ = kill_process_group(pid, signal);
        }
    }

    /// Ends it and its process group at once, and waits for it.
    pub fn kill(&mut self) {
        if self.workers.is_some() && self.status.is_none() {
            self.go_on();
            self.signal(Signal::QUIT);
            // What does not end by that has to by SIGKILL.
            let _ = self.wait_timeout(QUIT_LIMIT);
        }
        if self.status.is_none() {
            let _ = self.reap();
        }
    }

    /// Looks whether it has ended, without reaping it.
    fn has_ended(&self, options: WaitIdOptions) -> io::Result<bool> {
        let Some(pid) = self.running_pid() else {
            return Ok(true);
        };
        let options = options | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let ended = rustix::io::retry_on_intr(|| waitid(WaitId::Pid(pid), options))?;
        Ok(ended.is_some())
    }

    /// Ends what is left of the group of a child that has ended, and reaps the child. In this
    /// order: the child's number is the group's, and belongs to no other process until it is
    /// reaped.
    fn reap(&mut self) -> io::Result<ExitStatus> {
        self.signal_group(Signal::KILL);
        let status = self.child.wait()?;
        self.status = Some(status);
        if let Some(folder) = &self.workers {
            kill_workers(folder);
        }
        Ok(status)
    }

    /// Its id while it is certain that the id is not yet another process's.
    fn running_pid(&self) -> Option<Pid> {
        let running = self.status.is_none();
        running.then_some(Pid::from_child(&self.child))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

fn is_executable(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

/// At most the last `lines` lines of a text file, of its last 64 KiB; empty if it can't be read.
pub fn tail(path: &Path, lines: usize) -> String {
    const READ: u64 = 64 * 1024;
    let mut bytes = Vec::new();
    if let Ok(mut file) = File::open(path) {
        let length = file.metadata().map_or(0, |facts| facts.len());
        // What can't be read is not shown.
        let _ = file.seek(SeekFrom::Start(length.saturating_sub(READ)));
        let _ = file.take(READ).read_to_end(&mut bytes);
    }
    let text = String::from_utf8_lossy(&bytes);
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::owner::start_of;

    fn launcher() -> Launcher {
        Launcher::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/guard")).unwrap()
    }

    #[test]
    fn children_are_marked_and_lead_their_group() {
        let launcher = launcher();
        let mut command = launcher.command("sh");
        let script = format!("echo ${OWNER_VARIABLE} $$ $(ps -o pgid= -p $$ || echo $$)");
        command
            .args(["-c", &script])
            .stdout(std::process::Stdio::piped());
        let mut process = launcher.spawn(command).unwrap();
        let mut text = String::new();
        let mut output = process.child().stdout.take().unwrap();
        output.read_to_string(&mut text).unwrap();
        let words: Vec<&str> = text.split_whitespace().collect();
        assert_eq!(words[0], Owner::current().unwrap().to_string());
        assert_eq!(words[1], process.id().to_string());
        assert_eq!(words[2], words[1]);
        assert!(process.wait().unwrap().success());
    }

    #[test]
    fn dropping_kills_the_group() {
        let launcher = launcher();
        let mut command = launcher.command("sh");
        command.args(["-c", "sleep 600 & echo $!; wait"]);
        command.stdout(std::process::Stdio::piped());
        let mut process = launcher.spawn(command).unwrap();
        let mut output = process.child().stdout.take().unwrap();
        let mut line = [0; 32];
        let read = output.read(&mut line).unwrap();
        let grandchild = String::from_utf8_lossy(&line[..read])
            .trim()
            .parse()
            .unwrap();
        assert!(start_of(grandchild).is_some());
        drop(process);
        let end = Instant::now() + Duration::from_secs(10);
        while start_of(grandchild).is_some() {
            assert!(
                Instant::now() < end,
                "process {grandchild} outlived its group"
            );
            thread::sleep(POLL);
        }
    }

    #[test]
    fn the_group_ends_with_its_leader() {
        let launcher = launcher();
        let mut command = launcher.command("sh");
        command.args(["-c", "sleep 600 >/dev/null & echo $!"]);
        command.stdout(std::process::Stdio::piped());
        let mut process = launcher.spawn(command).unwrap();
        let mut text = String::new();
        let mut output = process.child().stdout.take().unwrap();
        output.read_to_string(&mut text).unwrap();
        let straggler = text.trim().parse().unwrap();
        assert!(process.wait().unwrap().success());
        let end = Instant::now() + Duration::from_secs(10);
        while start_of(straggler).is_some() {
            assert!(Instant::now() < end, "process {straggler} outlived");
            thread::sleep(POLL);
        }
    }

    #[test]
    fn tails_are_whole_lines_from_the_end() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "one\ntwo\nthree\n").unwrap();
        assert_eq!(tail(file.path(), 2), "two\nthree");
        assert_eq!(tail(file.path(), 9), "one\ntwo\nthree");
        assert_eq!(tail(Path::new("/nonexistent"), 9), "");
    }
}
