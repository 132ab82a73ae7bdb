//! Messages about wrong workloads.

use prony_model::Family;

use super::{assert_says, golden};
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

const UNIFORM: &str = r#"distribution = "uniform""#;

#[track_caller]
fn check(from: &str, to: &str, expected: &str) {
    assert_eq!(RIGHT.matches(from).count(), 1, "{from}");
    let text = RIGHT.replacen(from, to, 1);
    assert_says(&parse_workloads("mine.toml", &text).unwrap_err(), expected);
}

#[test]
fn the_example_is_right() {
    assert_eq!(parse_workloads("mine.toml", RIGHT).unwrap().len(), 1);
}

#[test]
fn holes() {
    check(
        "{low}",
        "{lo}",
        r#"the parameter `lo` is not defined
           | sql = "SELECT c FROM {table} WHERE id BETWEEN «{lo}» AND {high}" no value for this
           hole
           | did you mean `low`? known params of this statement: low, high add params.lo = { from
           = "1..rows" } below the statement"#,
    );
    check(
        " AND {high}",
        "",
        r#"the parameter `high` is not used
           | params.«high» = { value = "low + range" } never sent
           | write {high} in `sql`, or remove it"#,
    );
    check(
        "parameters.range = 100",
        "parameters.range = 100\nparameters.step = 1",
        "the parameter `step` is not used
         | parameters.«step» = 1 changes nothing
         | use it in a statement's `params`, or remove it",
    );
    check(
        "parameters.range = 100",
        "parameters.range = 100\nneeds_rows = \"rows - range\"",
        r#"`rows` is not defined
           | needs_rows = "«rows» - range" can't be used here
           | known names at this place: range"#,
    );
    check(
        "{high}",
        "{high",
        r#"`{` without `}` at byte 49
           | sql = «"SELECT c FROM {table} WHERE id BETWEEN {low} AND {high"» this statement
           | a hole is a parameter's name in braces, such as {id}, or {ids:list} for a list;
           {table} is the table"#,
    );
}

#[test]
fn values_of_parameters() {
    check(
        "1..rows - range",
        "1..row - range",
        r#"`row` is not defined
           | params.low = { from = "1..«row» - range", distribution = "uniform" } can't be used
           here
           | did you mean `rows`? known names at this place: rows, tables, range,
           lowest_key, highest_key"#,
    );
    check(
        "1..rows - range",
        "1..high",
        r#"`high` is not defined
           | params.low = { from = "1..«high»", distribution = "uniform" } can't be used here
           | did you mean `highest_key`? known names at this place: rows, tables, range, lowest_key,
           highest_key"#,
    );
    check(
        r#"value = "low + range""#,
        r#"from = "low..rows""#,
        r#"`low` changes from statement to statement
           | params.high = { from = "«low»..rows" } can't be used here
           | only the workload's parameters, `rows` and `tables` can be used here"#,
    );
    check(
        "low + range",
        "low ^ 2",
        r#"`low ^ 2` is not made of names and whole numbers with + - * / between them, such as
           `low + range - 1`
           | params.high = { value = «"low ^ 2"» } can't be computed"#,
    );
    check(
        "low + range",
        "range + low / 2",
        r#"`low` is drawn: it can't be a dividend or divisor, nor be multiplied with another drawn
           value
           | params.high = { value = "range + «low» / 2" } changes from statement to statement
           | products and quotients are computed before the step: use numbers, the workload's
           parameters, `rows` and `tables`"#,
    );
    check(
        "1..rows - range",
        "rows",
        r#"`rows` is not a range
           | params.low = { from = «"rows"», distribution = "uniform" } no `..` in it
           | write the lowest and the highest value, such as "1..rows""#,
    );
    check(
        r#"from = "1..rows - range", distribution = "uniform""#,
        "digits = \"##\"",
        r#"`low` is a text, but sums need numbers
           | params.high = { value = "«low» + range" } can't be used here
           | only parameters with `from` or `value` are numbers"#,
    );
}

#[test]
fn kinds_and_names_of_parameters() {
    check(
        r#"value = "low + range""#,
        "value = \"low + range\", digits = \"#\"",
        r####"`high` needs one of `from`, `value`, `digits` and `letters`
           | params.high = «{ value = "low + range", digits = "#" }» no rule for its value
           | from = "1..rows" draws a number (with a `distribution`, if it is not uniform, and a
           `count` for a list), value = "low + range" computes one (with text = "user{number:12}"
           beside it, a text of it, with since = "2024-01-01 00:00:00" a time so many seconds after),
           digits = "###-###" makes a text of random digits, letters = "10..20" one of letters"####,
    );
    check(
        "parameters.range",
        "parameters.rows",
        "the name `rows` is reserved
         | parameters.«rows» = 100 taken
         | `table`, `tables`, `rows`, `lowest_key` and `highest_key` come from the dataset:
         choose another name",
    );
    check(
        "params.low =",
        "params.range =",
        r#"× `range` is a parameter of the workload already
           | params.«range» = { from = "1..rows - range", distribution = "uniform" } the same name
           again
           | choose another name here
           × `low` is not defined
           | params.high = { value = "«low» + range" } can't be used here
           | did you mean `lowest_key`? known names at this place: rows, tables, range, lowest_key,
           highest_key"#,
    );
}

#[test]
fn lists() {
    check(
        "{low}",
        "{low:list}",
        r#"`low` is one value, and this hole takes a list
           | sql = "SELECT c FROM {table} WHERE id BETWEEN «{low:list}» AND {high}" does not fit
           | write {low}, or give it a `count`"#,
    );
    check(
        r#"value = "low + range""#,
        r#"from = "1..rows", count = 10"#,
        r#"`high` is a list, and this hole takes one value
           | sql = "SELECT c FROM {table} WHERE id BETWEEN {low} AND «{high}»" does not fit
           | write {high:list}, or remove its `count`"#,
    );
    check(
        "{high}",
        "{highs:list}",
        r#"the parameter `highs` is not defined
           | sql = "SELECT c FROM {table} WHERE id BETWEEN {low} AND «{highs:list}»" no value for
           this hole
           | did you mean `high`? known params of this statement: low, high add params.highs = {
           from = "1..rows", count = 10 } below the statement"#,
    );
    check(
        "{high}",
        "{high:lists}",
        r#"`{high:lists}` is not a hole: expected a name in braces, such as {id}, or a list, such
           as {ids:list}
           | sql = «"SELECT c FROM {table} WHERE id BETWEEN {low} AND {high:lists}"» this
           statement
           | a hole is a parameter's name in braces, such as {id}, or {ids:list} for a list;
           {table} is the table"#,
    );
    check(
        UNIFORM,
        "count = 10",
        r#"`low` is a list, but sums need numbers
           | params.high = { value = "«low» + range" } can't be used here
           | only parameters without a `count` are numbers"#,
    );
    check(
        "value =",
        r#"from = "1..9", count ="#,
        r#"`low` changes from statement to statement
           | params.high = { from = "1..9", count = "«low» + range" } can't be used here
           | only the workload's parameters, `rows` and `tables` can be used here"#,
    );
    check(
        r#"value = "low + range""#,
        r#"value = "low + range", count = 2"#,
        r####"`high` needs one of `from`, `value`, `digits` and `letters`
           | params.high = «{ value = "low + range", count = 2 }» no rule for its value
           | from = "1..rows" draws a number (with a `distribution`, if it is not uniform, and a
           `count` for a list), value = "low + range" computes one (with text = "user{number:12}"
           beside it, a text of it, with since = "2024-01-01 00:00:00" a time so many seconds after),
           digits = "###-###" makes a text of random digits, letters = "10..20" one of letters"####,
    );
}

#[test]
fn distributions() {
    check(
        r#""uniform""#,
        r#""zipf""#,
        r#"unknown distribution `zipf`
           | params.low = { from = "1..rows - range", distribution = «"zipf"» } no such
           distribution
           | did you mean `zipfian`? known distributions: uniform, zipfian, pareto, gaussian,
           special, sequential, unique"#,
    );
    check(
        r#""uniform""#,
        r#""pareto", exponent = 1"#,
        r#"the distribution "pareto" has no `exponent`
           | params.low = { from = "1..rows - range", distribution = "pareto", exponent = «1» }
           has no meaning here
           | `exponent` belongs to distribution = "zipfian": write that, or remove the key"#,
    );
    check(
        UNIFORM,
        r#"hot = "scattered""#,
        r#"the distribution "uniform" has no `hot`
           | params.low = { from = "1..rows - range", hot = «"scattered"» } has no meaning here
           | `hot` belongs to distribution = "zipfian": write that, or remove the key"#,
    );
    for (keys, expected) in [
        (
            r#""zipfian", exponent = -0.5"#,
            r#"`exponent` must be a number from 0 to 100 with at most three decimals
               | params.low = { from = "1..rows - range", distribution = "zipfian", exponent =
               «-0.5» } this can't be used"#,
        ),
        (
            r#""zipfian", exponent = 0.9999"#,
            r#"`exponent` must be a number from 0 to 100 with at most three decimals
               | params.low = { from = "1..rows - range", distribution = "zipfian", exponent =
               «0.9999» } this can't be used"#,
        ),
        (
            r#""zipfian", exponent = "1""#,
            r#"`exponent` must be a number
               | params.low = { from = "1..rows - range", distribution = "zipfian", exponent =
               «"1"» } this is a text"#,
        ),
        (
            r#""pareto", h = 1.0"#,
            r#"`h` must be a number from 0.001 to 0.999 with at most three decimals
               | params.low = { from = "1..rows - range", distribution = "pareto", h = «1.0» }
               this can't be used"#,
        ),
        (
            r#""special", hot_share = 101"#,
            r#"`hot_share` must be at most 100
               | params.low = { from = "1..rows - range", distribution = "special", hot_share =
               «101» } too large"#,
        ),
    ] {
        check(r#""uniform""#, keys, expected);
    }
}

#[test]
fn statements_that_follow_each_other() {
    check(
        "sql =",
        "table = \"previous\"\nsql =",
        r#"there is no statement before this one
           | table = «"previous"» which table?
           | "previous" is the table of the statement above, with its values: write "random" or
           "by-client" in the first"#,
    );
    let second = |lines: &str, expected: &str| {
        let text = format!(
            "{RIGHT}\n[[workload.statement]]\nname = \"again\"\ntable = \"previous\"\n{lines}\n"
        );
        assert_says(&parse_workloads("mine.toml", &text).unwrap_err(), expected);
    };
    let sql = r#"sql = "SELECT c FROM {table} WHERE id = {low}""#;
    second(
        &format!("{sql}\nparams.low = {{ from = \"1..rows\" }}"),
        r#"`low` comes from the statement before
           | params.«low» = { from = "1..rows" } the same name again
           | with table = "previous" a statement has the values of the one before: choose another
           name, or remove it"#,
    );
    second(
        &format!("repeat = 2\n{sql}"),
        "a statement with the values of the one before can't be repeated
         | repeat = «2» would send the same again
         | remove `repeat`",
    );
    second(
        r#"sql = "SELECT {low} + {high}""#,
        r#"the statement names no table
           | «[[workload.statement]]» goes to the table of the statement before
           | sql = «"SELECT {low} + {high}"» no {table} in it
           | write {table} in `sql`, or remove `table`"#,
    );
}

/// Nothing is said of a statement whose only fault is that the one before is wrong.
#[test]
fn a_wrong_statement_before_is_the_only_problem() {
    let text = RIGHT.replace("sql =", "slq =")
        + "\n[[workload.statement]]\nname = \"again\"\ntable = \"previous\"\n\
           sql = \"SELECT c FROM {table} WHERE id = {low}\"\n";
    assert_says(
        &parse_workloads("mine.toml", &text).unwrap_err(),
        r#"× a statement needs `sql`
           | «[[workload.statement]]» `sql` is missing
           × unknown key `slq`
           | «slq» = "SELECT c FROM {table} WHERE id BETWEEN {low} AND {high}" a statement has no
           such key
           | did you mean `sql`? known keys: name, sql, row, repeat, table, params, expect,
           change, weight"#,
    );
}

#[test]
fn changes() {
    let change = |line: &str, expected: &str| {
        check(r#"expect.rows = "range + 1""#, line, expected);
    };
    change(
        "change.rows = 2",
        "`rows` must be at most 1 | change.rows = «2» too large",
    );
    change(
        "change.pad = 1",
        "`pad` is a column of text
         | change.pad = «1» has no sum
         | only 0 is possible: the column keeps its values",
    );
    change(
        "change.i = 1",
        "tables of sbtest have no column `i`
         | change.«i» = 1 can't be counted
         | did you mean `id`? known keys: rows, id, k, c, pad",
    );
    change(
        "change.k = 1",
        r#"`range` changes its table
           | effect = «"none"» changes nothing
           | write the effect that its `change` has, or remove `change`"#,
    );
}

#[test]
fn words() {
    check(
        r#"group = "range""#,
        r#"group = "ranges""#,
        r#"unknown group `ranges`
           | group = «"ranges"» no such group
           | did you mean `range`? known groups: point, in-list, range, aggregate, write, mixed"#,
    );
    check(
        r#""none""#,
        r#""all""#,
        r#"unknown effect `all`
           | effect = «"all"» no such effect
           | known effects: none, grow, shrink, rewrite"#,
    );
    check(
        "group =",
        "schema = \"fo\"\ngroup =",
        r#"unknown schema `fo`
           | schema = «"fo"» no such schema
           | did you mean `foo`? known schemas: sbtest, sbtest-0.4, foo,
           purchases, bank, wholesale, ycsb, ycsb-counted, family,
           family-unchecked, shop"#,
    );
    check(
        "effect =",
        "efect =",
        r#"× a workload needs `effect`
           | «[[workload]]» `effect` is missing
           × unknown key `efect`
           | «efect» = "none" a workload has no such key
           | did you mean `effect`? known keys: name, group, effect, schema, description,
           transaction, display, text_only, parameters, needs_rows, statement"#,
    );
    check(
        r#""range + 1""#,
        r#""some""#,
        r#"`some` is not defined
           | expect.rows = "«some»" can't be used here
           | known names at this place: rows, tables, range"#,
    );
    check(
        r#""range + 1""#,
        r#""2..1""#,
        r#"`2..1` is not a count: write a whole number such as 1, or a range such as 0..1
           | expect.rows = «"2..1"» can't be compared with an answer
           | the lower count comes first; "any" stands for every count"#,
    );
    check(
        r#""range + 1""#,
        r#""1..""#,
        r#"`1..` is not a count: write a whole number such as 1, or a range such as 0..1
           | expect.rows = «"1.."» can't be compared with an answer
           | the lower count comes first; "any" stands for every count"#,
    );
    check(
        r#"expect.rows = "range + 1""#,
        r#"expect.affected = "1..low""#,
        r#"`low` is not defined
           | expect.affected = "1..«low»" can't be used here
           | known names at this place: rows, tables, range"#,
    );
}

#[test]
fn statements() {
    check(
        "sql =",
        "repeat = 0\nsql =",
        "`repeat` must be at least 1 | repeat = «0» too small",
    );
    let start = RIGHT.find("[[workload.statement]]").unwrap();
    let none = &RIGHT[..start];
    assert_says(
        &parse_workloads("mine.toml", none).unwrap_err(),
        "a workload needs at least one statement
         | «[[workload]]» no [[workload.statement]] follows
         | write [[workload.statement]] with `name` and `sql` below it",
    );
    let twice = format!("{RIGHT}\n{}", &RIGHT[start..]);
    assert_says(
        &parse_workloads("mine.toml", &twice).unwrap_err(),
        r#"two statements are named `range`
           | name = «"range"» first here
           | name = «"range"» here again
           | counters and histograms are stored by name: give each its own"#,
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
    let start = document.find(r#"name = "nineteen-to-one""#).unwrap();
    let end = start + document[start..].find("```").unwrap();
    let text = format!("[[workload]]\n{}", &document[start..end]);
    assert_eq!(text.matches(from).count(), 1, "{from}");
    text.replacen(from, to, 1)
}

const SELECT: &str = r#"sql = "SELECT c FROM {table} WHERE id BETWEEN {low} AND {high}""#;

#[test]
fn families_have_words_of_their_own() {
    let own = r#"sql = { any = "SELECT {low}, {high} FROM {table}", postgresql = "SELECT {low} FROM {table}" }"#;
    let read = parse_workloads("mine.toml", &RIGHT.replace(SELECT, own)).unwrap();
    let sql = &read[0].statements[0].sql;
    let of = |family| sql.of(family).unwrap().to_string();
    assert_eq!(of(Family::Mariadb), "SELECT {low}, {high} FROM {table}");
    assert_eq!(of(Family::Postgresql), "SELECT {low} FROM {table}");
    let one = r#"sql = { mysql = "SELECT {low}, {high}" }"#;
    let read = parse_workloads("mine.toml", &RIGHT.replace(SELECT, one)).unwrap();
    assert_eq!(read[0].without_sql(Family::Mysql), None);
    assert_eq!(read[0].without_sql(Family::Postgresql), Some("range"));
}

#[test]
fn words_of_families_that_are_wrong() {
    check(
        SELECT,
        r#"sql = { any = "SELECT {low}, {high}", postgres = "SELECT 1" }"#,
        r#"unknown key `postgres`
           | sql = { any = "SELECT {low}, {high}", «postgres» = "SELECT 1" } a table of texts has
           no such key
           | did you mean `postgresql`? known keys: any, mysql, mariadb, postgresql"#,
    );
    check(
        SELECT,
        r#"sql = { any = "SELECT {low}, {high}", postgresql = "SELECT {lo}" }"#,
        r#"the parameter `lo` is not defined
           | sql = { any = "SELECT {low}, {high}", postgresql = "SELECT «{lo}»" } no value for this
           hole
           | did you mean `low`? known params of this statement: low, high add params.lo = { from
           = "1..rows" } below the statement"#,
    );
    check(
        SELECT,
        "sql = {}",
        "the statement has no text
         | sql = «{}» an empty table
         | write `any` for the text that all families understand, and the name of a family for one
         of its own",
    );
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
    let refused = |from: &str, to: &str, expected: &str| {
        let invalid = parse_workloads("mine.toml", &mix(from, to)).unwrap_err();
        assert_says(&invalid, expected);
    };
    refused(
        "weight = 1\n",
        "",
        r#"`change` has no `weight`
           | name = «"read"» has one
           | name = «"change"» how often?
           | with weights an operation runs one statement, drawn by weight; without, all of them:
           write `weight` in all statements of the workload, or in none"#,
    );
    refused(
        "weight = 1\n",
        "weight = 0\n",
        "`weight` must be at least 1 | weight = «0» too small",
    );
    refused(
        "weight = 1\n",
        "weight = 1\nrepeat = 2\n",
        "an operation of a mix runs one statement, once
         | weight = «1» drawn by weight
         | repeat = «2» several times
         | remove `repeat`; a higher `weight` makes the statement more frequent",
    );
    let update = "sql = \"UPDATE {table} SET k = k + 1 WHERE id = {id}\"\n";
    refused(
        &format!("{update}params.id = {{ from = \"1..rows\" }}\n"),
        &format!("{update}table = \"previous\"\n"),
        r#"an operation of a mix has no statement before the one that is drawn
           | weight = «1» drawn by weight
           | remove `table = "previous"`, or the weights"#,
    );
}
