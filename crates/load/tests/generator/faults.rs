//! Everything that a server can do wrong: each yields an error that says so and names what was
//! under way, or is counted; nothing hangs, and nothing is counted wrongly.

mod mysql;
mod postgres;

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use prony_load::{DriveTask, LoadError, Message, Task};
use prony_model::{
    Backend, ErrorClass, Family, Length, Pace, Protocol, Spacing, StepOutcome, Thousandths,
};

use crate::drive::{answer, mixed, task};
use crate::testkit::{
    Delivery, Door, FakeServer, Reply, Request, Then, code, is_postgres, ok_bytes, rows_bytes,
    spoken,
};

/// More than any of the runs takes on the busiest machine: what takes longer hangs.
const PATIENCE: Duration = Duration::from_mins(1);
/// The silence that is put up with where it is what is tested: longer than a busy machine takes for
/// anything else.
const STALL_MS: u64 = 2_500;

crate::backend::behind_each_backend_in_each_protocol! {
    answers_gone_wrong_are_fatal_and_named,
    open_loops_meet_the_same_faults,
    silence_is_fatal_and_named,
    every_statement_is_named,
    a_connection_closed_between_requests_is_found_closed,
    connections_that_fail_are_fatal_and_named,
    connecting_anew_fails_in_the_same_ways,
    silence_at_the_door_is_fatal,
    packets_in_pieces_count_alike,
    errors_in_the_middle_of_rows_are_counted,
    answers_of_another_kind_are_counted_as_unexpected,
}

/// How load is driven.
#[derive(Debug, Clone, Copy)]
struct Kind {
    backend: Backend,
    family: Family,
    protocol: Protocol,
    clients: u32,
}

/// Every protocol, with one client and with several.
fn kinds() -> Vec<Kind> {
    let (backend, family) = (crate::backend::chosen(), spoken());
    let mut kinds = Vec::new();
    for protocol in [Protocol::Prepared, Protocol::Text] {
        for clients in [1, 3] {
            kinds.push(Kind {
                backend,
                family,
                protocol,
                clients,
            });
        }
    }
    kinds
}

/// For tests that wait most of the time.
fn at_once<T: Sync>(cases: &[T], test: impl Fn(Kind, &T) + Sync) {
    thread::scope(|scope| {
        for kind in kinds() {
            for case in cases {
                let test = &test;
                scope.spawn(move || {
                    crate::backend::choose(kind.backend, kind.family);
                    test(kind, case);
                });
            }
        }
    });
}

/// Runs a task, and fails when it hangs.
fn run(server: FakeServer, task: DriveTask) -> Result<StepOutcome, LoadError> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let result = crate::run(&server, Task::Drive(Box::new(task)));
        let _ = sender.send(result);
    });
    match receiver.recv_timeout(PATIENCE).unwrap()?.pop() {
        Some(Message::Done { outcome }) => Ok(*outcome),
        other => panic!("expected the outcome, got {other:?}"),
    }
}

fn task_of(kind: Kind, operations: u64) -> DriveTask {
    let mut task = task(mixed(true), kind.clients, Length::Count { operations });
    task.backend = kind.backend;
    task.protocol = kind.protocol;
    task
}

/// A fault, and words of the error.
type Fault = (Vec<u8>, Then, &'static [&'static str]);

/// The answer that is gone wrong.
fn good_answer() -> Vec<u8> {
    rows_bytes(3)
}

fn hang_ups() -> Vec<Fault> {
    const CLOSED: &[&str] = &["the server closed the connection"];
    let answer = good_answer();
    [0, 3, 4, 20, answer.len() - 1]
        .map(|size| (answer[..size].to_vec(), Then::HangUp, CLOSED))
        .to_vec()
}

fn surplus() -> Vec<Fault> {
    const SURPLUS: &[&str] = &["bytes after its answer"];
    let answer = good_answer();
    [
        ok_bytes(1).repeat(2),
        [&answer[..], &[0]].concat(),
        [&answer[..], &answer].concat(),
    ]
    .map(|bytes| (bytes, Then::GoOn, SURPLUS))
    .to_vec()
}

/// Answers that are none, and one that ends in an error.
fn broken() -> Vec<Fault> {
    if is_postgres() {
        postgres::broken()
    } else {
        mysql::broken()
    }
}

/// Claims that nothing follows, or too little.
fn silences() -> Vec<Fault> {
    const SILENT: &[&str] = &["the server was silent for"];
    let answer = good_answer();
    let mut parts = vec![
        Vec::new(),
        answer[..3].to_vec(),
        answer[..answer.len() - 1].to_vec(),
    ];
    parts.extend(if is_postgres() {
        postgres::claims()
    } else {
        mysql::claims()
    });
    let silences = parts.into_iter();
    silences.map(|part| (part, Then::Silence, SILENT)).collect()
}

/// What is wrong with the first words of the server, the answer to the login, and the answer to a
/// prepare.
fn faults_of_doors() -> Vec<(Door, &'static [&'static str])> {
    if is_postgres() {
        postgres::doors()
    } else {
        mysql::doors()
    }
}

/// Answers the statement at `number` of the first connection with a fault.
fn at(number: usize, bytes: Vec<u8>, then: Then) -> FakeServer {
    FakeServer::start(Delivery::Whole, move |request| {
        if request.number == number {
            Reply::Bytes(bytes.clone(), then)
        } else {
            answer(request)
        }
    })
}

fn check(error: &LoadError, fault: &[&str], place: &str) {
    let shown = error.to_string();
    for word in fault.iter().chain([&place]) {
        assert!(shown.contains(word), "`{word}` in: {shown}");
    }
}

fn answers_gone_wrong_are_fatal_and_named() {
    for kind in kinds() {
        for (bytes, then, words) in [hang_ups(), surplus(), broken()].concat() {
            // `BEGIN` and the first statement come before.
            let server = at(2, bytes, then);
            let error = run(server, task_of(kind, 100)).unwrap_err();
            check(&error, words, "`read`");
        }
    }
}

/// Where operations arrive and clients are idle in between, the same is said.
fn open_loops_meet_the_same_faults() {
    let faults = [hang_ups(), surplus(), broken(), silences()].concat();
    at_once(&faults, |kind, (bytes, then, words)| {
        let mut task = task_of(kind, 100);
        task.groups.own_mut().pace = Pace::Open {
            rate: Thousandths(1_000_000),
            spacing: Spacing::Poisson,
        };
        if *then == Then::Silence {
            task.stall_ms = STALL_MS;
        }
        let error = run(at(2, bytes.clone(), *then), task).unwrap_err();
        check(&error, words, "`read`");
    });
}

fn silence_is_fatal_and_named() {
    at_once(&silences(), |kind, (bytes, then, words)| {
        let mut task = task_of(kind, 100);
        task.stall_ms = STALL_MS;
        let error = run(at(2, bytes.clone(), *then), task).unwrap_err();
        check(&error, words, "`read`");
    });
}

fn every_statement_is_named() {
    let surplus = format!("{} bytes after its answer", ok_bytes(0).len());
    for kind in kinds() {
        for (number, place) in [
            (0, "`begin`"),
            (1, "`read`"),
            (3, "`write`"),
            (4, "`commit`"),
        ] {
            for (bytes, then, word) in [
                (vec![], Then::HangUp, "closed the connection"),
                (b"\0\0\0\x09\0\0".to_vec(), Then::GoOn, "read the"),
                (ok_bytes(0).repeat(2), Then::GoOn, &surplus),
            ] {
                let error = run(at(number, bytes, then), task_of(kind, 100)).unwrap_err();
                check(&error, &[word], place);
            }
        }
    }
}

/// A server that closes connections while nobody waits for an answer of it.
fn a_connection_closed_between_requests_is_found_closed() {
    for kind in kinds() {
        let done = ok_bytes(0);
        let closing = move |request: &Request| match request.number {
            9 => Reply::Bytes(done.clone(), Then::HangUp),
            _ => answer(request),
        };
        let server = FakeServer::start(Delivery::Whole, closing.clone());
        let error = run(server, task_of(kind, 100)).unwrap_err();
        check(&error, &["the server closed the connection"], "`begin`");
        let server = FakeServer::start_over_tcp(Delivery::Whole, closing);
        let mut slow = task_of(kind, 100);
        slow.groups.own_mut().pace = Pace::Open {
            rate: Thousandths(300_000),
            spacing: Spacing::Regular,
        };
        let error = run(server, slow).unwrap_err();
        check(&error, &["the server closed the connection"], "`begin`");
    }
}

/// What stands before the words: what was being done.
fn place(door: &Door, connection: usize) -> &'static str {
    match (door, connection) {
        (Door::Prepare(..), _) => "prepare statement `read`",
        (_, 0) => "connect client 1 of",
        _ => "reconnect",
    }
}

fn connections_that_fail_are_fatal_and_named() {
    for kind in kinds() {
        for (door, words) in faults_of_doors() {
            if matches!(door, Door::Prepare(..)) && kind.protocol == Protocol::Text {
                continue;
            }
            let place = place(&door, 0);
            let doors = move |_| door.clone();
            let server = FakeServer::start_behind(doors, answer);
            let error = run(server, task_of(kind, 10)).unwrap_err();
            check(&error, words, place);
        }
    }
}

/// The same when clients connect anew, in the middle of the load.
fn connecting_anew_fails_in_the_same_ways() {
    for kind in kinds() {
        for (door, words) in faults_of_doors() {
            if matches!(door, Door::Prepare(..)) && kind.protocol == Protocol::Text {
                continue;
            }
            let place = place(&door, 1);
            let first = kind.clients as usize;
            let doors = move |number| match number {
                number if number == first => door.clone(),
                _ => Door::Open,
            };
            let server = FakeServer::start_behind(doors, answer);
            let mut task = task_of(kind, 100);
            task.groups.own_mut().reconnect_every = Some(2);
            let error = run(server, task).unwrap_err();
            check(&error, words, place);
        }
    }
}

fn silence_at_the_door_is_fatal() {
    let (greeting, prepare) = if is_postgres() {
        (postgres::half_greeting(), postgres::half_prepare())
    } else {
        (mysql::half_greeting(), mysql::half_prepare())
    };
    let doors = [
        Door::Greeting(vec![], Then::Silence),
        Door::Greeting(greeting, Then::Silence),
        Door::Login(vec![], Then::Silence),
        Door::Prepare(prepare, Then::Silence),
    ];
    at_once(&doors, |kind, door| {
        if matches!(door, Door::Prepare(..)) && kind.protocol == Protocol::Text {
            return;
        }
        for connection in [0, kind.clients as usize] {
            let place = place(door, connection);
            let door = door.clone();
            let doors = move |number| match number {
                number if number == connection => door.clone(),
                _ => Door::Open,
            };
            let mut task = task_of(kind, 100);
            task.stall_ms = STALL_MS;
            task.groups.own_mut().reconnect_every = Some(2);
            let error = run(FakeServer::start_behind(doors, answer), task).unwrap_err();
            check(&error, &["silent for"], place);
        }
    });
}

fn counts(outcome: &StepOutcome) -> Vec<(&str, u64, u64, u64, u64)> {
    let statements = outcome.groups.own().statements.iter();
    statements
        .map(|it| {
            (
                it.name.as_str(),
                it.count,
                it.rows,
                it.affected,
                it.unexpected,
            )
        })
        .collect()
}

/// Answers are cut at every byte in turn, and come byte by byte: the counts are those of whole ones.
fn packets_in_pieces_count_alike() {
    let deliveries = [
        (Delivery::Whole, 30),
        // Enough for every place of the longest answer.
        (Delivery::Cut, 240),
        (Delivery::Trickle, 30),
    ];
    at_once(&deliveries, |kind, &(delivery, operations)| {
        let server = FakeServer::start(delivery, answer);
        let outcome = run(server, task_of(kind, operations)).unwrap();
        assert_eq!(
            (
                outcome.groups.own().operations,
                outcome.groups.own().queries
            ),
            (operations, 5 * operations)
        );
        assert_eq!(
            counts(&outcome),
            [
                ("read", 2 * operations, 22 * operations, 0, 0),
                ("write", operations, 0, operations, 0),
                ("begin", operations, 0, 0, 0),
                ("commit", operations, 0, 0, 0),
            ]
        );
        assert_eq!(outcome.groups.own().errors, []);
    });
}

/// Errors in the middle of a result: one after which the operation is tried again, and one that
/// ends it. Rows that came before are not counted.
fn errors_in_the_middle_of_rows_are_counted() {
    for kind in kinds() {
        for (number, class, operations) in [
            (1213, ErrorClass::Retryable, 12),
            (1317, ErrorClass::Counted, 12 - u64::from(kind.clients)),
            (1062, ErrorClass::Counted, 12 - u64::from(kind.clients)),
        ] {
            let server = FakeServer::start(Delivery::Cut, move |request| match request.number {
                2 => Reply::RowsThenErr(5, number),
                _ => answer(request),
            });
            let outcome = run(server, task_of(kind, 12)).unwrap();
            assert_eq!(outcome.groups.own().operations, operations);
            let [error] = outcome.groups.own().errors.as_slice() else {
                panic!("{:?}", outcome.groups.own().errors);
            };
            assert_eq!((error.code, error.class), (code(number), class));
            assert_eq!(error.count, u64::from(kind.clients));
            let read = &outcome.groups.own().statements[0];
            // The first of the two reads was answered before the error came.
            assert_eq!(read.count, 2 * operations + u64::from(kind.clients));
            assert_eq!(read.rows, 11 * read.count);
        }
    }
}

/// An OK in place of rows, and rows in place of an OK.
fn answers_of_another_kind_are_counted_as_unexpected() {
    for kind in kinds() {
        let server = FakeServer::start(Delivery::Whole, |request| match request.number {
            2 => Reply::Ok(0),
            3 => Reply::Rows(2),
            _ => answer(request),
        });
        let mut task = task_of(kind, 12);
        task.groups.own_mut().workload.statements[0].expect.rows = Some("11".parse().unwrap());
        task.groups.own_mut().workload.statements[1].expect.affected = Some("1".parse().unwrap());
        let outcome = run(server, task).unwrap();
        let clients = u64::from(kind.clients);
        assert_eq!(
            counts(&outcome)[..2],
            [
                ("read", 24, 11 * (24 - clients), 0, clients),
                ("write", 12, 2 * clients, 12 - clients, clients),
            ]
        );
    }
}
