//! Servers that die while they are made ready, a Prony that dies while it restores, and disks that
//! are too small: what was whole stays, and resuming goes on from there.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "this is test code, outside of functions marked as tests"
)]

mod support;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;
use rustix::process::{Pid, Signal, kill_process};
use support::{
    Finished, SmallDisk, children_of, finish, live, nothing_left_of, only_run, prony, wait_for,
    write,
};

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

/// A Prony under way, whose words on standard error can be read as they come.
struct Watched {
    child: Child,
    said: Arc<Mutex<String>>,
    reader: JoinHandle<()>,
}

impl Watched {
    fn start(mut command: Command) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let said = Arc::new(Mutex::new(String::new()));
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let copy = Arc::clone(&said);
        let reader = std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let mut said = copy.lock().unwrap();
                said.push_str(&line);
                said.push('\n');
            }
        });
        Self {
            child,
            said,
            reader,
        }
    }

    /// Waits until it has said `words`.
    #[track_caller]
    fn wait_for_words(&self, words: &str) {
        wait_for(words, Duration::from_mins(3), || {
            self.said.lock().unwrap().contains(words).then_some(())
        });
    }

    /// Ends the server that runs for it.
    #[track_caller]
    fn kill_server(&self) {
        let (pid, _) = wait_for("a server", Duration::from_secs(30), || {
            children_of(self.child.id())
                .into_iter()
                .find(|(_, command)| command.contains("mysqld"))
        });
        kill(pid);
    }

    fn end(self) -> Finished {
        let id = self.child.id();
        let mut output = self.child.wait_with_output().unwrap();
        self.reader.join().unwrap();
        output.stderr = self.said.lock().unwrap().clone().into_bytes();
        nothing_left_of(id, Duration::from_secs(5));
        Finished::from(output)
    }
}

fn kill(pid: u32) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
}

/// A cache of its own, so that every image is missing; builds come from the usual one.
fn own_cache(folder: &Path) -> std::path::PathBuf {
    let cache = prony_servers::Roots::from_environment().unwrap().cache;
    let fetch = ["servers", "fetch", "mysql-5.6.24", "mysql-5.7.22"];
    finish(prony(folder, &fetch)).exits(0);
    let own = folder.join("cache");
    std::fs::create_dir(&own).unwrap();
    for shared in ["builds", "support"] {
        std::os::unix::fs::symlink(cache.join(shared), own.join(shared)).unwrap();
    }
    own
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

/// Resumes the run and asserts that both trials are then done.
#[track_caller]
fn resume_completes(folder: &Path, cache: &Path) -> Finished {
    let run = only_run(folder);
    let finished = begin(folder, cache, &["resume", run.to_str().unwrap()])
        .end()
        .exits(0);
    assert_eq!(trials_in(folder, "done"), 2);
    assert_eq!(trials_in(folder, "failed"), 0);
    finished
}

#[test]
fn a_server_that_dies_while_it_is_loaded_costs_its_target_only_and_is_loaded_again() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let cache = own_cache(folder.path());
    write(folder.path(), "faults.toml", EXPERIMENT);
    let run = begin(folder.path(), &cache, &["run", "faults.toml"]);
    run.wait_for_words("mysql-5.6.24: loading the dataset");
    run.kill_server();
    let finished = run.end().exits(6);
    finished.says(&["mysql-5.6.24: can't be made ready", "signal 9"]);
    assert_eq!(trials_in(folder.path(), "done"), 1);
    assert_eq!(trials_in(folder.path(), "failed"), 1);
    let again = resume_completes(folder.path(), &cache);
    // What was whole is left alone; the image that was not is made.
    assert!(!again.stderr.contains("mysql-5.7.22: loading the dataset"));
    again.says(&["1 failed trial again", "mysql-5.6.24: loading the dataset"]);
}

#[test]
fn a_server_that_dies_while_it_settles_fails_that_trial_and_is_run_again() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let cache = own_cache(folder.path());
    write(folder.path(), "faults.toml", EXPERIMENT);
    let run = begin(folder.path(), &cache, &["run", "faults.toml"]);
    run.wait_for_words("trial 2/2");
    run.wait_for_words("  settling before update-index");
    // The first trial settled too; this is the second one's server.
    wait_for("the second trial to settle", Duration::from_mins(1), || {
        let said = run.said.lock().unwrap();
        (said.matches("  settling before update-index").count() == 2).then_some(())
    });
    run.kill_server();
    let finished = run.end().exits(6);
    assert!(
        finished.stdout.contains("signal 9") && finished.stdout.contains("settle"),
        "the report says what happened and when"
    );
    assert_eq!(trials_in(folder.path(), "done"), 1);
    resume_completes(folder.path(), &cache);
}

#[test]
fn a_prony_that_dies_while_it_restores_an_image_is_resumed_from_the_same_images() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let cache = own_cache(folder.path());
    write(folder.path(), "faults.toml", EXPERIMENT);
    let run = begin(folder.path(), &cache, &["run", "faults.toml"]);
    // A trial is announced before its image is restored, which takes tenths of a second.
    run.wait_for_words("trial 1/2");
    kill(run.child.id());
    let id = run.child.id();
    drop(run.child.wait_with_output().unwrap());
    nothing_left_of(id, Duration::from_secs(5));
    let images = |folder: &Path| std::fs::read_dir(folder.join("images")).unwrap().count();
    assert_eq!(images(&cache), 2, "both images are whole");
    let again = resume_completes(folder.path(), &cache);
    again.says(&[
        "mysql-5.6.24: data image found",
        "mysql-5.7.22: data image found",
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
    let cache = own_cache(folder.path());
    for shared in ["builds", "support"] {
        let target = std::fs::read_link(cache.join(shared)).unwrap();
        std::os::unix::fs::symlink(target, disk.path().join(shared)).unwrap();
    }
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
