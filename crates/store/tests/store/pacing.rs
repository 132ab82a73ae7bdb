//! Schedules, threads, groups of clients, backends and calibrations.

use prony_model::{
    Backend, Calibration, ErrorClass, ErrorCount, GroupOutcome, Interval, Schedule, Scheduling,
    SchedulingGroups, StatementOutcome, StepOutcome, ThreadUse,
};
use prony_store::{
    OutcomeRow, ScheduleRow, Store, StoreError, Stretch, StretchRow, ThreadUseRow, TrialId,
};
use prony_testkit::{self as testkit, planned};

use crate::sample::{
    BEFORE_7, Sample, assert_whole, at, beside, create_with, intervals, outcome, plan,
};

fn schedule(planned: u64) -> Schedule {
    Schedule {
        planned,
        backlog: 3,
        left: 1,
        response: vec![7, 7],
        error: vec![8],
    }
}

fn group(name: &str, schedule: Option<Schedule>) -> GroupOutcome {
    GroupOutcome {
        name: Some(name.into()),
        queries: 600,
        statements: vec![
            StatementOutcome {
                rows: 0,
                affected: 499,
                unexpected: 1,
                ..testkit::statement_outcome("update", 500, vec![10])
            },
            StatementOutcome {
                rows: 0,
                ..testkit::statement_outcome("connect", 5, vec![11])
            },
        ],
        errors: vec![ErrorCount {
            code: 1205.into(),
            class: ErrorClass::Counted,
            count: 2,
            message: "Lock wait timeout".into(),
        }],
        schedule,
        ..testkit::group_outcome(2, 500, 4_000_000_000, vec![9, 9, 9])
    }
}

fn paced() -> StepOutcome {
    let mut outcome = outcome(1);
    outcome.backend = Backend::IoUring;
    outcome.scheduling = Scheduling::Batch;
    outcome.groups.own_mut().schedule = Some(schedule(1000));
    outcome.thread_use = vec![
        ThreadUse {
            wall_ns: 9,
            cpu_ns: 5,
            run_queue_ns: Some(6),
        },
        ThreadUse {
            wall_ns: 9,
            cpu_ns: 7,
            run_queue_ns: None,
        },
    ];
    outcome.groups.push(group("writers", Some(schedule(500))));
    outcome.groups.push(group("scans", None));
    let own = outcome.groups.own_mut();
    own.intervals[2].response_ns_p99 = 44;
    own.intervals[2].backlog = 55;
    outcome.groups[1].intervals = intervals(100);
    outcome
}

/// The intervals of the first step are those of `outcome`, group by group.
fn assert_intervals(store: &Store, trial: TrialId, outcome: &StepOutcome) {
    let stretch = |interval: &Interval| Stretch {
        start_ns: interval.start_ns,
        end_ns: interval.end_ns,
        operations: interval.operations,
        longest_ns: interval.latency_ns_max,
    };
    let mut expected = Vec::new();
    for (group, of_group) in outcome.groups.iter().enumerate() {
        let intervals = store.intervals(trial, 0, group).unwrap();
        assert_eq!(intervals, of_group.intervals);
        expected.extend(intervals.iter().map(|interval| StretchRow {
            step: 0,
            group,
            stretch: stretch(interval),
        }));
    }
    let mut stretches = store.stretches(trial).unwrap();
    stretches.retain(|row| row.step == 0);
    assert_eq!(stretches, expected);
}

/// Files of version 5 have the intervals of a step's own clients alone.
#[test]
fn older_files_have_intervals_of_the_own_clients_alone() {
    let (sample, mut store) = grouped_run(0);
    let trial = store.begin_trial(planned(0, 1), at(1)).unwrap();
    let mut outcome = paced();
    for group in outcome.groups.iter_mut().skip(1) {
        group.intervals.clear();
    }
    store.record_step(trial, 0, &outcome).unwrap();
    drop(store);
    rusqlite::Connection::open(sample.path())
        .and_then(|connection| {
            connection.execute_batch(
                "CREATE TABLE older AS SELECT trial_id, step_id, position, start_ns, end_ns,
                     operations, queries, errors, latency_ns_p99, latency_ns_max,
                     response_ns_p99, backlog FROM interval;
                 DROP TABLE interval; ALTER TABLE older RENAME TO interval;",
            )?;
            connection.execute_batch(BEFORE_7)?;
            connection.pragma_update(None, "user_version", 5)
        })
        .unwrap();
    let reader = Store::open_read_only(&sample.path()).unwrap();
    assert_intervals(&reader, trial, &outcome);
    drop(reader);
    assert_intervals(&sample.open(), trial, &outcome);
    assert_whole(&sample.path());
}

/// A run with two groups beside the clients of this step.
fn grouped_run(step: usize) -> (Sample, Store) {
    let sample = Sample::new();
    let mut plan = plan();
    beside(&mut plan.steps[step], "writers");
    beside(&mut plan.steps[step], "scans");
    let store = create_with(&sample.path(), &plan);
    (sample, store)
}

#[test]
fn what_a_paced_step_yields_comes_back() {
    let (sample, mut store) = grouped_run(0);
    let trial = store.begin_trial(planned(0, 1), at(1)).unwrap();
    store.record_step(trial, 0, &paced()).unwrap();
    store.record_step(trial, 1, &outcome(2)).unwrap();
    assert_eq!(store.outcomes().unwrap(), [], "not done yet");
    assert_eq!(store.schedules().unwrap(), [], "not done yet");
    assert_eq!(store.thread_uses().unwrap(), [], "not done yet");
    store.finish_trial(trial, at(2)).unwrap();

    let row = |group, schedule| ScheduleRow {
        trial,
        step: 0,
        group,
        schedule,
    };
    assert_eq!(
        store.schedules().unwrap(),
        [row(0, schedule(1000)), row(1, schedule(500))]
    );
    let thread = |thread: usize| ThreadUseRow {
        trial,
        step: 0,
        thread,
        used: paced().thread_use[thread],
    };
    assert_eq!(store.thread_uses().unwrap(), [thread(0), thread(1)]);
    assert_intervals(&store, trial, &paced());
    let outcomes = store.outcomes().unwrap();
    let backends: Vec<_> = outcomes
        .iter()
        .map(|row| (row.step, row.group, row.backend))
        .collect();
    let uring = Backend::IoUring;
    assert_eq!(
        backends,
        [
            (0, 0, uring),
            (0, 1, uring),
            (0, 2, uring),
            (1, 0, Backend::Epoll)
        ]
    );
    drop(store);
    assert_whole(&sample.path());
}

#[test]
fn groups_have_figures_of_their_own() {
    let (_sample, mut store) = grouped_run(1);
    let trial = store.begin_trial(planned(0, 1), at(1)).unwrap();
    store.record_step(trial, 0, &outcome(1)).unwrap();
    let mut second = paced();
    second.groups.own_mut().clients = 2;
    store.record_step(trial, 1, &second).unwrap();
    store.finish_trial(trial, at(2)).unwrap();

    let rows = store.outcomes().unwrap();
    let places: Vec<_> = rows.iter().map(|row| (row.step, row.group)).collect();
    assert_eq!(places, [(0, 0), (1, 0), (1, 1), (1, 2)]);
    let expected = OutcomeRow {
        trial,
        planned: planned(0, 1),
        step: 1,
        group: 1,
        backend: Backend::IoUring,
        scheduling: Scheduling::Batch,
        threads: 1,
        client_user_ns: 11_000_000,
        client_system_ns: 12_000_000,
        clients: 2,
        operations: 500,
        queries: 600,
        busy_ns: 4_000_000_000,
        errors: 2,
        unexpected: 1,
    };
    assert_eq!(rows[2], expected);
    // The step's own figures are not touched.
    let own = &rows[1];
    assert_eq!((own.operations, own.errors, own.unexpected), (1000, 7, 1));

    let statements = store.statements(trial, 1, 2).unwrap();
    assert_eq!(statements[0].name, "update");
    assert_eq!((statements[0].affected, statements[0].unexpected), (499, 1));
    assert_eq!((&*statements[1].name, statements[1].count), ("connect", 5));
    let hdr = |group, statement| store.histogram(trial, 1, group, statement).unwrap();
    assert_eq!(hdr(0, 0), Some(vec![1, 2, 3]));
    assert_eq!(hdr(1, 0), Some(vec![9, 9, 9]));
    assert_eq!(hdr(2, 1), Some(vec![10]));
    assert_eq!(hdr(2, 3), None);
    assert_eq!(hdr(3, 0), None);
    let errors = store.errors().unwrap();
    let codes: Vec<_> = errors
        .iter()
        .map(|row| (row.step, row.group, row.code.as_str()))
        .collect();
    assert_eq!(
        codes,
        [
            (0, 0, "1213"),
            (1, 0, "1213"),
            (1, 1, "1205"),
            (1, 2, "1205")
        ]
    );
}

#[test]
fn groups_that_are_not_planned_are_not_recorded() {
    let sample = Sample::new();
    let mut store = sample.create();
    let trial = store.begin_trial(planned(0, 1), at(1)).unwrap();
    let refused = store.record_step(trial, 0, &paced()).unwrap_err();
    assert!(
        matches!(
            refused,
            StoreError::GroupsDiffer {
                found: 3,
                planned: 1,
                ..
            }
        ),
        "{refused}"
    );
    store.record_step(trial, 0, &outcome(1)).unwrap();
}

#[test]
fn groups_that_are_planned_must_all_have_an_outcome() {
    let (_sample, mut store) = grouped_run(1);
    let trial = store.begin_trial(planned(0, 1), at(1)).unwrap();
    let refused = store.record_step(trial, 1, &outcome(2)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "record step `point-query` in trial 1: the number of its groups of clients is 1, that of \
         the plan is 3"
    );
    store.record_step(trial, 1, &paced()).unwrap();
}

#[test]
fn a_run_keeps_its_backend() {
    let sample = Sample::new();
    let mut store = sample.create();
    assert_eq!(store.run().unwrap().backend, None);
    store.record_backend(Backend::IoUring).unwrap();
    store.record_backend(Backend::IoUring).unwrap();
    assert_eq!(store.run().unwrap().backend, Some(Backend::IoUring));
    let error = store.record_backend(Backend::Epoll).unwrap_err();
    assert!(matches!(error, StoreError::BackendChanged { .. }));
    insta::assert_snapshot!(error, @"continue with epoll: this run began with io-uring, and figures of two backends can't be compared; start a new run");
}

#[test]
fn the_first_and_the_last_calibration_are_known() {
    let sample = Sample::new();
    let mut store = sample.create();
    assert_eq!(store.calibration().unwrap(), None);
    assert_eq!(store.first_calibration().unwrap(), None);
    let calibration = |queries| Calibration {
        closed: vec![testkit::closed_point(Backend::Epoll, 64, queries)],
        ..testkit::calibration()
    };
    // In the order of recording, whatever the wall clock says.
    for (queries, seconds) in [(1, 3), (2, 1), (3, 2)] {
        store
            .record_calibration(&calibration(queries), at(seconds))
            .unwrap();
        assert_eq!(store.calibration().unwrap(), Some(calibration(queries)));
        assert_eq!(store.first_calibration().unwrap(), Some(calibration(1)));
    }
    drop(store);
    assert_eq!(
        sample.open().first_calibration().unwrap(),
        Some(calibration(1))
    );
}

#[test]
fn a_trial_keeps_its_scheduling_groups() {
    let sample = Sample::new();
    let mut store = sample.create();
    let of = |server: Result<&str, &str>| SchedulingGroups {
        server: server.map(str::to_owned).map_err(str::to_owned),
        generator: "autogroup 30".to_owned(),
    };
    let groups = [of(Ok("autogroup 31")), of(Err("find the server's process"))];
    let mut expected = Vec::new();
    for (block, groups) in (0..).zip(groups) {
        let trial = store.begin_trial(planned(block, 1), at(1)).unwrap();
        store.record_scheduling_groups(trial, &groups).unwrap();
        assert!(store.record_scheduling_groups(trial, &groups).is_err());
        store.discard_trial(trial, "stopped", at(2)).unwrap();
        assert!(store.record_scheduling_groups(trial, &groups).is_err());
        expected.push((trial, groups));
    }
    assert_eq!(store.scheduling_groups().unwrap(), expected);
    drop(store);
    assert_whole(&sample.path());
}
