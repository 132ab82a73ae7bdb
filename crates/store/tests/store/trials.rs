//! The state machine of a trial.

use std::collections::BTreeMap;

use prony_model::{Moment, Sample as Read, TrialState};
use prony_store::{StoreError, TrialCounts};
use prony_testkit::planned;

use crate::sample::{Sample, assert_whole, at, begin_with_steps, loaded, outcome, settled};

#[test]
fn a_run_in_good_order_ends_with_nothing_missing() {
    let sample = Sample::new();
    let mut store = sample.create();
    while let Some(next) = store.missing_trials().unwrap().first().copied() {
        let trial = begin_with_steps(&mut store, next.block, next.target);
        store.finish_trial(trial, at(9)).unwrap();
    }
    store.set_run_ended(at(10)).unwrap();
    assert_eq!(
        store.trial_counts().unwrap(),
        TrialCounts {
            planned: 4,
            done: 4,
            ..TrialCounts::default()
        }
    );
    let order: Vec<_> = store.trials().unwrap().iter().map(|t| t.planned).collect();
    assert_eq!(order, store.plan().trials);
    assert_eq!(store.run().unwrap().ended_at, Some(at(10)));
    drop(store);
    assert_whole(&sample.path());
}

#[test]
fn failed_trials_are_not_missing_and_discarded_ones_are() {
    let sample = Sample::new();
    let mut store = sample.create();
    let failed = store.begin_trial(planned(0, 0), at(1)).unwrap();
    store
        .fail_trial(failed, "the server died", "last words", at(2))
        .unwrap();
    let discarded = store.begin_trial(planned(0, 1), at(3)).unwrap();
    store
        .discard_trial(discarded, "interrupted", at(4))
        .unwrap();
    assert_eq!(
        store.missing_trials().unwrap(),
        [planned(0, 1), planned(1, 1), planned(1, 0)]
    );
    assert_eq!(store.trial_counts().unwrap().missing(), 3);

    let again = store.begin_trial(planned(0, 1), at(5)).unwrap();
    let trials = store.trials().unwrap();
    assert_eq!(trials[0].state, TrialState::Failed);
    assert_eq!(trials[0].reason.as_deref(), Some("the server died"));
    assert_eq!(trials[0].log_tail.as_deref(), Some("last words"));
    assert_eq!(
        (trials[1].attempt, trials[1].state),
        (1, TrialState::Discarded)
    );
    assert_eq!(trials[2].id, again);
    assert_eq!(
        (trials[2].attempt, trials[2].state),
        (2, TrialState::Running)
    );
}

#[test]
fn a_trial_counts_once() {
    let sample = Sample::new();
    let mut store = sample.create();
    let taken = |store: &mut prony_store::Store, expected| {
        let error = store.begin_trial(planned(0, 0), at(2)).unwrap_err();
        assert!(
            matches!(error, StoreError::Taken { state, .. } if state == expected),
            "{error}"
        );
    };
    let trial = begin_with_steps(&mut store, 0, 0);
    taken(&mut store, TrialState::Running);
    store.finish_trial(trial, at(3)).unwrap();
    taken(&mut store, TrialState::Done);
    drop(store);

    // Not even by hand.
    let connection = rusqlite::Connection::open(sample.path()).unwrap();
    let second = connection.execute(
        "INSERT INTO trial (block, target_id, kind, attempt, host_id, state, began_at)
         VALUES (0, 0, 'timed', 2, 0, 'done', '')",
        [],
    );
    assert!(second.is_err());
}

#[test]
fn only_running_trials_change() {
    let sample = Sample::new();
    let mut store = sample.create();
    let trial = begin_with_steps(&mut store, 0, 0);
    store.finish_trial(trial, at(2)).unwrap();
    let refused = [
        store.finish_trial(trial, at(3)),
        store.fail_trial(trial, "late", "", at(3)),
        store.discard_trial(trial, "late", at(3)),
        store.record_step(trial, 0, &outcome(1)),
        store.record_variables(trial, &[]),
        store.record_samples(trial, 0, &[read()]),
        store.record_debt(trial, 0, &[]),
        store.record_settle(trial, 0, &settled()),
        store.record_trial_load(trial, &loaded(), None),
    ];
    for result in refused {
        assert!(matches!(result, Err(StoreError::NotRunning { .. })));
    }
}

#[test]
fn a_trial_is_done_with_all_of_its_steps_only() {
    let sample = Sample::new();
    let mut store = sample.create();
    let trial = store.begin_trial(planned(0, 0), at(1)).unwrap();
    store.record_step(trial, 0, &outcome(1)).unwrap();
    assert!(matches!(
        store.finish_trial(trial, at(2)),
        Err(StoreError::StepsMissing { missing: 1, .. })
    ));
    assert_eq!(store.trials().unwrap()[0].state, TrialState::Running);
    store.record_step(trial, 1, &outcome(2)).unwrap();
    store.finish_trial(trial, at(2)).unwrap();
}

#[test]
fn only_planned_trials_begin() {
    let sample = Sample::new();
    let mut store = sample.create();
    for (block, target) in [(2, 0), (0, 2)] {
        assert!(matches!(
            store.begin_trial(planned(block, target), at(1)),
            Err(StoreError::NotPlanned { .. })
        ));
    }
}

#[test]
fn beginning_a_trial_reopens_an_ended_run() {
    let sample = Sample::new();
    let mut store = sample.create();
    store.set_run_ended(at(5)).unwrap();
    store.begin_trial(planned(0, 0), at(6)).unwrap();
    assert_eq!(store.run().unwrap().ended_at, None);
}

#[test]
fn what_a_dead_program_left_running_is_discarded() {
    let sample = Sample::new();
    let mut store = sample.create();
    let done = begin_with_steps(&mut store, 0, 0);
    store.finish_trial(done, at(2)).unwrap();
    begin_with_steps(&mut store, 0, 1);
    drop(store);

    let mut store = sample.open();
    assert_eq!(store.trial_counts().unwrap().running, 1);
    assert_eq!(store.abandon_running("prony was killed").unwrap(), 1);
    assert_eq!(store.abandon_running("prony was killed").unwrap(), 0);
    let left = &store.trials().unwrap()[1];
    assert_eq!(left.state, TrialState::Discarded);
    assert_eq!(left.reason.as_deref(), Some("prony was killed"));
    assert_eq!(left.ended_at, None);
    assert_eq!(store.missing_trials().unwrap()[0], planned(0, 1));
    assert_eq!(
        store.outcomes().unwrap().len(),
        2,
        "those of the done trial"
    );
    let again = begin_with_steps(&mut store, 0, 1);
    store.finish_trial(again, at(9)).unwrap();
    assert_eq!(store.outcomes().unwrap().len(), 4);
}

#[test]
fn failed_trials_are_repeated_by_wish() {
    let sample = Sample::new();
    let mut store = sample.create();
    let done = begin_with_steps(&mut store, 0, 0);
    store.finish_trial(done, at(2)).unwrap();
    let failed = store.begin_trial(planned(0, 1), at(3)).unwrap();
    store
        .fail_trial(failed, "the server died", "last words", at(4))
        .unwrap();
    assert_eq!(store.retry_failed().unwrap(), 1);
    assert_eq!(store.retry_failed().unwrap(), 0);
    let kept = &store.trials().unwrap()[1];
    assert_eq!(kept.state, TrialState::Discarded);
    assert_eq!(kept.reason.as_deref(), Some("the server died"));
    assert_eq!(kept.log_tail.as_deref(), Some("last words"));
    assert_eq!(kept.ended_at, Some(at(4)));
    assert_eq!(store.missing_trials().unwrap()[0], planned(0, 1));
    let again = begin_with_steps(&mut store, 0, 1);
    store.finish_trial(again, at(9)).unwrap();
    assert_eq!(store.trial_counts().unwrap().done, 2);
    assert_eq!(store.trial_counts().unwrap().failed, 0);
}

/// A sample of nothing.
fn read() -> Read {
    Read {
        moment: Moment::Start,
        at_ns: 1,
        took_ns: 1,
        values: BTreeMap::new(),
        gaps: Vec::new(),
    }
}
