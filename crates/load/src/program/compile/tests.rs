mod rows;

use std::collections::BTreeMap;

use prony_model::{
    Backend, Display, Distribution, Effect, Expect, Generator, Group, Hot, Length,
    Param as ModelParam, Statement as ModelStatement, Thousandths,
};
use prony_wire::{PAYLOAD_MAX, WireError};

use super::*;
use crate::choices::Choices;
use crate::program::Encoding;
use crate::protocol::{PreparedId, Request};

fn compile_task(task: &DriveTask) -> Result<Program, StatementError> {
    Program::compile(Family::Mysql, task, 0, None)
}

fn task(protocol: Protocol, sql: &str, params: &[(&str, Generator)]) -> DriveTask {
    let statement = ModelStatement {
        weight: None,
        name: "s".into(),
        sql: sql.parse().unwrap(),
        row: None,
        repeat: 1,
        table: TableChoice::ByClient,
        params: params
            .iter()
            .map(|(name, generator)| ModelParam {
                name: (*name).into(),
                generator: generator.clone(),
            })
            .collect(),
        expect: Expect::default(),
        expect_rows: None,
        expect_affected: None,
        change: prony_model::Change::default(),
    };
    let workload = Workload {
        name: "w".into(),
        group: Group::Point,
        effect: Effect::None,
        schema: prony_model::Schema::SBTEST,
        description: String::new(),
        parameters: BTreeMap::from([("range".into(), 100)]),
        transaction: false,
        display: Display::Rate,
        text_only: false,
        needs_rows: None,
        statements: vec![statement],
    };
    let dataset = Dataset::sbtest(2, 1000, 1);
    let length = Length::Count { operations: 1 };
    DriveTask {
        transactional: false,
        protocol,
        ..DriveTask::closed_loop(workload, 1, dataset, length, Backend::Epoll)
    }
}

#[test]
fn the_text_is_that_of_the_servers_family() {
    let mut task = task(Protocol::Text, "SELECT 1", &[("id", draw("1", "9"))]);
    let statement = &mut task.groups.own_mut().workload.statements[0];
    statement.sql =
        serde_json::from_str(r#"{"any":"A {id} {table}","postgresql":"B {id}"}"#).unwrap();
    let compiled = |family| Program::compile(family, &task, 0, None).unwrap();
    let text = |family| {
        let program = compiled(family);
        let values = program.new_values().remove(0);
        let Encoding::Text(pieces) = &program.statements[0].encoding else {
            panic!("not a text");
        };
        let mut sql = Vec::new();
        crate::program::append_sql(pieces, &mut sql, &program.tables[0], &values);
        String::from_utf8(sql).unwrap()
    };
    assert_eq!(text(Family::Mariadb), "A 0 sbtest1");
    assert_eq!(text(Family::Postgresql), "B 0");
    // What is drawn does not depend on the family: neither do tables.
    for family in Family::ALL {
        assert_eq!(
            compiled(family).statements[0].table,
            Some(TableChoice::ByClient)
        );
    }

    let statement = &mut task.groups.own_mut().workload.statements[0];
    statement.sql = serde_json::from_str(r#"{"mysql":"SELECT {id}"}"#).unwrap();
    let error = Program::compile(Family::Postgresql, &task, 0, None).unwrap_err();
    assert_eq!(error.source, CompileError::NoSql(Family::Postgresql));
}

fn draw(low: &str, high: &str) -> Generator {
    draw_by(Distribution::Uniform, low, high, None)
}

fn list(low: &str, high: &str, count: &str) -> Generator {
    draw_by(Distribution::Uniform, low, high, Some(count))
}

fn draw_by(distribution: Distribution, low: &str, high: &str, count: Option<&str>) -> Generator {
    Generator::Draw {
        low: low.parse().unwrap(),
        high: high.parse().unwrap(),
        distribution,
        count: count.map(|count| count.parse().unwrap()),
    }
}

fn derived(expr: &str) -> Generator {
    Generator::Derived(expr.parse().unwrap())
}

fn digits(pattern: &str) -> Generator {
    Generator::Digits(pattern.into())
}

fn compile_error(sql: &str, params: &[(&str, Generator)]) -> CompileError {
    compile_task(&task(Protocol::Prepared, sql, params))
        .unwrap_err()
        .source
}

/// The text requests of `count` operations of client 0.
fn texts(task: &DriveTask, count: usize) -> Vec<String> {
    let program = compile_task(task).unwrap();
    let mut values = program.new_values();
    let mut choices = Choices::new(&program, 0);
    let statement = &program.statements[0];
    let Encoding::Text(pieces) = &statement.encoding else {
        panic!("text");
    };
    (0..count)
        .map(|_| {
            choices.choose(&program, &program.statements[0], 0, &mut values[0]);
            let mut request = Vec::new();
            crate::program::append_sql(pieces, &mut request, &program.tables[0], &values[0]);
            String::from_utf8(request).unwrap()
        })
        .collect()
}

#[test]
fn draws_derives_and_quotes() {
    let task = task(
        Protocol::Text,
        "UPDATE {table} SET c = {c} WHERE id BETWEEN {low} AND {high} AND id > {low}",
        &[
            ("low", draw("1", "rows - range + 1")),
            ("high", derived("low + range - 1")),
            ("c", digits("it's #")),
        ],
    );
    for text in texts(&task, 200) {
        let numbers: Vec<i64> = text
            .split(|c: char| !c.is_ascii_digit())
            .filter(|word| !word.is_empty())
            .map(|word| word.parse().unwrap())
            .collect();
        let [1, digit, low, high, again] = numbers[..] else {
            panic!("{text}");
        };
        let expected = format!(
            "UPDATE sbtest1 SET c = 'it''s {digit}' WHERE id BETWEEN {low} AND {high} AND id > {low}"
        );
        assert_eq!(text, expected);
        assert!((1..=901).contains(&low) && high == low + 99 && again == low);
    }
}

#[test]
fn steps_override_parameters() {
    let mut task = task(
        Protocol::Text,
        "SELECT {n}",
        &[("n", derived("range + tables + rows"))],
    );
    assert_eq!(texts(&task, 1), ["SELECT 1102"]);
    task.groups.own_mut().parameters.insert("range".into(), 5);
    assert_eq!(texts(&task, 1), ["SELECT 1007"]);
}

#[test]
fn prepared_texts_for_each_table() {
    let task = task(
        Protocol::Prepared,
        "SELECT c FROM {table} WHERE id = {id} OR id = {id}",
        &[("id", draw("1", "rows"))],
    );
    let program = compile_task(&task).unwrap();
    let statement = &program.statements[0];
    let Encoding::Prepared(prepared) = &statement.encoding else {
        panic!("prepared");
    };
    assert_eq!(
        prepared.sql,
        [
            "SELECT c FROM sbtest1 WHERE id = ? OR id = ?",
            "SELECT c FROM sbtest2 WHERE id = ? OR id = ?"
        ]
    );
    assert_eq!(prepared.params(), 2);
    assert_eq!(tables_of_client(statement, 5, 2), [1]);
}

#[test]
fn text_only_wins_over_the_protocol() {
    let mut task = task(Protocol::Prepared, "SELECT 1", &[]);
    task.groups.own_mut().workload.text_only = true;
    assert_eq!(texts(&task, 1), ["SELECT 1"]);
}

#[test]
fn ranges_that_can_be_empty_are_refused() {
    for (params, by) in [
        (vec![("id", draw("rows", "range"))], 900),
        (vec![("id", draw("rows", "rows - 1"))], 1),
        (
            vec![("low", draw("1", "20")), ("id", draw("low", "10"))],
            10,
        ),
    ] {
        assert_eq!(
            compile_error("SELECT {id}", &params),
            CompileError::EmptyRange {
                name: "id".into(),
                by
            }
        );
    }
    // Whatever `low` is, `high` is above it.
    let fine = [
        ("low", draw("1", "rows")),
        ("high", draw("low", "low + range")),
    ];
    assert!(compile_task(&task(Protocol::Prepared, "SELECT {high}", &fine)).is_ok());
}

#[test]
fn names_must_be_defined_once() {
    assert_eq!(
        compile_error("SELECT {id}", &[]),
        CompileError::NoParam("id".into())
    );
    for name in ["range", "rows", "tables", "twice"] {
        let params = [("twice", derived("1")), (name, derived("2"))];
        assert_eq!(
            compile_error("SELECT {twice}", &params),
            CompileError::NameTaken(name.into())
        );
    }
    // Texts are no numbers, and later parameters are not known yet.
    for params in [
        [("t", digits("#")), ("n", derived("t + 1"))],
        [("n", derived("m")), ("m", derived("1"))],
    ] {
        assert!(matches!(
            compile_error("SELECT {n}", &params),
            CompileError::Expression {
                source: ExprError::Undefined(_),
                ..
            }
        ));
    }
}

#[test]
fn values_and_requests_must_fit() {
    let huge = i64::MAX.to_string();
    assert_eq!(
        compile_error(
            "SELECT {n}",
            &[("a", draw("0", &huge)), ("n", derived("a + 1"))]
        ),
        CompileError::OutOfRange("a".into())
    );
    assert_eq!(
        compile_error(
            "SELECT {n}",
            &[("a", draw("1", &huge)), ("n", derived("a + 1"))]
        ),
        CompileError::OutOfRange("n".into())
    );
    let long = "#".repeat(PAYLOAD_MAX);
    for protocol in [Protocol::Prepared, Protocol::Text] {
        let task = task(protocol, "SELECT {t}", &[("t", digits(&long))]);
        assert!(matches!(
            compile_task(&task).unwrap_err().source,
            CompileError::TooLarge(ProtocolError::Wire(WireError::RequestTooLarge { .. }))
        ));
    }
}

/// Results of older runs rest on this: a uniform value takes one random number of its client.
#[test]
fn uniform_draws_never_change() {
    let task = task(
        Protocol::Text,
        "SELECT {a},{b}",
        &[("a", draw("1", "rows")), ("b", draw("5", "9"))],
    );
    let mut random = crate::values::random::ClientRandom::new(task.seed, 0);
    for text in texts(&task, 100) {
        let (a, b) = (1 + random.below(1000), 5 + random.below(5));
        assert_eq!(text, format!("SELECT {a},{b}"));
    }
}

/// The numbers of a text, in order.
fn numbers(text: &str) -> Vec<i64> {
    text.split(|c: char| !c.is_ascii_digit())
        .filter_map(|word| word.parse().ok())
        .collect()
}

#[test]
fn lists_are_joined_by_commas() {
    let task = task(
        Protocol::Text,
        "SELECT c FROM {table} WHERE id IN ({ids:list}) AND k > {k} OR id IN ({ids:list})",
        &[
            ("ids", list("1", "rows", "range / 50 + 1")),
            ("k", draw("1", "9")),
        ],
    );
    for text in texts(&task, 100) {
        let [1, a, b, c, k, ..] = numbers(&text)[..] else {
            panic!("{text}");
        };
        assert_eq!(
            text,
            format!(
                "SELECT c FROM sbtest1 WHERE id IN ({a},{b},{c}) AND k > {k} OR id IN ({a},{b},{c})"
            )
        );
        assert!([a, b, c].iter().all(|id| (1..=1000).contains(id)));
        assert!((1..=9).contains(&k));
    }
}

/// A list takes the random numbers that as many single values take.
#[test]
fn lists_draw_what_single_values_draw() {
    let single = [("a", draw("1", "rows")), ("b", draw("1", "rows"))];
    let listed = [("ids", list("1", "rows", "2"))];
    let draw_all =
        |sql, params: &[(&str, Generator)]| texts(&task(Protocol::Text, sql, params), 50);
    assert_eq!(
        draw_all("SELECT {a},{b}", &single),
        draw_all("SELECT {ids:list}", &listed)
    );
}

#[test]
fn prepared_lists_are_many_parameters() {
    let task = task(
        Protocol::Prepared,
        "UPDATE {table} SET c = {c} WHERE id IN ({ids:list})",
        &[("ids", list("1", "rows", "3")), ("c", digits("#"))],
    );
    let program = compile_task(&task).unwrap();
    let Encoding::Prepared(prepared) = &program.statements[0].encoding else {
        panic!("prepared");
    };
    assert_eq!(
        prepared.sql[1],
        "UPDATE sbtest2 SET c = ? WHERE id IN (?,?,?)"
    );
    assert_eq!(prepared.params(), 4);
    let mut values = program.new_values();
    Choices::new(&program, 0).choose(&program, &program.statements[0], 0, &mut values[0]);
    let mut request = Request::new(Wire::Mysql);
    let mut id = PreparedId::new(1);
    request.execute(0, &prepared.execution, &mut id, &values[0]);
    let request = request.bytes();
    let ids: Vec<i64> = request[request.len() - 24..]
        .chunks(8)
        .map(|bytes| i64::from_le_bytes(bytes.try_into().unwrap()))
        .collect();
    assert_eq!(ids, values[0].integers);
}

#[test]
fn lists_and_values_are_told_apart() {
    let ids = ("ids", list("1", "rows", "3"));
    let one = ("one", draw("1", "rows"));
    assert_eq!(
        compile_error("SELECT {ids}", std::slice::from_ref(&ids)),
        CompileError::ListAsValue("ids".into())
    );
    for param in [one, ("one", digits("#"))] {
        assert_eq!(
            compile_error("SELECT {one:list}", &[param]),
            CompileError::ValueAsList("one".into())
        );
    }
    assert_eq!(
        compile_error("SELECT {n}", &[ids, ("n", derived("ids + 1"))]),
        CompileError::ListInExpression {
            name: "n".into(),
            list: "ids".into()
        }
    );
}

#[test]
fn lists_have_a_length_that_is_known() {
    for (count, length) in [
        ("range - range", 0),
        ("1 - rows", -999),
        ("rows * rows * 5", 5_000_000),
    ] {
        assert_eq!(
            compile_error("SELECT {ids:list}", &[("ids", list("1", "rows", count))]),
            CompileError::ListLength {
                name: "ids".into(),
                count: length,
                max: 1 << 20
            }
        );
    }
    let by_another = [("n", draw("1", "5")), ("ids", list("1", "rows", "n"))];
    assert!(matches!(
        compile_error("SELECT {ids:list}", &by_another),
        CompileError::Expression { .. }
    ));
    let long = list("1", "rows", "70_000");
    assert_eq!(
        compile_error("SELECT {ids:list}", &[("ids", long.clone())]),
        CompileError::TooManyParams {
            count: 70_000,
            max: 65_535
        }
    );
    let text = task(Protocol::Text, "SELECT {ids:list}", &[("ids", long)]);
    assert!(compile_task(&text).is_ok());
}

#[test]
fn expressions_stay_linear_in_drawn_values() {
    let fine = [
        ("low", draw("rows / 2", "rows")),
        ("n", derived("low * 3 - range * 2")),
    ];
    let task = task(Protocol::Text, "SELECT {low}, {n}", &fine);
    for text in texts(&task, 20) {
        let [low, n] = numbers(&text)[..] else {
            panic!("{text}");
        };
        assert_eq!(n, 3 * low - 200);
    }
    assert_eq!(
        compile_error(
            "SELECT {n}",
            &[("low", draw("1", "rows")), ("n", derived("low / 2"))]
        ),
        CompileError::NotLinear {
            name: "n".into(),
            factor: "low".into()
        }
    );
}

const ZIPFIAN: Distribution = Distribution::Zipfian {
    exponent: Thousandths(800),
    hot: Hot::Adjacent,
};

#[test]
fn other_distributions_want_a_range_that_stays() {
    let changing = [
        ("low", draw("1", "rows")),
        ("id", draw_by(ZIPFIAN, "low", "low + 9", None)),
    ];
    assert_eq!(
        compile_error("SELECT {id}", &changing),
        CompileError::ChangingRange("id".into())
    );
    let steady = [("ids", draw_by(ZIPFIAN, "rows", "rows + 99", Some("5")))];
    for text in texts(&task(Protocol::Text, "SELECT {ids:list}", &steady), 50) {
        let drawn = numbers(&text);
        assert_eq!(drawn.len(), 5);
        assert!(drawn.iter().all(|id| (1000..=1099).contains(id)), "{text}");
    }
}

#[test]
fn ordered_parameters_go_on_where_they_were() {
    let ids = draw_by(Distribution::Sequential, "5", "9", Some("2"));
    let task = task(Protocol::Text, "SELECT {ids:list}", &[("ids", ids)]);
    assert_eq!(texts(&task, 3), ["SELECT 5,6", "SELECT 7,8", "SELECT 9,5"]);
}

#[test]
fn clients_share_a_range_of_unique_values() {
    let ids = draw_by(Distribution::Unique, "1", "range", None);
    let mut task = task(Protocol::Text, "SELECT {id}", &[("id", ids)]);
    task.groups.own_mut().clients = 5;
    let program = compile_task(&task).unwrap();
    let mut values = program.new_values();
    let mut drawn: Vec<i64> = (0..5)
        .flat_map(|client| {
            let mut choices = Choices::new(&program, client);
            let draws = (0..20).map(|_| {
                choices.choose(&program, &program.statements[0], 0, &mut values[0]);
                values[0].integers[0]
            });
            draws.collect::<Vec<_>>()
        })
        .collect();
    assert!(!drawn.is_sorted());
    drawn.sort_unstable();
    assert!(drawn.into_iter().eq(1..=100));
}

/// A delete and the insert that puts the row back mean the same row, whatever draws it.
#[test]
fn statements_that_repeat_values_repeat_ordered_ones() {
    for distribution in [Distribution::Uniform, Distribution::Unique, ZIPFIAN] {
        let ids = draw_by(distribution, "1", "rows", None);
        let mut task = task(
            Protocol::Text,
            "DELETE {table} {id}",
            &[("id", ids.clone())],
        );
        let mut insert = task.groups.own_mut().workload.statements[0].clone();
        insert.table = TableChoice::Previous;
        insert.sql = "INSERT {table} {id} {n}".parse().unwrap();
        insert.params.push(ModelParam {
            name: "n".into(),
            generator: draw_by(Distribution::Sequential, "1", "rows", None),
        });
        task.groups.own_mut().workload.statements[0].table = TableChoice::Random;
        task.groups.own_mut().workload.statements.push(insert);
        let program = compile_task(&task).unwrap();
        let mut values = program.new_values();
        let mut choices = Choices::new(&program, 0);
        let mut ids = Vec::new();
        for turn in 1..=50 {
            choices.begin_operation();
            for _attempt in 0..2 {
                choices.choose(&program, &program.statements[0], 0, &mut values[0]);
                let deleted = (choices.table(), values[0].integers[0]);
                choices.choose(&program, &program.statements[1], 0, &mut values[1]);
                assert_eq!((choices.table(), values[1].integers[0]), deleted);
                assert_eq!(values[1].integers[1], turn);
                ids.push(deleted);
                choices.repeat_operation();
            }
            // What an attempt chooses, its repetition chooses.
            choices.choose(&program, &program.statements[0], 0, &mut values[0]);
            choices.choose(&program, &program.statements[1], 0, &mut values[1]);
            let (second, first) = (ids.pop().unwrap(), ids.pop().unwrap());
            assert_eq!(first, second);
            ids.push(first);
        }
        ids.dedup();
        assert!(ids.len() > 30, "{distribution:?}: {ids:?}");
    }
}

/// A workload with two statements of these weights.
fn mix(weights: [Option<u32>; 2]) -> DriveTask {
    let mut task = task(Protocol::Text, "SELECT 1", &[]);
    let first = task.groups.own_mut().workload.statements[0].clone();
    task.groups.own_mut().workload.statements = weights
        .into_iter()
        .map(|weight| ModelStatement {
            weight,
            ..first.clone()
        })
        .collect();
    task
}

#[test]
fn an_operation_of_a_mix_is_one_statement() {
    let program = compile_task(&mix([Some(3), Some(1)])).unwrap();
    assert_eq!(
        (program.mix.as_slice(), program.queries_per_operation),
        (&[3, 4][..], 1)
    );
    let mut choices = Choices::new(&program, 0);
    let second = (0..10_000).filter(|_| choices.first(&program) == 1).count();
    // 2,500 expected; the standard deviation is 43.
    assert!((2_350..2_650).contains(&second), "{second}");
    assert!(!program.goes_on_after(0));
    for weights in [[Some(3), None], [Some(0), Some(1)]] {
        let error = compile_task(&mix(weights)).unwrap_err();
        assert_eq!(error.source, CompileError::Mix);
    }
    let mut repeated = mix([Some(1), Some(1)]);
    repeated.groups.own_mut().workload.statements[1].repeat = 2;
    assert_eq!(
        compile_task(&repeated).unwrap_err().source,
        CompileError::Mix
    );
}
