//! What is said of wrong workloads.

use super::golden;
use crate::parse_workloads;

const RIGHT: &str = r#"[[workload]]
name = "range"
group = "range"
effect = "none"
description = "A range"
parameters.range = 100

[[workload.statement]]
name = "range"
sql = "SELECT c FROM {table} WHERE id BETWEEN {low} AND {high}"
params.low = { from = "1..rows - range", distribution = "uniform" }
params.high = { value = "low + range" }
expect.rows = "range + 1"
"#;

fn check(name: &str, from: &str, to: &str) {
    assert_eq!(RIGHT.matches(from).count(), 1, "{from}");
    let text = RIGHT.replacen(from, to, 1);
    golden(name, &parse_workloads("mine.toml", &text).unwrap_err());
}

#[test]
fn the_example_is_right() {
    assert_eq!(parse_workloads("mine.toml", RIGHT).unwrap().len(), 1);
}

#[test]
fn holes_and_parameters() {
    check("workload-undefined-parameter", "{low}", "{lo}");
    check("workload-unused-parameter", " AND {high}", "");
    check(
        "workload-unused-constant",
        "parameters.range = 100",
        "parameters.range = 100\nparameters.step = 1",
    );
    check("workload-broken-hole", "{high}", "{high");
    check(
        "workload-undefined-name",
        "1..rows - range",
        "1..row - range",
    );
    check("workload-name-too-early", "1..rows - range", "1..high");
    check(
        "workload-bound-that-changes",
        "value = \"low + range\"",
        "from = \"low..rows\"",
    );
    check("workload-not-a-sum", "low + range", "low * 2");
    check("workload-not-a-range", "1..rows - range", "rows");
    check(
        "workload-text-in-a-sum",
        "from = \"1..rows - range\", distribution = \"uniform\"",
        "digits = \"##\"",
    );
    check(
        "workload-two-generators",
        "value = \"low + range\"",
        "value = \"low + range\", digits = \"#\"",
    );
    check("workload-taken-name", "parameters.range", "parameters.rows");
    check(
        "workload-same-name-as-constant",
        "params.low =",
        "params.range =",
    );
}

#[test]
fn what_is_not_there_yet() {
    check("workload-in-list", "{low}", "{low:list}");
    check(
        "workload-count",
        "distribution = \"uniform\"",
        "count = \"range\"",
    );
}

#[test]
fn words() {
    check(
        "workload-unknown-group",
        "group = \"range\"",
        "group = \"ranges\"",
    );
    check("workload-unknown-effect", "\"none\"", "\"all\"");
    check(
        "workload-unknown-distribution",
        "\"uniform\"",
        "\"zipfian\"",
    );
    check("workload-unknown-key", "effect =", "efect =");
    check("workload-bad-expectation", "\"range + 1\"", "\"some\"");
    check("workload-bad-count", "\"range + 1\"", "\"2..1\"");
}

#[test]
fn statements() {
    check("workload-zero-repeat", "sql =", "repeat = 0\nsql =");
    let start = RIGHT.find("[[workload.statement]]").unwrap();
    let none = &RIGHT[..start];
    golden(
        "workload-no-statement",
        &parse_workloads("mine.toml", none).unwrap_err(),
    );
    let twice = format!("{RIGHT}\n{}", &RIGHT[start..]);
    golden(
        "workload-two-statements",
        &parse_workloads("mine.toml", &twice).unwrap_err(),
    );
    let twice = format!("{RIGHT}\n{RIGHT}");
    golden(
        "workload-two-workloads",
        &parse_workloads("mine.toml", &twice).unwrap_err(),
    );
}
