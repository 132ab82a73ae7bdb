use std::collections::BTreeMap;

use prony_model::{
    Display, Effect, Expect, Group, Length, Param as ModelParam, Statement as ModelStatement,
};

use super::*;
use crate::random::ClientRandom;

fn task(protocol: Protocol, sql: &str, params: &[(&str, Generator)]) -> DriveTask {
    let statement = ModelStatement {
        name: "s".into(),
        sql: sql.parse().unwrap(),
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
    DriveTask {
        workload: Workload {
            name: "w".into(),
            group: Group::Point,
            effect: Effect::None,
            schema: prony_model::Schema::Sbtest,
            description: String::new(),
            parameters: BTreeMap::from([("range".into(), 100)]),
            transaction: false,
            display: Display::Rate,
            text_only: false,
            statements: vec![statement],
        },
        parameters: BTreeMap::new(),
        dataset: Dataset::sbtest(2, 1000, 1),
        transactional: false,
        protocol,
        clients: 1,
        threads_max: 1,
        seed: 1,
        warmup_ms: 0,
        length: Length::Count { operations: 1 },
        interval_ms: 1000,
        stall_ms: 1000,
        timing: prony_model::Timing::Operations,
    }
}

fn draw(low: &str, high: &str) -> Generator {
    Generator::Draw {
        low: low.parse().unwrap(),
        high: high.parse().unwrap(),
        distribution: Distribution::Uniform,
        count: None,
    }
}

fn derived(expr: &str) -> Generator {
    Generator::Derived(expr.parse().unwrap())
}

fn digits(pattern: &str) -> Generator {
    Generator::Digits(pattern.into())
}

fn compile_error(sql: &str, params: &[(&str, Generator)]) -> CompileError {
    Program::compile(&task(Protocol::Prepared, sql, params))
        .unwrap_err()
        .source
}

/// The text requests of `count` operations of client 0.
fn texts(task: &DriveTask, count: usize) -> Vec<String> {
    let program = Program::compile(task).unwrap();
    let mut values = program.new_values();
    let mut random = ClientRandom::new(task.seed, 0);
    let statement = &program.statements[0];
    let Encoding::Text(pieces) = &statement.encoding else {
        panic!("text");
    };
    (0..count)
        .map(|_| {
            statement.draw(&mut random, &mut values[0]);
            let mut request = Vec::new();
            crate::program::append_text(pieces, &mut request, &program.tables[0], &values[0]);
            String::from_utf8(request[5..].to_vec()).unwrap()
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
    task.parameters.insert("range".into(), 5);
    assert_eq!(texts(&task, 1), ["SELECT 1007"]);
}

#[test]
fn prepared_texts_for_each_table() {
    let task = task(
        Protocol::Prepared,
        "SELECT c FROM {table} WHERE id = {id} OR id = {id}",
        &[("id", draw("1", "rows"))],
    );
    let program = Program::compile(&task).unwrap();
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
    task.workload.text_only = true;
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
    assert!(Program::compile(&task(Protocol::Prepared, "SELECT {high}", &fine)).is_ok());
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
            Program::compile(&task).unwrap_err().source,
            CompileError::TooLarge(WireError::RequestTooLarge { .. })
        ));
    }
}
