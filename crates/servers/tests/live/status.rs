//! What servers of all kinds tell of themselves.

use std::collections::BTreeMap;

use prony_client::Connection;
use prony_model::{Counter, Engine, Source, StopFlag};
use prony_servers::{Birth, Running, admin::status};

use crate::birth::Stage;
use crate::{LIMIT, live};

/// Builds and the engine whose counters are looked at, with one that a point query moves and that
/// explains what it costs.
const BUILDS: [(&str, Engine, &str); 9] = [
    ("mysql-4.1.13", Engine::Myisam, "key_read_requests"),
    ("mysql-5.0.21", Engine::Innodb, "innodb_rows_read"),
    ("mysql-5.7.22", Engine::Innodb, "innodb_rows_read"),
    ("mysql-8.0.31", Engine::Innodb, "innodb_rows_read"),
    ("mysql-9.7", Engine::Innodb, "innodb_rows_read"),
    ("mysql-9.7", Engine::Myisam, "key_read_requests"),
    ("mariadb-10.11", Engine::Innodb, "rows_read"),
    ("mariadb-11.8", Engine::Aria, "aria_pagecache_read_requests"),
    ("mariadb-10.11", Engine::Rocksdb, "rocksdb_rows_read"),
];

/// Rows of the table, and point queries between two readings.
const ROWS: u64 = 40;

fn of_status(name: &'static str) -> Counter {
    Counter::new(Source::Status, name)
}

fn grown(
    before: &BTreeMap<Counter, u64>,
    after: &BTreeMap<Counter, u64>,
    name: &'static str,
) -> u64 {
    let counter = of_status(name);
    after[&counter] - before[&counter]
}

/// Makes a table and returns the counters before and after one point query for each of its rows.
fn look_around(server: &Running, engine: Engine) -> [BTreeMap<Counter, u64>; 2] {
    let mut load = Connection::connect(&server.address(), &server.load_login(), LIMIT).unwrap();
    load.query(format!(
        "CREATE TABLE t (id INT PRIMARY KEY, k INT) ENGINE = {engine}"
    ))
    .unwrap();
    for id in 0..ROWS {
        load.query(format!("INSERT INTO t VALUES ({id}, {id})"))
            .unwrap();
    }
    let mut admin =
        Connection::connect(&server.admin_address(), &server.admin_login(), LIMIT).unwrap();
    let before = status(&mut admin).unwrap();
    for id in 0..ROWS {
        load.query(format!("SELECT k FROM t WHERE id = {id}"))
            .unwrap();
    }
    [before, status(&mut admin).unwrap()]
}

#[test]
fn point_queries_move_the_counters_that_explain_them() {
    if !live() {
        return;
    }
    let stage = Stage::new();
    for (id, engine, moves) in BUILDS {
        let instance = stage.bootstrapped(id, engine);
        let server = instance
            .start_with(Birth::default(), &StopFlag::default())
            .unwrap();
        let [before, after] = look_around(&server, engine);
        let context = format!("{id} with {engine}");
        assert!(before.len() > 100, "{context}: {}", before.len());
        assert!(
            grown(&before, &after, "handler_read_key") >= ROWS,
            "{context}"
        );
        assert!(grown(&before, &after, moves) >= ROWS, "{context}");
        assert!(of_status(moves).explains().is_some(), "{moves}");
        // What ran backwards is no count.
        for (counter, value) in &after {
            let shrank = before.get(counter).is_some_and(|before| before > value);
            assert!(!shrank || counter.is_level(), "{context}: {counter} shrank");
        }
        server.stop(LIMIT).unwrap();
    }
}
