//! Open loops, think times, ramps, reconnects, groups and mixes. What is said of times are lower
//! bounds, which hold on a busy machine as well.

use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use prony_load::{DriveTask, Message, Task};
use prony_model::{
    ClientGroup, GroupOutcome, Length, Pace, Schedule, Spacing, StepOutcome, Think, Thousandths,
    Workload,
};

use crate::drive::{answer, mixed, task};
use crate::testkit::mysql::{err, framed};
use crate::testkit::{Delivery, Door, FakeServer, Then};

crate::backend::behind_each_backend! {
    what_arrives_is_counted_twice_over,
    rates_are_kept,
    overload_is_data,
    working_off_a_backlog_can_be_given_up,
    clients_think,
    clients_set_in_one_after_the_other,
    clients_connect_anew,
    connecting_anew_in_an_open_loop_drops_nothing,
    who_must_connect_after_the_warm_up_connects_first,
    a_server_that_refuses_new_connections_is_named,
    groups_have_figures_of_their_own,
    groups_work_off_their_backlogs,
    who_thinks_too_long_lowers_the_rate,
    who_has_nothing_to_do_does_nothing,
    a_single_client_sleeps_after_a_ramp,
    a_backlog_of_a_number_of_operations_is_seen,
    groups_end_with_the_own_clients_even_on_other_threads,
    a_mix_is_drawn_by_weight,
    histograms_of_intervals_add_up,
}

const MS: u64 = 1_000_000;

fn open(rate: u32, spacing: Spacing) -> Pace {
    Pace::Open {
        rate: Thousandths(rate * 1000),
        spacing,
    }
}

fn thinking(mean_us: u64, spacing: Spacing) -> Pace {
    let think = Some(Think { mean_us, spacing });
    Pace::Closed { think }
}

fn read(bytes: &[u8]) -> Histogram<u64> {
    Deserializer::new().deserialize(&mut &*bytes).unwrap()
}

fn messages(server: &FakeServer, task: DriveTask) -> Vec<Message> {
    crate::run(server, Task::Drive(Box::new(task))).unwrap()
}

fn run(server: &FakeServer, task: DriveTask) -> StepOutcome {
    match messages(server, task).pop() {
        Some(Message::Done { outcome }) => *outcome,
        other => panic!("expected the outcome, got {other:?}"),
    }
}

/// One update as an operation.
fn update() -> Workload {
    let mut workload = mixed(false);
    workload.statements.remove(0);
    workload
}

/// A server that takes so long for every statement.
fn slow(ms: u64) -> FakeServer {
    FakeServer::start(Delivery::Whole, move |request| {
        sleep(Duration::from_millis(ms));
        answer(request)
    })
}

fn schedule(outcome: &StepOutcome) -> &Schedule {
    outcome.groups.own().schedule.as_ref().unwrap()
}

fn what_arrives_is_counted_twice_over() {
    let server = FakeServer::start(Delivery::Whole, answer);
    for spacing in [Spacing::Regular, Spacing::Poisson] {
        for clients in [1, 5] {
            let mut task = task(mixed(true), clients, Length::Count { operations: 101 });
            task.groups.own_mut().pace = open(2000, spacing);
            task.drain_ms = 60_000;
            let outcome = run(&server, task);
            assert_eq!(
                (
                    outcome.groups.own().operations,
                    outcome.groups.own().queries
                ),
                (101, 505)
            );
            let schedule = schedule(&outcome);
            assert_eq!((schedule.planned, schedule.left), (101, 0));
            let (service, response) = (
                read(&outcome.groups.own().histogram),
                read(&schedule.response),
            );
            assert_eq!((service.len(), response.len()), (101, 101));
            assert!(response.max() >= service.max());
            // The first one finds everybody idle.
            assert!((1..=101).contains(&read(&schedule.error).len()));
        }
    }
}

fn rates_are_kept() {
    let server = FakeServer::start(Delivery::Whole, answer);
    let mut task = task(update(), 3, Length::Time { ms: 500 });
    task.groups.own_mut().pace = open(200, Spacing::Regular);
    task.drain_ms = 60_000;
    let outcome = run(&server, task);
    // Whatever else the machine does, 200 per second for half a second are 100.
    assert_eq!(
        (outcome.groups.own().operations, schedule(&outcome).planned),
        (100, 100)
    );
    let rate = outcome.groups.own().operations_per_second().unwrap();
    assert!(rate <= 200.0, "{rate}");
}

fn overload_is_data() {
    // One client, 5 ms for each operation: 200 per second, where 1000 are asked for.
    let server = slow(5);
    let mut task = task(update(), 1, Length::Time { ms: 200 });
    task.groups.own_mut().pace = open(1000, Spacing::Regular);
    task.drain_ms = 60_000;
    task.interval_ms = 50;
    let messages = messages(&server, task);
    let Some(Message::Done { outcome }) = messages.last() else {
        panic!("expected the outcome")
    };
    let schedule = schedule(outcome);
    assert_eq!((schedule.planned, schedule.left), (200, 0));
    assert_eq!(outcome.groups.own().operations, 200);
    assert!(schedule.backlog >= 160, "{}", schedule.backlog);
    let (service, response) = (
        read(&outcome.groups.own().histogram),
        read(&schedule.response),
    );
    // The last one, planned at 199 ms, ends after 200 times 5 ms.
    assert!(response.max() >= 800 * MS, "{}", response.max());
    assert!(service.value_at_quantile(0.5) < response.value_at_quantile(0.5));
    // Nobody was idle in time but at the very start.
    assert!(read(&schedule.error).len() <= 1);
    let backlogs: Vec<u64> = (outcome.groups.own().intervals.iter())
        .filter(|interval| interval.end_ns <= 150 * MS)
        .map(|interval| interval.backlog)
        .collect();
    assert!(backlogs.is_sorted() && backlogs[0] >= 38, "{backlogs:?}");
}

fn working_off_a_backlog_can_be_given_up() {
    let server = slow(5);
    let mut task = task(update(), 2, Length::Time { ms: 100 });
    task.groups.own_mut().pace = open(2000, Spacing::Poisson);
    let outcome = run(&server, task);
    let schedule = schedule(&outcome);
    assert!(schedule.left > 0);
    assert_eq!(
        schedule.planned,
        outcome.groups.own().operations + schedule.left
    );
}

fn clients_think() {
    let server = FakeServer::start(Delivery::Whole, answer);
    for spacing in [Spacing::Regular, Spacing::Poisson] {
        let mut task = task(update(), 4, Length::Count { operations: 40 });
        task.groups.own_mut().pace = thinking(10_000, spacing);
        let outcome = run(&server, task);
        assert_eq!(outcome.groups.own().operations, 40);
        assert_eq!(read(&schedule(&outcome).response).len(), 40);
        if spacing == Spacing::Regular {
            // Nine thoughts between the ten operations of each client.
            assert!(
                outcome.groups.own().busy_ns >= 4 * 9 * 10 * MS,
                "{}",
                outcome.groups.own().busy_ns
            );
        }
    }
}

fn clients_set_in_one_after_the_other() {
    let firsts: Arc<Mutex<Vec<Instant>>> = Arc::default();
    let noted = Arc::clone(&firsts);
    let server = FakeServer::start(Delivery::Whole, move |request| {
        if request.number == 0 {
            noted.lock().unwrap().push(Instant::now());
        }
        answer(request)
    });
    let mut task = task(update(), 4, Length::Count { operations: 8 });
    task.ramp_ms = 200;
    let begin = Instant::now();
    let outcome = run(&server, task);
    let own = outcome.groups.own();
    assert_eq!((own.operations, &own.schedule), (8, &None));
    let after: Vec<Duration> = (firsts.lock().unwrap().iter())
        .map(|first| *first - begin)
        .collect();
    for (number, after) in after.into_iter().enumerate() {
        let due = Duration::from_millis(50 * number as u64);
        assert!(after >= due, "client {number} after {after:?}");
    }
}

fn clients_connect_anew() {
    for delivery in [Delivery::Whole, Delivery::Trickle] {
        for start in [FakeServer::start, FakeServer::start_over_tcp] {
            let server = start(delivery, answer);
            let mut task = task(mixed(false), 2, Length::Count { operations: 20 });
            task.groups.own_mut().reconnect_every = Some(3);
            let outcome = run(&server, task);
            assert_eq!(outcome.groups.own().operations, 20);
            let connect = outcome.groups.own().statements.last().unwrap();
            // Each client has ten operations, on four connections.
            assert_eq!((connect.name.as_str(), connect.count), ("connect", 6));
            assert_eq!(read(&connect.histogram).len(), 6);
            let mut asked: Vec<usize> = server.record().values().map(Vec::len).collect();
            asked.sort_unstable();
            assert_eq!(asked, [3, 3, 9, 9, 9, 9, 9, 9]);
        }
    }
}

fn connecting_anew_in_an_open_loop_drops_nothing() {
    let server = FakeServer::start(Delivery::Whole, answer);
    let mut task = task(update(), 3, Length::Count { operations: 60 });
    task.groups.own_mut().pace = open(1000, Spacing::Poisson);
    task.groups.own_mut().reconnect_every = Some(1);
    task.drain_ms = 60_000;
    let outcome = run(&server, task);
    assert_eq!(
        (outcome.groups.own().operations, schedule(&outcome).left),
        (60, 0)
    );
    // A client connects when it has ended an operation, whether or not it gets another.
    assert_eq!(outcome.groups.own().statements.last().unwrap().count, 60);
}

fn who_must_connect_after_the_warm_up_connects_first() {
    let server = FakeServer::start(Delivery::Whole, answer);
    for pace in [Pace::default(), open(500, Spacing::Regular)] {
        let mut task = task(update(), 2, Length::Count { operations: 10 });
        task.groups.own_mut().pace = pace;
        task.drain_ms = 60_000;
        task.groups.own_mut().reconnect_every = Some(1);
        task.warmup_ms = 50;
        let outcome = run(&server, task);
        assert_eq!(outcome.groups.own().operations, 10);
        // Once for each operation, but for the first of a client that came out of the warm-up with a
        // new connection; and in an open loop also after the last ones.
        let connects = outcome.groups.own().statements.last().unwrap().count;
        assert!((8..=12).contains(&connects), "{connects}");
    }
}

fn a_server_that_refuses_new_connections_is_named() {
    let full = Door::Greeting(framed(0, &[err(1040)]), Then::HangUp);
    let doors = move |number| if number < 3 { Door::Open } else { full.clone() };
    let server = FakeServer::start_behind(doors, answer);
    let mut task = task(update(), 1, Length::Count { operations: 9 });
    task.groups.own_mut().reconnect_every = Some(1);
    let error = crate::run(&server, Task::Drive(Box::new(task))).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("reconnect: "), "{text}");
}

fn group(name: &str, clients: u32, pace: Pace) -> ClientGroup {
    ClientGroup {
        name: Some(name.into()),
        pace,
        ..prony_testkit::group(update(), clients)
    }
}

/// Every group has all of its operations in its intervals, one after the other from the start of the
/// measured time and of the same length, but for the last.
fn assert_periods(groups: &[GroupOutcome], period_ns: u64) {
    for group in groups {
        let operations: u64 = group.intervals.iter().map(|i| i.operations).sum();
        assert_eq!(operations, group.operations, "{:?}", group.name);
        let (last, whole) = group.intervals.split_last().unwrap();
        for (index, interval) in (0_u64..).zip(whole) {
            let begin = (interval.start_ns, interval.end_ns);
            assert_eq!(begin, (index * period_ns, (index + 1) * period_ns));
        }
        assert_eq!(last.start_ns, whole.len() as u64 * period_ns);
        assert!(last.end_ns > last.start_ns);
    }
}

fn groups_have_figures_of_their_own() {
    for length in [Length::Count { operations: 50 }, Length::Time { ms: 200 }] {
        let server = slow(1);
        let mut task = task(mixed(true), 2, length);
        task.interval_ms = 50;
        task.drain_ms = 60_000;
        task.groups
            .push(group("writers", 3, open(100, Spacing::Regular)));
        task.groups.push(group("others", 1, Pace::default()));
        let outcome = run(&server, task);
        let names = |statements: &[prony_model::StatementOutcome]| -> Vec<String> {
            statements.iter().map(|s| s.name.clone()).collect()
        };
        assert_eq!(
            names(&outcome.groups.own().statements),
            ["read", "write", "begin", "commit"]
        );
        assert_eq!(outcome.groups.own().clients, 2);
        assert_eq!(
            outcome.groups.own().queries,
            5 * outcome.groups.own().operations
        );
        let [writers, others] = outcome.groups.beside() else {
            panic!("two groups")
        };
        assert_eq!(
            (writers.name.as_deref(), writers.clients),
            (Some("writers"), 3)
        );
        assert_eq!(names(&writers.statements), ["write"]);
        let schedule = writers.schedule.as_ref().unwrap();
        assert_eq!(schedule.planned, writers.operations + schedule.left);
        assert_eq!(
            (others.name.as_deref(), others.clients),
            (Some("others"), 1)
        );
        assert!(others.operations > 0 && others.schedule.is_none());
        assert_periods(&outcome.groups, 50 * MS);
        let asked: usize = server.record().values().map(Vec::len).sum();
        let counted = outcome.groups.own().queries + writers.operations + others.operations;
        assert_eq!(asked as u64, counted);
        match length {
            Length::Count { operations } => assert_eq!(outcome.groups.own().operations, operations),
            Length::Time { .. } => {
                assert_eq!(schedule.planned, 20);
                let whole = writers.intervals.last().unwrap();
                assert!(whole.end_ns >= 200 * MS);
            }
        }
    }
}

fn groups_work_off_their_backlogs() {
    for length in [Length::Count { operations: 20 }, Length::Time { ms: 100 }] {
        // The group's client can carry out 200 per second, and 2000 are asked of it.
        let server = slow(5);
        let mut task = task(update(), 1, length);
        task.drain_ms = 60_000;
        task.groups
            .push(group("writers", 1, open(2000, Spacing::Regular)));
        let outcome = run(&server, task);
        let writers = &outcome.groups.beside()[0];
        let schedule = writers.schedule.as_ref().unwrap();
        assert_eq!((schedule.planned, schedule.left), (writers.operations, 0));
        // Ten are planned while one is carried out.
        assert!(schedule.backlog >= schedule.planned / 2, "{schedule:?}");
    }
}

fn who_thinks_too_long_lowers_the_rate() {
    let server = FakeServer::start(Delivery::Whole, answer);
    let mut task = task(update(), 50, Length::Time { ms: 200 });
    task.groups.own_mut().pace = thinking(1_000_000, Spacing::Regular);
    let outcome = run(&server, task);
    // Each thinks for a second; about ten of them begin in a fifth of it, and none twice.
    assert!(outcome.groups.own().operations < 50);
    let rate = outcome.groups.own().operations_per_second().unwrap_or(0.0);
    assert!(
        rate <= outcome.groups.own().operations as f64 / 0.2 + 1e-6,
        "{rate}"
    );
}

fn who_has_nothing_to_do_does_nothing() {
    for pace in [
        thinking(1_000, Spacing::Regular),
        open(1000, Spacing::Poisson),
    ] {
        let server = FakeServer::start(Delivery::Whole, answer);
        let mut task = task(update(), 5, Length::Count { operations: 3 });
        task.groups.own_mut().pace = pace;
        task.drain_ms = 60_000;
        assert_eq!(run(&server, task).groups.own().operations, 3);
    }
}

fn a_single_client_sleeps_after_a_ramp() {
    let server = slow(100);
    let mut task = task(update(), 1, Length::Count { operations: 5 });
    task.ramp_ms = 10;
    let outcome = run(&server, task);
    let used = outcome.thread_use[0];
    // It waits for half a second, and has next to nothing to do.
    assert!(used.cpu_ns * 4 < used.wall_ns, "{used:?}");
}

fn a_backlog_of_a_number_of_operations_is_seen() {
    let server = slow(5);
    let mut task = task(update(), 1, Length::Count { operations: 50 });
    task.groups.own_mut().pace = open(1000, Spacing::Regular);
    task.drain_ms = 60_000;
    let outcome = run(&server, task);
    let schedule = schedule(&outcome);
    // All were planned within 50 ms, in which ten can be carried out.
    assert!((39..50).contains(&schedule.backlog), "{}", schedule.backlog);
    assert_eq!((schedule.planned, schedule.left), (50, 0));
}

fn groups_end_with_the_own_clients_even_on_other_threads() {
    let server = slow(1);
    let mut task = task(mixed(true), 1, Length::Count { operations: 3 });
    // A think time of an hour holds nobody up.
    let long = thinking(3_600_000_000, Spacing::Regular);
    task.groups
        .push(group("open", 2, open(500, Spacing::Poisson)));
    task.groups.push(group("closed", 2, Pace::default()));
    task.groups.push(group("thinkers", 2, long));
    let outcome = run(&server, task);
    assert_eq!(
        (outcome.groups.own().operations, outcome.thread_use.len()),
        (3, 2)
    );
    assert_eq!(outcome.groups.beside()[2].operations, 0);
}

fn a_mix_is_drawn_by_weight() {
    let server = FakeServer::start(Delivery::Whole, answer);
    let mut workload = mixed(true);
    workload.statements[0].repeat = 1;
    workload.statements[0].weight = Some(3);
    workload.statements[1].weight = Some(1);
    let outcome = run(
        &server,
        task(workload, 2, Length::Count { operations: 400 }),
    );
    assert_eq!(
        (
            outcome.groups.own().operations,
            outcome.groups.own().queries
        ),
        (400, 1200)
    );
    let [read, write, begin, commit] = outcome.groups.own().statements.as_slice() else {
        panic!("four kinds")
    };
    assert_eq!((begin.count, commit.count), (400, 400));
    assert_eq!(read.count + write.count, 400);
    // 300 expected; the standard deviation is 8.7, and the seed is fixed.
    assert!((260..340).contains(&read.count), "{}", read.count);
}

fn histograms_of_intervals_add_up() {
    let server = slow(1);
    let mut task = task(update(), 3, Length::Time { ms: 300 });
    task.interval_ms = 50;
    task.interval_histograms = true;
    let mut sum: Option<Histogram<u64>> = None;
    for message in messages(&server, task) {
        match message {
            Message::Interval {
                histogram,
                interval,
            } => {
                let part = read(&histogram);
                assert_eq!(part.len(), interval.operations);
                match &mut sum {
                    Some(sum) => sum.add(part).unwrap(),
                    None => sum = Some(part),
                }
            }
            Message::Done { outcome } => {
                assert_eq!(sum.take(), Some(read(&outcome.groups.own().histogram)));
            }
            _ => {}
        }
    }
    assert!(sum.is_none());
}
