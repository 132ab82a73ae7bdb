//! What is said of workloads that can't run on the dataset, or not with the step's parameters.

use super::{RIGHT, World, golden};
use crate::parse_workloads;

const MINE: &str = r#"[[workload]]
name = "mine"
group = "in-list"
effect = "none"
description = "A list"
parameters.range = 10
parameters.part = 1

[[workload.statement]]
name = "list"
sql = "SELECT c FROM {table} WHERE id > {id} OR id IN ({ids:list})"
params.id = { from = "1..rows" }
params.ids = { from = "1..rows / part", count = "range" }
expect.rows = "range..rows / part"
"#;

fn step(workload: &str, parameters: &str) -> String {
    RIGHT.replace(
        "workload = \"read-only\"\nparameters.range = 10\n",
        &format!("workload = \"{workload}\"\n{parameters}\n"),
    )
}

fn check(name: &str, workload: &str, parameters: &str) {
    let mut world = World::new();
    world
        .workloads
        .extend(parse_workloads("mine.toml", MINE).unwrap());
    let text = step(workload, parameters);
    golden(name, &world.parse(&text).unwrap_err());
}

#[test]
fn another_schema() {
    check("misfit-schema", "hot-update-indexed", "");
}

#[test]
fn few_rows() {
    check("misfit-few-rows", "hot-points", "parameters.range = 5_001");
    let text = step("hot-update-indexed", "parameters.row = 10_001")
        .replace("[dataset]", "[dataset]\nschema = \"foo\"")
        .replace(
            "workload = \"point-query\"",
            "workload = \"hot-update-unindexed\"",
        );
    golden(
        "misfit-no-such-row",
        &World::new().parse(&text).unwrap_err(),
    );
    let enough = step("hot-points", "parameters.range = 5_000");
    assert!(World::new().parse(&enough).is_ok());
}

#[test]
fn lists() {
    check("misfit-empty-list", "random-points", "parameters.range = 0");
    check(
        "misfit-long-list",
        "random-points",
        "parameters.range = 65_536",
    );
    // One more value is in the same statement.
    check("misfit-values", "mine", "parameters.range = 65_535");
}

#[test]
fn counts() {
    check(
        "misfit-reversed-count",
        "mine",
        "parameters = { range = 6000, part = 2 }",
    );
    check("misfit-divides-by-zero", "mine", "parameters.part = 0");
}

#[test]
fn counts_of_right_answers_are_computed() {
    let plan = World::new()
        .parse(&step("update-inlist", "parameters.range = 1000"))
        .unwrap();
    let step = plan.steps.last().unwrap();
    let affected = step.own().workload.statements[0].expect.affected.unwrap();
    assert_eq!((affected.min, affected.max), (1, 1000));
}
