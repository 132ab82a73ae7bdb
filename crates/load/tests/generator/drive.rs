//! Workloads.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use prony_load::{DriveTask, JobError, LoadError, Message, Task};
use prony_model::{
    Backend, Dataset, Distribution, ErrorClass, Generator, Group, Hot, Length, Param, Protocol,
    Scheduling, Statement, StepOutcome, Thousandths, Timing, Tls, Workload,
};
use prony_testkit::{param, statement};

use crate::testkit::{Delivery, FakeServer, Reply, Request, Then, code, is_postgres, ok_bytes};

crate::backend::behind_each_backend_in_each_protocol! {
    counts_are_exact,
    tcp_carries_the_same_in_every_kind_of_loop,
    operations_are_shared_out,
    the_same_seed_asks_the_same_on_any_number_of_threads,
    clients_of_bound_threads_ask_the_same_thread_after_thread,
    deadlocks_are_retried_with_the_same_values,
    retries_repeat_lists_of_every_distribution,
    without_transactions_nothing_is_rolled_back,
    counted_errors_end_the_operation,
    fatal_errors_name_code_message_and_statement,
    a_rollback_must_not_fail,
    endless_retries_end,
    hanging_up_is_fatal,
    broken_answers_are_fatal,
    unexpected_answers_are_counted,
    measured_time_has_sharp_edges,
    question_marks_in_the_text_are_noticed,
    the_whole_run_is_timed_where_asked,
    hundreds_of_clients_connect,
    clients_connect_again_as_often_as_asked,
    the_policy_in_force_is_reported,
}

fn workload(transaction: bool, statements: Vec<Statement>) -> Workload {
    Workload {
        group: Group::Mixed,
        parameters: BTreeMap::from([("range".into(), 10)]),
        transaction,
        statements,
        ..prony_testkit::workload("test")
    }
}

/// A whole number between two expressions.
fn draw(name: &str, low: &str, high: &str) -> Param {
    param(name, prony_testkit::draw(low, high))
}

/// A read, twice, and a write.
pub(crate) fn mixed(transaction: bool) -> Workload {
    let mut read = statement(
        "read",
        "SELECT c FROM {table} WHERE id BETWEEN {low} AND {high}",
        vec![
            draw("low", "1", "rows - range"),
            param("high", Generator::Derived("low + range".parse().unwrap())),
        ],
    );
    read.repeat = 2;
    let digits = Generator::Digits("##-###".into());
    let write = statement(
        "write",
        "UPDATE {table} SET c = {c} WHERE id = {id}",
        vec![draw("id", "1", "rows"), param("c", digits)],
    );
    workload(transaction, vec![read, write])
}

pub(crate) fn task(workload: Workload, clients: u32, length: Length) -> DriveTask {
    let dataset = Dataset::sbtest(3, 1000, 1);
    DriveTask {
        seed: 7,
        stall_ms: 5000,
        ..DriveTask::closed_loop(workload, clients, dataset, length, crate::backend::chosen())
    }
}

fn outcome(messages: &[Message]) -> &StepOutcome {
    match messages.last() {
        Some(Message::Done { outcome }) => outcome,
        other => panic!("expected the outcome, got {other:?}"),
    }
}

fn run(server: &FakeServer, task: DriveTask) -> Result<Vec<Message>, LoadError> {
    crate::run(server, Task::Drive(Box::new(task)))
}

pub(crate) fn answer(request: &Request) -> Reply {
    match request.sql.split(' ').next() {
        Some("SELECT") => Reply::Rows(11),
        Some("UPDATE") => Reply::Ok(1),
        _ => Reply::Ok(0),
    }
}

fn count(operations: u64) -> Length {
    Length::Count { operations }
}

fn the_policy_in_force_is_reported() {
    let server = FakeServer::start(Delivery::Whole, answer);
    for wish in [Scheduling::Batch, Scheduling::Normal] {
        let mut task = task(mixed(true), 5, count(23));
        task.scheduling = Some(wish);
        assert_eq!(outcome(&run(&server, task).unwrap()).scheduling, wish);
    }
    // One client is few on any host.
    let one = task(mixed(true), 1, count(23));
    let messages = run(&server, one).unwrap();
    assert_eq!(outcome(&messages).scheduling, Scheduling::Normal);
}

fn counts_are_exact() {
    for (clients, threads, delivery) in [
        (1, 1, Delivery::Whole),
        (5, 2, Delivery::Whole),
        (1, 1, Delivery::Trickle),
        (5, 2, Delivery::Trickle),
    ] {
        for protocol in [Protocol::Prepared, Protocol::Text] {
            let server = FakeServer::start(delivery, answer);
            let mut task = task(mixed(true), clients, count(23));
            task.protocol = protocol;
            let messages = run(&server, task).unwrap();
            assert_eq!(messages[0], Message::Connected { clients, threads });
            let outcome = outcome(&messages);
            assert_eq!(
                (outcome.groups.own().clients, outcome.threads),
                (clients, threads)
            );
            assert_eq!(
                (
                    outcome.groups.own().operations,
                    outcome.groups.own().queries
                ),
                (23, 5 * 23)
            );
            let counts: Vec<(&str, u64, u64, u64)> = outcome
                .groups
                .own()
                .statements
                .iter()
                .map(|s| (s.name.as_str(), s.count, s.rows, s.affected))
                .collect();
            assert_eq!(
                counts,
                [
                    ("read", 46, 506, 0),
                    ("write", 23, 0, 23),
                    ("begin", 23, 0, 0),
                    ("commit", 23, 0, 0)
                ]
            );
            let asked: usize = server.record().values().map(Vec::len).sum();
            assert_eq!(asked, 5 * 23);
            let latencies: Histogram<u64> = Deserializer::new()
                .deserialize(&mut outcome.groups.own().histogram.as_slice())
                .unwrap();
            assert_eq!(latencies.len(), 23);
        }
    }
}

/// The first clients do the remainder.
fn tcp_carries_the_same_in_every_kind_of_loop() {
    for clients in [1, 5] {
        let server = FakeServer::start_over_tcp(Delivery::Trickle, answer);
        let messages = run(&server, task(mixed(true), clients, count(10))).unwrap();
        assert_eq!(outcome(&messages).groups.own().operations, 10);
        assert_eq!(outcome(&messages).groups.own().errors, []);
        assert_eq!(server.record().len(), clients as usize);
    }
}

fn operations_are_shared_out() {
    let server = FakeServer::start(Delivery::Whole, answer);
    run(&server, task(mixed(false), 4, count(10))).unwrap();
    let asked: Vec<usize> = server.record().values().map(Vec::len).collect();
    assert_eq!(asked, [9, 9, 6, 6]);
}

fn the_same_seed_asks_the_same_on_any_number_of_threads() {
    let record = |threads_max, protocol, seed, delivery| {
        let server = FakeServer::start(delivery, answer);
        let mut task = task(mixed(true), 6, count(60));
        task.threads_max = threads_max;
        task.protocol = protocol;
        task.seed = seed;
        run(&server, task).unwrap();
        server.record()
    };
    for protocol in [Protocol::Prepared, Protocol::Text] {
        let base = record(1, protocol, 7, Delivery::Whole);
        assert_eq!(base.len(), 6);
        assert_eq!(record(2, protocol, 7, Delivery::Whole), base);
        assert_eq!(record(6, protocol, 7, Delivery::Trickle), base);
        assert_ne!(record(2, protocol, 8, Delivery::Whole), base);
        assert_ne!(base[&0], base[&1]);
    }
    // The protocol changes how values travel, not what they are.
    assert_eq!(
        record(1, Protocol::Text, 7, Delivery::Whole),
        record(1, Protocol::Prepared, 7, Delivery::Whole)
    );
}

fn clients_of_bound_threads_ask_the_same_thread_after_thread() {
    let usable = prony_host::usable_cpus().unwrap();
    let cpu = usable.cpus()[0];
    let run_on = |thread_cpus: Vec<u16>| {
        let server = FakeServer::start(Delivery::Whole, answer);
        let mut task = task(mixed(true), 5, count(60));
        task.thread_cpus = thread_cpus;
        let messages = run(&server, task).unwrap();
        let said: Vec<u32> = (messages.iter())
            .filter_map(|message| match message {
                Message::Connecting { thread } => Some(*thread),
                _ => None,
            })
            .collect();
        let threads = outcome(&messages).thread_use.len();
        let asked: Vec<_> = server.record().into_values().collect();
        (said, threads, asked)
    };
    let (said, _, free) = run_on(Vec::new());
    assert!(said.is_empty());
    // Connections in the order in which they were made, by the number of their client.
    for (threads, order) in [(1, vec![0, 1, 2, 3, 4]), (2, vec![0, 2, 4, 1, 3])] {
        let (said, used, bound) = run_on(vec![cpu; threads]);
        assert_eq!((said.len(), used), (threads, threads));
        let expected: Vec<_> = order.iter().map(|client: &usize| &free[*client]).collect();
        assert_eq!(bound.iter().collect::<Vec<_>>(), expected);
    }
    // A thread has at least one client.
    assert_eq!(run_on(vec![cpu; 9]).1, 5);
    let server = FakeServer::start(Delivery::Whole, answer);
    let mut task = task(mixed(true), 2, count(60));
    task.thread_cpus = vec![cpu, 1023];
    let error = run(&server, task).unwrap_err().to_string();
    assert!(error.contains("bind a thread"), "{error}");
}

fn deadlocks_are_retried_with_the_same_values() {
    for clients in [1, 3] {
        let server = FakeServer::start(Delivery::Whole, |request| {
            // The fourth request is the write of the first operation.
            if request.number == 3 {
                return Reply::Err(1213);
            }
            answer(request)
        });
        let messages = run(&server, task(mixed(true), clients, count(6))).unwrap();
        let outcome = outcome(&messages);
        assert_eq!(
            (
                outcome.groups.own().operations,
                outcome.groups.own().queries
            ),
            (6, 30)
        );
        assert_eq!(outcome.groups.own().errors.len(), 1);
        let error = &outcome.groups.own().errors[0];
        assert_eq!(
            (error.code, error.class),
            (code(1213), ErrorClass::Retryable)
        );
        assert_eq!(error.count, u64::from(clients));
        assert_eq!(error.message, "as the test wants");
        let asked = &server.record()[&0];
        assert_eq!(asked[0], "BEGIN");
        assert_eq!(asked[4], "ROLLBACK");
        assert_eq!(asked[5..9], asked[0..4]);
        assert_eq!(asked[9], "COMMIT");
        assert_ne!(asked[11..14], asked[1..4]);
    }
}

/// Values that depend on how many were drawn before go back with the operation, too.
fn retries_repeat_lists_of_every_distribution() {
    for distribution in [
        Distribution::Sequential,
        Distribution::Unique,
        Distribution::Zipfian {
            exponent: Thousandths(1000),
            hot: Hot::Scattered,
        },
    ] {
        let server = FakeServer::start(Delivery::Whole, |request| match request.number {
            2 => Reply::Err(1213),
            _ => answer(request),
        });
        let ids = Generator::Draw {
            low: "1".parse().unwrap(),
            high: "rows".parse().unwrap(),
            distribution,
            count: Some("range / 2".parse().unwrap()),
        };
        let sql = "UPDATE {table} SET k = 1 WHERE id IN ({ids:list})";
        let mut update = statement("update", sql, vec![param("ids", ids)]);
        update.repeat = 2;
        let messages = run(&server, task(workload(true, vec![update]), 1, count(3))).unwrap();
        assert_eq!(outcome(&messages).groups.own().operations, 3);
        let asked = &server.record()[&0];
        assert_eq!(asked[3], "ROLLBACK");
        assert_eq!(asked[4..7], asked[0..3]);
        assert_eq!(asked[1].matches(',').count(), 4);
        let mut statements: Vec<_> = asked.iter().filter(|sql| sql.len() > 10).collect();
        statements.sort();
        statements.dedup();
        assert_eq!(statements.len(), 6, "{distribution:?}");
    }
}

fn without_transactions_nothing_is_rolled_back() {
    let server = FakeServer::start(Delivery::Whole, |request| match request.number {
        2 => Reply::Err(1205),
        _ => answer(request),
    });
    let mut task = task(mixed(true), 1, count(1));
    task.transactional = false;
    let messages = run(&server, task).unwrap();
    assert_eq!(outcome(&messages).groups.own().queries, 3);
    let asked = &server.record()[&0];
    assert_eq!(asked.len(), 6);
    assert_eq!(asked[3..6], asked[0..3]);
}

fn counted_errors_end_the_operation() {
    let server = FakeServer::start(Delivery::Whole, |request| match request.number {
        1 => Reply::RowsThenErr(4, 1317),
        _ => answer(request),
    });
    let messages = run(&server, task(mixed(true), 1, count(2))).unwrap();
    let outcome = outcome(&messages);
    // One operation of two was abandoned: it is counted as an error and nowhere else.
    assert_eq!(
        (
            outcome.groups.own().operations,
            outcome.groups.own().queries
        ),
        (1, 5)
    );
    assert_eq!(outcome.groups.own().errors[0].class, ErrorClass::Counted);
    assert_eq!(server.record()[&0][2], "ROLLBACK");
    assert_eq!(
        outcome
            .groups
            .own()
            .intervals
            .iter()
            .map(|i| i.errors)
            .sum::<u64>(),
        1
    );
    assert_eq!(outcome.groups.own().statements[0].rows, 22);
}

fn fatal_errors_name_code_message_and_statement() {
    for clients in [1, 4] {
        let server = FakeServer::start(Delivery::Whole, |request| match request.number {
            7 => Reply::Err(1146),
            _ => answer(request),
        });
        let error = run(&server, task(mixed(false), clients, count(400))).unwrap_err();
        let shown = error.to_string();
        let code = code(1146).to_string();
        for word in [&code, "as the test wants", "`read`"] {
            assert!(shown.contains(word), "{shown}");
        }
    }
}

fn a_rollback_must_not_fail() {
    let server = FakeServer::start(Delivery::Whole, |request| match request.number {
        1 | 2 => Reply::Err(1213),
        _ => answer(request),
    });
    let error = run(&server, task(mixed(true), 1, count(1))).unwrap_err();
    assert!(
        matches!(error, LoadError::Server { code: found, statement, .. } if found == code(1213) && statement == "rollback")
    );
}

fn endless_retries_end() {
    let server = FakeServer::start(Delivery::Whole, |request| match request.sql.as_str() {
        "BEGIN" | "ROLLBACK" => Reply::Ok(0),
        _ => Reply::Err(1213),
    });
    let mut task = task(mixed(true), 2, count(2));
    task.stall_ms = 600;
    let error = run(&server, task).unwrap_err();
    assert!(matches!(error, LoadError::Retries { code: found, .. } if found == code(1213)));
}

fn hanging_up_is_fatal() {
    for clients in [1, 4] {
        let server = FakeServer::start(Delivery::Whole, |request| match request.number {
            5 => Reply::HangUp,
            _ => answer(request),
        });
        let error = run(&server, task(mixed(true), clients, count(100))).unwrap_err();
        assert!(matches!(error, LoadError::Closed { .. }), "{error}");
        assert!(error.to_string().contains("closed the connection"));
    }
}

fn broken_answers_are_fatal() {
    for clients in [1, 4] {
        // No answer ends with these numbers or tags.
        let other = || Reply::Bytes(b"\x01\0\0\x02\0\0\0".to_vec(), Then::GoOn);
        let server = FakeServer::start(Delivery::Whole, move |_| other());
        let error = run(&server, task(mixed(true), clients, count(100))).unwrap_err();
        assert!(matches!(error, LoadError::Protocol { .. }), "{error}");
        let answer = ok_bytes(0);
        let size = answer.len();
        let two_answers = move || Reply::Bytes(answer.repeat(2), Then::GoOn);
        let server = FakeServer::start(Delivery::Whole, move |_| two_answers());
        let error = run(&server, task(mixed(true), clients, count(100))).unwrap_err();
        assert!(
            matches!(error, LoadError::Surplus { bytes, .. } if bytes == size),
            "{error}"
        );
    }
}

fn unexpected_answers_are_counted() {
    let server = FakeServer::start(Delivery::Whole, |request| match request.number {
        3 | 5 => Reply::Rows(2),
        _ => Reply::Rows(1),
    });
    let mut read = statement("read", "SELECT 1", vec![]);
    read.expect.rows = Some("1".parse().unwrap());
    let messages = run(&server, task(workload(false, vec![read]), 1, count(10))).unwrap();
    let read = &outcome(&messages).groups.own().statements[0];
    assert_eq!((read.count, read.rows, read.unexpected), (10, 12, 2));
}

fn measured_time_has_sharp_edges() {
    for clients in [1, 6] {
        let server = FakeServer::start(Delivery::Whole, answer);
        let mut task = task(mixed(true), clients, Length::Time { ms: 500 });
        task.warmup_ms = 200;
        task.interval_ms = 100;
        let messages = run(&server, task).unwrap();
        let outcome = outcome(&messages);
        let at = |wanted: fn(&Message) -> Option<u64>| messages.iter().find_map(wanted).unwrap();
        let start = at(|m| match m {
            Message::MeasureStart { at_ns } => Some(*at_ns),
            _ => None,
        });
        let end = at(|m| match m {
            Message::MeasureEnd { at_ns } => Some(*at_ns),
            _ => None,
        });
        assert_eq!((start, end), (outcome.start_ns, outcome.end_ns));
        assert!(end - start >= 500_000_000);
        // Warm-up is not in the counts, but in what the server was asked.
        let asked: u64 = server.record().values().map(|all| all.len() as u64).sum();
        assert!(outcome.groups.own().operations > 0 && outcome.groups.own().queries < asked);
        assert!(outcome.groups.own().busy_ns <= u64::from(clients) * (end - start));
        assert!(outcome.groups.own().busy_ns >= u64::from(clients) * 250_000_000);
        assert!(outcome.client_user_ns + outcome.client_system_ns > 0);
        let sum: u64 = outcome
            .groups
            .own()
            .intervals
            .iter()
            .map(|i| i.operations)
            .sum();
        assert_eq!(sum, outcome.groups.own().operations);
        let queries: u64 = outcome
            .groups
            .own()
            .intervals
            .iter()
            .map(|i| i.queries)
            .sum();
        assert_eq!(queries, outcome.groups.own().queries);
        assert_eq!(outcome.groups.own().intervals.len(), 5);
        assert_eq!(
            outcome.groups.own().intervals.last().unwrap().end_ns,
            end - start
        );
        let said = messages
            .iter()
            .filter(|m| matches!(m, Message::Interval { .. }))
            .count();
        assert_eq!(said, 5);
    }
}

fn question_marks_in_the_text_are_noticed() {
    let server = FakeServer::start(Delivery::Whole, answer);
    let mut job_task = task(mixed(true), 1, count(1));
    let mark = if is_postgres() { "$7" } else { "?" };
    let sql = format!("SELECT '{mark}' FROM {{table}} WHERE id = {{low}}");
    job_task.groups.own_mut().workload.statements[0].sql = sql.parse().unwrap();
    let error = run(&server, job_task).unwrap_err();
    assert!(matches!(
        error,
        LoadError::ParamCount {
            expected: 1,
            found: 2,
            ..
        }
    ));
}

#[test]
fn encrypted_connections_need_epoll() {
    let server = FakeServer::start(Delivery::Whole, answer);
    let mut task = task(mixed(true), 1, count(1));
    task.backend = Backend::IoUring;
    let mut job = crate::job(&server, Task::Drive(Box::new(task)));
    job.tls = Tls::Required;
    let error = prony_load::run(&job, &mut std::io::empty(), &mut Vec::new()).unwrap_err();
    assert!(matches!(error, LoadError::Backend(_)), "{error}");
    assert!(server.record().is_empty());
}

#[test]
fn nothing_is_connected_for_a_job_without_sense() {
    let server = FakeServer::start(Delivery::Whole, answer);
    let mut broken = task(mixed(true), 1, count(1));
    broken.groups.own_mut().workload.statements[1].params.pop();
    let error = run(&server, broken).unwrap_err();
    assert!(matches!(error, LoadError::Job(JobError::Workload { .. })));
    let shown = error.to_string();
    assert!(
        shown.contains("`write`") && shown.contains("{c}"),
        "{shown}"
    );
    let mut unknown = task(mixed(true), 1, count(1));
    unknown
        .groups
        .own_mut()
        .parameters
        .insert("rnage".into(), 5);
    let error = run(&server, unknown).unwrap_err().to_string();
    assert!(error.contains("`rnage`"), "{error}");
    assert!(server.record().is_empty());
}

fn the_whole_run_is_timed_where_asked() {
    for (clients, length) in [
        (1, count(40)),
        (6, count(40)),
        (6, Length::Time { ms: 300 }),
    ] {
        let server = FakeServer::start(Delivery::Whole, answer);
        let mut task = task(mixed(true), clients, length);
        task.timing = Timing::WholeRun;
        // There is none.
        task.warmup_ms = 200;
        task.interval_ms = 100;
        let messages = run(&server, task).unwrap();
        let Message::MeasureStart { at_ns } = messages[0] else {
            panic!("{messages:?}");
        };
        assert!(matches!(messages[1], Message::Connected { .. }));
        let outcome = outcome(&messages);
        assert_eq!(outcome.timing, Timing::WholeRun);
        assert_eq!(outcome.start_ns, at_ns);
        let whole_ns = outcome.end_ns - outcome.start_ns;
        assert_eq!(outcome.groups.own().busy_ns, u64::from(clients) * whole_ns);
        let asked: u64 = server.record().values().map(|all| all.len() as u64).sum();
        assert_eq!(outcome.groups.own().queries, asked);
        if let Length::Count { operations } = length {
            assert_eq!(outcome.groups.own().operations, operations);
        }
        let sum: u64 = outcome
            .groups
            .own()
            .intervals
            .iter()
            .map(|i| i.operations)
            .sum();
        assert_eq!(sum, outcome.groups.own().operations);
        assert_eq!(
            outcome.groups.own().intervals.last().unwrap().end_ns,
            whole_ns
        );
    }
}

/// More connections than a process may open before it asks for more.
fn hundreds_of_clients_connect() {
    const CLIENTS: u32 = 600;
    let server = FakeServer::start(Delivery::Whole, answer);
    let messages = run(&server, task(mixed(false), CLIENTS, count(1200))).unwrap();
    assert_eq!(outcome(&messages).groups.own().operations, 1200);
    assert_eq!(server.record().len(), CLIENTS as usize);
}

fn clients_connect_again_as_often_as_asked() {
    for clients in [1, 3] {
        for (server, protocol) in [
            (
                FakeServer::start(Delivery::Trickle, answer),
                Protocol::Prepared,
            ),
            (FakeServer::start(Delivery::Whole, answer), Protocol::Text),
            (
                FakeServer::start_over_tcp(Delivery::Whole, answer),
                Protocol::Prepared,
            ),
        ] {
            let mut task = task(mixed(true), clients, count(12));
            task.protocol = protocol;
            task.groups.own_mut().reconnect_every = Some(2);
            let messages = run(&server, task).unwrap();
            let own = outcome(&messages).groups.own();
            assert_eq!((own.operations, own.queries), (12, 5 * 12));
            assert_eq!(own.errors, []);
            let asked: Vec<usize> = server.record().values().map(Vec::len).collect();
            assert_eq!(asked, [2 * 5; 6]);
        }
    }
}
