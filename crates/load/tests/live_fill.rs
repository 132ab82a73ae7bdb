//! Filling on real servers: every schema in every engine, by the way that suits the server. The
//! fill itself compares all rows with their definition.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "this is test code, outside of functions marked as tests"
)]

#[path = "../../../tests/live_gate.rs"]
mod live_gate;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use live_gate::live;
use prony_client::{Connection, Login};
use prony_host::{Launcher, Roots};
use prony_load::{FillTask, Job, Message, Task};
use prony_model::{
    Config, Dataset, Engine, Family, IntentValue, LoadMethod, LoadOutcome, Schema, StopFlag,
    TableIndex,
};
use prony_servers::{Catalogue, Depot, Instance, Running, Wanted};

const SBTEST: Dataset = Dataset::sbtest(1, 20_000, 1);
const DATASETS: [Dataset; 5] = [
    SBTEST,
    Dataset {
        tables: 3,
        ..SBTEST
    },
    Dataset {
        primary_key: false,
        ..SBTEST
    },
    Dataset {
        schema: Schema::SBTEST_04,
        ..SBTEST
    },
    Dataset {
        schema: Schema::FOO,
        ..SBTEST
    },
];
const CONNECTIONS: u32 = 2;
/// What a fill may change for its time.
const GLOBALS: [&str; 2] = ["local_infile", "innodb_flush_log_at_trx_commit"];

/// The example of the documentation, which has every kind of column.
fn own() -> Dataset {
    let page = include_str!("../../../docs/formats/schema.md");
    let (_, rest) = page.split_once("```toml\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    let workloads = prony_plan::parse_workloads("schema.md", example).unwrap();
    Dataset {
        schema: workloads[0].schema,
        ..SBTEST
    }
}

struct Filler {
    server: Running,
}

impl Filler {
    fn start(build: &str, engine: Engine) -> Self {
        let roots = Roots::from_environment().unwrap();
        let catalogue = Catalogue::embedded().unwrap();
        let guard = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/fixtures/guard");
        let launcher = Launcher::new(guard).unwrap();
        let stop = StopFlag::default();
        let depot = Depot::new(&roots, &catalogue, &launcher);
        let build = depot.fetch(build, &stop, &mut |_| ()).unwrap();
        let mut config = Config::default();
        // Fills in bulk leave it empty.
        let binlog = ("binlog".to_owned(), IntentValue::Flag(true));
        config.intents.extend([binlog]);
        let wanted = Wanted::over_socket(engine, &config, 8);
        let rendered = catalogue.render(&build.facts, wanted).unwrap();
        let mut instance = Instance::create(&roots, &launcher, &build, &rendered).unwrap();
        instance.bootstrap(&stop).unwrap();
        Self {
            server: instance.start(&stop).unwrap(),
        }
    }

    fn fill(&self, dataset: Dataset, engine: Engine) -> LoadOutcome {
        let login = self.server.admin_login();
        let job = Job {
            family: Family::Mysql,
            address: self.server.admin_address(),
            user: login.user,
            password: login.password,
            tls: login.tls,
            database: "prony".to_owned(),
            task: Task::Fill(FillTask {
                dataset,
                engine,
                connections: CONNECTIONS,
                own_server: true,
                hold: false,
                flush_statistics: false,
            }),
        };
        let mut out = Vec::new();
        prony_load::run(&job, &mut std::io::empty(), &mut out)
            .unwrap_or_else(|error| panic!("failed to {error}: {dataset:?} in {engine}"));
        let last = out.trim_ascii().split(|byte| *byte == b'\n').next_back();
        match serde_json::from_slice(last.unwrap()).unwrap() {
            Message::Filled { outcome } => outcome,
            other => panic!("expected the outcome, got {other:?}"),
        }
    }

    fn ask(&self, sql: &str) -> Vec<Vec<Option<String>>> {
        let login = Login {
            database: Some("prony".to_owned()),
            ..self.server.admin_login()
        };
        let address = self.server.admin_address();
        let mut connection = Connection::connect(&address, &login, Duration::from_mins(1)).unwrap();
        connection.query(sql).unwrap().rows
    }

    /// The values of the globals, by their names; those that the server has.
    fn globals(&self) -> Vec<Vec<Option<String>>> {
        let names = GLOBALS.join("', '");
        let mut rows = self.ask("SHOW GLOBAL VARIABLES");
        rows.retain(|row| row[0].as_ref().is_some_and(|name| names.contains(name)));
        rows
    }

    /// The secondary index has what the table has: bulk loading makes them apart.
    fn check_index(&self, dataset: &Dataset, table: u32) {
        let name = dataset.table_name(table);
        let key = &dataset.indexes(table)[0].name;
        for index in dataset.secondary_indexes(table) {
            let column = &index.columns[0].name;
            let lowest = if index.columns[0].kind.is_number() {
                "0"
            } else {
                "''"
            };
            let sums = |from: &str| {
                let sql = format!("SELECT COUNT(*), SUM(CRC32({column})) FROM {name} {from}");
                self.ask(&sql).remove(0)
            };
            let index = index.name;
            assert_eq!(
                sums(&format!("FORCE INDEX ({index}) WHERE {column} >= {lowest}")),
                sums(&format!("FORCE INDEX ({key})")),
                "{dataset:?}"
            );
        }
    }

    /// Bytes of the binary log.
    fn log_bytes(&self) -> u64 {
        let files = fs::read_dir(self.server.data_dir()).unwrap();
        let files = files.map(|file| file.unwrap().path());
        let is_log = |path: &PathBuf| path.file_stem().is_some_and(|name| name == "binlog");
        let logs = files.filter(is_log);
        logs.map(|path| fs::metadata(path).unwrap().len()).sum()
    }

    /// Fills by inserts; the binary log grows by all rows, and the server keeps its settings.
    fn fill_by_inserts(&self, dataset: Dataset, engine: Engine) {
        let before = (self.globals(), self.log_bytes());
        let dataset = Dataset {
            load: LoadMethod::Inserts,
            ..dataset
        };
        let outcome = self.fill(dataset, engine);
        assert_eq!(outcome.rows, dataset.rows_total());
        let is_indexed_after = !dataset.schema.index_first;
        assert!(outcome.rows_ns > 0);
        assert_eq!(outcome.index_ns > 0, is_indexed_after);
        assert_eq!(outcome.method, "INSERT of 512 KiB, 1 connection");
        // The values of a row are longer in statements and as long in row events, except its numbers.
        let texts: u64 = match dataset.schema.name() {
            "sbtest" => 119 + 59,
            "sbtest-0.4" => 50,
            "foo" => 3,
            _ => 10 + 9 + 11,
        };
        let grown = self.log_bytes() - before.1;
        assert!(
            grown > dataset.rows_total() * texts,
            "{grown} for {dataset:?} in {engine}"
        );
        assert_eq!(self.globals(), before.0, "{dataset:?} in {engine}");
        for table in 0..dataset.tables {
            self.check_index(&dataset, table);
        }
    }

    /// Names, columns and kinds of a table's indexes.
    fn indexes(&self, table: &str) -> Vec<[String; 3]> {
        let mut indexes: Vec<_> = self
            .ask(&format!("SHOW INDEX FROM {table}"))
            .into_iter()
            .map(|row| [2, 4, 10].map(|column| row[column].clone().unwrap()))
            .collect();
        indexes.sort();
        indexes
    }
}

/// Fills every schema in every engine of a build; `method` is how one table of sbtest goes into
/// the first.
fn fills(build: &str, engines: &[Engine], method: &str) {
    if !live() {
        return;
    }
    let filler = Filler::start(build, engines[0]);
    let before = filler.globals();
    for (place, engine) in engines.iter().enumerate() {
        for dataset in DATASETS.into_iter().chain([own()]) {
            let log_bytes = filler.log_bytes();
            let outcome = filler.fill(dataset, *engine);
            let logged = filler.log_bytes() - log_bytes;
            assert!(
                logged < dataset.rows,
                "{logged} for {dataset:?} in {engine}"
            );
            assert_eq!(outcome.rows, u64::from(dataset.tables) * dataset.rows);
            assert!(outcome.rows_ns > 0);
            if place == 0 && dataset == SBTEST {
                assert_eq!(outcome.method, method);
            }
            let ranges = *engine != Engine::Memory || dataset.schema != Schema::FOO;
            for table in 0..dataset.tables {
                let found = filler.indexes(&dataset.table_name(table));
                // The index on the key of MEMORY tables is a tree only where its keys can't repeat.
                let kind = |name: &str| {
                    let hashed = *engine == Engine::Memory && name == Dataset::KEY_INDEX;
                    if ranges && !hashed { "BTREE" } else { "HASH" }
                };
                let of_index = |index: &TableIndex| {
                    let kind = kind(&index.name);
                    let columns = index.columns.iter();
                    let rows = columns
                        .map(|column| [index.name.as_str(), &column.name, kind].map(str::to_owned));
                    rows.collect::<Vec<_>>()
                };
                let mut expected: Vec<_> =
                    dataset.indexes(table).iter().flat_map(of_index).collect();
                expected.sort();
                // MyRocks calls its trees by another name in some versions.
                let shown = found.iter().map(|[name, column, _]| (name, column));
                assert!(shown.eq(expected.iter().map(|[name, column, _]| (name, column))));
                if *engine == Engine::Memory {
                    assert_eq!(found, expected);
                }
                filler.check_index(&dataset, table);
            }
            assert_eq!(filler.globals(), before, "{dataset:?} in {engine}");
            filler.fill_by_inserts(dataset, *engine);
        }
    }
    filler.server.stop(Duration::from_mins(1)).unwrap();
}

const ALL: [Engine; 3] = [Engine::Innodb, Engine::Myisam, Engine::Memory];

#[test]
fn mysql_4_1() {
    fills("mysql-4.1.13", &ALL, "LOAD DATA, 1 connection");
}

#[test]
fn mysql_5_0() {
    fills("mysql-5.0.21", &ALL, "LOAD DATA, 1 connection");
}

#[test]
fn mysql_5_5() {
    fills("mysql-5.5.34", &[Engine::Innodb], "INSERT, 2 connections");
}

#[test]
fn mysql_5_6() {
    fills("mysql-5.6.24", &ALL, "INSERT, 2 connections");
}

#[test]
fn mysql_5_7() {
    fills("mysql-5.7.22", &[Engine::Innodb], "INSERT, 2 connections");
}

#[test]
fn mysql_8_0() {
    fills("mysql-8.0.31", &ALL, "INSERT, 2 connections, no redo log");
}

#[test]
fn mysql_9_7() {
    fills("mysql-9.7", &ALL, "INSERT, 2 connections, no redo log");
}

#[test]
fn mariadb_10_11() {
    let engines = [Engine::Innodb, Engine::Myisam, Engine::Memory, Engine::Aria];
    fills("mariadb-10.11", &engines, "INSERT, 2 connections");
}

#[test]
fn myrocks() {
    for build in ["mariadb-10.5", "mariadb-11.8"] {
        fills(build, &[Engine::Rocksdb], "LOAD DATA in bulk, 1 connection");
    }
}
