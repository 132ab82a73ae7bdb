//! Rates, groups of clients, think times, reconnecting and mixes against a real server: what is
//! asked for is done and kept.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "this is test code, outside of functions marked as tests"
)]

mod support;

use std::thread::{JoinHandle, sleep, spawn};
use std::time::Duration;

use prony_client::{Address, Login};
use rusqlite::Connection;
use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;
use support::{Shell, Watched, finish, live, only_run, prony, wait_for, whole_report, write};

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

fn number_of(database: &Connection, sql: &str) -> i64 {
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
    let count = |sql| number_of(&database, sql);
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

/// Readers, and writers beside them at a rate, on a server that the test can lock.
const STALLED: &str = r#"name = "stalled"
base = "theirs"
blocks = 1
backend = "epoll"

[dataset]
tables = 1
rows = 2000

[[target]]
name = "theirs"
external = { address = "SOCKET", user = "prony", password_file = "PASSWORD" }

[sequence]
warmup = "500ms"
time = "10s"

[[step]]
name = "readers"
workload = "point-query"
clients = [2]
[[step.beside]]
name = "writers"
workload = "update-index"
clients = 2
rate = 200
arrivals = "regular"
"#;

/// How long the writers are kept waiting.
const STALL: Duration = Duration::from_millis(2_500);

/// Seconds by which the load generator's times and those of the client that holds the lock may
/// differ: 5 ms between two arrivals, and the delays of a busy machine.
const TOLERANCE_S: f64 = 0.15;

/// The time of the clock that the load generator reads too, in seconds.
fn now_s() -> f64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// When a lock was asked for and given, and when its end was asked for and done, in seconds of that clock.
struct Held {
    asked: f64,
    given: f64,
    freed: f64,
    done: f64,
}

/// A second client that lets nobody write for some time, while the writers have been at work.
fn keep_writers_waiting(shell: &Shell) -> JoinHandle<Held> {
    let address = Address::Unix(shell.socket.clone());
    let login = Login {
        family: prony_model::Family::Mysql,
        user: "root".into(),
        password: String::new(),
        database: None,
        tls: prony_model::Tls::Off,
    };
    let limit = Duration::from_mins(1);
    let mut second = prony_client::Connection::connect(&address, &login, limit).unwrap();
    spawn(move || {
        let updates = "SHOW GLOBAL STATUS LIKE 'Com_update'";
        wait_for("the writers", limit, || {
            let answer = second.query(updates).unwrap();
            let row = answer.rows.first()?;
            (row.get(1)?.as_deref()? != "0").then_some(())
        });
        // The warm-up, and some seconds that nobody disturbs.
        sleep(Duration::from_secs(4));
        let asked = now_s();
        second.query("LOCK TABLES prony.sbtest1 READ").unwrap();
        let given = now_s();
        sleep(STALL);
        let freed = now_s();
        second.query("UNLOCK TABLES").unwrap();
        Held {
            asked,
            given,
            freed,
            done: now_s(),
        }
    })
}

/// The idle intervals of the writers are those within the lock, and they have all operations. Returns how
/// many are idle.
fn assert_intervals(database: &Connection, held: &Held) -> usize {
    let start_s = number_of(database, "SELECT start_ns FROM outcome") as f64 / 1e9;
    let sql = "SELECT start_ns / 1e9, end_ns / 1e9, operations FROM interval
               WHERE group_position = 1 ORDER BY position";
    let mut statement = database.prepare(sql).unwrap();
    let intervals: Vec<(f64, f64, i64)> = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    let within = |&(start, end, _): &(f64, f64, i64), tolerance_s: f64| {
        start_s + start >= held.given - tolerance_s && start_s + end <= held.freed + tolerance_s
    };
    let surely = intervals
        .iter()
        .filter(|of| within(of, -TOLERANCE_S))
        .count();
    assert!(surely >= 1, "the lock was held within the measured time");
    let idle = |of: &&(f64, f64, i64)| of.2 == 0;
    let idle: Vec<&(f64, f64, i64)> = intervals.iter().filter(idle).collect();
    assert!(idle.len() >= surely, "{idle:?}");
    assert!(idle.iter().all(|of| within(of, TOLERANCE_S)), "{idle:?}");
    // What was held up was done afterwards: nothing is missing.
    let done: i64 = intervals.iter().map(|(_, _, operations)| operations).sum();
    let operations = "SELECT operations FROM group_outcome WHERE group_position = 1";
    assert_eq!(done, number_of(database, operations));
    idle.len()
}

/// What a report says of a stall agrees with the clock of the one who made it, and it says so of the
/// clients that were concerned alone.
#[test]
fn a_stall_of_a_group_beside_is_as_long_as_it_was() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let shell = Shell::start(folder.path(), "mysql-8.0.31");
    let experiment = STALLED
        .replace("SOCKET", shell.socket.to_str().unwrap())
        .replace("PASSWORD", shell.password.to_str().unwrap());
    write(folder.path(), "stalled.toml", &experiment);
    let run = Watched::start(prony(folder.path(), &["run", "stalled.toml"]));
    let held = keep_writers_waiting(&shell);
    run.end().exits(0);
    let held = held.join().unwrap();
    shell.stop();

    let run = only_run(folder.path());
    let arguments = ["report", run.to_str().unwrap(), "--format", "json"];
    let json = finish(prony(folder.path(), &arguments)).exits(0).stdout;
    let report: Value = serde_json::from_str(&json).unwrap();
    let cell = &report["cells"][0];
    let number = |value: &Value| value.as_f64().unwrap();

    let (own, writers) = (&cell["evenness"], &cell["beside"][0]["evenness"]);
    assert_eq!(own["idle"], 0, "who reads does not wait");
    assert!(number(&own["slowest"]) > 0.0);
    let longest_s = number(&writers["longest_ms"]) / 1e3;
    let least_s = held.freed - held.given - TOLERANCE_S;
    let most_s = held.done - held.asked + TOLERANCE_S;
    assert!(
        (least_s..=most_s).contains(&longest_s),
        "{longest_s} s, and not {least_s} to {most_s} s"
    );
    assert_eq!(writers["slowest"], 0.0);

    println!("held {least_s} to {most_s} s, longest {longest_s} s: {writers}");
    let database = Connection::open(run.join("run.sqlite")).unwrap();
    let idle = assert_intervals(&database, &held);
    assert_eq!(writers["idle"].as_u64(), Some(idle as u64));
    let slices = writers["slices"].as_array().unwrap();
    assert_eq!(slices.len(), 10);
    assert!(slices.iter().any(|slice| number(slice) < 100.0));
}
