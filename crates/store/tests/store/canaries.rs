//! Canaries, and trials that are excluded by them.

use prony_model::{CanaryMoment, CanaryReading, TrialState};
use prony_store::{Store, Subject, TrialId};
use prony_testkit::planned;

use crate::sample::{Sample, assert_whole, at, begin_with_steps};

fn reading(processor_ns: u64) -> CanaryReading {
    CanaryReading {
        processor_ns,
        memory_ns: 2,
        system_calls_ns: 3,
        wake_up_ns: (processor_ns > 1).then_some(4),
    }
}

fn record(store: &mut Store, trial: TrialId, moment: CanaryMoment, processor_ns: u64) {
    let reading = reading(processor_ns);
    store.record_canary(trial, moment, &reading).unwrap();
}

#[test]
fn canaries_are_kept_in_the_order_of_their_runs() {
    let sample = Sample::new();
    let mut store = sample.create();
    let first = begin_with_steps(&mut store, 0, 0);
    record(&mut store, first, CanaryMoment::After, 1);
    record(&mut store, first, CanaryMoment::Before, 2);
    let twice = store.record_canary(first, CanaryMoment::After, &reading(3));
    assert!(twice.is_err());
    store.finish_trial(first, at(2)).unwrap();
    let ended = store.record_canary(first, CanaryMoment::After, &reading(3));
    assert!(ended.is_err());
    let second = store.begin_trial(planned(0, 1), at(3)).unwrap();
    record(&mut store, second, CanaryMoment::Before, 5);
    store.discard_trial(second, "interrupted", at(4)).unwrap();

    let rows = store.canaries().unwrap();
    let shown: Vec<_> = rows
        .iter()
        .map(|row| (row.trial, row.moment, row.times))
        .collect();
    assert_eq!(
        shown,
        [
            (first, CanaryMoment::Before, reading(2)),
            (first, CanaryMoment::After, reading(1)),
            (second, CanaryMoment::Before, reading(5)),
        ]
    );
    drop(store);
    assert_whole(&sample.path());
}

#[test]
fn a_host_is_the_same_after_a_resume() {
    let facts = |cpus: u32, kernel: &str, note: &str| {
        format!(r#"{{"cpu_model": null, "cpus": {cpus}, "kernel": "{kernel}", "note": "{note}"}}"#)
    };
    let sample = Sample::new();
    let mut store = sample.create();
    let hosts = [
        facts(2, "6.1", "one"),
        facts(4, "6.1", "one"),
        facts(2, "6.1", "two"),
        "{}".to_owned(),
        facts(2, "6.2", "one"),
    ];
    let trials = store.plan().trials.clone();
    for (host, planned) in hosts.iter().zip(trials.iter().cycle()) {
        store.record_host(host, at(1)).unwrap();
        let trial = store.begin_trial(*planned, at(1)).unwrap();
        record(&mut store, trial, CanaryMoment::Before, 1);
        store.discard_trial(trial, "interrupted", at(2)).unwrap();
    }
    let rows = store.canaries().unwrap();
    let hosts: Vec<_> = rows.iter().map(|row| row.host).collect();
    // The host at 0 is that of the run's beginning.
    assert_eq!(hosts, [1, 2, 1, 4, 5]);
}

#[test]
fn an_excluded_trial_keeps_its_data_and_is_missing() {
    let sample = Sample::new();
    let mut store = sample.create();
    let excluded = begin_with_steps(&mut store, 0, 0);
    record(&mut store, excluded, CanaryMoment::Before, 1);
    let about = Subject::Trial(excluded);
    store.record_warning(about, "slow-start", "12 s").unwrap();
    store.exclude_trial(excluded, "slow host", at(2)).unwrap();
    assert!(store.exclude_trial(excluded, "again", at(3)).is_err());

    assert_eq!(store.missing_trials().unwrap().len(), 4);
    let counts = store.trial_counts().unwrap();
    assert_eq!((counts.excluded, counts.done, counts.missing()), (1, 0, 4));
    assert_eq!(store.outcomes().unwrap(), []);
    assert_eq!(store.warnings().unwrap(), []);
    let again = begin_with_steps(&mut store, 0, 0);
    store.finish_trial(again, at(5)).unwrap();
    let trials = store.trials().unwrap();
    let states: Vec<_> = trials
        .iter()
        .map(|row| (row.attempt, row.state, row.reason.as_deref()))
        .collect();
    assert_eq!(
        states,
        [
            (1, TrialState::Excluded, Some("slow host")),
            (2, TrialState::Done, None)
        ]
    );
    assert!(
        store
            .outcomes()
            .unwrap()
            .iter()
            .all(|row| row.trial == again)
    );
    assert_eq!(store.canaries().unwrap().len(), 1);
    drop(store);
    assert_whole(&sample.path());
    let connection = rusqlite::Connection::open(sample.path()).unwrap();
    let kept: u32 = connection
        .query_row(
            "SELECT count(*) FROM outcome JOIN trial ON trial.id = trial_id
             WHERE state = 'excluded'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(kept, 2);
}
