use std::collections::BTreeMap;

use prony_model::{Baseline, IntentValue, OptionOrigin, RenderedOption};

use super::*;
use crate::{DifferenceKind, UnequalTargets};

/// `SHOW ALL` of servers under the common baseline, without paths.
const BUILDS: [(&str, &str); 4] = [
    (
        "postgresql-9.5.3",
        include_str!("../../tests/data/postgresql-9.5.3.tsv"),
    ),
    (
        "postgresql-10.23",
        include_str!("../../tests/data/postgresql-10.23.tsv"),
    ),
    (
        "postgresql-13.23",
        include_str!("../../tests/data/postgresql-13.23.tsv"),
    ),
    (
        "postgresql-18.6",
        include_str!("../../tests/data/postgresql-18.6.tsv"),
    ),
];
const MYSQL: &str = include_str!("../../tests/data/mysql-8.0.31.tsv");

/// A subject that owns what it is made of.
struct Server {
    name: &'static str,
    engine: Engine,
    intents: BTreeMap<String, IntentValue>,
    options: Vec<RenderedOption>,
    variables: BTreeMap<String, String>,
}

fn server(name: &'static str, engine: Engine, text: &str) -> Server {
    let pairs = text.lines().filter_map(|line| line.split_once('\t'));
    let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
    Server {
        name,
        engine,
        intents: BTreeMap::new(),
        options: Vec::new(),
        variables: pairs.collect(),
    }
}

fn postgresql() -> Vec<Server> {
    let builds = BUILDS.iter();
    let builds = builds.map(|(name, text)| server(name, Engine::Heap, text));
    builds.collect()
}

fn subjects(servers: &[Server]) -> Vec<Subject<'_>> {
    let subjects = servers.iter().map(|server| Subject {
        name: server.name,
        engine: server.engine,
        external: false,
        baseline: Baseline::Common,
        intents: &server.intents,
        options: &server.options,
        variables: &server.variables,
    });
    subjects.collect()
}

#[test]
fn the_embedded_tables_are_fine() {
    let tables = VariableTable::embedded().unwrap();
    for table in [&tables.mysql, &tables.postgresql] {
        assert!(table.rows.len() > 10);
        for row in &table.rows {
            for factor in row.factors() {
                assert!(!table.ignores(factor), "{factor} matters and is ignored");
            }
        }
    }
}

/// A variable without a row would be compared, and shown as one that nobody knows anything about.
#[test]
fn every_variable_of_postgresql_is_known() {
    let tables = VariableTable::embedded().unwrap();
    let table = &tables.postgresql;
    let mut unknown = BTreeSet::new();
    for server in postgresql() {
        let names = server.variables.keys().map(|name| canonical(name));
        unknown.extend(names.filter(|name| table.row(name).is_none() && !table.ignores(name)));
    }
    assert_eq!(unknown, BTreeSet::new());
}

#[test]
fn the_baseline_makes_versions_of_postgresql_equal() {
    let servers = postgresql();
    let subjects = subjects(&servers);
    let table = VariableTable::embedded().unwrap();
    let differences = table.compare(&subjects, &[]);
    assert_eq!(UnequalTargets::of(&subjects, &differences), None);
    // What is left are plans and caches that older versions do not have.
    let kind = |name: &str| {
        differences
            .iter()
            .find(|d| d.variable == name)
            .map(|d| d.kind)
    };
    assert_eq!(kind("enable_memoize"), Some(DifferenceKind::OnlyInSome));
    for equal in [
        "jit",
        "max_wal_size",
        "io_method",
        "wal_level",
        "server_version",
    ] {
        assert_eq!(kind(equal), None, "{equal}");
    }
    let valued = |d: &&Difference| d.kind != DifferenceKind::OnlyInSome;
    let valued: Vec<&str> = differences
        .iter()
        .filter(valued)
        .map(|d| d.variable.as_str())
        .collect();
    assert_eq!(valued, ["extra_float_digits", "password_encryption"]);
}

#[test]
fn what_differs_stops_a_run_unless_it_is_allowed() {
    let table = VariableTable::embedded().unwrap();
    let mut servers = postgresql();
    for (server, flag) in servers.iter_mut().zip(["-O0", "-O2", "-Os", "-Os"]) {
        let compiled = ("prony.compiled".to_owned(), flag.to_owned());
        server.variables.extend([compiled]);
    }
    servers[3]
        .variables
        .insert("work_mem".into(), "64MB".into());
    let option = RenderedOption::new("work_mem=65536kB", OptionOrigin::Raw, None, "");
    servers[3].options.push(option);
    let subjects = subjects(&servers);
    let stops = |allow: &[&str]| {
        let allow: Vec<String> = allow.iter().map(|&name| name.to_owned()).collect();
        assert_eq!(table.unknown_allowed(&subjects, &allow), [""; 0]);
        let differences = table.compare(&subjects, &allow);
        let stopping = differences.into_iter().filter(Difference::stops);
        stopping.map(|d| (d.variable, d.kind)).collect::<Vec<_>>()
    };
    let work_mem = ("work_mem".to_owned(), DifferenceKind::RawOption);
    let compiled = ("prony.compiled".to_owned(), DifferenceKind::DefaultChanged);
    assert_eq!(stops(&[]), [work_mem.clone(), compiled]);
    assert_eq!(stops(&["prony.compiled"]), [work_mem]);
    assert_eq!(stops(&["prony.compiled", "work_mem"]), []);
}

#[test]
fn families_are_compared_each_for_itself() {
    let table = VariableTable::embedded().unwrap();
    let mut servers = postgresql();
    servers.insert(1, server("mysql-8.0.31", Engine::Innodb, MYSQL));
    let subjects = subjects(&servers);
    let differences = table.compare(&subjects, &[]);
    assert_eq!(UnequalTargets::of(&subjects, &differences), None);
    let alone: Vec<Subject<'_>> = [0, 2, 3, 4].map(|index| subjects[index]).into();
    let expected = table.compare(&alone, &[]);
    assert_eq!(differences.len(), expected.len());
    for (difference, expected) in differences.iter().zip(&expected) {
        assert_eq!(difference.variable, expected.variable);
        assert_eq!(difference.values[1], None);
        assert_eq!(difference.values[2..], expected.values[1..]);
        let of_mysql = |(_, subjects): (Option<&str>, Vec<usize>)| subjects.contains(&1);
        assert!(!difference.by_value().into_iter().any(of_mysql));
        assert_eq!(
            difference.is_missing_somewhere(),
            expected.is_missing_somewhere()
        );
    }
    assert_eq!(
        table.unknown_allowed(
            &subjects,
            &["wal_level".into(), "Sort-Buffer-Size".into(), "x".into()]
        ),
        ["x"]
    );
}

#[test]
fn settings_are_of_one_family() {
    let table = VariableTable::embedded().unwrap();
    let mut servers = postgresql();
    servers.truncate(1);
    servers.push(server("mysql-8.0.31", Engine::Innodb, MYSQL));
    let told = [
        "shared_buffers=131072kB",
        "innodb_buffer_pool_size=134217728",
    ];
    for (server, option) in servers.iter_mut().zip(told) {
        let intent = Some("buffer_pool");
        let option = RenderedOption::new(option, OptionOrigin::Baseline, intent, "");
        server.options.push(option);
    }
    let settings = table.settings(&subjects(&servers));
    let shown: Vec<_> = settings
        .iter()
        .map(|setting| {
            let got = setting.cells.iter().map(|cell| cell.got.as_deref());
            (
                setting.variable.as_deref(),
                got.collect::<Vec<_>>(),
                setting.differs,
            )
        })
        .collect();
    let expected = [
        (
            Some("innodb_buffer_pool_size"),
            vec![None, Some("134217728")],
            false,
        ),
        (Some("shared_buffers"), vec![Some("128MB"), None], false),
    ];
    assert_eq!(shown, expected);
}
