//! Rendered files against real servers: every build starts with its baseline, and one build of
//! each series with every intent at every kind of value that it can honour; then each variable has
//! the value that the file gave it.
use std::collections::BTreeMap;
use std::path::Path;

use prony_client::Connection;
use prony_equality::{Subject, VariableTable};
use prony_host::{Launcher, Roots};
use prony_model::{
    Baseline, BuildFacts, Config, Engine, Family, IntentKind, IntentValue, RenderedOption, StopFlag,
};
use prony_servers::{Catalogue, Depot, Instance, InstanceError, Rendered, Wanted};
use tempfile::TempDir;

use crate::{LIMIT, live};

/// The builds that are told every value, one for each series.
const SERIES: [&str; 28] = [
    "mysql-4.1.13",
    "mysql-5.0.21",
    "mysql-5.5.34",
    "mysql-5.6.24",
    "mysql-5.7.29",
    "mysql-8.0.31",
    "mysql-9.7",
    "mariadb-10.1.23",
    "mariadb-10.2.11",
    "mariadb-10.5",
    "mariadb-10.11",
    "mariadb-11.4.5",
    "mariadb-11.8",
    "postgresql-9.3.5",
    "postgresql-9.5.3",
    "postgresql-9.6.24",
    "postgresql-10.23",
    "postgresql-11.22",
    "postgresql-12.22",
    "postgresql-13.23",
    "postgresql-14.24",
    "postgresql-15.19",
    "postgresql-16.15",
    "postgresql-17.11",
    "postgresql-18.6",
    "postgresql-16.14-wheel",
    "postgresql-17.10-wheel",
    "postgresql-18.6-wheel",
];

/// Values for intents that take any number or word. The first are small, because servers write
/// their logs in full; the others are what users might ask for.
const VALUES: [(&str, &[&str]); 32] = [
    ("buffer_pool", &["64M", "200M", "1G"]),
    ("buffer_pool_instances", &["1", "2"]),
    ("key_buffer", &["8M", "100M"]),
    ("aria_page_cache", &["64M", "256M"]),
    ("memory_table_max", &["16M", "256M"]),
    ("collation", &["latin1_bin"]),
    ("eq_range_index_dive_limit", &["10", "200"]),
    ("table_cache", &["400", "1000"]),
    ("max_binlog_size", &["1M", "128M"]),
    ("rocksdb_memtables", &["2", "4"]),
    ("table_cache_instances", &["1", "2"]),
    ("sync_binlog", &["1", "1000"]),
    ("redo_log", &["16M", "128M", "1000M"]),
    ("io_capacity", &["200", "10000"]),
    ("io_threads", &["2", "8"]),
    ("read_ahead_threshold", &["0", "32"]),
    ("adaptive_hash_index_parts", &["1", "16"]),
    ("innodb_thread_concurrency", &["8", "64"]),
    ("purge_threads", &["1", "4"]),
    ("purge_batch", &["20", "100"]),
    ("spin_loops", &["0", "100"]),
    ("spin_delay", &["0", "12"]),
    ("rocksdb_block_cache", &["64M", "1G"]),
    ("rocksdb_memtable", &["16M", "256M"]),
    ("rocksdb_l0_files", &["2", "8"]),
    ("rocksdb_level_base", &["64M", "1G"]),
    ("rocksdb_level_multiplier", &["8", "20"]),
    ("rocksdb_file_size", &["16M", "256M"]),
    ("rocksdb_jobs", &["1", "4"]),
    ("flush_at_commit", &["0", "1", "2"]),
    ("parallel_query", &["0", "2"]),
    ("io_concurrency", &["0", "16"]),
];

/// Intents that other tests cover: they need certificates, or do not reach the server's options.
const ELSEWHERE: [&str; 3] = ["tls", "allocator", "huge_pages"];

/// Options that no variable shows as they were told.
const UNSEEN: [&str; 10] = [
    // Cut into as many pieces as the pool has parts.
    "innodb_buffer_pool_chunk_size",
    "plugin_load_add",
    "mysqlx",
    "skip_networking",
    "skip_ssl",
    "tls_version",
    "skip_log_bin",
    "binlog_row_event_max_size",
    "optimizer_switch",
    "initdb:__locale",
];

/// Variables that the baseline can't make equal, although all servers of the comparison have them.
const UNEQUAL: [&str; 1] = [
    // MySQL 5.5.9 was built without it.
    "innodb_use_native_aio",
];

/// Sets of values for each build.
const SETS: usize = 3;

#[test]
fn every_build_takes_its_baseline_and_is_then_equal_to_all_others() {
    equal_with_the_baseline(&[Engine::Innodb, Engine::Rocksdb]);
}

#[test]
fn every_build_of_postgresql_takes_its_baseline_and_is_then_equal_to_all_others() {
    equal_with_the_baseline(&[Engine::Heap]);
}

fn equal_with_the_baseline(engines: &[Engine]) {
    if !live() {
        return;
    }
    let servers = Servers::new();
    let table = VariableTable::embedded().unwrap();
    let mut wrong = Vec::new();
    for &engine in engines {
        let mut told = Vec::new();
        for entry in servers.catalogue.entries() {
            let facts = entry.facts();
            if facts.engines.contains(&engine) {
                match servers.told(&facts, engine, &Config::default()) {
                    Ok(one) => {
                        wrong.extend(one.differences());
                        told.push(one);
                    }
                    Err(error) => wrong.push(error),
                }
            }
        }
        let intents = BTreeMap::new();
        let subjects: Vec<_> = told
            .iter()
            .map(|one| Subject {
                name: &one.id,
                external: false,
                baseline: Baseline::Common,
                engine,
                intents: &intents,
                options: &one.rendered.options,
                variables: &one.variables,
            })
            .collect();
        let unequal = table.compare(&subjects, &[]);
        let unequal = unequal.iter().filter(|difference| difference.stops());
        let unequal = unequal.filter(|difference| !UNEQUAL.contains(&difference.variable.as_str()));
        wrong.extend(unequal.map(|difference| {
            let values = difference.values.iter().zip(&told);
            let values = values.map(|(value, one)| format!("\n  {} {value:?}", one.id));
            format!(
                "{engine} {}:{}",
                difference.variable,
                values.collect::<String>()
            )
        }));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn mysql_takes_every_value_that_it_can_honour() {
    every_value(Family::Mysql);
}

#[test]
fn mariadb_takes_every_value_that_it_can_honour() {
    every_value(Family::Mariadb);
}

#[test]
fn postgresql_takes_every_value_that_it_can_honour() {
    every_value(Family::Postgresql);
}

fn every_value(family: Family) {
    if !live() {
        return;
    }
    let servers = Servers::new();
    let mut wrong = Vec::new();
    let series = SERIES.map(|id| servers.catalogue.get(id).unwrap().facts());
    for facts in series.iter().filter(|facts| facts.family == family) {
        let has = |engine: &Engine| facts.engines.contains(engine);
        let engines = [Engine::Rocksdb, Engine::Innodb, Engine::Heap];
        let engine = engines.into_iter().find(has).unwrap();
        for set in 0..SETS {
            let config = config(&servers.catalogue, facts, engine, set);
            match servers.told(facts, engine, &config) {
                Ok(told) => wrong.extend(told.differences()),
                Err(error) => wrong.push(error),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every intent at the value of its own list that comes at this place; lists are gone through
/// again and again.
fn config(catalogue: &Catalogue, facts: &BuildFacts, engine: Engine, set: usize) -> Config {
    let mut config = Config::default();
    for intent in catalogue.intent_facts() {
        if ELSEWHERE.contains(&intent.name.as_str()) {
            continue;
        }
        let text = |text: &String| IntentValue::Text(text.clone());
        let candidates: Vec<IntentValue> = match intent.kind {
            IntentKind::Flag => vec![IntentValue::Flag(true), IntentValue::Flag(false)],
            _ if intent.choices.is_empty() => own_values(&intent.name, intent.kind),
            _ => intent.choices.iter().map(text).collect(),
        };
        let honoured = candidates.into_iter().filter(|value| {
            let mut alone = Config::default();
            alone.intents.insert(intent.name.clone(), value.clone());
            let wanted = Wanted::over_socket(engine, &alone, 4);
            catalogue.render(facts, wanted).is_ok()
        });
        let honoured: Vec<_> = honoured.collect();
        if !honoured.is_empty() {
            let value = honoured[set % honoured.len()].clone();
            config.intents.insert(intent.name, value);
        }
    }
    without_contradictions(&mut config);
    config
}

/// Leaves out what servers do not take together.
fn without_contradictions(config: &mut Config) {
    let is = |name: &str, value: IntentValue| config.intents.get(name) == Some(&value);
    let text = |text: &str| IntentValue::Text(text.to_owned());
    let latin1 = is("charset", text("latin1"));
    let large = is("buffer_pool", IntentValue::Bytes(1 << 30));
    let statements = is("binlog_format", text("statement"));
    if !latin1 {
        config.intents.remove("collation");
    }
    if !large {
        // A smaller pool has one part whatever is asked for.
        config.intents.remove("buffer_pool_instances");
    }
    if statements {
        config.intents.remove("isolation");
    }
}

/// The place that servers are fetched to and started in.
struct Servers {
    catalogue: Catalogue,
    launcher: Launcher,
    fetched: Roots,
    scratch: TempDir,
}

impl Servers {
    fn new() -> Self {
        let guard = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/fixtures/guard");
        Self {
            catalogue: Catalogue::embedded().unwrap(),
            launcher: Launcher::new(guard).unwrap(),
            fetched: Roots::from_environment().unwrap(),
            scratch: tempfile::tempdir().unwrap(),
        }
    }

    /// Starts a build and reads its variables.
    fn told(&self, facts: &BuildFacts, engine: Engine, config: &Config) -> Result<Told, String> {
        let wanted = Wanted::over_socket(engine, config, 4);
        let rendered = self.catalogue.render(facts, wanted).unwrap();
        match self.variables(&facts.id, &rendered) {
            Ok(variables) => Ok(Told {
                id: facts.id.clone(),
                rendered,
                variables,
            }),
            Err(error) => {
                let log = error.log_tail().unwrap_or_default();
                Err(format!("{error}\n{log}\n{}", rendered.text()))
            }
        }
    }

    /// The variables of a build that is started with `rendered`.
    fn variables(
        &self,
        id: &str,
        rendered: &Rendered,
    ) -> Result<BTreeMap<String, String>, InstanceError> {
        let stop = StopFlag::default();
        let roots = Roots {
            cache: self.scratch.path().to_owned(),
        };
        let depot = Depot::new(&self.fetched, &self.catalogue, &self.launcher);
        let build = depot.fetch(id, &stop, &mut |_| ()).unwrap();
        let mut instance = Instance::create(&roots, &self.launcher, &build, rendered)?;
        instance.bootstrap(&stop)?;
        let server = instance.start(&stop)?;
        let (address, login) = (server.address(), server.admin_login());
        let mut connection = Connection::connect(&address, &login, LIMIT).unwrap();
        let answer = connection.query(if connection.is_postgresql() {
            "SHOW ALL"
        } else {
            "SHOW GLOBAL VARIABLES"
        });
        let answer = answer.unwrap();
        drop(connection);
        server.stop(LIMIT).unwrap();
        let pair = |row: Vec<Option<String>>| {
            let mut row = row.into_iter().map(Option::unwrap_or_default);
            (
                row.next().unwrap_or_default().to_ascii_lowercase(),
                row.next().unwrap_or_default(),
            )
        };
        Ok(answer.rows.into_iter().map(pair).collect())
    }
}

fn own_values(name: &str, kind: IntentKind) -> Vec<IntentValue> {
    let values = VALUES.iter().find(|(intent, _)| *intent == name);
    let values = values.map_or(&[][..], |(_, values)| values);
    let value = |text: &&str| match kind {
        IntentKind::Text => IntentValue::Text((*text).to_owned()),
        IntentKind::Number => IntentValue::Number(text.parse().unwrap()),
        _ => IntentValue::parse_bytes(text).unwrap(),
    };
    values.iter().map(value).collect()
}

/// A server that was told something, and what it says that it is set to.
struct Told {
    id: String,
    rendered: Rendered,
    variables: BTreeMap<String, String>,
}

impl Told {
    /// The options that did not take effect.
    fn differences(&self) -> Vec<String> {
        let options = self.rendered.options.iter().filter_map(|option| {
            let name = option.name.to_ascii_lowercase().replace('-', "_");
            if name.starts_with("loose_") || UNSEEN.contains(&name.as_str()) {
                return None;
            }
            let told = told(option);
            match effective(&name, &self.variables) {
                Some(got) if same(&whole(&name, &told), &whole(&name, &plain(got))) => None,
                Some(got) => Some(format!("{}: {name}: told {told}, got {got}", self.id)),
                None => Some(format!("{}: {name}: no such variable", self.id)),
            }
        });
        options.collect()
    }
}

/// The value of the variable that shows an option.
fn effective<'a>(name: &str, variables: &'a BTreeMap<String, String>) -> Option<&'a str> {
    let names: &[&str] = match name {
        "transaction_isolation" => &["transaction_isolation", "tx_isolation"],
        "default_storage_engine" => &["default_storage_engine", "storage_engine", "table_type"],
        "initdb:__encoding" => &["server_encoding"],
        "initdb:__data_checksums" | "initdb:__no_data_checksums" => &["data_checksums"],
        name => &[name],
    };
    names
        .iter()
        .find_map(|name| variables.get(*name))
        .map(String::as_str)
}

fn told(option: &RenderedOption) -> String {
    match (option.name.as_str(), &option.value) {
        ("initdb:--no-data-checksums", _) => "0".to_owned(),
        // The name of a file turns it on.
        ("log-bin", _) | (_, None) => "1".to_owned(),
        (_, Some(value)) => plain(value),
    }
}

/// A value in one spelling: sizes in bytes, times in milliseconds.
fn plain(value: &str) -> String {
    if let Ok(number) = value.parse::<f64>() {
        return number.to_string();
    }
    let units = [
        ("kB", 1_024.0),
        ("MB", 1_048_576.0),
        ("GB", 1_073_741_824.0),
        ("ms", 1.0),
        ("s", 1_000.0),
        ("min", 60_000.0),
    ];
    let number = units.iter().find_map(|(unit, factor)| {
        let number: f64 = value.strip_suffix(unit)?.parse().ok()?;
        Some(number * factor)
    });
    if let Some(number) = number {
        return number.to_string();
    }
    match value.to_ascii_lowercase().as_str() {
        "on" | "true" | "yes" => "1".to_owned(),
        "off" | "false" | "no" => "0".to_owned(),
        other => other.to_owned(),
    }
}

/// The log of PostgreSQL is in files of 16M, and some versions count these.
fn whole(name: &str, value: &str) -> String {
    match (name, value.parse::<f64>()) {
        ("max_wal_size" | "min_wal_size", Ok(bytes)) => (bytes / 16_777_216.0).floor().to_string(),
        _ => value.to_owned(),
    }
}

/// Equal, or a size without an incomplete block: versions before 5.5 cut them.
fn same(told: &str, got: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok();
    match (number(told), number(got)) {
        (Some(told), Some(got)) => got <= told && got >= 0.95 * told,
        _ => told == got,
    }
}
