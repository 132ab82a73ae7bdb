//! What is said of wrong experiments.

use super::{RIGHT, World, golden};

/// `RIGHT` with one place changed.
pub(super) fn changed(from: &str, to: &str) -> String {
    assert_eq!(RIGHT.matches(from).count(), 1, "{from}");
    RIGHT.replacen(from, to, 1)
}

/// Checks the message of an experiment with one place changed.
pub(super) fn check(name: &str, from: &str, to: &str) {
    golden(name, &World::new().parse(&changed(from, to)).unwrap_err());
}

#[test]
fn not_toml() {
    let text = "Dear Prony,\nplease compare two servers.\n";
    golden("not-toml", &World::new().parse(text).unwrap_err());
    check("not-toml-inside", "rows = 10_000", "rows = ");
}

#[test]
fn unknown_keys() {
    check("unknown-key", "blocks = 3", "block = 3");
    check("unknown-key-in-step", "parameters.range", "parameter.range");
    check("unknown-key-far-off", "blocks = 3", "blocks = 3\nmood = 1");
}

#[test]
fn keys_that_are_planned() {
    check(
        "precision",
        "blocks = 3",
        "precision = \"1%\"\nbudget = \"6h\"",
    );
}

#[test]
fn wrong_kinds_of_value() {
    check("text-for-number", "blocks = 3", "blocks = \"three\"");
    check(
        "one-target-in-single-brackets",
        RIGHT_TARGETS,
        "[target]\nbuild = \"mysql-5.0.21\"\n",
    );
    check("bad-name", "\"small\"", "\"small / big\"");
}

pub(super) const RIGHT_TARGETS: &str = "[[target]]
build = \"mysql-5.0.21\"

[[target]]
build = \"mysql-5.7.22\"
";

const RIGHT_STEPS: &str = "[[step]]
workload = \"point-query\"

[[step]]
workload = \"read-only\"
parameters.range = 10
";

#[test]
fn builds() {
    check(
        "unknown-build",
        "build = \"mysql-5.7.22\"",
        "build = \"mysql-5.7.2\"",
    );
    check(
        "unknown-build-far-off",
        "build = \"mysql-5.7.22\"",
        "build = \"oracle\"",
    );
    check(
        "incomplete-build",
        "build = \"mysql-5.7.22\"",
        "build = \"mysql-5\"",
    );
}

#[test]
fn bases() {
    check(
        "ambiguous-base",
        "base = \"mysql-5.0\"",
        "base = \"mysql-5\"",
    );
    check(
        "base-not-among-targets",
        "base = \"mysql-5.0\"",
        "base = \"mysql-8.0.31\"",
    );
}

#[test]
fn counts() {
    check("zero-rows", "rows = 10_000", "rows = 0");
    check("zero-tables", "tables = 2", "tables = 0");
    check("zero-blocks", "blocks = 3", "blocks = 0");
    check("no-clients", "clients = [1, 4]", "clients = []");
    check("zero-clients", "clients = [1, 4]", "clients = [1, 0]");
    check("clients-twice", "clients = [1, 4]", "clients = [4, 1, 4]");
}

#[test]
fn times() {
    check("negative-time", "time = \"3s\"", "time = \"-3s\"");
    check("bad-time", "time = \"3s\"", "time = \"3 seconds\"");
    check("time-without-unit", "time = \"3s\"", "time = 3");
    check("zero-time", "time = \"3s\"", "time = \"0s\"");
    check("no-time", "time = \"3s\"\n", "");
    check(
        "time-and-operations",
        "parameters.range = 10",
        "time = \"1s\"\noperations = 100",
    );
}

#[test]
fn engines() {
    check(
        "engine-that-the-build-lacks",
        "build = \"mysql-5.7.22\"",
        "build = \"mysql-5.7.22\"\nengine = \"aria\"",
    );
    check(
        "engine-that-builds-lack",
        "engine = \"innodb\"",
        "engine = \"rocksdb\"",
    );
    check(
        "unknown-engine",
        "engine = \"innodb\"",
        "engine = \"InnoDB\"",
    );
}

#[test]
fn configuration() {
    check("unknown-intent", "binlog = false", "binlogs = false");
    check("wrong-kind-of-intent", "binlog = false", "binlog = \"off\"");
    check("bad-size", "\"256M\"", "\"256 MB\"");
    check("unknown-word", "binlog = false", "charset = \"latin\"");
    check(
        "option-with-dashes",
        "config =",
        "options.--sort_buffer_size = \"1M\"\nconfig =",
    );
}

#[test]
fn targets() {
    check(
        "two-targets-of-the-same-name",
        "build = \"mysql-5.0.21\"",
        "build = \"mysql-5.0.21\"\nname = \"mysql-5.7.22\"",
    );
    check(
        "the-same-target-twice",
        "build = \"mysql-5.0.21\"",
        "build = \"mysql-5.7.22\"",
    );
    check("no-targets", RIGHT_TARGETS, "");
    check(
        "target-without-build",
        "build = \"mysql-5.0.21\"",
        "name = \"old\"",
    );
}

#[test]
fn steps() {
    check("no-steps", RIGHT_STEPS, "");
    check("unknown-workload", "\"point-query\"", "\"point-querry\"");
    check("unknown-parameter", "parameters.range", "parameters.rnage");
    check(
        "parameter-of-a-workload-without",
        "\"read-only\"",
        "\"scan\"",
    );
    check(
        "two-steps-of-the-same-name",
        "\"read-only\"\nparameters.range = 10",
        "\"point-query\"",
    );
}

#[test]
fn too_few_rows() {
    check("too-few-rows", "rows = 10_000", "rows = 5");
}

#[test]
fn several_problems_at_once() {
    let text = RIGHT
        .replace("blocks = 3", "blocks = 0")
        .replace("mysql-5.7.22", "mysql-5.7.23")
        .replace("binlog", "bin_log")
        .replace("time = \"3s\"", "time = \"soon\"")
        .replace("point-query", "point_query");
    golden("several-problems", &World::new().parse(&text).unwrap_err());
}
