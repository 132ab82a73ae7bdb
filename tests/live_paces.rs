//! Rates, groups of clients, think times, reconnecting and mixes against a real server: what is
//! asked for is done and kept.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "this is test code, outside of functions marked as tests"
)]

mod support;

use rusqlite::Connection;
use support::{finish, live, only_run, prony, whole_report, write};

/// A step of each kind, none longer than needed for some hundred operations.
const EXPERIMENT: &str = r#"name = "paced"
base = "mysql-5.7.22"
blocks = 1
backend = "epoll"

[dataset]
tables = 1
rows = 2000

[defaults]
config = { buffer_pool = "32M" }

[[target]]
build = "mysql-5.7.22"

[sequence]
warmup = "100ms"
time = "1s"

[[step]]
name = "rate"
workload = "point-query"
clients = [4]
rate = 300
arrivals = "regular"
ramp = "200ms"

[[step]]
name = "readers"
workload = "read-mostly"
clients = [2]
[[step.beside]]
name = "writers"
workload = "update-index"
clients = 2
rate = 100

[[step]]
name = "thinkers"
workload = "point-query"
clients = [2]
think = "5ms"
reconnect_every = 10
"#;

fn number(database: &Connection, sql: &str) -> i64 {
    database.query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn what_is_asked_for_is_done_and_kept() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "paced.toml", EXPERIMENT);
    finish(prony(folder.path(), &["run", "paced.toml"])).exits(0);
    let report = whole_report(folder.path());
    for words in [
        "Generator epoll",
        "Response time of rate at 4 clients",
        "300 operations/s planned, arriving regularly",
        "readers, beside: writers",
        "Reconnecting after a number of operations",
    ] {
        assert!(report.contains(words), "{report}");
    }
    let database = Connection::open(only_run(folder.path()).join("run.sqlite")).unwrap();
    let count = |sql| number(&database, sql);
    // Regular arrivals are as many as the rate says, whatever the server does.
    let planned = count("SELECT planned FROM schedule WHERE step_id = 0");
    assert!((299..=301).contains(&planned), "{planned}");
    let done = "SELECT operations + left_undone FROM group_outcome JOIN schedule
                USING (trial_id, step_id, group_position) WHERE step_id = 0";
    assert_eq!(count(done), planned);
    let own =
        count("SELECT operations FROM group_outcome WHERE step_id = 1 AND group_position = 0");
    let of_kinds =
        "SELECT sum(count) FROM statement_count WHERE step_id = 1 AND group_position = 0";
    assert_eq!(count(of_kinds), own, "a mix runs one statement each time");
    let rows = "SELECT sum(affected) FROM statement_count WHERE group_position = 1";
    let beside = "SELECT operations FROM group_outcome WHERE group_position = 1";
    assert_eq!(count(rows), count(beside));
    assert_eq!(count("SELECT sum(unexpected) FROM statement_count"), 0);
    let connects = "SELECT count FROM statement_count WHERE statement = 'connect'";
    assert!(count(connects) > 0);
    assert!(count("SELECT count(*) FROM thread_use WHERE cpu_ns > 0") > 0);
    let backends = "SELECT count(*) FROM run JOIN outcome USING (backend) WHERE backend = 'epoll'";
    assert_eq!(count(backends), 3);
}

#[test]
fn answers_are_checked_whatever_the_pace() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "paced.toml", EXPERIMENT);
    finish(prony(folder.path(), &["run", "paced.toml", "--verify"])).exits(0);
    // A wrong answer of a group is found, and it is said whose it is.
    let wrong = r#"
[[workload]]
name = "wrong"
group = "point"
effect = "none"
description = "Expects what is not there"
[[workload.statement]]
name = "missing"
sql = "SELECT c FROM {table} WHERE id = 0"
expect.rows = "1"
"#;
    write(folder.path(), "wrong.toml", wrong);
    let experiment = EXPERIMENT.replace("\"update-index\"\nclients = 2", "\"wrong\"\nclients = 2");
    write(folder.path(), "paced.toml", &experiment);
    let args = ["run", "paced.toml", "--verify", "--workloads", "wrong.toml"];
    let finished = finish(prony(folder.path(), &args));
    assert_ne!(finished.code, Some(0));
    let said = format!("{}{}", finished.stdout, finished.stderr);
    assert!(said.contains("writers: "), "{said}");
    assert!(said.contains("`missing`"), "{said}");
}
