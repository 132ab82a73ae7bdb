//! Parts that the end-to-end tests share: the binary, folders, experiments.
#![allow(
    dead_code,
    unused_imports,
    unreachable_pub,
    reason = "every test file compiles its own copy and uses a part of it"
)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is test code, outside of functions marked as tests"
)]

#[path = "live_gate.rs"]
mod live_gate;
#[path = "watched.rs"]
mod watched;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

pub use live_gate::{live, live_with};
pub use watched::{Shell, Watched, send};

/// The binary under test.
pub const PRONY: &str = env!("CARGO_BIN_EXE_prony");

/// An experiment that is fine.
pub const EXAMPLE: &str = r#"name = "example"
base = "mysql-5.7.22"
blocks = 1

[dataset]
tables = 1
rows = 1000

[[target]]
build = "mysql-5.7.22"

[sequence]
time = "1s"

[[step]]
workload = "point-query"
"#;

/// The folder of the workspace.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// The binary with arguments, in a folder of its own.
pub fn prony(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(PRONY);
    command
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .env("NO_COLOR", "1");
    command
}

/// Runs a command to its end; its output is shown when the test fails.
pub fn finish(mut command: Command) -> Finished {
    let output = command.output().unwrap();
    Finished::from(output)
}

/// The end of a command: exit code and output.
pub struct Finished {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Finished {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self::new(
            output.status.code(),
            text(output.stdout),
            text(output.stderr),
        )
    }
}

impl Finished {
    /// Prints everything, for the case that the test fails.
    fn new(code: Option<i32>, stdout: String, stderr: String) -> Self {
        println!("exit code {code:?}\n{stdout}{stderr}");
        Self {
            code,
            stdout,
            stderr,
        }
    }

    /// Asserts the exit code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stderr: {}", self.stderr);
        self
    }

    /// Asserts that standard error holds every one of `words`.
    #[track_caller]
    pub fn says(self, words: &[&str]) -> Self {
        for word in words {
            assert!(
                self.stderr.contains(word),
                "`{word}` is not in: {}",
                self.stderr
            );
        }
        self
    }
}

/// Writes a file into a folder and returns its path.
pub fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

/// Gives `cache` the builds of the usual cache, those named fetched, and the calibration, which
/// takes its time and is the same there. It gets nothing else.
#[track_caller]
pub fn share_builds(cache: &Path, builds: &[&str]) {
    let usual = prony_host::Roots::from_environment().unwrap().cache;
    let fetch: Vec<&str> = ["servers", "fetch"].iter().chain(builds).copied().collect();
    finish(prony(cache, &fetch)).exits(0);
    for shared in ["builds", "support"] {
        std::os::unix::fs::symlink(usual.join(shared), cache.join(shared)).unwrap();
    }
    // The first test of all has none yet.
    let calibration = "calibration.json";
    let _ = std::fs::copy(usual.join(calibration), cache.join(calibration));
}

/// The whole report of the only run in the folder, as text.
#[track_caller]
pub fn whole_report(folder: &Path) -> String {
    let run = only_run(folder);
    let arguments = ["report", run.to_str().unwrap(), "--detail"];
    finish(prony(folder, &arguments)).exits(0).stdout
}

/// The only folder in `runs`.
pub fn only_run(folder: &Path) -> PathBuf {
    let runs: Vec<_> = std::fs::read_dir(folder.join("runs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(runs.len(), 1, "{runs:?}");
    runs[0].clone()
}

/// Waits until `condition` gives a value, for at most `limit`.
#[track_caller]
pub fn wait_for<T>(what: &str, limit: Duration, mut condition: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(value) = condition() {
            return value;
        }
        assert!(begin.elapsed() < limit, "waited {limit:?} for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Processes started, directly or not, by the Prony with this process id, by the mark in their
/// environment, as (process id, command line).
pub fn children_of(owner: u32) -> Vec<(u32, String)> {
    let mark = format!("PRONY_OWNER={owner}:");
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse::<u32>().ok())
        else {
            continue;
        };
        let Ok(environment) = std::fs::read(entry.path().join("environ")) else {
            continue;
        };
        let marked = environment
            .split(|byte| *byte == 0)
            .any(|entry| entry.starts_with(mark.as_bytes()));
        // A zombie has no command line and runs no more.
        let command = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        if marked && !command.is_empty() {
            found.push((pid, String::from_utf8_lossy(&command).replace('\0', " ")));
        }
    }
    found
}

/// Waits until nothing that this Prony started is left; fails after `limit`.
#[track_caller]
pub fn nothing_left_of(owner: u32, limit: Duration) {
    wait_for(&format!("the children of {owner} to end"), limit, || {
        let left = children_of(owner);
        if !left.is_empty() {
            println!("still there: {left:?}");
        }
        left.is_empty().then_some(())
    });
}

/// A small file system of its own, so that it can be filled.
pub struct SmallDisk(PathBuf);

impl SmallDisk {
    /// `None`, with the reason printed, where the system does not let us mount one.
    pub fn mount(folder: &Path, megabytes: u32) -> Option<Self> {
        let path = folder.join("disk");
        std::fs::create_dir(&path).unwrap();
        let size = format!("size={megabytes}m");
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "prony-test"])
            .arg(&path)
            .status();
        match mount {
            Ok(status) if status.success() => Some(Self(path)),
            other => {
                assert_ne!(
                    std::env::var("PRONY_LIVE_TESTS").as_deref(),
                    Ok("require"),
                    "{other:?}"
                );
                println!("skipped: mounting a tmpfs needs root ({other:?})");
                None
            }
        }
    }

    /// The folder that it is mounted on.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}
