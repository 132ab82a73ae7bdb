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

const UNIFORM: &str = "distribution = \"uniform\"";

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
    check(
        "workload-needs-unknown",
        "parameters.range = 100",
        "parameters.range = 100\nneeds_rows = \"rows - range\"",
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
    check("workload-not-a-sum", "low + range", "low ^ 2");
    check("workload-not-linear", "low + range", "range + low / 2");
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
fn lists() {
    check("workload-list-of-one-value", "{low}", "{low:list}");
    check(
        "workload-list-as-one-value",
        "value = \"low + range\"",
        "from = \"1..rows\", count = 10",
    );
    check("workload-undefined-list", "{high}", "{highs:list}");
    check("workload-broken-list", "{high}", "{high:lists}");
    check("workload-list-in-a-sum", UNIFORM, "count = 10");
    check(
        "workload-count-that-changes",
        "value =",
        "from = \"1..9\", count =",
    );
    check(
        "workload-count-of-a-computed-value",
        "value = \"low + range\"",
        "value = \"low + range\", count = 2",
    );
}

#[test]
fn distributions() {
    check("workload-unknown-distribution", "\"uniform\"", "\"zipf\"");
    check(
        "workload-key-of-another-distribution",
        "\"uniform\"",
        "\"pareto\", exponent = 1",
    );
    check(
        "workload-key-of-no-distribution",
        UNIFORM,
        "hot = \"scattered\"",
    );
    for (name, keys) in [
        ("workload-bad-exponent", "\"zipfian\", exponent = -0.5"),
        ("workload-fine-exponent", "\"zipfian\", exponent = 0.9999"),
        ("workload-exponent-as-text", "\"zipfian\", exponent = \"1\""),
        ("workload-bad-h", "\"pareto\", h = 1.0"),
        ("workload-bad-share", "\"special\", hot_share = 101"),
    ] {
        check(name, "\"uniform\"", keys);
    }
}

#[test]
fn statements_that_follow_each_other() {
    check(
        "workload-previous-of-the-first",
        "sql =",
        "table = \"previous\"\nsql =",
    );
    let second = |name: &str, lines: &str| {
        let text = format!(
            "{RIGHT}\n[[workload.statement]]\nname = \"again\"\ntable = \"previous\"\n{lines}\n"
        );
        golden(name, &parse_workloads("mine.toml", &text).unwrap_err());
    };
    let sql = "sql = \"SELECT c FROM {table} WHERE id = {low}\"";
    second(
        "workload-previous-name-again",
        &format!("{sql}\nparams.low = {{ from = \"1..rows\" }}"),
    );
    second("workload-previous-repeated", &format!("repeat = 2\n{sql}"));
    second(
        "workload-previous-without-table",
        "sql = \"SELECT {low} + {high}\"",
    );
}

/// Nothing is said of a statement whose only fault is that the one before is wrong.
#[test]
fn a_wrong_statement_before_is_the_only_problem() {
    let text = RIGHT.replace("sql =", "slq =")
        + "\n[[workload.statement]]\nname = \"again\"\ntable = \"previous\"\n\
           sql = \"SELECT c FROM {table} WHERE id = {low}\"\n";
    golden(
        "workload-wrong-statement-before",
        &parse_workloads("mine.toml", &text).unwrap_err(),
    );
}

#[test]
fn changes() {
    let change = |name: &str, line: &str| {
        check(name, "expect.rows = \"range + 1\"", line);
    };
    change("workload-change-of-rows", "change.rows = 2");
    change("workload-change-of-text", "change.pad = 1");
    change("workload-change-of-no-column", "change.i = 1");
    change("workload-change-without-effect", "change.k = 1");
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
        "workload-unknown-schema",
        "group =",
        "schema = \"fo\"\ngroup =",
    );
    check("workload-unknown-key", "effect =", "efect =");
    check("workload-bad-expectation", "\"range + 1\"", "\"some\"");
    check("workload-bad-count", "\"range + 1\"", "\"2..1\"");
    check("workload-half-a-count", "\"range + 1\"", "\"1..\"");
    check(
        "workload-count-of-a-value",
        "expect.rows = \"range + 1\"",
        "expect.affected = \"1..low\"",
    );
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

/// The mix of the documentation, with one place changed.
fn mix(from: &str, to: &str) -> String {
    let document = include_str!("../../../../docs/formats/workload.md");
    let start = document.find("name = \"nineteen-to-one\"").unwrap();
    let end = start + document[start..].find("```").unwrap();
    let text = format!("[[workload]]\n{}", &document[start..end]);
    assert_eq!(text.matches(from).count(), 1, "{from}");
    text.replacen(from, to, 1)
}

#[test]
fn mixes_have_weights() {
    let read = parse_workloads("mine.toml", &mix("weight = 1\n", "weight = 1\n")).unwrap();
    assert!(read[0].is_mix());
    let weights: Vec<_> = read[0].statements.iter().map(|s| s.weight).collect();
    assert_eq!(weights, [Some(19), Some(1)]);
    let plain = parse_workloads("mine.toml", RIGHT).unwrap();
    assert!(!plain[0].is_mix());
}

#[test]
fn mixes_that_are_wrong() {
    let refused = |name: &str, from: &str, to: &str| {
        golden(
            name,
            &parse_workloads("mine.toml", &mix(from, to)).unwrap_err(),
        );
    };
    refused("workload-mix-half", "weight = 1\n", "");
    refused("workload-mix-zero", "weight = 1\n", "weight = 0\n");
    refused(
        "workload-mix-repeat",
        "weight = 1\n",
        "weight = 1\nrepeat = 2\n",
    );
    let update = "sql = \"UPDATE {table} SET k = k + 1 WHERE id = {id}\"\n";
    refused(
        "workload-mix-previous",
        &format!("{update}params.id = {{ from = \"1..rows\" }}\n"),
        &format!("{update}table = \"previous\"\n"),
    );
}
