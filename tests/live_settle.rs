//! Real servers with work put off: it is seen, settled, and what is then left is read back in ways
//! of the test's own. Images made of them are listed, kept while they are used, and refused when
//! they were changed.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "this is test code, outside of functions marked as tests"
)]

mod support;

use std::fs;
use std::time::{Duration, Instant};

use prony_client::{ClientError, Connection, Login};
use prony_host::{Launcher, Roots};
use prony_model::{
    Config, Dataset, Debt, DebtKind, Engine, IntentValue, Settle, SettleOutcome, StopFlag,
};
use prony_servers::admin::{SettleError, Whose, debt, settle};
use prony_servers::{
    Catalogue, Depot, ImageError, ImageRecord, Images, Instance, Removal, Rendered, Running,
    ServerBuild, Wanted,
};
use support::{PRONY, live};

const DATASET: Dataset = Dataset::sbtest(2, 32_768, 1);
const LIMIT: Duration = Duration::from_mins(2);
const ENOUGH: Settle = Settle {
    idle_ms: 0,
    limit_ms: 120_000,
};

/// A server with tables and work that it has put off.
struct Busy {
    server: Running,
    engine: Engine,
}

#[test]
fn innodb_of_mysql_5_0() {
    innodb("mysql-5.0.21");
}

#[test]
fn innodb_of_mysql_5_6() {
    innodb("mysql-5.6.24");
}

#[test]
fn innodb_of_mysql_8_0() {
    innodb("mysql-8.0.31");
}

#[test]
fn innodb_of_mysql_9_7() {
    innodb("mysql-9.7");
}

#[test]
fn innodb_of_mariadb_10_11() {
    innodb("mariadb-10.11");
}

/// Settles InnoDB with the binary log on; the server's own figures are looked at afterwards.
fn innodb(build: &str) {
    if !live() {
        return;
    }
    let mut config = Config::default();
    config
        .intents
        .insert("binlog".to_owned(), IntentValue::Flag(true));
    let busy = Busy::start(build, Engine::Innodb, &config);
    busy.put_off(&[DebtKind::DirtyBytes, DebtKind::CheckpointAge], 4 << 20);

    // A limit that nothing can be done in is said, with values, and ends nothing.
    let hasty = Settle {
        idle_ms: 0,
        limit_ms: 1,
    };
    // Somebody else's server would keep its binary log.
    let logged = busy.binlog_size();
    assert!(logged > 1000, "{build}: the binary log has {logged} bytes");
    let other = busy.settle_as(Whose::Other, hasty).unwrap();
    assert_ne!(other.unmet, [""; 0], "{build}");
    assert!(busy.binlog_size() >= logged, "{build}");
    busy.put_off(&[DebtKind::DirtyBytes], 4 << 20);
    let outcome = busy.settle(hasty).unwrap();
    assert_ne!(outcome.unmet, [""; 0], "{build}");
    assert_eq!(busy.number("VARIABLES", "innodb_max_dirty_pages_pct"), 90);

    let outcome = busy.settle(ENOUGH).unwrap();
    assert_eq!(outcome.unmet, [""; 0], "{build}");
    assert!(busy.number("STATUS", "Innodb_buffer_pool_pages_dirty") <= 16);
    assert!(busy.debt_of(DebtKind::CheckpointAge) <= 1 << 20);
    // Everything is as it was.
    assert_eq!(busy.number("VARIABLES", "innodb_max_dirty_pages_pct"), 90);
    assert_eq!(busy.rows("SHOW BINARY LOGS").len(), 1, "{build}");
    let size = busy.binlog_size();
    assert!(size < 1000, "{build}: the binary log has {size} bytes");
    let count = format!("SELECT COUNT(*) FROM {}", DATASET.table_name(0));
    assert_eq!(busy.rows(&count)[0][0], DATASET.rows.to_string());
}

#[test]
fn myrocks() {
    if !live() {
        return;
    }
    for build in ["mariadb-10.5", "mariadb-10.11", "mariadb-11.8"] {
        let busy = Busy::start(build, Engine::Rocksdb, &Config::default());
        assert!(busy.debt_of(DebtKind::Memtable) > 64 << 10);
        let outcome = busy.settle(ENOUGH).unwrap();
        assert_eq!(outcome.unmet, [""; 0], "{build}");
        let levels: Vec<u32> = outcome.levels.iter().map(|level| level.level).collect();
        assert!(!levels.is_empty() && !levels.contains(&0), "{levels:?}");

        let entries = "SELECT SUM(VALUE) FROM information_schema.ROCKSDB_CFSTATS \
                       WHERE CF_NAME = 'default' AND STAT_TYPE IN \
                       ('NUM_ENTRIES_ACTIVE_MEM_TABLE', 'NUM_ENTRIES_IMM_MEM_TABLES', \
                        'COMPACTION_PENDING')";
        let sum: f64 = busy.rows(entries)[0][0].parse().unwrap();
        assert!(sum < 0.5, "{build}: {sum}");
        let trigger = "SELECT VALUE FROM information_schema.ROCKSDB_CF_OPTIONS \
                       WHERE CF_NAME = 'default' \
                       AND OPTION_TYPE = 'LEVEL0_FILE_NUM_COMPACTION_TRIGGER'";
        assert_eq!(busy.rows(trigger)[0][0], "4", "{build}");
    }
}

#[test]
fn myisam_and_aria() {
    if !live() {
        return;
    }
    // By itself MyISAM writes every block at the end of its statement.
    let mut config = Config::default();
    config
        .raw
        .insert("delay_key_write".to_owned(), "ALL".to_owned());
    for (build, engine, blocks) in [
        ("mysql-5.0.21", Engine::Myisam, "Key_blocks_not_flushed"),
        ("mysql-9.7", Engine::Myisam, "Key_blocks_not_flushed"),
        (
            "mariadb-10.11",
            Engine::Aria,
            "Aria_pagecache_blocks_not_flushed",
        ),
    ] {
        let busy = Busy::start(build, engine, &config);
        assert!(busy.debt_of(DebtKind::DirtyKeyBlocks) > 64 << 10, "{build}");
        let outcome = busy.settle(ENOUGH).unwrap();
        assert_eq!(outcome.unmet, [""; 0], "{build}");
        assert_eq!(busy.number("STATUS", blocks), 0, "{build}");
    }
}

#[test]
fn heap_of_postgresql_9_5() {
    heap("postgresql-9.5.3");
}

#[test]
fn heap_of_postgresql_9_6() {
    heap("postgresql-9.6.24");
}

#[test]
fn heap_of_postgresql_12() {
    heap("postgresql-12.22");
}

#[test]
fn heap_of_postgresql_15() {
    heap("postgresql-15.19");
}

#[test]
fn heap_of_postgresql_18() {
    heap("postgresql-18.6");
}

/// Settles PostgreSQL; its dead rows, marks and pages are counted afterwards by other means.
fn heap(build: &str) {
    if !live() {
        return;
    }
    let busy = Busy::start(build, Engine::Heap, &Config::default());
    let mut before = busy.connect().unwrap();
    before.query("CREATE EXTENSION pgstattuple").unwrap();
    busy.put_off(&[DebtKind::DirtyBytes, DebtKind::CheckpointAge], 4 << 20);
    let hasty = Settle {
        idle_ms: 0,
        limit_ms: 1,
    };
    let outcome = busy.settle(hasty).unwrap();
    assert_ne!(outcome.unmet, [""; 0], "{build}");

    // A transaction that may still see the old rows keeps them.
    before
        .query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT COUNT(*) FROM sbtest1")
        .unwrap();
    busy.change_all();
    let dead = || {
        let tables = DATASET.table_names();
        let counts = tables.map(|table| {
            busy.rows(&format!(
                "SELECT dead_tuple_count FROM pgstattuple('{table}')"
            ))[0][0]
                .parse::<u64>()
                .unwrap()
        });
        counts.sum::<u64>()
    };
    let short = Settle {
        idle_ms: 0,
        limit_ms: 4_000,
    };
    let unmet = busy.settle(short).unwrap().unmet.join("\n");
    assert!(
        unmet.contains("dead rows: 65536 rows, at most 0"),
        "{unmet}"
    );
    assert_eq!(dead(), 65_536, "{build}");
    before.query("COMMIT").unwrap();
    drop(before);

    // Somebody else's server is not vacuumed, and is not waited for.
    let begin = Instant::now();
    let other = busy.settle_as(Whose::Other, ENOUGH).unwrap();
    assert!(begin.elapsed() < Duration::from_secs(10), "{build}");
    assert!(
        other.unmet.join("\n").contains("dead rows: 65536"),
        "{build}"
    );
    assert_eq!(dead(), 65_536, "{build}");

    busy.put_off(&[DebtKind::DirtyBytes], 1 << 20);
    let outcome = busy.settle(ENOUGH).unwrap();
    assert_eq!(outcome.unmet, [""; 0], "{build}");
    assert!(busy.debt_of(DebtKind::CheckpointAge) <= 64 << 10, "{build}");
    assert_eq!(busy.debt_of(DebtKind::RunningVacuums), 0, "{build}");
    for (sql, expected) in [
        (
            "SELECT COUNT(*), SUM(relpages - relallvisible), MAX(age(relfrozenxid)) < 10, \
             BOOL_AND(reltuples = 32768) FROM pg_class WHERE relname IN ('sbtest1', 'sbtest2')",
            ["2", "0", "t", "t"].as_slice(),
        ),
        (
            "SELECT COUNT(*) > 500, SUM(isdirty::int) FROM pg_buffercache AS buffer \
             JOIN pg_class ON pg_relation_filenode(oid) = buffer.relfilenode \
             WHERE reldatabase <> 0 AND relname IN ('sbtest1', 'k_1', 'sbtest1_pkey')",
            &["t", "0"],
        ),
    ] {
        assert_eq!(busy.rows(sql), [expected], "{build}: {sql}");
    }
    assert_eq!(dead(), 0, "{build}");
    // What a version lacks is found out without filling its log.
    assert!(!busy.server.log_tail(10_000).contains("ERROR"), "{build}");
}

#[test]
fn who_is_quiet_early_waits_and_can_be_stopped() {
    if !live() {
        return;
    }
    let busy = Busy::start("mariadb-10.11", Engine::Memory, &Config::default());
    let idle = Settle {
        idle_ms: 2_000,
        limit_ms: 60_000,
    };
    let begin = Instant::now();
    let outcome = busy.settle(idle).unwrap();
    assert!(begin.elapsed() >= Duration::from_secs(2));
    assert!(outcome.took_ms + outcome.waited_ms >= 1_990, "{outcome:?}");
    assert!(outcome.waited_ms > 0);

    let stop = StopFlag::default();
    stop.request();
    let control = || busy.connect();
    let long = Settle {
        idle_ms: 600_000,
        limit_ms: 600_000,
    };
    let stopped = settle(&control, Whose::Own, busy.engine, &DATASET, long, &stop);
    assert!(matches!(stopped, Err(SettleError::Stopped)));
    assert!(begin.elapsed() < LIMIT);
}

#[test]
fn two_trials_start_from_the_same_files() {
    if !live() {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let roots = Roots {
        cache: scratch.path().to_owned(),
    };
    let (build, rendered) = prepared("mysql-5.0.21", Engine::Myisam, &Config::default());
    let launcher = Launcher::new(PRONY.into()).unwrap();
    let stop = StopFlag::default();
    let mut instance = Instance::create(&roots, &launcher, &build, &rendered).unwrap();
    instance.bootstrap(&stop).unwrap();
    let stopped = instance.start(&stop).unwrap().stop(LIMIT).unwrap();
    let images = Images::new(&roots);
    let key = images.key(&build, &rendered, Engine::Myisam, &DATASET);
    let record = ImageRecord {
        engine: Engine::Myisam,
        dataset: DATASET,
        load: None,
        settle: None,
    };
    let image = images.publish(stopped, &key, record.clone()).unwrap();
    let listed = images.list().unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].made.as_ref().unwrap().record, record);
    assert_eq!(listed[0].bytes, image.bytes());

    let restored = || {
        let instance = Instance::create(&roots, &launcher, &build, &rendered).unwrap();
        images.restore(&image, &instance).map(|()| instance)
    };
    for _ in 0..2 {
        let server = restored().unwrap().start(&stop).unwrap();
        server.stop(LIMIT).unwrap();
    }
    assert_eq!(images.remove(&key).unwrap(), Removal::InUse);
    assert!(images.trim(0, &[]).unwrap().is_empty());

    let user = scratch
        .path()
        .join("images")
        .join(key.as_str())
        .join("data/mysql/user.MYD");
    let mut bytes = fs::read(&user).unwrap();
    bytes[0] ^= 1;
    fs::write(&user, bytes).unwrap();
    assert!(matches!(restored(), Err(ImageError::Changed { .. })));
    drop(image);
    assert_eq!(images.trim(0, &[]).unwrap().len(), 1);
    assert_eq!(images.remove(&key).unwrap(), Removal::Missing);
}

fn prepared(build: &str, engine: Engine, config: &Config) -> (ServerBuild, Rendered) {
    let roots = Roots::from_environment().unwrap();
    let catalogue = Catalogue::embedded().unwrap();
    let launcher = Launcher::new(PRONY.into()).unwrap();
    let depot = Depot::new(&roots, &catalogue, &launcher);
    let build = depot
        .fetch(build, &StopFlag::default(), &mut |_| ())
        .unwrap();
    let wanted = Wanted::over_socket(engine, config, 8);
    let rendered = catalogue.render(&build.facts, wanted).unwrap();
    (build, rendered)
}

impl Busy {
    /// Starts a server, makes the tables and changes every row.
    fn start(build: &str, engine: Engine, config: &Config) -> Self {
        let (build, rendered) = prepared(build, engine, config);
        let roots = Roots::from_environment().unwrap();
        let launcher = Launcher::new(PRONY.into()).unwrap();
        let stop = StopFlag::default();
        let mut instance = Instance::create(&roots, &launcher, &build, &rendered).unwrap();
        instance.bootstrap(&stop).unwrap();
        let server = instance.start(&stop).unwrap();
        let busy = Self { server, engine };
        let mut connection = busy.connect().unwrap();
        for index in 0..DATASET.tables {
            let secondary = DATASET.secondary_indexes(index).next().unwrap();
            let (table, k) = (DATASET.table_name(index), secondary.name);
            let create = match engine {
                Engine::Heap => format!(
                    "CREATE TABLE {table} (id SERIAL PRIMARY KEY, k INT NOT NULL, \
                     c CHAR(120) NOT NULL); CREATE INDEX {k} ON {table} (k)"
                ),
                _ => format!(
                    "CREATE TABLE {table} (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, \
                     k INT NOT NULL, c CHAR(120) NOT NULL, KEY {k} (k)) ENGINE={}",
                    engine.sql_name()
                ),
            };
            for statement in [
                create,
                format!("INSERT INTO {table} (k, c) VALUES (1, 'first')"),
            ] {
                connection.query(statement).unwrap();
            }
            for _ in 0..DATASET.rows.ilog2() {
                let double =
                    format!("INSERT INTO {table} (k, c) SELECT id * 7919 % 65536, c FROM {table}");
                connection.query(double).unwrap();
            }
        }
        busy.change_all();
        busy
    }

    fn change_all(&self) {
        let mut connection = self.connect().unwrap();
        for index in 0..DATASET.tables {
            let change = format!("UPDATE {} SET k = k + 1", DATASET.table_name(index));
            connection.query(change).unwrap();
        }
    }

    /// Changes rows until the server has put off more than `bytes` of each kind: on a busy machine it
    /// may have caught up by itself between a change and the look at it.
    fn put_off(&self, kinds: &[DebtKind], bytes: u64) {
        let tries = 10;
        for _ in 0..tries {
            let debts = self.debt();
            let enough = |kind| {
                debts
                    .iter()
                    .any(|debt| debt.kind == kind && debt.value > bytes)
            };
            if kinds.iter().all(|kind| enough(*kind)) {
                return;
            }
            self.change_all();
        }
        panic!(
            "after {tries} changes of all rows: {kinds:?} above {bytes} wanted, {:?} seen",
            self.debt()
        );
    }

    fn connect(&self) -> Result<Connection, ClientError> {
        let login = Login {
            database: Some("prony".to_owned()),
            ..self.server.admin_login()
        };
        Connection::connect(&self.server.admin_address(), &login, LIMIT)
    }

    fn settle(&self, how: Settle) -> Result<SettleOutcome, SettleError> {
        self.settle_as(Whose::Own, how)
    }

    fn settle_as(&self, whose: Whose, how: Settle) -> Result<SettleOutcome, SettleError> {
        let control = || self.connect();
        let stop = StopFlag::default();
        settle(&control, whose, self.engine, &DATASET, how, &stop)
    }

    /// Bytes of all files of the binary log.
    fn binlog_size(&self) -> u64 {
        let rows = self.rows("SHOW BINARY LOGS");
        rows.iter().map(|row| row[1].parse::<u64>().unwrap()).sum()
    }

    fn debt(&self) -> Vec<Debt> {
        debt(&mut self.connect().unwrap(), self.engine).unwrap()
    }

    fn debt_of(&self, kind: DebtKind) -> u64 {
        let debts = self.debt();
        let debt = debts.iter().find(|debt| debt.kind == kind);
        debt.unwrap_or_else(|| panic!("{kind:?} is not in {debts:?}"))
            .value
    }

    fn rows(&self, sql: &str) -> Vec<Vec<String>> {
        let answer = self.connect().unwrap().query(sql).unwrap();
        let rows = answer.rows.into_iter();
        rows.map(|row| row.into_iter().map(Option::unwrap_or_default).collect())
            .collect()
    }

    /// A number of `SHOW VARIABLES` or `SHOW STATUS`.
    fn number(&self, list: &str, name: &str) -> u64 {
        let rows = self.rows(&format!("SHOW {list} LIKE '{name}'"));
        let text = rows[0][1].split('.').next().unwrap();
        text.parse().unwrap()
    }
}
