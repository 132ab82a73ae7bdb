//! Warming up by a number of operations: every client is at the same place when measuring begins.

use std::collections::BTreeMap;

use prony_load::{DriveTask, JobError, LoadError, Task};
use prony_model::{ClientGroup, Length, Pace, Spacing, Think, Thousandths};

use crate::drive::{answer, mixed, task};
use crate::hold::hold;
use crate::testkit::{Delivery, FakeServer};

crate::backend::behind_each_backend! {
    every_client_does_as_many_before_it_is_ready,
    the_measured_time_goes_on_where_warming_up_ended,
    no_pace_holds_it_up,
    groups_beside_do_as_many,
    connections_are_made_anew_meanwhile,
    by_time_or_by_count,
}

/// Statements of an operation: a read twice and a write.
const STATEMENTS: usize = 3;
const HOUR_US: u64 = 3_600_000_000;

fn warm(task: DriveTask, operations: u64) -> DriveTask {
    DriveTask {
        warmup_operations: operations,
        ..task
    }
}

/// Paces at which next to nothing would happen.
fn slow_paces() -> [Pace; 2] {
    let think = Think {
        mean_us: HOUR_US,
        spacing: Spacing::Regular,
    };
    [
        Pace::Closed { think: Some(think) },
        Pace::Open {
            rate: Thousandths(1),
            spacing: Spacing::Regular,
        },
    ]
}

/// Operations that each connection did.
fn done(record: &BTreeMap<usize, Vec<String>>) -> Vec<usize> {
    let statements = record.values().map(Vec::len);
    statements
        .map(|statements| {
            assert_eq!(statements % STATEMENTS, 0);
            statements / STATEMENTS
        })
        .collect()
}

fn every_client_does_as_many_before_it_is_ready() {
    for clients in [1, 6] {
        let task = task(mixed(false), clients, Length::Count { operations: 30 });
        let held = hold(warm(task, 7));
        assert_eq!(done(&held.ready.record), vec![7; clients as usize]);
        // What was done before is in no figure.
        assert_eq!(held.outcome.groups.own().operations, 30);
        assert!(
            held.outcome
                .groups
                .own()
                .statements
                .iter()
                .all(|read| read.count <= 60)
        );
    }
}

fn the_measured_time_goes_on_where_warming_up_ended() {
    let asked = |delivery, task| {
        let server = FakeServer::start(delivery, answer);
        crate::run(&server, Task::Drive(Box::new(task))).unwrap();
        let mut asked: Vec<_> = server.record().into_values().collect();
        asked.sort();
        asked
    };
    for clients in [1, 6] {
        let each = |operations: u64| {
            let operations = operations * u64::from(clients);
            task(mixed(true), clients, Length::Count { operations })
        };
        let at_once = asked(Delivery::Whole, each(9));
        // However fast the server is.
        for delivery in [Delivery::Whole, Delivery::Cut] {
            assert_eq!(asked(delivery, warm(each(4), 5)), at_once);
        }
    }
}

fn no_pace_holds_it_up() {
    for pace in slow_paces() {
        let mut task = task(mixed(false), 3, Length::Time { ms: 20 });
        task.groups.own_mut().pace = pace;
        let held = hold(warm(task, 5));
        assert_eq!(done(&held.ready.record), [5; 3]);
        // But it is the pace of the measured time.
        assert!(held.outcome.groups.own().operations <= 1);
    }
}

fn groups_beside_do_as_many() {
    for pace in slow_paces().into_iter().chain([Pace::default()]) {
        // One client of its own on two threads: on one of them there are only others.
        let mut task = task(mixed(false), 1, Length::Count { operations: 20 });
        task.groups.push(ClientGroup {
            name: Some("others".into()),
            workload: mixed(false),
            parameters: BTreeMap::new(),
            clients: 4,
            pace,
            reconnect_every: None,
            sla_percent: None,
        });
        let held = crate::hold::hold_with(warm(task, 6), 2, 5);
        assert_eq!(done(&held.ready.record), [6; 5]);
        assert_eq!(held.outcome.groups.own().operations, 20);
        assert_eq!(held.outcome.groups.beside()[0].clients, 4);
    }
}

fn connections_are_made_anew_meanwhile() {
    let mut task = task(mixed(false), 2, Length::Count { operations: 10 });
    task.groups.own_mut().reconnect_every = Some(3);
    let held = hold(warm(task, 7));
    // Who is faster connects first.
    let mut done = done(&held.ready.record);
    done.sort_unstable();
    assert_eq!(done, [1, 1, 3, 3, 3, 3]);
    // Each client goes on with a connection that has two operations left, and does five.
    let connects = held.outcome.groups.own().statements.last().unwrap();
    assert_eq!((connects.name.as_str(), connects.count), ("connect", 2));
}

fn by_time_or_by_count() {
    for (warmup_ms, ramp_ms) in [(1, 0), (0, 1)] {
        let server = FakeServer::start(Delivery::Whole, answer);
        let mut task = warm(task(mixed(false), 1, Length::Count { operations: 1 }), 1);
        (task.warmup_ms, task.ramp_ms) = (warmup_ms, ramp_ms);
        let error = crate::run(&server, Task::Drive(Box::new(task))).unwrap_err();
        assert!(matches!(error, LoadError::Job(JobError::TwoWarmups)));
        let said = error.to_string();
        assert!(said.contains("leave out `warmup_operations`"), "{said}");
    }
}
