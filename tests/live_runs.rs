//! Whole runs with real servers: results, interruption, kills and resume, failing servers.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "this is test code, outside of functions marked as tests"
)]

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use rustix::process::Signal;
use support::{
    Finished, SmallDisk, Watched, children_of, finish, live, only_run, prony, send, share_builds,
    wait_for, whole_report, write,
};

/// Two small targets, two blocks, three steps of 300 ms.
const EXPERIMENT: &str = r#"name = "small"
base = "mysql-5.7.22"
blocks = 2
aa = false
clients = [2]

[dataset]
tables = 1
rows = 2000

[defaults]
config = { buffer_pool = "32M" }

[[target]]
build = "mysql-5.0.21"

[[target]]
build = "mysql-5.7.22"

[sequence]
warmup = "100ms"
time = "300ms"

[[step]]
workload = "point-query"

[[step]]
workload = "update-index"

[[step]]
workload = "insert"
"#;

/// Starts `prony run` on an experiment and returns at once.
fn begin(folder: &Path, experiment: &str) -> Watched {
    write(folder, "small.toml", experiment);
    Watched::start(prony(folder, &["run", "small.toml"]))
}

fn run(folder: &Path, experiment: &str) -> Finished {
    begin(folder, experiment).end()
}

fn open(run: &Path) -> Connection {
    Connection::open(run.join("run.sqlite")).unwrap()
}

fn number(database: &Connection, sql: &str) -> i64 {
    database.query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Asserts that every planned trial is done exactly once, whole, in a sound database.
#[track_caller]
fn every_trial_exactly_once(run: &Path) {
    let database = open(run);
    let sound: String = database
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(sound, "ok");
    let distinct = "SELECT count(DISTINCT block * 100 + target_id) FROM trial WHERE state = 'done'";
    assert_eq!(number(&database, distinct), 4);
    assert_eq!(
        number(&database, "SELECT count(*) FROM trial WHERE state = 'done'"),
        4
    );
    assert_eq!(
        number(
            &database,
            "SELECT count(*) FROM trial WHERE state IN ('running', 'failed')"
        ),
        0
    );
    let outcomes = "SELECT count(*) FROM outcome JOIN trial ON trial.id = trial_id
                    WHERE state = 'done'";
    assert_eq!(number(&database, outcomes), 4 * 3);
}

#[test]
fn a_run_ends_with_its_report_in_every_format() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let finished = begin(folder.path(), EXPERIMENT).end().exits(0);
    for word in [
        "point-query",
        "update-index",
        "insert",
        "relative to mysql-5.7.22",
    ] {
        assert!(finished.stdout.contains(word), "{word}");
    }
    let run = only_run(folder.path());
    every_trial_exactly_once(&run);
    let report = |format: &str| {
        let arguments = ["report", run.to_str().unwrap(), "--format", format];
        finish(prony(folder.path(), &arguments)).exits(0).stdout
    };
    assert_eq!(report("text"), finished.stdout);
    let page = run.join("report.html");
    assert_eq!(std::fs::read_to_string(&page).unwrap(), report("html"));
    let last = finished.stderr.lines().last().unwrap();
    assert!(
        last.ends_with("/report.html") && page.ends_with(last),
        "{last}"
    );
    assert!(report("md").contains("| point-query"));
    assert!(whole_report(folder.path()).contains("Queries per second"));
    // A heading, a line for each target's load, and one for each target, step and block.
    assert_eq!(report("csv").lines().count(), 1 + 2 + 2 * 3 * 2);
    let json: serde_json::Value = serde_json::from_str(&report("json")).unwrap();
    assert!(json.is_object());
    // Nothing is missing, so resuming runs nothing and says the same.
    let again = finish(prony(folder.path(), &["resume", run.to_str().unwrap()])).exits(0);
    assert_eq!(again.stdout, finished.stdout);
}

#[test]
fn interrupted_runs_stop_everything_and_are_resumed() {
    if !live() {
        return;
    }
    for (sent, code, to_all) in [
        (Signal::INT, 130, false),
        (Signal::TERM, 143, false),
        (Signal::TERM, 143, true),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let child = begin(folder.path(), EXPERIMENT);
        child.wait_for_words("trial 1/");
        wait_for("the load generator", Duration::from_mins(2), || {
            children_of(child.id())
                .into_iter()
                .find(|(_, command)| command.ends_with("generator "))
        });
        if to_all {
            child.signal_children(sent);
        }
        child.signal(sent);
        let begin = Instant::now();
        let finished = child.end().exits(code);
        assert!(
            begin.elapsed() < Duration::from_secs(15),
            "stopping took {:?}",
            begin.elapsed()
        );
        finished.says(&["interrupted", "prony resume runs/small-"]);
        let run = only_run(folder.path());
        let states = "SELECT group_concat(state) FROM trial";
        let states: String = open(&run).query_row(states, [], |row| row.get(0)).unwrap();
        assert_eq!(states, "discarded");
        finish(prony(folder.path(), &["resume", run.to_str().unwrap()])).exits(0);
        every_trial_exactly_once(&run);
    }
}

#[test]
fn killed_runs_are_resumed_with_every_trial_exactly_once() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut child = begin(folder.path(), EXPERIMENT);
    wait_for("the run's result file", Duration::from_mins(2), || {
        let runs = std::fs::read_dir(folder.path().join("runs")).ok()?;
        runs.flatten()
            .find(|run| run.path().join("run.sqlite").exists())
    });
    let run = only_run(folder.path());
    // A trial is announced before its image is restored, and each step when it is done. A killed
    // trial begins anew, so that these words come again until all trials are done, which at most
    // two of these kills are too late to prevent: each of them hits a run. A little later is within
    // the next step, or between the last step and the end of the trial.
    let (trial, first, second, last) = (
        "(block ",
        "  point-query, ",
        "  update-index, ",
        "  insert, ",
    );
    for (words, later_ms) in [
        ("", 150),
        (trial, 0),
        (trial, 150),
        (trial, 600),
        (first, 0),
        (first, 150),
        (second, 0),
        (second, 150),
        (last, 0),
        (last, 200),
    ] {
        child.wait_for_words(words);
        std::thread::sleep(Duration::from_millis(later_ms));
        assert!(child.is_running(), "it ended {later_ms} ms after `{words}`");
        child.kill();
        let resume = ["resume", run.to_str().unwrap()];
        child = Watched::start(prony(folder.path(), &resume));
    }
    child.end().exits(0);
    every_trial_exactly_once(&run);
}

/// The experiment with more in its first target, the base staying sound.
fn with_first_target(lines: &str) -> String {
    EXPERIMENT.replace(
        "build = \"mysql-5.0.21\"",
        &format!("build = \"mysql-8.0.31\"\n{lines}"),
    )
}

/// Asserts that only the first target's trials failed, for this reason, and that the rest is done.
#[track_caller]
fn only_the_first_target_failed(folder: &Path, finished: &Finished, reasons: &[&str]) {
    assert_eq!(finished.code, Some(6), "{}", finished.stderr);
    for reason in reasons {
        assert!(
            finished.stdout.contains(reason),
            "`{reason}` is not in the report"
        );
    }
    let database = open(&only_run(folder));
    let failed = "SELECT count(*) FROM trial WHERE state = 'failed' AND target_id = 0";
    assert_eq!(number(&database, failed), 2);
    assert_eq!(
        number(&database, "SELECT count(*) FROM trial WHERE state = 'done'"),
        2
    );
}

#[test]
fn a_server_that_does_not_start_fails_its_trials_with_its_own_words() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let experiment = with_first_target("options = { no_such_option = \"1\" }");
    let finished = run(folder.path(), &experiment);
    only_the_first_target_failed(folder.path(), &finished, &["no_such_option=1"]);
}

#[test]
fn a_server_that_refuses_connections_fails_its_trials() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let experiment = with_first_target("options = { max_connections = \"3\" }")
        .replace("clients = [2]", "clients = [20]");
    let finished = run(folder.path(), &experiment);
    only_the_first_target_failed(folder.path(), &finished, &["1040", "oo many connections"]);
}

#[test]
fn a_server_that_dies_in_the_middle_of_a_step_fails_that_trial_only() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let experiment = EXPERIMENT.replace("time = \"300ms\"", "time = \"1500ms\"");
    let child = begin(folder.path(), &experiment);
    let victim = wait_for("a server under load", Duration::from_mins(2), || {
        let children = children_of(child.id());
        let loaded = open_done(folder.path()) && has_load(&children);
        children
            .into_iter()
            .find(|(_, command)| loaded && command.contains("mysqld"))
    });
    send(victim.0, Signal::KILL);
    let finished = child.end();
    assert_eq!(finished.code, Some(6));
    assert!(
        finished.stdout.contains("signal 9"),
        "the report names the signal"
    );
    let database = open(&only_run(folder.path()));
    assert_eq!(
        number(
            &database,
            "SELECT count(*) FROM trial WHERE state = 'failed'"
        ),
        1
    );
    assert_eq!(
        number(&database, "SELECT count(*) FROM trial WHERE state = 'done'"),
        3
    );
}

/// Tells if a first trial is done, so that the server that runs now is one of a trial.
fn open_done(folder: &Path) -> bool {
    let Ok(mut runs) = std::fs::read_dir(folder.join("runs")) else {
        return false;
    };
    let Some(Ok(run)) = runs.next() else {
        return false;
    };
    let Ok(database) = Connection::open(run.path().join("run.sqlite")) else {
        return false;
    };
    let done = "SELECT count(*) FROM trial WHERE state = 'done'";
    database
        .query_row(done, [], |row| row.get::<_, i64>(0))
        .is_ok_and(|done| done > 0)
}

fn has_load(children: &[(u32, String)]) -> bool {
    children
        .iter()
        .any(|(_, command)| command.ends_with("generator "))
}

#[test]
fn a_full_disk_fails_the_trials_that_it_hits() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // Room for the images, as they are estimated, and for one that is restored.
    let Some(disk) = SmallDisk::mount(folder.path(), 4000) else {
        return;
    };
    // Builds stay where they are; instances and images go to the small disk.
    share_builds(disk.path(), &["mysql-5.0.21", "mysql-5.7.22"]);
    write(
        folder.path(),
        "small.toml",
        &EXPERIMENT.replace("time = \"300ms\"", "time = \"4s\""),
    );
    let mut command = prony(folder.path(), &["run", "small.toml"]);
    command.env("PRONY_CACHE", disk.path());
    let child = Watched::start(command);
    wait_for("a trial under load", Duration::from_mins(2), || {
        let images = std::fs::read_dir(disk.path().join("images")).ok()?.count();
        (images == 2 && has_load(&children_of(child.id()))).then_some(())
    });
    // The writing stops by itself when the disk is full.
    let filler = disk.path().join("filler");
    let _ = std::fs::File::create(&filler)
        .and_then(|mut file| std::io::copy(&mut std::io::repeat(0), &mut file));
    let finished = child.end();
    assert_eq!(finished.code, Some(6), "{}", finished.stderr);
    let failures = failures(&finished.stdout);
    assert!(!failures.is_empty());
    for (target, failure) in failures {
        // The server's answer, or its own or the system's words.
        let full = ["is full", "error number 28", "No space left on device"];
        assert!(
            full.iter().any(|words| failure.contains(words)),
            "the report does not name the cause for {target}: {failure}"
        );
    }
    std::fs::remove_file(&filler).unwrap();
}

/// The text of a report about the failed trials of each target, without line breaks. Where a target
/// failed twice in the same way, the server's words stand at the first trial only.
fn failures(report: &str) -> BTreeMap<String, String> {
    let (_, list) = report.split_once("\nMissing and failed\n").unwrap();
    let mut failures = BTreeMap::<String, String>::new();
    let mut failure = None;
    for line in list.lines() {
        if let (Some((target, _)), true) =
            (line.split_once(", block "), line.contains(", failed: "))
        {
            failure = Some(failures.entry(target.to_owned()).or_default());
        }
        if let Some(failure) = &mut failure {
            failure.push_str(line.trim());
            failure.push(' ');
        }
    }
    failures
}
