//! Tests over whole files: messages about wrong ones, plans of right ones.

mod canary;
mod collect;
mod counting;
mod diagnostics;
mod expansion;
mod external;
mod files;
mod fit_messages;
mod judging;
mod matrix;
mod messages;
mod optional;
mod paces;
mod placement;
mod profile;
mod profiling;
mod schemas;
mod sequence;
mod studies;
mod target_messages;
mod workload_messages;

use std::collections::BTreeMap;
use std::path::Path;

use prony_model::{
    Aspect, BuildFacts, Engine, Family, IntentFacts, IntentKind, IntentValue, Plan, Target,
    Workload,
};

use self::diagnostics::{assert_says, golden, rendered};
use crate::{Invalid, Knowledge, Preset, Refused, embedded_workloads, parse_experiment};

/// A small right experiment for tests to change.
const RIGHT: &str = r#"name = "small"
question = "Is it right?"
base = "mysql-5.0"
blocks = 3
aa = false
clients = [1, 4]

[dataset]
tables = 2
rows = 10_000

[defaults]
engine = "innodb"
config = { buffer_pool = "256M", binlog = false }

[[target]]
build = "mysql-5.0.21"

[[target]]
build = "mysql-5.7.22"

[sequence]
warmup = "500ms"
time = "3s"

[[step]]
workload = "point-query"

[[step]]
workload = "read-only"
parameters.range = 10
"#;

/// The usual reason for a virtual machine to have no counters.
const NO_COUNTERS: &str = "the processor has none for this machine";

/// Builds, intents, workloads and presets that tests check experiments against.
struct World {
    builds: Vec<BuildFacts>,
    intents: Vec<IntentFacts>,
    workloads: Vec<Workload>,
    presets: Vec<Preset>,
    hardware_counters: Result<(), &'static str>,
    stack_samples: Result<(), &'static str>,
    valgrind: bool,
}

impl World {
    fn new() -> Self {
        Self {
            builds: builds(),
            intents: intents(),
            workloads: embedded_workloads().unwrap(),
            presets: Vec::new(),
            hardware_counters: Err(NO_COUNTERS),
            stack_samples: Ok(()),
            valgrind: false,
        }
    }

    /// On a host with counters of the processor.
    fn with_counters() -> Self {
        Self {
            hardware_counters: Ok(()),
            ..Self::new()
        }
    }

    fn knowledge(&self) -> Knowledge<'_> {
        Knowledge {
            builds: &self.builds,
            intents: &self.intents,
            workloads: &self.workloads,
            presets: &self.presets,
            folder: Path::new("/experiments"),
            honours: &honours,
            digest: &digest,
            hardware_counters: self.hardware_counters,
            stack_samples: self.stack_samples,
            valgrind: self.valgrind,
        }
    }

    fn parse(&self, text: &str) -> Result<Plan, Invalid> {
        parse_experiment("small.toml", text, None, &self.knowledge())
    }

    fn parse_with(&self, profile: &str, text: &str) -> Result<Plan, Invalid> {
        parse_experiment("small.toml", text, Some(profile), &self.knowledge())
    }
}

/// As in the catalogue: MySQL 5.0 has no performance schema, and some options are not for
/// experiments.
fn honours(target: &Target, allow: &[String]) -> Result<(), Refused> {
    let build = &target.build.id;
    let wanted = target.config.intents.get("performance_schema");
    let allowed = allow.iter().any(|name| name == "performance_schema");
    if !allowed && build == "mysql-5.0.21" && wanted == Some(&IntentValue::Flag(true)) {
        return Err(Refused {
            setting: Aspect::Intent("performance_schema".to_owned()),
            beside: None,
            reason: format!("{build} can't honour performance_schema = on"),
            remedy: "it can be off".to_owned(),
        });
    }
    let pool = "innodb_buffer_pool_size";
    if target.config.raw.contains_key(pool) && target.config.intents.contains_key("buffer_pool") {
        return Err(Refused {
            setting: Aspect::Option(pool.to_owned()),
            beside: Some(Aspect::Intent("buffer_pool".to_owned())),
            reason: format!("the raw option `{pool}` sets what the intent `buffer_pool` sets"),
            remedy: "remove one of the two".to_owned(),
        });
    }
    match target.config.raw.get("datadir") {
        None => Ok(()),
        Some(_) => Err(Refused {
            setting: Aspect::Option("datadir".to_owned()),
            beside: None,
            reason: "the raw option `datadir` is set by Prony itself: leave it out".to_owned(),
            remedy: String::new(),
        }),
    }
}

/// Of a file that is not missing.
fn digest(file: &Path) -> Result<String, String> {
    let name = file.file_name().unwrap().to_str().unwrap();
    match name {
        "missing.so" => Err(format!("open {}: no such file", file.display())),
        _ => Ok(format!("digest-of-{name}")),
    }
}

fn builds() -> Vec<BuildFacts> {
    use Engine::{Aria, Innodb, Memory, Myisam, Rocksdb};
    let build = |id: &str, version: &str, engines: &[Engine]| BuildFacts {
        id: id.to_owned(),
        family: if id.starts_with("mariadb") {
            Family::Mariadb
        } else if id.starts_with("postgresql") {
            Family::Postgresql
        } else {
            Family::Mysql
        },
        version: version.parse().unwrap(),
        engines: engines.to_vec(),
        engine_options: BTreeMap::new(),
        lacks: Vec::new(),
        caution: None,
        compiled: None,
        no_valgrind: None,
    };
    vec![
        build("mysql-4.1.13", "4.1.13", &[Innodb, Myisam, Memory]),
        build("mysql-5.0.21", "5.0.21", &[Innodb, Myisam, Memory]),
        build("mysql-5.5.34", "5.5.34", &[Innodb, Myisam, Memory]),
        build("mysql-5.6.24", "5.6.24", &[Innodb, Myisam, Memory]),
        build("mysql-5.7.22", "5.7.22", &[Innodb, Myisam, Memory]),
        build("mysql-5.7.29", "5.7.29", &[Innodb, Myisam, Memory]),
        build("mysql-8.0.31", "8.0.31", &[Innodb, Myisam, Memory]),
        build("mysql-9.7", "9.7.0", &[Innodb, Myisam, Memory]),
        build("postgresql-18.6", "18.6.0", &[Engine::Heap]),
        build(
            "mariadb-10.1.23",
            "10.1.23",
            &[Innodb, Myisam, Memory, Aria],
        ),
        build(
            "mariadb-10.2.11",
            "10.2.11",
            &[Innodb, Myisam, Memory, Aria],
        ),
        build("mariadb-11.4.5", "11.4.5", &[Innodb, Myisam, Memory, Aria]),
        build(
            "mariadb-10.5",
            "10.5.0",
            &[Innodb, Myisam, Memory, Aria, Rocksdb],
        ),
        build(
            "mariadb-10.11",
            "10.11.0",
            &[Innodb, Myisam, Memory, Aria, Rocksdb],
        ),
        build(
            "mariadb-11.8",
            "11.8.0",
            &[Innodb, Myisam, Memory, Aria, Rocksdb],
        ),
    ]
}

fn intents() -> Vec<IntentFacts> {
    use IntentKind::{Bytes, Flag, Number, Text};
    let intent = |name: &str, kind, choices: &[&str]| IntentFacts {
        name: name.to_owned(),
        kind,
        choices: choices.iter().map(|&word| word.to_owned()).collect(),
        description: String::new(),
        baselines: Family::ALL.map(|family| (family, None)).into(),
        summary: Vec::new(),
    };
    vec![
        intent("buffer_pool", Bytes, &[]),
        intent("key_buffer", Bytes, &[]),
        intent("redo_log", Bytes, &[]),
        intent("flush_at_commit", Number, &[]),
        intent("doublewrite", Flag, &[]),
        intent("binlog", Flag, &[]),
        intent("charset", Text, &["latin1", "utf8mb3", "utf8mb4"]),
        intent("performance_schema", Flag, &[]),
        intent("query_cache", Flag, &[]),
        intent("adaptive_hash_index", Flag, &[]),
        intent("flush_method", Text, &["buffered", "direct"]),
        intent("innodb_thread_concurrency", Number, &[]),
        intent("tls", Flag, &[]),
        intent("huge_pages", Text, &["system", "never"]),
        intent("allocator", Text, &["built", "jemalloc", "tcmalloc"]),
    ]
}
