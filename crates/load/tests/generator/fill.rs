//! Filling datasets.

use std::collections::BTreeMap;

use prony_load::{FillTask, LoadError, Message, Task, dataset_checksums};
use prony_model::{Dataset, Engine};

use crate::run;
use crate::testkit::{Delivery, FakeServer, Reply, Request};

const DATASET: Dataset = Dataset::sbtest(2, 7_001, 3);

fn task(engine: Engine, connections: u32) -> Task {
    Task::Fill(FillTask {
        dataset: DATASET,
        engine,
        connections,
        own_server: true,
    })
}

/// What a server answers that does everything right.
fn answer(request: &Request) -> Reply {
    if request.sql.starts_with("SHOW TABLE STATUS") {
        return Reply::Text(vec![("Name", "t".into()), ("Engine", "InnoDB".into())]);
    }
    match request.sql.strip_prefix("SELECT") {
        Some(select) => {
            let table = u32::from(select.ends_with('2'));
            let sums = dataset_checksums(&DATASET, table);
            Reply::Text(sums.sums().map(|sum| ("sum", sum.to_string())).collect())
        }
        None => Reply::Ok(0),
    }
}

/// The rows inserted into each table, by id, as SQL.
fn inserted(server: &FakeServer) -> BTreeMap<String, BTreeMap<u64, String>> {
    let mut tables: BTreeMap<String, BTreeMap<u64, String>> = BTreeMap::new();
    for sql in server.record().into_values().flatten() {
        let Some(insert) = sql.strip_prefix("INSERT INTO ") else {
            continue;
        };
        let (table, values) = insert.split_once(" (id, k, c, pad) VALUES ").unwrap();
        for row in values.trim_matches(['(', ')']).split("),(") {
            let id = row.split(',').next().unwrap().parse().unwrap();
            let earlier = tables
                .entry(table.to_owned())
                .or_default()
                .insert(id, row.to_owned());
            assert_eq!(earlier, None, "row {id} twice");
        }
    }
    tables
}

#[test]
fn every_row_once_whatever_the_connections() {
    let fill = |connections| {
        let server = FakeServer::start(Delivery::Whole, answer);
        let messages = run(&server, task(Engine::Innodb, connections)).unwrap();
        let Some(Message::Filled { outcome }) = messages.last() else {
            panic!("expected the outcome");
        };
        assert_eq!(outcome.rows, 14_002);
        inserted(&server)
    };
    let base = fill(1);
    assert_eq!(base.keys().collect::<Vec<_>>(), ["sbtest1", "sbtest2"]);
    for rows in base.values() {
        assert!(rows.keys().copied().eq(1..=DATASET.rows));
    }
    assert_ne!(base["sbtest1"], base["sbtest2"]);
    assert_eq!(fill(3), base);
}

#[test]
fn statements_in_order() {
    let server = FakeServer::start(Delivery::Whole, answer);
    let messages = run(&server, task(Engine::Memory, 1)).unwrap_err();
    // The fake server made the table in InnoDB.
    assert!(matches!(
        messages,
        LoadError::OtherEngine {
            wanted: "MEMORY",
            ..
        }
    ));
    let asked = &server.record()[&0];
    assert_eq!(asked[0], "SET SESSION max_heap_table_size = 14338048");
    assert_eq!(asked[1], "DROP TABLE IF EXISTS sbtest1");
    assert_eq!(
        asked[2],
        "CREATE TABLE sbtest1 (id INTEGER NOT NULL AUTO_INCREMENT, k INTEGER NOT NULL DEFAULT 0, \
         c CHAR(120) NOT NULL DEFAULT '', pad CHAR(60) NOT NULL DEFAULT '', PRIMARY KEY USING BTREE (id)) \
         ENGINE=MEMORY"
    );
    let server = FakeServer::start(Delivery::Whole, answer);
    run(&server, task(Engine::Innodb, 1)).unwrap();
    let asked = &server.record()[&0];
    let words = asked.iter().map(|sql| sql.split(' ').next().unwrap());
    let table = [
        "DROP", "CREATE", "SHOW", "INSERT", "INSERT", "INSERT", "CREATE", "SELECT",
    ];
    assert!(words.eq([table, table].concat()));
    assert_eq!(asked[6], "CREATE INDEX k_1 ON sbtest1 (k)");
}

#[test]
fn wrong_rows_are_found() {
    let server = FakeServer::start(Delivery::Whole, |request| {
        if request.sql.starts_with("SELECT") {
            let sums = ["7001", "1", "1", "1", "1"];
            return Reply::Text(sums.iter().map(|v| ("sum", (*v).into())).collect());
        }
        answer(request)
    });
    let error = run(&server, task(Engine::Innodb, 2))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("SUM(id)") && error.contains("24510501"),
        "{error}"
    );
}

#[test]
fn a_failing_insert_ends_the_fill() {
    for connections in [1, 3] {
        let server = FakeServer::start(Delivery::Whole, |request| {
            if request.sql.contains("VALUES (2501,") {
                return Reply::Err(1114);
            }
            answer(request)
        });
        let error = run(&server, task(Engine::Innodb, connections))
            .unwrap_err()
            .to_string();
        for word in ["2501", "5000", "sbtest1", "1114"] {
            assert!(error.contains(word), "{error}");
        }
    }
}
