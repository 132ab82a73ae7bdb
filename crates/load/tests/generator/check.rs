//! Checking the answers to a workload.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use prony_load::{CheckOutcome, CheckTask, LoadError, Message, Task};
use prony_model::{Dataset, Effect, Workload};

use crate::drive::{answer, mixed};
use crate::testkit::{Delivery, FakeServer, Reply, Request};

fn task(workload: Workload) -> CheckTask {
    CheckTask {
        workload,
        parameters: BTreeMap::new(),
        dataset: Dataset::sbtest(2, 1000, 1),
        transactional: true,
        operations: 3,
        seed: 7,
    }
}

fn run(server: &FakeServer, task: CheckTask) -> Result<CheckOutcome, LoadError> {
    let mut messages = crate::run(server, Task::Check(Box::new(task)))?;
    match messages.pop() {
        Some(Message::Checked { outcome }) => Ok(*outcome),
        other => panic!("expected the outcome, got {other:?}"),
    }
}

/// Rows and sums of a table, `k` being what the test says.
fn sums(k: u64) -> Reply {
    let columns = ["rows", "id", "k", "c", "pad"];
    let values = [1000, 500_500, k, 7, u64::MAX].map(|value| value.to_string());
    Reply::Text(columns.into_iter().zip(values).collect())
}

/// Answers as the drive tests do, and counts the updates in the tables' sums of `k`.
fn counting(add: u64) -> impl Fn(&Request) -> Reply + Send + Sync {
    let updates = AtomicU64::new(0);
    move |request| {
        if request.sql.contains("COUNT(*)") {
            return sums(add * updates.load(Ordering::Relaxed));
        }
        if request.sql.starts_with("UPDATE") {
            updates.fetch_add(1, Ordering::Relaxed);
        }
        answer(request)
    }
}

/// The workload of the drive tests, each update adding 1 to `k`.
fn adding() -> Workload {
    let mut workload = mixed(true);
    workload.effect = Effect::Rewrite;
    workload.statements[0].expect.rows = Some("11".parse().unwrap());
    workload.statements[1].change.sums = [("k".to_owned(), 1)].into();
    workload
}

#[test]
fn answers_and_tables_are_looked_at() {
    // Both tables answer with the same sums: together they show two for each update.
    let server = FakeServer::start(Delivery::Whole, counting(1));
    let mut workload = adding();
    workload.statements[1].change.sums = [("k".to_owned(), 2)].into();
    let outcome = run(&server, task(workload.clone())).unwrap();
    assert_eq!(outcome.wrong(&workload), [""; 0]);
    let counts: Vec<_> = outcome
        .statements
        .iter()
        .map(|s| (s.name.as_str(), s.count, s.rows, s.affected, s.unexpected))
        .collect();
    assert_eq!(counts, [("read", 6, 66, 0, 0), ("write", 3, 0, 3, 0)]);
    assert_eq!(outcome.before.len(), 2);
    assert_eq!(outcome.before[1].table, "sbtest2");
    assert_eq!(outcome.before[1].rows, 1000);
    assert_eq!(outcome.after[0].sums["k"], 3);
    assert_eq!(outcome.after[0].sums["pad"], i128::from(u64::MAX));
    let asked = &server.record()[&0];
    // Before each sum the server is asked whether it has MD5.
    assert_eq!(asked.len(), 4 + 3 * 5 + 4);
    assert_eq!(
        asked[1],
        "SELECT COUNT(*), SUM(id), SUM(k), SUM(CONV(LEFT(MD5(c), 8), 16, 10)), \
         SUM(CONV(LEFT(MD5(pad), 8), 16, 10)) FROM sbtest1"
    );
    assert_eq!((asked[4].as_str(), asked[8].as_str()), ("BEGIN", "COMMIT"));
}

#[test]
fn what_is_not_right_is_said() {
    let server = FakeServer::start(Delivery::Whole, counting(1));
    let mut workload = adding();
    workload.statements[0].expect.rows = Some("10".parse().unwrap());
    let outcome = run(&server, task(workload.clone())).unwrap();
    let wrong = outcome.wrong(&workload);
    assert_eq!(wrong.len(), 2, "{wrong:?}");
    for word in ["6 of 6", "`read`", "11 rows, expected 10", "BETWEEN"] {
        assert!(wrong[0].contains(word), "{wrong:?}");
    }
    assert!(wrong[1].contains("the sum of `k`"), "{wrong:?}");
    workload.effect = Effect::None;
    assert!(outcome.wrong(&workload)[1].contains("sbtest1 changed"));
}

#[test]
fn the_digest_is_that_of_the_rows() {
    let digests = |rows| {
        let server =
            FakeServer::start(Delivery::Whole, move |request| match request.sql.as_str() {
                sql if sql.contains("COUNT(*)") => sums(0),
                sql if sql.starts_with("SELECT") => Reply::Rows(rows),
                _ => Reply::Ok(0),
            });
        let outcome = run(&server, task(mixed(false))).unwrap();
        outcome
            .statements
            .iter()
            .map(|s| s.digest)
            .collect::<Vec<_>>()
    };
    let one = digests(1);
    // An update returns no rows, and rows that are alike add up.
    assert_eq!(one[1], 0);
    assert_eq!(digests(3)[0], one[0].wrapping_mul(3));
}

#[test]
fn nothing_goes_unnoticed() {
    let refusing = FakeServer::start(Delivery::Whole, |request| {
        if request.sql.contains("COUNT(*)") || request.sql.starts_with("SELECT MD5") {
            return sums(0);
        }
        Reply::Err(1205)
    });
    let error = run(&refusing, task(mixed(false))).unwrap_err().to_string();
    assert!(
        error.contains("`read`") && error.contains("1205"),
        "{error}"
    );
    let strange = FakeServer::start(Delivery::Whole, |_| {
        Reply::Text(vec![("rows", "1000".into()), ("id", "5.005e5".into())])
    });
    let error = run(&strange, task(mixed(false))).unwrap_err().to_string();
    for word in ["sbtest1", "SUM(id)", "5.005e5"] {
        assert!(error.contains(word), "{error}");
    }
    let mut none = task(mixed(false));
    none.operations = 0;
    let error = run(&strange, none).unwrap_err().to_string();
    assert!(error.contains("operations"), "{error}");
}
