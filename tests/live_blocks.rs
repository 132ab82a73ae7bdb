//! Blocks that are added to a run of real servers, and what stays as it was.
#![allow(
    clippy::unwrap_used,
    reason = "this is test code, outside of functions marked as tests"
)]

mod support;

use std::path::Path;

use rusqlite::Connection;
use rusqlite::types::Value;
use support::{Finished, finish, live, only_run, prony, write};

/// Two small targets, one block, two steps of 200 ms.
const EXPERIMENT: &str = r#"name = "small"
base = "mysql-5.7.22"
blocks = 1
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
time = "200ms"

[[step]]
workload = "point-query"

[[step]]
workload = "update-index"
"#;

fn open(run: &Path) -> Connection {
    Connection::open(run.join("run.sqlite")).unwrap()
}

fn number(run: &Path, sql: &str) -> i64 {
    let database = open(run);
    database.query_row(sql, [], |row| row.get(0)).unwrap()
}

fn done(run: &Path) -> i64 {
    number(run, "SELECT count(*) FROM trial WHERE state = 'done'")
}

/// Every row of every table but `run`, and the plan.
fn data(run: &Path) -> Vec<(String, Vec<Value>)> {
    let database = open(run);
    let tables = "SELECT name, 'SELECT * FROM ' || name FROM sqlite_schema
                  WHERE type = 'table' AND name <> 'run' UNION SELECT 'run', 'SELECT plan FROM run'";
    let mut tables = database.prepare(tables).unwrap();
    let tables: Vec<(String, String)> = tables
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let mut all = Vec::new();
    for (name, sql) in tables {
        let mut statement = database.prepare(&sql).unwrap();
        let columns = statement.column_count();
        let rows = statement.query_map([], |row| (0..columns).map(|n| row.get(n)).collect());
        all.extend(rows.unwrap().map(|row| (name.clone(), row.unwrap())));
    }
    all
}

#[track_caller]
fn prony_in(folder: &Path, arguments: &[&str]) -> Finished {
    finish(prony(folder, arguments))
}

#[test]
fn blocks_are_added_and_earlier_ones_stay_as_they_are() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "small.toml", EXPERIMENT);
    prony_in(folder, &["run", "small.toml"]).exits(0);
    let run = only_run(folder);
    let name = run.to_str().unwrap();
    let targets = done(&run);
    let first = data(&run);

    prony_in(folder, &["run", "--append", name])
        .exits(0)
        .says(&["adding 1 block to the 1 of this run", "as in earlier runs"]);
    assert_eq!(done(&run), 2 * targets);
    let second = data(&run);
    assert!(first.iter().all(|row| second.contains(row)));

    // As if the second block had been begun elsewhere and not completed.
    open(&run)
        .execute_batch(
            "UPDATE host SET facts = json_set(facts, '$.kernel', 'other');
             UPDATE trial SET state = 'discarded' WHERE id = (SELECT max(id) FROM trial);",
        )
        .unwrap();
    let before = data(&run);
    prony_in(folder, &["run", "--append", name, "--blocks", "1"])
        .exits(0)
        .says(&[
            "is not the one on which the run began",
            "trials of block 2 stay missing",
        ]);
    assert_eq!(done(&run), 3 * targets - 1);
    let hosts = "SELECT max(hosts) FROM (SELECT count(DISTINCT host_id) AS hosts FROM trial
                 WHERE state = 'done' GROUP BY block)";
    assert_eq!(number(&run, hosts), 1);
    let after = data(&run);
    assert!(before.iter().all(|row| after.contains(row)));

    // Three blocks are too few for any verdict.
    prony_in(folder, &["run", "--confirm", name])
        .exits(0)
        .says(&["nothing to confirm"]);
    prony_in(folder, &["report", name]).exits(0);
    assert_eq!(data(&run), after);
}
