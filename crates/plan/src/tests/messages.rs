//! Messages about wrong experiments.

use super::{RIGHT, World, assert_says, golden};

/// `RIGHT` with one place changed.
pub(super) fn changed(from: &str, to: &str) -> String {
    assert_eq!(RIGHT.matches(from).count(), 1, "{from}");
    RIGHT.replacen(from, to, 1)
}

/// Checks the message of an experiment with one place changed.
#[track_caller]
pub(super) fn check(from: &str, to: &str, expected: &str) {
    let invalid = World::new().parse(&changed(from, to)).unwrap_err();
    assert_says(&invalid, expected);
}

#[test]
fn not_toml() {
    let text = "Dear Prony,\nplease compare two servers.\n";
    golden("not-toml", &World::new().parse(text).unwrap_err());
    check(
        "rows = 10_000",
        "rows = ",
        "small.toml is not TOML: string values must be quoted, expected literal string
         | rows = «» invalid from here on",
    );
}

#[test]
fn unknown_keys() {
    check(
        "blocks = 3",
        "block = 3",
        r#"× an experiment needs `blocks`
           | «»name = "small" `blocks` is missing
           × unknown key `block`
           | «block» = 3 an experiment has no such key
           | did you mean `blocks`? known keys: schema, workload, name, question, base, blocks, precision, budget, aa, turn,
           seed, counting, profiling, margin, display, clients, allow, backend, placement, dataset, defaults, target, sequence, step, section, canary, profile"#,
    );
    check(
        "parameters.range",
        "parameter.range",
        "unknown key `parameter`
         | «parameter».range = 10 a step has no such key
         | did you mean `parameters`? known keys: settle, workload, name, parameters, rate, rate_per_client,
         arrivals, think, think_spacing, sla, reconnect_every, warmup, ramp, time, operations,
         operations_per_client, clients, phase, warm_only, timing, placement, margin, beside",
    );
    check(
        "blocks = 3",
        "blocks = 3\nmood = 1",
        "unknown key `mood`
         | «mood» = 1 an experiment has no such key
         | known keys: schema, workload, name, question, base, blocks, precision, budget, aa, turn, seed, counting, profiling,
         margin, display, clients, allow, backend, placement,
         dataset, defaults, target, sequence, step, section, canary, profile",
    );
}

#[test]
fn wrong_kinds_of_value() {
    check(
        "blocks = 3",
        r#"blocks = "three""#,
        r#"`blocks` must be a whole number | blocks = «"three"» this is a text"#,
    );
    check(
        RIGHT_TARGETS,
        "[target]\nbuild = \"mysql-5.0.21\"\n",
        "`target` must be a list of tables
         | «[target]» there may be several
         | write [[target]] above each, in double brackets",
    );
    check(
        r#""small""#,
        r#""small / big""#,
        r#"`small / big` can't be a name
           | name = «"small / big"» not a name
           | a name has letters, digits, `-`, `_` and `.`, at most 80 of them, and begins with a
           letter or digit"#,
    );
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
        r#"build = "mysql-5.7.22""#,
        r#"build = "mysql-5.7.2""#,
        r#"unknown build `mysql-5.7.2`
           | build = «"mysql-5.7.2"» no such build
           | did you mean `mysql-5.7.22` or `mysql-5.7.29`? known builds: mysql-4.1.13, …"#,
    );
    check(
        r#"build = "mysql-5.7.22""#,
        r#"build = "oracle""#,
        r#"unknown build `oracle`
           | build = «"oracle"» no such build
           | known builds: mysql-4.1.13, …"#,
    );
    check(
        r#"build = "mysql-5.7.22""#,
        r#"build = "mysql-5""#,
        r#"unknown build `mysql-5`
           | build = «"mysql-5"» no such build
           | did you mean `mysql-5.0.21` or `mysql-5.5.34` or `mysql-5.6.24` or `mysql-5.7.22` or
           `mysql-5.7.29`? known builds: mysql-4.1.13, …"#,
    );
}

#[test]
fn bases() {
    check(
        r#"base = "mysql-5.0""#,
        r#"base = "mysql-5""#,
        r#"the base `mysql-5` is ambiguous
           | base = «"mysql-5"» means 2 targets
           | write one of their names: mysql-5.0.21, mysql-5.7.22"#,
    );
    check(
        r#"base = "mysql-5.0""#,
        r#"base = "mysql-8.0.31""#,
        r#"the base `mysql-8.0.31` is not among the targets
           | base = «"mysql-8.0.31"» no such target
           | did you mean `mysql-5.0.21`? known targets: mysql-5.0.21, mysql-5.7.22 name one of
           them, or add a [[target]] with this build"#,
    );
}

#[test]
fn counts() {
    check(
        "rows = 10_000",
        "rows = 0",
        "`rows` must be at least 1 | rows = «0» too small",
    );
    check(
        "tables = 2",
        "tables = 0",
        "`tables` must be at least 1 | tables = «0» too small",
    );
    check(
        "blocks = 3",
        "blocks = 0",
        "`blocks` must be at least 1 | blocks = «0» too small",
    );
    check(
        "clients = [1, 4]",
        "clients = []",
        "`clients` must not be empty | clients = «[]» no number of clients",
    );
    check(
        "clients = [1, 4]",
        "clients = [1, 0]",
        "`clients` must be at least 1 | clients = [1, «0»] too small",
    );
    check(
        "clients = [1, 4]",
        "clients = [4, 1, 4]",
        "`clients` has 4 twice
         | clients = [«4», 1, 4] first here
         | clients = [4, 1, «4»] here again
         | each number of clients is measured once in every trial: remove one",
    );
}

#[test]
fn times() {
    check(
        r#"time = "3s""#,
        r#"time = "-3s""#,
        r#"`-3s` is a negative duration
           | time = «"-3s"» not a duration
           | write a whole number and a unit: "500ms", "10s", "5m", "2h""#,
    );
    check(
        r#"time = "3s""#,
        r#"time = "3 seconds""#,
        r#"`3 seconds` is not a duration
           | time = «"3 seconds"» not a duration
           | write a whole number and a unit: "500ms", "10s", "5m", "2h""#,
    );
    check(
        r#"time = "3s""#,
        "time = 3",
        r#"a duration needs a unit
           | time = «3» seconds? minutes?
           | write a whole number and a unit: "500ms", "10s", "5m", "2h""#,
    );
    check(
        r#"time = "3s""#,
        r#"time = "0s""#,
        r#"`time` must be longer than 0 | time = «"0s"» nothing would be measured"#,
    );
    check(
        "time = \"3s\"\n",
        "",
        r#"× a step needs `time`, `operations` or `operations_per_client`
           | workload = «"point-query"» no end
           | write one of them in the step, or in [sequence] for all steps
           × a step needs `time`, `operations` or `operations_per_client`
           | workload = «"read-only"» no end
           | write one of them in the step, or in [sequence] for all steps"#,
    );
    check(
        "parameters.range = 10",
        "time = \"1s\"\noperations = 100",
        r#"a step ends after a `time` or after a number of `operations`, not both
           | time = «"1s"» this
           | operations = «100» or this
           | remove one of them"#,
    );
}

#[test]
fn engines() {
    check(
        r#"build = "mysql-5.7.22""#,
        "build = \"mysql-5.7.22\"\nengine = \"aria\"",
        r#"mysql-5.7.22 has no storage engine `aria`
           | build = «"mysql-5.7.22"» this build lacks it
           | engine = «"aria"» asked for here
           | mysql-5.7.22 has innodb, myisam, memory: set `engine` in this target, or leave the
           build out"#,
    );
    check(
        r#"engine = "innodb""#,
        r#"engine = "rocksdb""#,
        r#"× mysql-5.0.21 has no storage engine `rocksdb`
           | engine = «"rocksdb"» asked for here
           | build = «"mysql-5.0.21"» this build lacks it
           | mysql-5.0.21 has innodb, myisam, memory: set `engine` in this target, or leave the
           build out
           × mysql-5.7.22 has no storage engine `rocksdb`
           | engine = «"rocksdb"» asked for here
           | build = «"mysql-5.7.22"» this build lacks it
           | mysql-5.7.22 has innodb, myisam, memory: set `engine` in this target, or leave the
           build out"#,
    );
    check(
        r#"engine = "innodb""#,
        r#"engine = "InnoDB""#,
        r#"unknown engine `InnoDB`
           | engine = «"InnoDB"» no such engine
           | did you mean `innodb`? known engines: innodb, myisam, memory, rocksdb, aria,
           heap"#,
    );
}

#[test]
fn configuration() {
    check(
        "binlog = false",
        "binlogs = false",
        r#"unknown intent `binlogs`
           | config = { buffer_pool = "256M", «binlogs» = false } no such intent
           | did you mean `binlog`? known intents: buffer_pool, … options of one server go into
           `options`"#,
    );
    check(
        "binlog = false",
        r#"binlog = "off""#,
        r#"`binlog` must be true or false
           | config = { buffer_pool = "256M", binlog = «"off"» } this is a text"#,
    );
    check(
        r#""256M""#,
        r#""256 MB""#,
        r#"`256 MB` is not a size: write a whole number of bytes or a text such as "512M"
           | config = { buffer_pool = «"256 MB"», binlog = false } `buffer_pool` is a size"#,
    );
    check(
        "binlog = false",
        r#"charset = "latin""#,
        r#"unknown charset `latin`
           | config = { buffer_pool = "256M", charset = «"latin"» } no such charset
           | did you mean `latin1`? known charsets: latin1, utf8mb3, utf8mb4"#,
    );
    check(
        "config =",
        "options.--sort_buffer_size = \"1M\"\nconfig =",
        r#"`--sort_buffer_size` is not the name of an option
           | options.«--sort_buffer_size» = "1M" not a name
           | write it as in a configuration file, without leading dashes"#,
    );
}

#[test]
fn targets() {
    check(
        r#"build = "mysql-5.0.21""#,
        "build = \"mysql-5.0.21\"\nname = \"mysql-5.7.22\"",
        r#"two targets are named `mysql-5.7.22`
           | name = «"mysql-5.7.22"» first here
           | build = «"mysql-5.7.22"» here again
           | set `name` in one of them"#,
    );
    check(
        r#"build = "mysql-5.0.21""#,
        r#"build = "mysql-5.7.22""#,
        r#"two targets are named `mysql-5.7.22`
           | build = «"mysql-5.7.22"» first here
           | build = «"mysql-5.7.22"» here again
           | set `name` in one of them"#,
    );
    check(
        RIGHT_TARGETS,
        "",
        r#"an experiment needs at least one target
           | «»name = "small" no [[target]] in this file
           | write [[target]] with `build = "…"` below it, once for each server"#,
    );
    check(
        r#"build = "mysql-5.0.21""#,
        r#"name = "old""#,
        "a target needs `build` | «[[target]]» `build` is missing",
    );
}

#[test]
fn steps() {
    check(
        RIGHT_STEPS,
        "",
        r#"an experiment needs at least one step
           | «»name = "small" no [[step]] in this file
           | write [[step]] with `workload = "…"` below it, once for each step; or the `preset` of
           [sequence]"#,
    );
    check(
        r#""point-query""#,
        r#""point-querry""#,
        r#"unknown workload `point-querry`
           | workload = «"point-querry"» no such workload
           | did you mean `point-query`?"#,
    );
    check(
        "parameters.range",
        "parameters.rnage",
        "the workload `read-only` has no parameter `rnage`
         | parameters.«rnage» = 10 not defined
         | did you mean `range`? known parameters of read-only: range",
    );
    check(
        r#""read-only""#,
        r#""scan""#,
        "the workload `scan` has no parameter `range`
         | parameters.«range» = 10 not defined
         | there are no parameters of scan",
    );
    check(
        "\"read-only\"\nparameters.range = 10",
        r#""point-query""#,
        r#"two steps are named `point-query`
           | workload = «"point-query"» first here
           | workload = «"point-query"» here again
           | set `name` in one of them"#,
    );
}

#[test]
fn too_few_rows() {
    check(
        "rows = 10_000",
        "rows = 5",
        r#"`read-only` can't draw `low` from 1..rows - range + 1: that is 1..-4 at rows = 5, range
           = 10
           | rows = «5» with 5 rows
           | workload = «"read-only"» this step can't run
           | raise `rows`, or set other `parameters` in the step"#,
    );
}

#[test]
fn several_problems_at_once() {
    let text = RIGHT
        .replace("blocks = 3", "blocks = 0")
        .replace("mysql-5.7.22", "mysql-5.7.23")
        .replace("binlog", "bin_log")
        .replace(r#"time = "3s""#, r#"time = "soon""#)
        .replace("point-query", "point_query");
    golden("several-problems", &World::new().parse(&text).unwrap_err());
}
