//! Servers that die while they are made ready, a Prony that dies while it restores, and disks that
//! are too small: what was whole stays, and resuming goes on from there.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "this is test code, outside of functions marked as tests"
)]

mod support;

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;
use support::{Finished, SmallDisk, Watched, live, only_run, prony, share_builds, wait_for, write};
use tempfile::TempDir;

/// Two targets, one block; loading and settling take long enough to be hit.
const EXPERIMENT: &str = r#"name = "faults"
base = "mysql-5.7.22"
blocks = 1
clients = [2]

[dataset]
tables = 1
rows = 150_000

[defaults]
config = { buffer_pool = "64M" }

[[target]]
build = "mysql-5.6.24"

[[target]]
build = "mysql-5.7.22"

[sequence]
warmup = "100ms"
time = "300ms"

[[step]]
workload = "point-query"

[[step]]
settle = { idle = "3s" }

[[step]]
workload = "update-index"
"#;

const BUILDS: [&str; 2] = ["mysql-5.6.24", "mysql-5.7.22"];

/// A folder with the experiment, and a cache of its own.
struct Stage {
    folder: TempDir,
    cache: PathBuf,
}

impl Stage {
    /// Every image is missing there; builds come from the usual cache.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("cache");
        std::fs::create_dir(&cache).unwrap();
        share_builds(&cache, &BUILDS);
        write(folder.path(), "faults.toml", EXPERIMENT);
        Self { folder, cache }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn begin(&self, arguments: &[&str]) -> Watched {
        begin(self.path(), &self.cache, arguments)
    }

    fn run(&self) -> Watched {
        self.begin(&["run", "faults.toml"])
    }

    /// Resumes the run and asserts that both trials are then done.
    #[track_caller]
    fn resume_completes(&self) -> Finished {
        let run = only_run(self.path());
        let finished = self
            .begin(&["resume", run.to_str().unwrap()])
            .end()
            .exits(0);
        assert_eq!(trials_in(self.path(), "done"), 2);
        assert_eq!(trials_in(self.path(), "failed"), 0);
        finished
    }
}

fn begin(folder: &Path, cache: &Path, arguments: &[&str]) -> Watched {
    let mut command = prony(folder, arguments);
    command.env("PRONY_CACHE", cache);
    Watched::start(command)
}

#[track_caller]
fn trials_in(folder: &Path, state: &str) -> i64 {
    let database = Connection::open(only_run(folder).join("run.sqlite")).unwrap();
    let sql = "SELECT count(*) FROM trial WHERE state = ?1";
    database.query_row(sql, [state], |row| row.get(0)).unwrap()
}

#[test]
fn a_server_that_dies_while_it_is_loaded_costs_its_target_only_and_is_loaded_again() {
    if !live() {
        return;
    }
    let stage = Stage::new();
    let run = stage.run();
    run.wait_for_words("mysql-5.6.24: loading the dataset");
    run.kill_server();
    let finished = run.end().exits(6);
    finished.says(&["mysql-5.6.24: preparation failed: ", "signal 9"]);
    assert_eq!(trials_in(stage.path(), "done"), 1);
    assert_eq!(trials_in(stage.path(), "failed"), 1);
    let again = stage.resume_completes();
    // What was whole is left alone; the image that was not is made.
    assert!(!again.stderr.contains("mysql-5.7.22: loading the dataset"));
    again.says(&["1 failed trial again", "mysql-5.6.24: loading the dataset"]);
}

#[test]
fn a_server_that_dies_while_it_settles_fails_that_trial_and_is_run_again() {
    if !live() {
        return;
    }
    let stage = Stage::new();
    let run = stage.run();
    run.wait_for_words("trial 2/2");
    run.wait_for_words("  settling before update-index");
    // The first trial settled too; this is the second one's server.
    wait_for("the second trial to settle", Duration::from_mins(1), || {
        (run.said().matches("  settling before update-index").count() == 2).then_some(())
    });
    run.kill_server();
    let finished = run.end().exits(6);
    assert!(
        finished.stdout.contains("signal 9") && finished.stdout.contains("settle"),
        "the report says what happened and when"
    );
    assert_eq!(trials_in(stage.path(), "done"), 1);
    stage.resume_completes();
}

#[test]
fn a_prony_that_dies_while_it_restores_an_image_is_resumed_from_the_same_images() {
    if !live() {
        return;
    }
    let stage = Stage::new();
    let run = stage.run();
    // A trial is announced before its image is restored, which takes tenths of a second.
    run.wait_for_words("trial 1/2");
    run.kill();
    let images = |folder: &Path| std::fs::read_dir(folder.join("images")).unwrap().count();
    assert_eq!(images(&stage.cache), 2, "both images are whole");
    let again = stage.resume_completes();
    again.says(&[
        "mysql-5.6.24: using the stored data image",
        "mysql-5.7.22: using the stored data image",
    ]);
}

#[test]
fn a_disk_that_is_too_small_for_the_images_is_noticed_before_anything_is_loaded() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = SmallDisk::mount(folder.path(), 900) else {
        return;
    };
    share_builds(disk.path(), &BUILDS);
    // Two images of some 2 GB each.
    let experiment = EXPERIMENT.replace("150_000", "8_000_000");
    write(folder.path(), "faults.toml", &experiment);
    let finished = begin(folder.path(), disk.path(), &["run", "faults.toml"])
        .end()
        .exits(5)
        .says(&["are needed", "are free", "prony images"]);
    assert!(!finished.stderr.contains("loading the dataset"));
    let runs = std::fs::read_dir(folder.path().join("runs")).map_or(0, Iterator::count);
    assert_eq!(runs, 0, "the folder of a run that can't begin is removed");
}
