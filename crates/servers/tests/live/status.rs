//! Facts that servers of all kinds tell of themselves.

use std::collections::BTreeMap;

use prony_client::{Connection, Login};
use prony_model::{Counter, Dataset, Engine, Source, StopFlag};
use prony_servers::admin::{self, Explainer, StatusReader};
use prony_servers::{Birth, Running};

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
    let admin = Connection::connect(&server.admin_address(), &server.admin_login(), LIMIT).unwrap();
    let mut admin = StatusReader::open(admin, false).unwrap();
    let before = admin.read().unwrap();
    for id in 0..ROWS {
        load.query(format!("SELECT k FROM t WHERE id = {id}"))
            .unwrap();
    }
    [before, admin.read().unwrap()]
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

/// One build for every way of versions to answer `EXPLAIN`.
const EXPLAINING: [(&str, bool); 3] = [
    ("mysql-5.0.21", false),
    ("mysql-9.7", true),
    ("mariadb-10.11", true),
];

#[test]
fn administrators_read_facts_plans_and_tables() {
    if !live() {
        return;
    }
    let stage = Stage::new();
    for (id, explains_changes) in EXPLAINING {
        let server = stage.bootstrapped(id, Engine::Innodb);
        let server = server.start(&StopFlag::default()).unwrap();
        let admin = |database: Option<&str>| {
            let login = Login {
                database: database.map(str::to_owned),
                ..server.admin_login()
            };
            Connection::connect(&server.admin_address(), &login, LIMIT).unwrap()
        };
        let mut without_database = admin(None);
        let version = admin::version(&mut without_database).unwrap();
        assert!(server.build().answers_with(&version), "{version}");
        let variables = admin::variables(&mut without_database).unwrap();
        assert!(variables.len() > 100, "{id}: {}", variables.len());
        for _ in 0..2 {
            admin::create_database(&mut without_database, "own").unwrap();
        }

        let mut connection = admin(Some("own"));
        let dataset = Dataset::sbtest(1, 1, 1);
        let secondary = dataset.secondary_indexes(0).next().unwrap();
        connection
            .query(format!(
                "CREATE TABLE {} (id INT PRIMARY KEY, k INT, pad CHAR(60), KEY {} (k))",
                dataset.table_name(0),
                secondary.name
            ))
            .unwrap();
        admin::warm(&mut connection, &dataset).unwrap();
        admin::check_table(&mut connection, &dataset, 0).unwrap();
        let missing = admin::check_table(&mut connection, &dataset, 1).unwrap_err();
        assert!(
            missing
                .to_string()
                .contains("(in `SELECT id FROM sbtest2 LIMIT 1`)"),
            "{missing}"
        );

        let mut explainer = Explainer::new(connection, &variables).unwrap();
        let plan = explainer
            .explain("SELECT k FROM sbtest1 WHERE k = 1")
            .unwrap();
        let plan = plan.unwrap();
        assert!(
            plan.columns.contains(&"key".to_owned()),
            "{id}: {:?}",
            plan.columns
        );
        let change = explainer
            .explain("UPDATE sbtest1 SET k = 2 WHERE id = 1")
            .unwrap();
        assert_eq!(change.is_some(), explains_changes, "{id}");
        assert_eq!(
            explainer.explain("INSERT INTO sbtest1 VALUES (1)").unwrap(),
            None
        );
        assert!(explainer.explain("SELECT nothing FROM sbtest1").is_err());
        server.stop(LIMIT).unwrap();
    }
}
