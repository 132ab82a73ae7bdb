//! Every workload that comes with Prony, with every engine, on the major series: answers as they
//! should be, tables changed by what was done, and the same answers from everybody.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "this is test code, outside of functions marked as tests"
)]

mod support;

use std::fmt::Write as _;
use std::path::Path;

use prony_model::{Schema, Workload};
use prony_plan::embedded_workloads;
use support::{Finished, finish, live, prony, write};

/// One build of each series.
const SERIES: [&str; 13] = [
    "mysql-4.1.13",
    "mysql-5.0.21",
    "mysql-5.5.34",
    "mysql-5.6.24",
    "mysql-5.7.22",
    "mysql-8.0.31",
    "mysql-9.7",
    "mariadb-10.1.23",
    "mariadb-10.2.11",
    "mariadb-10.5",
    "mariadb-10.11",
    "mariadb-11.4.5",
    "mariadb-11.8",
];
/// Series that CI looks at: MySQL with three engines, MariaDB for MyRocks.
const MYSQL: [&str; 4] = ["mysql-5.0.21", "mysql-5.6.24", "mysql-8.0.31", "mysql-9.7"];
const MYROCKS: &str = "mariadb-10.11";
/// Series of PostgreSQL, old and new.
const POSTGRESQL: [&str; 5] = [
    "postgresql-9.5.3",
    "postgresql-9.6.24",
    "postgresql-12.22",
    "postgresql-15.19",
    "postgresql-18.6",
];
/// Setting of an experiment that compares families: their usual isolation differs.
const ACROSS_FAMILIES: &str = "allow = [\"transaction_isolation\"]\n";

/// An experiment with a step for every workload of a schema.
fn experiment(name: &str, base: &str, targets: &str, schema: Schema) -> String {
    let mut text = format!(
        "name = \"{name}\"\nbase = \"{base}\"\nblocks = 1\nclients = [3]\n\n\
         [dataset]\nschema = \"{}\"\ntables = 2\nrows = 3_000\n\n\
         [defaults]\nconfig = {{ buffer_pool = \"32M\" }}\n\n\
         [sequence]\ntime = \"1s\"\n\n{targets}",
        schema.name()
    );
    // What shrinks and grows the tables comes last, as in every study.
    let mut workloads: Vec<Workload> = embedded_workloads()
        .unwrap()
        .into_iter()
        .filter(|workload| workload.schema == schema)
        .collect();
    workloads.sort_by_key(|workload| match workload.name.as_str() {
        "delete" => 1,
        "insert" | "insert-text" => 2,
        _ => 0,
    });
    for workload in workloads {
        let _ = write!(text, "\n[[step]]\nworkload = \"{}\"\n", workload.name);
    }
    text
}

/// Runs the checks of an experiment; they must all be right.
#[track_caller]
fn verified(folder: &Path, experiment: &str) -> Finished {
    write(folder, "answers.toml", experiment);
    let finished = finish(prony(folder, &["run", "--verify", "answers.toml"])).exits(0);
    assert!(
        finished
            .stdout
            .contains("all correct, and the same from every target"),
        "no verdict"
    );
    assert!(!folder.join("runs").exists(), "a check stores no run");
    finished
}

fn target(build: &str, engine: &str, protocol: &str) -> String {
    format!(
        "[[target]]\nname = \"{build}-{engine}\"\nbuild = \"{build}\"\nengine = \"{engine}\"\n\
         protocol = \"{protocol}\"\n\n"
    )
}

#[test]
fn every_workload_is_answered_alike_by_every_engine_of_old_series() {
    every_workload_is_answered_alike(&MYSQL[..2], "");
}

#[test]
fn every_workload_is_answered_alike_by_every_engine_of_new_series() {
    // The base of the others, so that all are compared with the same.
    let more =
        target("mysql-5.0.21", "innodb", "prepared") + &target(MYROCKS, "rocksdb", "prepared");
    every_workload_is_answered_alike(&MYSQL[2..], &more);
}

/// The same of PostgreSQL, whose words are its own here and there: ddl-check has none.
#[test]
fn every_workload_is_answered_alike_by_postgresql() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut targets = target("mysql-8.0.31", "innodb", "prepared");
    for (index, build) in POSTGRESQL.into_iter().enumerate() {
        targets += &target(build, "heap", ["prepared", "text"][index % 2]);
    }
    let base = "mysql-8.0.31-innodb";
    let text = ACROSS_FAMILIES.to_owned() + &experiment("answers", base, &targets, Schema::SBTEST);
    write(folder.path(), "check.toml", &text);
    finish(prony(folder.path(), &["plan", "check.toml"]))
        .exits(3)
        .says(&[
            "`ddl-check` has no SQL for postgresql, the family of `postgresql-9.5.3-heap`",
            "leave it out",
        ]);
    let text = text.replace("\n[[step]]\nworkload = \"ddl-check\"\n", "");
    verified(folder.path(), &text);
}

/// Checks every workload with three engines of each build, and with `more` targets.
fn every_workload_is_answered_alike(builds: &[&str], more: &str) {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut targets = more.to_owned();
    for build in builds {
        for engine in ["innodb", "myisam", "memory"] {
            // Each protocol with each engine in one of the series at least.
            let text = (*build == "mysql-5.6.24") == (engine == "innodb");
            targets += &target(build, engine, if text { "text" } else { "prepared" });
        }
    }
    let count = targets.matches("[[target]]").count();
    let text = experiment("answers", "mysql-5.0.21-innodb", &targets, Schema::SBTEST);
    let finished = verified(folder.path(), &text);
    let workloads = embedded_workloads().unwrap();
    let sbtest = workloads.iter().filter(|w| w.schema == Schema::SBTEST);
    for workload in sbtest {
        let line = finished
            .stdout
            .lines()
            .find(|line| line.split_whitespace().next() == Some(workload.name.as_str()));
        let verdicts = line.unwrap().matches("ok").count();
        assert_eq!(verdicts, count, "{}", workload.name);
    }
}

#[test]
fn hot_rows_count_every_update() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut targets = String::new();
    for build in MYSQL {
        targets += &target(build, "memory", "text");
        targets += &target(build, "innodb", "prepared");
    }
    targets += &target("postgresql-18.6", "heap", "prepared");
    let text = experiment("hot", "mysql-5.0.21-memory", &targets, Schema::FOO);
    verified(folder.path(), &(ACROSS_FAMILIES.to_owned() + &text));
}

/// What the published studies measured and newer ones do not, in every series: rows of sysbench 0.4,
/// deletes that put their row back, inserts as text.
#[test]
fn work_of_published_studies_is_answered_alike_in_every_series() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let targets = SERIES.map(|build| target(build, "innodb", "prepared"));
    let mut text = experiment(
        "originals",
        "mysql-4.1.13-innodb",
        &targets.concat(),
        Schema::SBTEST_04,
    );
    text = text.replace(
        "buffer_pool =",
        "binlog = true, binlog_format = \"statement\", buffer_pool =",
    );
    text += "\n[[step]]\nworkload = \"delete-insert\"\n\n[[step]]\nworkload = \"insert-text\"\n";
    verified(folder.path(), &text);
}

/// Tables beyond sbtest's, one for each client.
#[test]
fn workloads_over_other_schemas_are_answered_alike() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let targets = [
        target("mysql-5.0.21", "innodb", "text"),
        target("mysql-9.7", "innodb", "text"),
        target(POSTGRESQL[0], "heap", "text"),
        target(POSTGRESQL[4], "heap", "prepared"),
    ];
    for (schema, tables, rows) in [
        ("purchases", 3, "3_000"),
        ("ycsb", 3, "1_000"),
        ("ycsb-counted", 3, "1_000"),
        ("family", 3, "3_000"),
        ("shop", 3, "3_000"),
        ("bank", 1, "100_000"),
        ("wholesale", 1, "1"),
    ] {
        let schema = Schema::built_in(schema).unwrap();
        let text = experiment("other", "mysql-9.7-innodb", &targets.concat(), schema).replace(
            "tables = 2\nrows = 3_000",
            &format!("tables = {tables}\nrows = {rows}"),
        );
        verified(folder.path(), &(ACROSS_FAMILIES.to_owned() + &text));
    }
}

#[test]
fn tables_without_a_primary_key_are_answered_alike() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let targets = [
        target("mysql-5.0.21", "myisam", "prepared"),
        target("mysql-5.0.21", "memory", "text"),
        target("mysql-8.0.31", "innodb", "prepared"),
        target(MYROCKS, "rocksdb", "prepared"),
    ]
    .concat();
    let text = experiment("nokey", "mysql-5.0.21-myisam", &targets, Schema::SBTEST)
        .replace("rows = 3_000", "rows = 3_000\nprimary_key = false");
    verified(folder.path(), &text);
}

/// A target whose rows are not what the others have is found out.
#[test]
fn wrong_answers_are_named() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let workloads = write(
        folder.path(),
        "wrong.toml",
        "[[workload]]\nname = \"liar\"\ngroup = \"point\"\neffect = \"none\"\n\
         description = \"Claims two rows, and answers with the version\"\n\n\
         [[workload.statement]]\nname = \"lie\"\n\
         sql = \"SELECT VERSION() FROM {table} WHERE id = {id}\"\n\
         params.id = { from = \"1..rows\" }\nexpect.rows = \"2\"\n",
    );
    let targets = [
        target("mysql-5.0.21", "innodb", "prepared"),
        target("mysql-8.0.31", "innodb", "prepared"),
    ]
    .concat();
    let experiment = format!(
        "name = \"liars\"\nbase = \"mysql-5.0.21-innodb\"\nblocks = 1\n\n\
         [dataset]\nrows = 1_000\n\n[sequence]\ntime = \"1s\"\n\n\
         {targets}[[step]]\nworkload = \"liar\"\n"
    );
    write(folder.path(), "liars.toml", &experiment);
    let arguments = [
        "run",
        "--verify",
        "liars.toml",
        "--workloads",
        workloads.to_str().unwrap(),
    ];
    let finished = finish(prony(folder.path(), &arguments)).exits(6);
    for words in [
        "have different answers to the statement `lie` after the same statements",
        "mysql-5.0.21-innodb, liar, 1 client: 12 of 12 answers to `lie` are unexpected",
        "mysql-8.0.31-innodb, liar, 1 client: 12 of 12 answers to `lie` are unexpected",
    ] {
        assert!(finished.stdout.contains(words), "{words}");
    }
}
