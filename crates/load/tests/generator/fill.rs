//! Filling datasets.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read};

use prony_load::{Digest, FillTask, LoadError, Message, Task, dataset_checksums};
use prony_model::{Dataset, Engine, LoadMethod, LoadOutcome};

use crate::testkit::{Delivery, FakeServer, Reply, Request};
use crate::{job, run};

const UNKNOWN_VARIABLE: u16 = 1193;
const DATASET: Dataset = Dataset::sbtest(2, 7_001, 3);

fn task(engine: Engine, connections: u32) -> Task {
    Task::Fill(FillTask {
        dataset: DATASET,
        engine,
        connections,
        own_server: true,
        hold: false,
        flush_statistics: false,
    })
}

/// A load by inserts.
fn by_inserts(hold: bool) -> Task {
    Task::Fill(FillTask {
        dataset: Dataset {
            load: LoadMethod::Inserts,
            ..DATASET
        },
        engine: Engine::Innodb,
        connections: 3,
        own_server: true,
        hold,
        flush_statistics: false,
    })
}

/// What a server answers that does everything right and takes no `LOAD DATA LOCAL`.
fn answer(request: &Request) -> Reply {
    if request.sql.contains("@@") || request.sql.starts_with("SET SESSION innodb") {
        return Reply::Err(UNKNOWN_VARIABLE);
    }
    if request.sql.starts_with("SHOW TABLE STATUS") {
        return Reply::Text(vec![("Name", "t".into()), ("Engine", "InnoDB".into())]);
    }
    match request.sql.strip_prefix("SELECT") {
        Some(select) => {
            let table = u32::from(select.ends_with('2'));
            let sums = dataset_checksums(&DATASET, table, Digest::Crc32);
            Reply::Text(sums.sums().map(|sum| ("sum", sum.to_string())).collect())
        }
        None => Reply::Ok(0),
    }
}

/// The same of one whose InnoDB is current and which takes it.
fn answer_loading(request: &Request) -> Reply {
    match request.sql.as_str() {
        "SHOW VARIABLES LIKE 'local_infile'" => {
            Reply::Text(vec![("Variable_name", "l".into()), ("Value", "ON".into())])
        }
        "SELECT @@GLOBAL.innodb_strict_mode" => Reply::Text(vec![("v", "1".into())]),
        sql if sql.starts_with("LOAD DATA") => Reply::LoadRows,
        _ => answer(request),
    }
}

/// The rows of each table, by key, as `1,2,text,text`.
type Tables = BTreeMap<String, BTreeMap<u64, String>>;

fn add(tables: &mut Tables, table: &str, row: &str) {
    let key = row.split(',').next().unwrap().parse().unwrap();
    let rows = tables.entry(table.to_owned()).or_default();
    assert_eq!(rows.insert(key, row.to_owned()), None, "row {key} twice");
}

/// The rows that came as INSERT.
fn inserted(server: &FakeServer) -> Tables {
    let mut tables = Tables::new();
    for sql in server.record().into_values().flatten() {
        let Some(insert) = sql.strip_prefix("INSERT INTO ") else {
            continue;
        };
        let (table, values) = insert.split_once(" (id, k, c, pad) VALUES ").unwrap();
        for row in values.trim_matches(['(', ')']).split("),(") {
            add(&mut tables, table, &row.replace('\'', ""));
        }
    }
    tables
}

/// The rows that came as LOAD DATA.
fn loaded(server: &FakeServer) -> Tables {
    let mut tables = Tables::new();
    for asked in server.record().into_values() {
        for pair in asked.windows(2) {
            let Some(rest) = pair[0].strip_prefix("LOAD DATA LOCAL INFILE 'rows' INTO TABLE ")
            else {
                continue;
            };
            let table = rest.strip_suffix(" (id, k, c, pad)").unwrap();
            for line in pair[1].lines() {
                add(&mut tables, table, &line.replace('\t', ","));
            }
        }
    }
    tables
}

fn outcome(server: &FakeServer, task: Task) -> LoadOutcome {
    match run(server, task).unwrap().pop() {
        Some(Message::Filled { outcome }) => outcome,
        other => panic!("expected the outcome, got {other:?}"),
    }
}

#[test]
fn every_row_once_whatever_the_way() {
    let insert = |connections| {
        let server = FakeServer::start(Delivery::Whole, answer);
        let outcome = outcome(&server, task(Engine::Innodb, connections));
        assert_eq!(outcome.rows, 14_002);
        (outcome.method, inserted(&server))
    };
    let (method, base) = insert(1);
    assert_eq!(method, "INSERT, 1 connection");
    assert_eq!(base.keys().collect::<Vec<_>>(), ["sbtest1", "sbtest2"]);
    for rows in base.values() {
        assert!(rows.keys().copied().eq(1..=DATASET.rows));
    }
    assert_ne!(base["sbtest1"], base["sbtest2"]);
    for (connections, method) in [(2, "INSERT, 2 connections"), (3, "INSERT, 3 connections")] {
        assert_eq!(insert(connections), (method.to_owned(), base.clone()));
    }
    let server = FakeServer::start(Delivery::Whole, answer_loading);
    let outcome = outcome(&server, task(Engine::Innodb, 2));
    assert_eq!(outcome.method, "LOAD DATA, 2 connections");
    assert_eq!(loaded(&server), base);
}

#[test]
fn statements_in_order() {
    let server = FakeServer::start(Delivery::Whole, answer);
    let error = run(&server, task(Engine::Memory, 1)).unwrap_err();
    // The fake server made the table in InnoDB.
    assert!(matches!(
        error,
        LoadError::OtherEngine {
            wanted: "MEMORY",
            ..
        }
    ));
    let asked = &server.record()[&0];
    assert_eq!(asked[0], "SET SESSION max_heap_table_size = 14338048");
    let server = FakeServer::start(Delivery::Whole, answer);
    run(&server, task(Engine::Innodb, 1)).unwrap();
    let asked = &server.record()[&0];
    let begin = asked.iter().position(|sql| sql.starts_with("DROP"));
    let words: Vec<_> = asked[begin.unwrap()..]
        .iter()
        .map(|sql| sql.split([' ', '\n']).next().unwrap())
        .collect();
    let table = ["DROP", "CREATE", "SHOW"];
    let rows = ["INSERT"; 30];
    let rest = ["CREATE", "CREATE", "SELECT", "SELECT"];
    assert_eq!(words, [&table[..], &table, &rows, &rest].concat());
}

#[test]
fn somebody_elses_server_keeps_its_globals_and_its_log() {
    let fill = |own_server| {
        let server = FakeServer::start(Delivery::Whole, |request| match request.sql.as_str() {
            "SELECT @@GLOBAL.local_infile" => Reply::Text(vec![("v", "0".into())]),
            sql if sql.starts_with("SHOW STATUS") => Reply::Text(vec![("v", "ON".into())]),
            _ => answer(request),
        });
        let Task::Fill(mut task) = task(Engine::Innodb, 1) else {
            panic!("a fill")
        };
        task.own_server = own_server;
        let method = outcome(&server, Task::Fill(task)).method;
        let mut asked = server.record()[&0].clone();
        asked.retain(|sql| {
            ["SET GLOBAL", "SET SESSION sql", "ALTER"]
                .iter()
                .any(|word| sql.starts_with(word))
        });
        (method, asked)
    };
    let (method, asked) = fill(true);
    assert_eq!(method, "INSERT, 1 connection, no redo log");
    assert_eq!(
        asked,
        [
            "SET SESSION sql_log_bin = 0",
            "SET GLOBAL local_infile = 1",
            "ALTER INSTANCE DISABLE INNODB REDO_LOG",
            "SET GLOBAL local_infile = 0",
            "ALTER INSTANCE ENABLE INNODB REDO_LOG",
        ]
    );
    let (method, asked) = fill(false);
    assert_eq!(method, "INSERT, 1 connection");
    assert!(asked.is_empty(), "{asked:?}");
}

#[test]
fn inserts_are_those_of_any_client() {
    let server = FakeServer::start(Delivery::Whole, answer);
    run(&server, task(Engine::Innodb, 1)).unwrap();
    let base = inserted(&server);
    let server = FakeServer::start(Delivery::Whole, answer_loading);
    let outcome = outcome(&server, by_inserts(false));
    assert_eq!(outcome.method, "INSERT of 512 KiB, 1 connection");
    let record = server.record();
    assert_eq!(record.len(), 3, "three connections check");
    let mut tables = Tables::new();
    for sql in &record[&0] {
        assert!(sql.len() <= 512 << 10);
        let Some(insert) = sql.strip_prefix("INSERT INTO ") else {
            continue;
        };
        let (table, values) = insert.split_once(" (k, c, pad) VALUES ").unwrap();
        for row in values.trim_matches(['(', ')']).split("),(") {
            // As the server counts.
            let key = tables.get(table).map_or(1, |rows| rows.len() + 1);
            add(
                &mut tables,
                table,
                &format!("{key},{}", row.replace('\'', "")),
            );
        }
    }
    assert_eq!(tables, base);
    let words = |sql: &String| sql.split(' ').next().unwrap().to_owned();
    let words: Vec<String> = record[&0].iter().map(words).collect();
    let made = [
        "SET", "SET", "DROP", "CREATE", "SHOW", "DROP", "CREATE", "SHOW",
    ];
    let rows = ["INSERT"; 6];
    let expected = [&made[..], &rows, &["CREATE", "CREATE"]].concat();
    assert_eq!(words[..expected.len()], expected);
    assert!(words[expected.len()..].iter().all(|word| word == "SELECT"));
}

/// An input that always has a line, and keeps what a server had been asked when it was read.
struct Words<'a> {
    server: &'a FakeServer,
    asked: Vec<BTreeMap<usize, Vec<String>>>,
}

impl Read for Words<'_> {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Ok(0)
    }
}

impl BufRead for Words<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.asked.push(self.server.record());
        Ok(b"go\n")
    }

    fn consume(&mut self, _: usize) {}
}

#[test]
fn a_held_load_is_all_between_the_two_words() {
    let server = FakeServer::start(Delivery::Whole, answer);
    let mut words = Words {
        server: &server,
        asked: Vec::new(),
    };
    let mut out = Vec::new();
    prony_load::run(&job(&server, by_inserts(true)), &mut words, &mut out).unwrap();
    let [before, after] = &words.asked[..] else {
        panic!("two words");
    };
    let settings = |sql: &String| sql.starts_with("SET SESSION auto_increment");
    assert_eq!((before.len(), after.len()), (1, 1), "one connection loads");
    assert!(before[&0].iter().all(settings), "{before:?}");
    let last = after[&0].last().unwrap();
    assert!(last.starts_with("CREATE INDEX k_2 "), "{last}");
    let events: Vec<String> = String::from_utf8(out)
        .unwrap()
        .lines()
        .map(|line| line.split('"').nth(3).unwrap().to_owned())
        .filter(|event| event != "filling")
        .collect();
    assert_eq!(events, ["ready", "measure-end", "filled"]);
}

#[test]
fn wrong_rows_are_found() {
    let server = FakeServer::start(Delivery::Whole, |request| {
        if request.sql.starts_with("SELECT COUNT") {
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
    for connections in [1, 2] {
        let server = FakeServer::start(Delivery::Whole, |request| {
            if request
                .sql
                .contains("sbtest1 (id, k, c, pad) VALUES (2501,")
            {
                return Reply::Err(1114);
            }
            answer(request)
        });
        let error = run(&server, task(Engine::Innodb, connections))
            .unwrap_err()
            .to_string();
        for word in ["2501", "3000", "sbtest1", "1114"] {
            assert!(error.contains(word), "{error}");
        }
    }
}

#[test]
fn a_server_that_takes_no_more_lines_ends_the_fill() {
    let server = FakeServer::start(Delivery::Whole, |request| {
        if request.sql.starts_with("LOAD DATA") {
            return Reply::Err(1114);
        }
        answer_loading(request)
    });
    let error = run(&server, task(Engine::Innodb, 1))
        .unwrap_err()
        .to_string();
    for word in ["rows 1 to 7001", "sbtest1", "1114"] {
        assert!(error.contains(word), "{error}");
    }
}
