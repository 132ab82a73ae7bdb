//! PostgreSQL servers that are killed, lose a session or fill their disk in the middle of a step: the trial fails
//! with a reason, nothing is left of the server, and resuming completes the run.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "this is test code, outside of functions marked as tests"
)]

mod support;

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection as Database;
use rustix::process::Signal;
use support::{
    Finished, SmallDisk, Watched, children_of, live, only_run, prony, send, share_builds, wait_for,
    write,
};
use tempfile::TempDir;

const BUILD: &str = "postgresql-18.6";

/// One trial, whose step is long enough to be hit.
const EXPERIMENT: &str = r#"name = "faults"
base = "postgresql-18.6"
blocks = 1
clients = [4]

[dataset]
tables = 1
rows = 20_000

[[target]]
build = "postgresql-18.6"

[sequence]
warmup = "100ms"
time = "4s"

[[step]]
workload = "update-index"
"#;

/// A folder with the experiment.
struct Stage {
    folder: TempDir,
    cache: Option<PathBuf>,
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "faults.toml", EXPERIMENT);
        Self {
            folder,
            cache: None,
        }
    }

    fn begin(&self, arguments: &[&str]) -> Watched {
        let mut command = prony(self.folder.path(), arguments);
        if let Some(cache) = &self.cache {
            command.env("PRONY_CACHE", cache);
        }
        Watched::start(command)
    }

    /// Starts the run; returns it with the server's first process and its sessions when the step is under way.
    fn in_the_step(&self) -> (Watched, u32, Vec<u32>) {
        let run = self.begin(&["run", "faults.toml"]);
        run.wait_for_words("trial 1/1");
        let sessions = |server: u32| -> Vec<u32> {
            let all = prony_host::children_of(server).unwrap().into_iter();
            let of_load = all.filter(|one| title(one.id).starts_with("postgres: prony prony"));
            of_load.map(|one| one.id).collect()
        };
        let found = wait_for("the step", Duration::from_mins(2), || {
            let children = children_of(run.id()).into_iter();
            let mut servers = children.filter(|(_, command)| command.contains("--config-file="));
            let (server, _) = servers.next()?;
            let sessions = sessions(server);
            (sessions.len() >= 4).then_some((server, sessions))
        });
        // Warmed up, and in the measured time.
        std::thread::sleep(Duration::from_secs(1));
        (run, found.0, found.1)
    }

    /// The end of a run whose only trial failed for a reason with these words.
    #[track_caller]
    fn failed(&self, run: Watched, words: &[&str]) -> Finished {
        let finished = run.end().exits(6);
        for word in words {
            let said = [&finished.stdout, &finished.stderr];
            assert!(
                said.iter().any(|text| text.contains(word)),
                "`{word}` is not said"
            );
        }
        assert_eq!(self.trials("failed"), 1);
        finished
    }

    #[track_caller]
    fn resume_completes(&self) {
        let run = only_run(self.folder.path());
        self.begin(&["resume", run.to_str().unwrap()])
            .end()
            .exits(0);
        assert_eq!((self.trials("done"), self.trials("failed")), (1, 0));
    }

    #[track_caller]
    fn trials(&self, state: &str) -> i64 {
        let file = only_run(self.folder.path()).join("run.sqlite");
        let sql = "SELECT count(*) FROM trial WHERE state = ?1";
        let database = Database::open(file).unwrap();
        database.query_row(sql, [state], |row| row.get(0)).unwrap()
    }
}

fn title(pid: u32) -> String {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&line).into_owned()
}

/// The data directory of a server, which all of its processes work in.
fn data_of(server: u32) -> PathBuf {
    fs::read_link(format!("/proc/{server}/cwd")).unwrap()
}

fn working_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let inside = entries.filter(|entry| {
        let cwd = fs::read_link(entry.path().join("cwd"));
        cwd.is_ok_and(|cwd| cwd.starts_with(folder.parent().unwrap()))
    });
    inside
        .filter_map(|entry| Some(title(entry.file_name().to_str()?.parse().ok()?)))
        .collect()
}

#[test]
fn a_killed_server_fails_its_trial_and_leaves_nothing() {
    if !live() {
        return;
    }
    let stage = Stage::new();
    let (run, server, _) = stage.in_the_step();
    let data = data_of(server);
    let mapped = fs::read_to_string(format!("/proc/{server}/maps")).unwrap();
    assert!(
        !mapped.contains("/dev/shm/"),
        "its shared memory ends with it: {mapped}"
    );
    let namespace = |pid: &str| fs::read_link(format!("/proc/{pid}/ns/ipc")).unwrap();
    let own = rustix::process::geteuid().is_root();
    assert_eq!(namespace(&server.to_string()) != namespace("self"), own);
    send(server, Signal::KILL);
    stage.failed(run, &["step update-index", "signal 9"]);
    assert_eq!(working_in(&data), [""; 0]);
    stage.resume_completes();
}

#[test]
fn a_killed_session_fails_its_trial() {
    if !live() {
        return;
    }
    let stage = Stage::new();
    let (run, server, sessions) = stage.in_the_step();
    let data = data_of(server);
    send(sessions[0], Signal::KILL);
    // The server ends all sessions then.
    stage.failed(run, &["step update-index", "was terminated by signal 9"]);
    assert_eq!(working_in(&data), [""; 0]);
    stage.resume_completes();
}

#[test]
fn a_terminated_session_fails_its_trial_with_the_servers_reason() {
    if !live() {
        return;
    }
    let stage = Stage::new();
    let (run, _, sessions) = stage.in_the_step();
    send(sessions[0], Signal::TERM);
    stage.failed(
        run,
        &[
            "step update-index",
            "terminating connection due to administrator command",
        ],
    );
    stage.resume_completes();
}

#[test]
fn a_disk_that_fills_up_fails_the_trial_with_the_servers_reason() {
    if !live() {
        return;
    }
    let mut stage = Stage::new();
    let Some(disk) = SmallDisk::mount(stage.folder.path(), 1500) else {
        return;
    };
    let longer = EXPERIMENT.replace("\"4s\"", "\"10s\"");
    write(stage.folder.path(), "faults.toml", &longer);
    share_builds(disk.path(), &[BUILD]);
    stage.cache = Some(disk.path().to_owned());
    let (run, _, _) = stage.in_the_step();
    let filler = disk.path().join("filler");
    let mut file = File::create(&filler).unwrap();
    let zeros = vec![0; 1 << 20];
    while file.write_all(&zeros).is_ok() {}
    stage.failed(run, &["step update-index", "No space left on device"]);
    drop(file);
    fs::remove_file(filler).unwrap();
    stage.resume_completes();
}
