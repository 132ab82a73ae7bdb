//! PostgreSQL servers, which are many processes and refuse to run as root.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "this is test code, outside of functions marked as tests"
)]

mod support;

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use prony_client::{Address, Connection, Login};
use prony_model::{Family, Tls};
use rusqlite::Connection as Database;
use support::{Shell, finish, live, only_run, prony, wait_for, write};

/// The oldest, one whose idle processes outlive a killed server, and the newest.
const BUILDS: [&str; 3] = ["postgresql-9.5.3", "postgresql-9.6.24", "postgresql-18.6"];

/// Processes in a data directory, which all those of a server are, with their command lines.
fn processes_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let inside = entries.filter(|entry| {
        let cwd = fs::read_link(entry.path().join("cwd"));
        cwd.is_ok_and(|cwd| cwd.starts_with(folder))
    });
    let line = |entry: fs::DirEntry| {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).replace('\0', " ")
    };
    inside.map(line).collect()
}

fn connect(server: &Shell) -> Connection {
    let address = Address::Unix(server.socket.clone());
    let limit = Duration::from_mins(2);
    let login = Login {
        family: Family::Postgresql,
        user: "prony".into(),
        password: String::new(),
        database: Some("prony".into()),
        tls: Tls::Off,
    };
    Connection::connect(&address, &login, limit).unwrap()
}

#[test]
fn nothing_is_left_of_a_server_whose_prony_was_killed() {
    if !live() {
        return;
    }
    for build in BUILDS {
        let folder = tempfile::tempdir().unwrap();
        let server = Shell::start(folder.path(), build);
        let data = server.socket.parent().unwrap().join("data");
        let (mut idle, mut busy) = (connect(&server), connect(&server));
        let busy = thread::spawn(move || busy.query("SELECT pg_sleep(60)"));
        // Titles of processes do not change with their statements here.
        let sleeping = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%'";
        wait_for("a busy session", Duration::from_secs(10), || {
            let answer = idle.query(sleeping).unwrap();
            (answer.single() == Some("1")).then_some(())
        });
        assert!(processes_in(&data).len() > 6);
        server.kill();
        wait_for("all processes to end", Duration::from_secs(5), || {
            let left = processes_in(&data);
            println!("{left:?}");
            left.is_empty().then_some(())
        });
        assert!(busy.join().unwrap().is_err());
        drop(idle);
    }
}

#[test]
fn a_server_stops_though_somebody_is_connected() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let server = Shell::start(folder.path(), BUILDS[1]);
    let data = server.socket.parent().unwrap().join("data");
    let mut connection = connect(&server);
    let refused = connection.query("SELECT * FROM no_such_table").unwrap_err();
    assert!(refused.to_string().contains("error 42P01"), "{refused}");
    let answer = connection.query("CREATE TABLE t (a int); INSERT INTO t VALUES (1), (2)");
    assert_eq!(answer.unwrap().affected, 2);
    let answer = connection
        .query("SELECT a, NULL AS b FROM t ORDER BY a")
        .unwrap();
    assert_eq!(answer.columns, ["a", "b"]);
    let row = |a: &str| vec![Some(a.to_owned()), None];
    assert_eq!(answer.rows, [row("1"), row("2")]);
    server.stop();
    assert_eq!(processes_in(&data), [""; 0]);
    assert!(connection.query("SELECT 1").is_err());
}

/// By how much a counter grew in a step, or in the load where there is no `step`.
fn grown(database: &Database, target: usize, step: Option<usize>, name: &str) -> i64 {
    let sql = "SELECT SUM(CASE moment WHEN 'end' THEN value WHEN 'start' THEN -value ELSE 0 END)
               FROM sample JOIN trial ON trial.id = trial_id
                   JOIN whole_sample_value ON sample_id = sample.id
                   JOIN counter ON counter.id = counter_id
               WHERE target_id = ?1 AND step_id IS ?2 AND source = 'postgres' AND name = ?3";
    database
        .query_row(sql, (target, step, name), |row| row.get(0))
        .unwrap()
}

/// Servers that publish their counts in three ways.
const COUNTS: &str = r#"name = "counts"
base = "postgresql-18.6"
blocks = 1
clients = [4]
allow = ["prony.compiled"]

[dataset]
tables = 1
rows = 2_000
load = "inserts"

[[target]]
build = "postgresql-9.3.5"

[[target]]
build = "postgresql-9.6.24"

[[target]]
build = "postgresql-15.19"

[[target]]
build = "postgresql-18.6"

[sequence]
operations_per_client = 500

[[step]]
workload = "update-index"

[[step]]
settle = { limit = "1m" }

[[step]]
workload = "point-query"
"#;

#[test]
fn servers_count_their_work_exactly_and_settle_after_it() {
    if !live() {
        return;
    }
    let targets = [
        "postgresql-9.3.5",
        "postgresql-9.6.24",
        "postgresql-15.19",
        "postgresql-18.6",
    ];
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "x.toml", COUNTS);
    finish(prony(folder.path(), &["run", "x.toml"])).exits(0);
    let database = Database::open(only_run(folder.path()).join("run.sqlite")).unwrap();
    for (target, build) in targets.iter().enumerate() {
        let grown = |step, name| grown(&database, target, step, name);
        for (step, name, expected) in [
            (None, "tables.n_tup_ins", 2_000),
            (Some(0), "tables.n_tup_upd", 2_000),
            (Some(0), "tables.idx_scan", 2_000),
            (Some(1), "tables.n_tup_upd", 0),
            (Some(1), "tables.idx_scan", 2_000),
            (Some(1), "tables.idx_tup_fetch", 2_000),
        ] {
            assert_eq!(grown(step, name), expected, "{build}, {step:?}: {name}");
        }
        for step in [Some(0), Some(1)] {
            let commits = grown(step, "database.xact_commit");
            assert!((1_998..=2_002).contains(&commits), "{build}: {commits}");
        }
        let wal = grown(Some(0), "wal.insert_bytes");
        assert!(wal > 2_000 * 100, "{build}: {wal}");
        let (unmet, debt): (String, String) = database
            .query_row(
                "SELECT unmet, debt FROM settle JOIN trial ON trial.id = trial_id WHERE target_id = ?1",
                [target],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .unwrap();
        assert_eq!(unmet, "[]", "{build}");
        // 9.3 can't tell which pages are visible to all.
        let is_told = |kind: &&str| *build != "postgresql-9.3.5" || *kind == "dead-rows";
        for kind in ["dead-rows", "not-visible"].into_iter().filter(is_told) {
            let none = format!("{{\"kind\":\"{kind}\",\"value\":0}}");
            assert!(debt.contains(&none), "{build}: {debt}");
        }
        let left: i64 = database
            .query_row(
                "SELECT value FROM debt JOIN trial ON trial.id = trial_id
                 WHERE target_id = ?1 AND step_id = 1 AND debt.kind = 'dead-rows'",
                [target],
                |row| row.get(0),
            )
            .unwrap();
        assert_eq!(left, 0, "{build}");
    }
}
