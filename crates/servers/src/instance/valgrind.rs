//! Instructions of a server, counted by running it in valgrind: exact where the processor's own
//! counters can't be had, and some fifty times slower.
//!
//! The tool is callgrind without its simulation of caches. It counts what all threads execute in
//! user space, background threads and spinning included; one thread runs at a time. Counts are kept for
//! each thread, and for each function by its chain of callers. Over a control program, vgdb, the counts
//! are set to zero and written out while the server is idle. All files are in the instance's folder.
//!
//! InnoDB does without the kernel's asynchronous I/O there: while a thread waits in `io_uring`,
//! valgrind (3.19) lets no other one run, and MariaDB never gets to its first answer. Nor is there
//! room for the 8 TiB of addresses that MariaDB reserves for a buffer pool that grows.

mod watchdog;

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use prony_host::{At, IoError, Launcher, Process};
use prony_model::StopFlag;

use self::watchdog::Watchdog;

/// The time that the tool may take to obey. It does so between two basic blocks of the
/// server, or wakes it.
const LIMIT: Duration = Duration::from_mins(1);
/// The same where the user wants to stop: the tool's server is being killed.
const LIMIT_OF_STOP: Duration = Duration::from_secs(1);
/// Time between two looks at the user's wish.
const EVERY: Duration = Duration::from_millis(100);
/// Milliseconds after which a server that waits in system calls is woken to heed a command.
const WAKE_MS: u32 = 20;
/// The beginning of the names of files of counts; a number follows.
const COUNTS: &str = "callgrind";
/// How counts are kept: for each thread, and for each chain of callers, in which a function that calls
/// itself is told apart three times. Names stay as the linker has them, because their forms differ between
/// compilers. Longer chains than this were not seen; they would be cut at the outer end.
const KEPT: [&str; 4] = [
    "--separate-threads=yes",
    "--separate-callers=60",
    "--separate-recs=3",
    "--demangle=no",
];

/// Options of a server in valgrind besides its configuration. Servers that do not know the
/// variable go on.
pub(crate) const SERVER_OPTIONS: [&str; 2] = [
    "--loose-innodb-use-native-aio=0",
    "--loose-innodb-buffer-pool-size-max=0",
];

/// The programs of valgrind on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Valgrind {
    valgrind: PathBuf,
    vgdb: PathBuf,
}

/// The reason that nothing could be counted.
#[derive(Debug, thiserror::Error)]
pub enum ValgrindError {
    /// It is not installed.
    #[error("find `{0}` on PATH: install valgrind, in most distributions the package `valgrind`")]
    Missing(&'static str),
    /// A file can't be read or removed.
    #[error(transparent)]
    Io(#[from] IoError),
    /// The control program can't be run.
    #[error("run vgdb: {0}")]
    Run(io::Error),
    /// The control program does not reach the server.
    #[error("send `{command}` to process {pid} through vgdb: {reason}")]
    Refused {
        /// The server.
        pid: u32,
        /// The command.
        command: &'static str,
        /// The outcome.
        reason: String,
    },
    /// It wrote no file of counts.
    #[error("read the instructions of process {pid}: valgrind wrote no file of counts")]
    NoCounts {
        /// The server.
        pid: u32,
    },
}

/// A server that runs in valgrind.
#[derive(Debug, Clone)]
pub struct Callgrind {
    vgdb: PathBuf,
    launcher: Launcher,
    folder: PathBuf,
    pid: u32,
    stop: StopFlag,
    /// Kills the server when stopping is asked for.
    _watchdog: Arc<Watchdog>,
}

impl Valgrind {
    /// Looks for it where the launcher looks for programs.
    ///
    /// # Errors
    /// When it is not installed.
    pub fn find(launcher: &Launcher) -> Result<Self, ValgrindError> {
        let find = |program| {
            let found = launcher.find_program(program);
            found.ok_or(ValgrindError::Missing(program))
        };
        Ok(Self {
            valgrind: find("valgrind")?,
            vgdb: find("vgdb")?,
        })
    }

    /// The command line in front of the server's own.
    pub(crate) fn wrapper(&self, folder: &Path) -> Vec<OsString> {
        let path = |option: &str, name: &str| {
            let mut argument = OsString::from(option);
            argument.push(folder.join(name));
            argument
        };
        let mut wrapper = vec![
            self.valgrind.clone().into(),
            "-q".into(),
            "--tool=callgrind".into(),
            path("--callgrind-out-file=", COUNTS),
            path("--vgdb-prefix=", "vgdb"),
        ];
        wrapper.extend(KEPT.map(OsString::from));
        wrapper
    }

    /// The handle of the server that was started so, and is killed when stopping is asked for.
    ///
    /// # Errors
    /// When the server has ended.
    pub(crate) fn running(
        self,
        launcher: Launcher,
        folder: PathBuf,
        pid: u32,
        stop: &StopFlag,
    ) -> io::Result<Callgrind> {
        Ok(Callgrind {
            vgdb: self.vgdb,
            launcher,
            folder,
            pid,
            stop: stop.clone(),
            _watchdog: Arc::new(Watchdog::of(pid, stop)?),
        })
    }
}

impl Callgrind {
    /// From now on instructions are counted anew.
    ///
    /// # Errors
    /// When the server can't be told so, as one that is gone.
    pub fn zero(&self) -> Result<(), ValgrindError> {
        self.tell("zero")
    }

    /// What the server's threads have executed in user space since [`Self::zero`], or since this was
    /// called last: a file of counts for each thread, as "Callgrind Format Specification" of valgrind's
    /// manual describes it.
    ///
    /// # Errors
    /// When the server can't be asked, as one that is gone, or what it writes can't be read.
    pub fn counts(&self) -> Result<Vec<Vec<u8>>, ValgrindError> {
        for old in self.files()? {
            fs::remove_file(&old).at("remove", &old)?;
        }
        self.tell("dump")?;
        let files = self.files()?;
        if files.is_empty() {
            return Err(ValgrindError::NoCounts { pid: self.pid });
        }
        let read = |file: &PathBuf| {
            let counts = fs::read(file).at("read", file)?;
            fs::remove_file(file).at("remove", file)?;
            Ok(counts)
        };
        files.iter().map(read).collect()
    }

    /// The files of counts that were written on command: their names end in the number of the command,
    /// and that of the thread.
    fn files(&self) -> Result<Vec<PathBuf>, ValgrindError> {
        let entries = fs::read_dir(&self.folder).at("list", &self.folder)?;
        let is_counts = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            let rest = name.and_then(|name| name.strip_prefix(COUNTS)?.strip_prefix('.'));
            rest.is_some_and(|rest| {
                rest.bytes()
                    .all(|byte| byte.is_ascii_digit() || byte == b'-')
            })
        };
        let paths = entries.flatten().map(|entry| entry.path());
        let mut files: Vec<_> = paths.filter(is_counts).collect();
        files.sort();
        Ok(files)
    }

    /// The end of the control program; `None` if it does not end within the limit.
    fn end_of(&self, vgdb: &mut Process) -> io::Result<Option<ExitStatus>> {
        let begin = Instant::now();
        let mut limit = LIMIT;
        loop {
            let status = vgdb.wait_timeout(EVERY)?;
            if self.stop.requested() {
                limit = LIMIT_OF_STOP;
            }
            if status.is_some() || begin.elapsed() >= limit {
                return Ok(status);
            }
        }
    }

    /// Has the control program give a command, and waits until it was heeded.
    fn tell(&self, command: &'static str) -> Result<(), ValgrindError> {
        let mut prefix = OsString::from("--vgdb-prefix=");
        prefix.push(self.folder.join("vgdb"));
        let mut vgdb: Command = self.launcher.command(&self.vgdb);
        vgdb.arg(prefix)
            .arg(format!("--pid={}", self.pid))
            .arg(format!("--max-invoke-ms={WAKE_MS}"))
            .arg(command)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut process = self.launcher.spawn(vgdb).map_err(ValgrindError::Run)?;
        let status = self.end_of(&mut process).map_err(ValgrindError::Run)?;
        let refused = |reason: String| ValgrindError::Refused {
            pid: self.pid,
            command,
            reason,
        };
        let Some(status) = status else {
            let seconds = LIMIT.as_secs();
            return Err(refused(format!("it was not heeded in {seconds} s")));
        };
        if status.success() {
            return Ok(());
        }
        let mut said = String::new();
        if let Some(errors) = &mut process.child().stderr {
            errors
                .read_to_string(&mut said)
                .map_err(ValgrindError::Run)?;
        }
        Err(refused(said.trim().to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Stage;

    #[test]
    fn it_says_what_to_install() {
        let stage = Stage::with_clients(&[]);
        let missing = Valgrind::find(&stage.launcher).unwrap_err().to_string();
        assert!(missing.contains("`valgrind`"), "{missing}");
    }
}
