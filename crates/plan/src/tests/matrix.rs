//! Targets that matrices expand to, and their names.

use std::collections::BTreeSet;
use std::path::PathBuf;

use prony_model::{Aspect, Baseline, Engine, IntentValue, Plan, Protocol, Transport};
use proptest::prelude::*;

use super::{World, assert_says, rendered};

/// An experiment with these targets, whose base is `base`.
fn experiment(base: &str, targets: &str) -> String {
    format!(
        "name = \"m\"\nbase = \"{base}\"\nblocks = 2\naa = false\n[dataset]\nrows = 1000\n{targets}\n\
         [sequence]\ntime = \"1s\"\n[[step]]\nworkload = \"point-query\"\n"
    )
}

fn plan(base: &str, targets: &str) -> Plan {
    World::new()
        .parse(&experiment(base, targets))
        .unwrap_or_else(|invalid| panic!("{}", rendered(&invalid)))
}

fn names(plan: &Plan) -> Vec<&str> {
    plan.targets
        .iter()
        .map(|target| target.name.as_str())
        .collect()
}

#[test]
fn preloads_start_from_the_folder_and_replace_the_defaults() {
    let plan = plan(
        "plain",
        "[defaults]
preload = [\"a/libx.so.2\", \"/b/y.so\"]
[[target]]
build = \"mysql-8.0.31\"
name = \"plain\"
preload = []
[[target]]
build = \"mysql-8.0.31\"
name = \"both\"
[[target]]
build = \"mysql-5.7.22\"
matrix = { preload = [[], [\"y.so\"]] }",
    );
    assert_eq!(
        names(&plan),
        ["plain", "both", "mysql-5.7.22", "mysql-5.7.22-preload-y"]
    );
    let files: Vec<Vec<_>> = plan
        .targets
        .iter()
        .map(|target| {
            target
                .preload
                .iter()
                .map(|library| library.file.clone())
                .collect()
        })
        .collect();
    let both = ["/experiments/a/libx.so.2", "/b/y.so"].map(PathBuf::from);
    let one = vec![PathBuf::from("/experiments/y.so")];
    assert_eq!(files, [vec![], both.to_vec(), vec![], one]);
    assert_eq!(plan.targets[3].preload[0].sha256, "digest-of-y.so");
}

#[test]
fn the_last_key_changes_fastest() {
    let plan = plan(
        "off-prepared",
        "[[target]]
name = \"off\"
build = \"mysql-8.0.31\"
matrix = { protocol = [\"text\", \"prepared\"] }
[[target]]
build = \"mysql-5.7.22\"
matrix = { performance_schema = [true, false], transport = [\"tcp\", \"socket\"] }",
    );
    assert_eq!(
        names(&plan),
        [
            "off-text",
            "off-prepared",
            "mysql-5.7.22-tcp-performance_schema-on",
            "mysql-5.7.22-socket-performance_schema-on",
            "mysql-5.7.22-tcp-performance_schema-off",
            "mysql-5.7.22-socket-performance_schema-off",
        ]
        .map(|name| name.replace("performance_schema", "ps"))
    );
    assert_eq!(plan.base, 1);
    assert_eq!(plan.trials.len(), 12);
    let target = &plan.targets[3];
    assert_eq!(target.transport, Transport::Socket);
    assert_eq!(
        target.config.intents["performance_schema"],
        IntentValue::Flag(true)
    );
}

#[test]
fn baselines_are_a_key_of_targets_and_of_the_matrix() {
    let plan = plan(
        "mysql-5.5.34-common",
        "[defaults]
matrix = { baseline = [\"common\", \"shipped\"] }
[[target]]
build = \"mysql-5.5.34\"
[[target]]
build = \"mysql-9.7\"
baseline = \"shipped\"
config.buffer_pool = \"1G\"",
    );
    assert_eq!(
        names(&plan),
        ["mysql-5.5.34-common", "mysql-5.5.34-shipped", "mysql-9.7"]
    );
    let baselines = plan.targets.iter().map(|target| target.config.baseline);
    let shipped = Baseline::Shipped;
    assert_eq!(
        baselines.collect::<Vec<_>>(),
        [Baseline::Common, shipped, shipped]
    );
    let varying = plan.varying();
    assert_eq!(varying[..2], [Aspect::Build, Aspect::Baseline]);
}

#[test]
fn one_build_is_not_in_the_names() {
    let plan = plan(
        "text-performance_schema-off",
        "[[target]]
build = \"mysql-8.0.31\"
matrix = { performance_schema = [false, true] }
protocol = \"text\"
[[target]]
build = \"mysql-8.0.31\"
config.performance_schema = false",
    );
    assert_eq!(
        names(&plan),
        [
            "text-performance_schema-off",
            "text-performance_schema-on",
            "prepared-performance_schema-off",
        ]
    );
}

#[test]
fn the_defaults_have_a_matrix_for_every_target() {
    let plan = plan(
        "mysql-5.7.22-binlog-off",
        "[defaults]
matrix = { binlog = [true, false], engine = [\"innodb\", \"myisam\"] }
[[target]]
build = \"mysql-5.7.22\"
engine = \"innodb\"
[[target]]
build = \"mysql-8.0.31\"
config.binlog = false
[[target]]
build = \"mysql-9.7\"
matrix.engine = [\"memory\"]",
    );
    assert_eq!(
        names(&plan),
        [
            "mysql-5.7.22-binlog-on",
            "mysql-5.7.22-binlog-off",
            "mysql-8.0.31-innodb",
            "mysql-8.0.31-myisam",
            "mysql-9.7-binlog-on",
            "mysql-9.7-binlog-off",
        ]
    );
    assert_eq!(plan.targets[5].engine, Engine::Memory);
}

#[test]
fn builds_are_a_key_of_the_matrix_too() {
    let plan = plan(
        "mysql-5.6.24-prepared",
        "[[target]]
matrix.protocol = [\"prepared\", \"text\"]
matrix.build = [\"mysql-5.6.24\", \"mysql-8.0.31\"]",
    );
    assert_eq!(
        names(&plan),
        [
            "mysql-5.6.24-prepared",
            "mysql-8.0.31-prepared",
            "mysql-5.6.24-text",
            "mysql-8.0.31-text",
        ]
    );
    assert_eq!(plan.varying(), [Aspect::Build, Aspect::Protocol]);
    assert_eq!(plan.targets[2].protocol, Protocol::Text);
}

#[test]
fn raw_options_vary_in_a_table_of_their_own() {
    let plan = plan(
        "huge_pages-system-sort_buffer_size-65536",
        "[[target]]
build = \"mysql-8.0.31\"
options.sort-buffer-size = 1
[[target]]
build = \"mysql-8.0.31\"
matrix = { huge_pages = [\"system\", \"never\"], options.sort_buffer_size = [65536, \"1M\"] }",
    );
    assert_eq!(
        names(&plan)[1..],
        [
            "huge_pages-system-sort_buffer_size-65536",
            "huge_pages-system-sort_buffer_size-1M",
            "huge_pages-never-sort_buffer_size-65536",
            "huge_pages-never-sort_buffer_size-1M",
        ]
    );
}

#[test]
fn long_names_have_initials() {
    let plan = plan(
        "mysql-5.7.22",
        "[[target]]
build = \"mysql-5.7.22\"
[[target]]
build = \"mysql-8.0.31\"
[target.matrix]
protocol = [\"prepared\", \"text\"]
performance_schema = [true, false]
buffer_pool = [\"512M\", \"1G\"]
innodb_thread_concurrency = [0, 64]",
    );
    assert_eq!(plan.targets.len(), 17);
    assert_eq!(
        plan.targets[1].name,
        "mysql-8.0.31-prepared-bp-512M-itc-0-ps-on"
    );
    assert_eq!(
        plan.targets[16].name,
        "mysql-8.0.31-text-bp-1G-itc-64-ps-off"
    );
}

/// The values of one key of a matrix, as a file writes them.
fn list(values: &BTreeSet<u64>, unit: &str) -> String {
    let values: Vec<_> = values.iter().map(|n| format!("\"{n}{unit}\"")).collect();
    format!("[{}]", values.join(", "))
}

proptest! {
    /// A matrix makes a target of every combination, each once, the last key changing fastest, and
    /// their names differ.
    #[test]
    fn every_combination_once(
        pools in prop::collection::btree_set(1..2000_u64, 1..6),
        logs in prop::collection::btree_set(1..2000_u64, 1..6),
        keys in prop::collection::btree_set(1..2000_u64, 1..4),
    ) {
        let targets = format!(
            "[[target]]\nname = \"x\"\nbuild = \"mysql-8.0.31\"\n[target.matrix]\n\
             buffer_pool = {}\nredo_log = {}\nkey_buffer = {}\n\
             [[target]]\nname = \"base\"\nbuild = \"mysql-9.7\"",
            list(&pools, "M"), list(&logs, "K"), list(&keys, "K"),
        );
        let plan = plan("base", &targets);
        let wanted: Vec<_> = pools
            .iter()
            .flat_map(|pool| logs.iter().map(move |log| (pool, log)))
            .flat_map(|(pool, log)| keys.iter().map(move |key| [pool << 20, log << 10, key << 10]))
            .map(|sizes| sizes.map(IntentValue::Bytes))
            .collect();
        let made: Vec<_> = plan.targets[..wanted.len()]
            .iter()
            .map(|target| {
                ["buffer_pool", "redo_log", "key_buffer"].map(|name| target.config.intents[name].clone())
            })
            .collect();
        prop_assert_eq!(made, wanted);
        let distinct: BTreeSet<_> = names(&plan).into_iter().collect();
        prop_assert_eq!(distinct.len(), plan.targets.len());
    }
}

/// Two builds with the binary log on and off.
const BINLOG: &str = "[[target]]
build = \"mysql-5.0.21\"
matrix = { binlog = [false, true] }
[[target]]
build = \"mysql-5.7.22\"
matrix = { binlog = [false, true] }";

fn with_base(base: &str, targets: &str) -> String {
    experiment("x", targets).replace("base = \"x\"", &format!("base = {base}"))
}

#[test]
fn a_key_has_a_base_for_each_of_its_values() {
    for (base, first, of_target) in [
        (
            "{ build = \"mysql-5.0.21\", by = \"binlog\" }",
            0,
            [0, 1, 0, 1],
        ),
        (
            "{ target = \"mysql-5.0.21-binlog-on\", by = [\"binlog\"] }",
            1,
            [0, 1, 0, 1],
        ),
        (
            "{ target = \"mysql-5.7.22-binlog-on\", by = \"build\" }",
            3,
            [1, 1, 3, 3],
        ),
    ] {
        let text = with_base(base, BINLOG).replace("aa = false", "aa = true");
        let plan = World::new().parse(&text);
        let plan = plan.unwrap_or_else(|invalid| panic!("{}", rendered(&invalid)));
        assert_eq!(plan.base, first);
        let found: Vec<_> = (0..4).map(|target| plan.base_of(target).unwrap()).collect();
        assert_eq!(found, of_target);
        // The twin is that of the first base.
        assert_eq!(plan.twin, Some(4));
        assert_eq!(plan.base_of(4), Some(first));
        assert_eq!(plan.contenders().count(), 2);
    }
    let text = with_base("{ build = \"mysql-5.0.21\", by = \"binlog\" }", BINLOG);
    let plan = World::new().parse(&text).unwrap();
    assert_eq!(plan.base_words(), "mysql-5.0.21 with the same binlog");
    assert_eq!(plan.by_base(), [0, 2, 1, 3]);
}

#[test]
fn one_base_is_stored_as_before() {
    let plan = plan("mysql-5.0.21-binlog-off", BINLOG);
    assert_eq!(plan.bases, None);
    assert_eq!(plan.base_words(), "mysql-5.0.21-binlog-off");
}

#[test]
fn bases_that_can_not_be_found() {
    let lone = BINLOG.replacen("[false, true]", "[false]", 1);
    for (base, targets, expected) in [
        (
            "{ build = \"mysql-5.0.21\", by = \"binlogs\" }",
            BINLOG,
            "no two targets differ in `binlogs`
           | base = { build = \"mysql-5.0.21\", by = «\"binlogs\"» } not a key that targets differ in
           | did you mean `binlog`? known keys: build, binlog",
        ),
        (
            "{ build = \"mysql-5.0.21\", by = \"binlog\" }",
            lone.as_str(),
            "the target `mysql-5.7.22-binlog-on` has no base
           | base = «{ build = \"mysql-5.0.21\", by = \"binlog\" }» asks for a base for every value
           | base = { build = «\"mysql-5.0.21\"», by = \"binlog\" } no target of it has binlog on
           | add a [[target]] of `mysql-5.0.21` with binlog on, or leave `mysql-5.7.22-binlog-on` out",
        ),
        (
            "{ build = \"mysql-5.0.21\", by = \"build\" }",
            BINLOG,
            "× the base of the target `mysql-5.0.21-binlog-off` is ambiguous …",
        ),
        (
            "{ by = \"binlog\" }",
            BINLOG,
            "a base by keys needs either `target` or `build` …",
        ),
        ("{ build = \"mysql-5.0.21\" }", BINLOG, "a base needs `by` …"),
        ("{ build = \"mysql-5.0.21\", by = [] }", BINLOG, "`by` must not be empty …"),
        (
            "{ build = \"mysql-5.1.1\", by = \"binlog\" }",
            BINLOG,
            "no target has the build `mysql-5.1.1` …",
        ),
        ("1", BINLOG, "`base` must be a text in quotes …"),
    ] {
        let invalid = World::new().parse(&with_base(base, targets)).unwrap_err();
        assert_says(&invalid, expected);
    }
}
