//! The presets and experiments that come with Prony.

use prony_model::{BuildFacts, Engine, Family, Group, IntentFacts, IntentKind, Length, Plan, Step};

use super::files::files;
use super::{World, rendered};
use crate::{Assumptions, Preset, embedded_presets, parse_experiment, predicted_ms};

/// The builds of PostgreSQL that experiments of the project name.
const POSTGRESQL: [&str; 16] = [
    "9.3.5",
    "9.6.24",
    "10.23",
    "11.22",
    "12.22",
    "13.23",
    "14.24",
    "15.19",
    "16.15",
    "17.11",
    "18.6",
    "13-deb",
    "15-deb",
    "16.14-wheel",
    "17.10-wheel",
    "18.6-wheel",
];

fn postgresql(mysql: &BuildFacts, id: &str) -> BuildFacts {
    let version = id.split('-').next().unwrap_or(id);
    let version = version.parse().or_else(|_| format!("{version}.0").parse());
    BuildFacts {
        id: format!("postgresql-{id}"),
        family: Family::Postgresql,
        version: version.unwrap(),
        engines: vec![Engine::Heap],
        ..mysql.clone()
    }
}

/// The world that experiments of the project are checked against: with the presets and all else that
/// the messages of other tests need not list.
fn world() -> World {
    let mut world = World {
        presets: embedded_presets().unwrap(),
        ..World::new()
    };
    let mysql = world.builds[0].clone();
    for version in ["5.5.9", "5.6.14", "5.7.19", "8.0.12"] {
        world.builds.push(BuildFacts {
            id: format!("mysql-{version}"),
            version: version.parse().unwrap(),
            ..mysql.clone()
        });
    }
    world
        .builds
        .extend(POSTGRESQL.map(|id| postgresql(&mysql, id)));
    for (name, kind) in [
        ("binlog_format", IntentKind::Text),
        ("binlog_checksum", IntentKind::Flag),
        ("isolation", IntentKind::Text),
        ("eq_range_index_dive_limit", IntentKind::Number),
        ("rocksdb_memtables", IntentKind::Number),
        ("rocksdb_dynamic_levels", IntentKind::Flag),
        ("rocksdb_filters_for_hits", IntentKind::Flag),
        ("native_aio", IntentKind::Flag),
        ("slow_log", IntentKind::Flag),
        ("sync_binlog", IntentKind::Number),
        ("row_format", IntentKind::Text),
        ("io_capacity", IntentKind::Number),
        ("rocksdb_block_cache", IntentKind::Bytes),
        ("rocksdb_memtable", IntentKind::Bytes),
        ("rocksdb_l0_files", IntentKind::Number),
        ("rocksdb_level_base", IntentKind::Bytes),
        ("rocksdb_level_multiplier", IntentKind::Number),
        ("rocksdb_compression", IntentKind::Text),
        ("rocksdb_file_size", IntentKind::Bytes),
        ("buffer_pool_instances", IntentKind::Number),
        ("table_cache_instances", IntentKind::Number),
    ] {
        world.intents.push(IntentFacts {
            name: name.to_owned(),
            kind,
            choices: Vec::new(),
            description: String::new(),
            baselines: Family::ALL.map(|family| (family, None)).into(),
            summary: Vec::new(),
        });
    }
    world
}

fn plan(name: &str, text: &str, profile: Option<&str>) -> Plan {
    parse_experiment(name, text, profile, &world().knowledge())
        .unwrap_or_else(|invalid| panic!("{}", rendered(&invalid)))
}

#[test]
fn every_experiment_is_right() {
    for (name, text) in files("experiments") {
        let plan = plan(&name, &text, None);
        assert_eq!(format!("{}.toml", plan.name), name);
        assert!(plan.question.ends_with('?'), "{name}");
    }
}

/// The experiments that replicate a study, their presets, and what their small profile keeps: the
/// number of targets and the numbers of clients.
#[test]
fn studies_have_a_small_profile_of_minutes() {
    let few: &[u32] = &[1, 16, 128, 1000];
    for (name, preset, targets, clients) in [
        ("myisam-2017", "smalldatum-2017", 7, [1, 2].as_slice()),
        ("heap-updates-2014", "heap-2014", 8, &[1, 4, 32]),
        ("myrocks-2021", "smalldatum-2021", 3, &[1, 2, 3]),
        (
            "shootout-2011",
            "shootout-2011",
            4,
            &[1, 2, 4, 8, 16, 32, 64],
        ),
        ("pk-lookup-2016", "pk-lookup-2016", 9, few),
    ] {
        let (file, text) = files("experiments")
            .into_iter()
            .find(|(file, _)| *file == format!("{name}.toml"))
            .unwrap();
        let small = plan(&file, &text, Some("small"));
        assert_eq!(small.preset.as_deref(), Some(preset), "{name}");
        assert_eq!(small.by_base().len(), targets, "{name}");
        let last = small.steps.last().unwrap().entry;
        let found: Vec<_> = small
            .steps
            .iter()
            .filter(|step| step.entry == last)
            .map(|step| step.own().clients)
            .collect();
        assert_eq!(found, clients, "{name}");
        let minutes = predicted_ms(&small, &Assumptions::default()) as f64 / 60e3;
        assert!((3.0..8.0).contains(&minutes), "{name}: {minutes:.1}");
        let whole = plan(&file, &text, None);
        assert!(
            predicted_ms(&whole, &Assumptions::default()) > 30 * 60_000,
            "{name}"
        );
    }
}

#[test]
fn every_preset_file_is_embedded() {
    let embedded = embedded_presets().unwrap();
    let files = files("sequences");
    assert_eq!(embedded.len(), files.len());
    for (name, text) in files {
        let of_file = |preset: &&Preset| format!("{}.toml", preset.name()) == name;
        let preset = embedded.iter().find(of_file).unwrap();
        assert_eq!(preset.text(), text);
        assert!(!preset.history().is_empty() && preset.steps().count() > 0);
    }
}

/// In their own words, presets run on any number of tables, with steps of different names, and
/// those that write for a time can write a number of operations instead.
#[test]
fn every_preset_fits_its_dataset() {
    for preset in embedded_presets().unwrap() {
        let schema = match preset.name() {
            "heap-2014" => "foo",
            "insert-benchmark-2025" => "purchases",
            _ => "sbtest",
        };
        for (tables, more) in [(1, ""), (8, ""), (2, "write_operations = 1000")] {
            let text = format!(
                "name = \"x\"\nbase = \"mysql-5.7.22\"\nblocks = 1\n[dataset]\n\
                 schema = \"{schema}\"\ntables = {tables}\nrows = 100_000\n[[target]]\n\
                 build = \"mysql-5.7.22\"\n[sequence]\npreset = \"{}\"\n{more}\n",
                preset.name()
            );
            let plan = plan("x.toml", &text, None);
            for step in &plan.steps {
                let counted = matches!(step.length, Length::Count { .. });
                let writes = step.own().workload.group == Group::Write;
                assert!(more.is_empty() || !writes || counted, "{}", step.name);
            }
            let names: Vec<_> = plan.steps.iter().map(|step| step.name.as_str()).collect();
            assert!(preset.steps().all(|name| names.contains(&name)));
        }
    }
}

/// The step after which a state is asked for, and how long the steps of the longest preset take.
#[test]
fn presets_settle_where_their_studies_did() {
    let whole = |name: &str| {
        let text = format!(
            "name = \"x\"\nbase = \"mysql-5.7.22\"\nblocks = 1\n[dataset]\n\
             rows = 10_000_000\n[[target]]\nbuild = \"mysql-5.7.22\"\n\
             [sequence]\npreset = \"{name}\"\n"
        );
        plan("x.toml", &text, None).steps
    };
    let settles = |steps: &[Step]| -> Vec<(String, u64, u64)> {
        steps
            .iter()
            .filter_map(|step| {
                let settle = step.settle?;
                Some((step.name.clone(), settle.idle_ms, settle.limit_ms))
            })
            .collect()
    };
    let place = |name: &str, idle_ms| (name.to_owned(), idle_ms, 1_200_000);
    assert_eq!(
        settles(&whole("smalldatum-2021")),
        [
            place("point-query.pre", 120_000),
            place("read-only.range10", 120_000)
        ]
    );
    assert_eq!(
        settles(&whole("smalldatum-2025")),
        [place("scan.warm.pre", 70_000), place("scan.warm", 70_000)]
    );
    assert_eq!(settles(&whole("smalldatum-2017")), []);
}

/// Scans that only warm have a client for each table, those that are measured as many as the rest.
#[test]
fn scans_of_2025_are_measured_at_all_numbers_of_clients() {
    let text = "name = \"x\"\nbase = \"mysql-5.7.22\"\nblocks = 1\nclients = [1, 4, 16]\n\
                [dataset]\ntables = 8\nrows = 100_000\n[[target]]\nbuild = \"mysql-5.7.22\"\n\
                [sequence]\npreset = \"smalldatum-2025\"\n";
    let steps = plan("x.toml", text, None).steps;
    let clients = |name: &str| -> Vec<u32> {
        let named = steps.iter().filter(|step| step.name == name);
        named.map(|step| step.own().clients).collect()
    };
    assert_eq!(clients("scan.warm"), [8]);
    assert_eq!(clients("scan"), [1, 4, 16]);
}
