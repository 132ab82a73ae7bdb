//! Messages about workloads that can't run on the dataset, or not with the step's parameters.

use super::{RIGHT, World, assert_says};
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

#[track_caller]
fn check(workload: &str, parameters: &str, expected: &str) {
    let mut world = World::new();
    world
        .workloads
        .extend(parse_workloads("mine.toml", MINE).unwrap());
    let text = step(workload, parameters);
    assert_says(&world.parse(&text).unwrap_err(), expected);
}

#[test]
fn another_schema() {
    check(
        "hot-update-indexed",
        "",
        r#"`hot-update-indexed` works on tables of foo, and this dataset has tables of sbtest
           | rows = «10_000» tables of sbtest
           | workload = «"hot-update-indexed"» this step can't run
           | write schema = "foo" in [dataset], or choose another workload: `prony workloads list` shows the schema of each"#,
    );
}

#[test]
fn few_rows() {
    check(
        "hot-points",
        "parameters.range = 5_001",
        r#"`hot-points` needs 2 * range rows in each table: that is 10002 at range = 5001
           | rows = «10_000» with 10000 rows
           | workload = «"hot-points"» this step can't run
           | raise `rows`, or set other `parameters` in the step"#,
    );
    let text = step("hot-update-indexed", "parameters.row = 10_001")
        .replace("[dataset]", "[dataset]\nschema = \"foo\"")
        .replace(
            r#"workload = "point-query""#,
            r#"workload = "hot-update-unindexed""#,
        );
    assert_says(
        &World::new().parse(&text).unwrap_err(),
        r#"`hot-update-indexed` needs row rows in each table: that is 10001 at row = 10001
           | rows = «10_000» with 10000 rows
           | workload = «"hot-update-indexed"» this step can't run
           | raise `rows`, or set other `parameters` in the step"#,
    );
    let enough = step("hot-points", "parameters.range = 5_000");
    assert!(World::new().parse(&enough).is_ok());
}

#[test]
fn lists() {
    check(
        "random-points",
        "parameters.range = 0",
        r#"`random-points` can't draw range values for the list `ids`: that is 0 at range = 0
           | workload = «"random-points"» this step can't run
           | set other `parameters` in the step"#,
    );
    check(
        "random-points",
        "parameters.range = 65_536",
        r#"`random-points` can't send 65536 values with `points`: a prepared statement takes at
           most 65535
           | workload = «"random-points"» this step can't run
           | set other `parameters` in the step"#,
    );
    // One more value is in the same statement.
    check(
        "mine",
        "parameters.range = 65_535",
        r#"`mine` can't send 65536 values with `list`: a prepared statement takes at most 65535
           | workload = «"mine"» this step can't run
           | set other `parameters` in the step"#,
    );
}

#[test]
fn counts() {
    check(
        "mine",
        "parameters = { range = 6000, part = 2 }",
        r#"`mine` can't answer with range..rows / part rows: that is 6000..5000 at range = 6000,
           rows = 10000, part = 2
           | rows = «10_000» with 10000 rows
           | workload = «"mine"» this step can't run
           | raise `rows`, or set other `parameters` in the step"#,
    );
    check(
        "mine",
        "parameters.part = 0",
        r#"`mine`: `rows / part` divides by 0
           | rows = «10_000» with 10000 rows
           | workload = «"mine"» this step can't run
           | raise `rows`, or set other `parameters` in the step"#,
    );
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

/// An experiment with a step on a target of PostgreSQL.
fn on_postgresql(schema: &str, workload: &str) -> String {
    format!(
        "name = \"p\"\nbase = \"postgresql-18.6\"\nblocks = 1\n[dataset]\nschema = \"{schema}\"\n\
         rows = 1000\n[[target]]\nbuild = \"postgresql-18.6\"\n[[step]]\n\
         workload = \"{workload}\"\ntime = \"1s\"\n"
    )
}

#[test]
fn families_that_have_no_words_for_it() {
    assert_says(
        &World::new()
            .parse(&on_postgresql("sbtest", "ddl-check"))
            .unwrap_err(),
        r#"`ddl-check` has no SQL for postgresql, the family of `postgresql-18.6` (statement `check`)
           | workload = «"ddl-check"» this step can't run
           | leave it out, or leave out the servers of postgresql; a workload of your own can have
           words for them: sql = { any = "…", postgresql = "…" }"#,
    );
    for (schema, workload) in [("sbtest", "ddl-optimize"), ("wholesale", "wholesale")] {
        let text = on_postgresql(schema, workload);
        assert!(World::new().parse(&text).is_ok(), "{workload}");
    }
}

#[test]
fn schemas_that_have_no_words_for_a_family() {
    let schema = "[[schema]]\nname = \"mine\"\ntables = \"mine\"\nkey = \"id\"\n\
                  [[schema.column]]\nname = \"id\"\ntype = \"integer\"\nvalue = \"row\"\n\
                  [[schema.condition]]\nname = \"none\"\n\
                  sql = { mysql = \"SELECT IF(COUNT(*) > 0, 0, 1) FROM {table}\" }\n\
                  [[workload]]\nname = \"mine\"\ngroup = \"point\"\neffect = \"none\"\n\
                  schema = \"mine\"\ndescription = \"Mine\"\n\
                  [[workload.statement]]\nname = \"s\"\nsql = \"SELECT id FROM {table}\"\n";
    let text = on_postgresql("mine", "mine").replace("[[target]]", &format!("{schema}[[target]]"));
    assert_says(
        &World::new().parse(&text).unwrap_err(),
        r#"the condition `none` of `mine` has no SQL for postgresql, the family of
           `postgresql-18.6`
           | rows = «1000» in this dataset
           | leave out the servers of postgresql, or add words for them to the schema:
           sql = { any = "…", postgresql = "…" }"#,
    );
}
