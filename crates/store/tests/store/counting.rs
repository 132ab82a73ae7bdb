//! Trials that count.

use prony_model::{
    CountedBy, CountedSteps, Counting, Effect, Gap, PlannedTrial, Source, TrialKind,
};
use prony_store::{Store, StoreError, TrialId};
use prony_testkit::planned;

use crate::sample::{
    Sample, assert_whole, at, begin_planned, begin_with_steps, create_with, loaded, outcome, plan,
    settled,
};

const COUNTING: PlannedTrial = PlannedTrial {
    block: 0,
    target: 0,
    kind: TrialKind::Counting,
};

/// A run whose first target is counted in the first block.
fn counted_run() -> (Sample, Store) {
    let sample = Sample::new();
    let mut plan = plan();
    plan.trials.insert(2, COUNTING);
    let store = create_with(&sample.path(), &plan);
    (sample, store)
}

fn count(store: &mut Store) -> TrialId {
    begin_planned(store, COUNTING)
}

#[test]
fn a_target_is_timed_and_counted_in_one_block() {
    let (sample, mut store) = counted_run();
    let timed = begin_with_steps(&mut store, 0, 0);
    store.finish_trial(timed, at(2)).unwrap();
    assert_eq!(
        store.missing_trials().unwrap(),
        [planned(0, 1), COUNTING, planned(1, 1), planned(1, 0)]
    );
    let cut = store.begin_trial(COUNTING, at(3)).unwrap();
    store.discard_trial(cut, "interrupted", at(3)).unwrap();
    let counted = count(&mut store);
    let error = store.begin_trial(COUNTING, at(4)).unwrap_err();
    insta::assert_snapshot!(error, @"begin a counting trial of target 0 in block 0: it is running already");
    store.finish_trial(counted, at(5)).unwrap();
    assert_eq!(
        store.missing_trials().unwrap(),
        [planned(0, 1), planned(1, 1), planned(1, 0)]
    );
    let trials = store.trials().unwrap();
    let seen: Vec<_> = trials
        .iter()
        .map(|row| (row.planned, row.attempt))
        .collect();
    assert_eq!(seen, [(planned(0, 0), 1), (COUNTING, 1), (COUNTING, 2)]);
    let counts = store.trial_counts().unwrap();
    assert_eq!((counts.planned, counts.done, counts.missing()), (5, 2, 3));
    drop(store);

    // Not even by hand.
    let connection = rusqlite::Connection::open(sample.path()).unwrap();
    let second = connection.execute(
        "INSERT INTO trial (block, target_id, kind, attempt, host_id, state, began_at)
         VALUES (0, 0, 'counting', 3, 0, 'done', '')",
        [],
    );
    assert!(second.is_err());
    assert_whole(&sample.path());
}

#[test]
fn what_is_not_planned_is_not_counted() {
    let sample = Sample::new();
    let error = sample.create().begin_trial(COUNTING, at(1)).unwrap_err();
    assert!(matches!(error, StoreError::NotPlanned { .. }));
    insta::assert_snapshot!(error, @"begin a counting trial of target 0 in block 0: the plan has no such trial");
}

#[test]
fn figures_of_counting_trials_are_kept_apart() {
    let (_sample, mut store) = counted_run();
    let counted = count(&mut store);
    store.record_settle(counted, 0, &settled()).unwrap();
    store.record_debt(counted, 0, &settled().debt).unwrap();
    store.record_trial_load(counted, &loaded(), None).unwrap();
    assert_eq!(store.counted().unwrap(), [], "not done yet");
    store.finish_trial(counted, at(4)).unwrap();

    assert_eq!(store.outcomes().unwrap(), []);
    assert_eq!(store.errors().unwrap(), []);
    assert_eq!(store.settles().unwrap(), []);
    assert_eq!(store.debts().unwrap(), []);
    assert_eq!(store.loads().unwrap(), []);
    let rows = store.counted().unwrap();
    assert_eq!(rows.len(), 2);
    assert_eq!((rows[1].trial, rows[1].planned), (counted, COUNTING));
    assert_eq!((rows[1].step, rows[1].operations), (1, 1000));
    assert_eq!((rows[1].errors, rows[1].unexpected), (7, 1));

    let timed = begin_with_steps(&mut store, 0, 0);
    store.finish_trial(timed, at(6)).unwrap();
    assert_eq!(store.counted().unwrap(), rows);
    assert!(
        store
            .outcomes()
            .unwrap()
            .iter()
            .all(|row| row.trial == timed)
    );
}

#[test]
fn a_counting_trial_may_lack_the_steps_that_write() {
    let sample = Sample::new();
    let mut plan = plan();
    plan.trials.insert(2, COUNTING);
    plan.counting = Some(Counting {
        blocks: 1,
        by: CountedBy::Valgrind,
        operations: Some(20),
        time_ms: None,
        steps: CountedSteps::Reads,
    });
    for (index, step) in plan.steps.iter_mut().enumerate() {
        step.groups.own_mut().workload.effect = match index {
            0 => Effect::None,
            _ => Effect::Rewrite,
        };
    }
    let mut store = create_with(&sample.path(), &plan);
    let missing = |finished: Result<(), StoreError>| match finished {
        Err(StoreError::StepsMissing { missing, .. }) => missing,
        other => panic!("{other:?}"),
    };
    let counted = store.begin_trial(COUNTING, at(3)).unwrap();
    assert_eq!(missing(store.finish_trial(counted, at(4))), 1);
    store.record_step(counted, 0, &outcome(1)).unwrap();
    store.finish_trial(counted, at(4)).unwrap();
    let timed = store.begin_trial(planned(0, 0), at(5)).unwrap();
    store.record_step(timed, 0, &outcome(1)).unwrap();
    assert_eq!(
        missing(store.finish_trial(timed, at(6))),
        plan.steps.len() - 1
    );
}

#[test]
fn the_variables_of_a_target_are_those_it_is_timed_with() {
    let (_sample, mut store) = counted_run();
    let pair = |value: &str| vec![("version".to_owned(), value.to_owned())];
    let counted = count(&mut store);
    store.record_variables(counted, &pair("counted")).unwrap();
    store.finish_trial(counted, at(4)).unwrap();
    assert_eq!(store.target_variables(0).unwrap()["version"], "counted");
    let timed = begin_with_steps(&mut store, 0, 0);
    store.record_variables(timed, &pair("timed")).unwrap();
    store.finish_trial(timed, at(6)).unwrap();
    assert_eq!(store.target_variables(0).unwrap()["version"], "timed");
}

#[test]
fn all_targets_are_counted_over_as_many_operations() {
    let (sample, mut store) = counted_run();
    assert_eq!(store.counting_operations(1).unwrap(), None);
    assert_eq!(store.record_counting_operations(1, 4000).unwrap(), 4000);
    assert_eq!(store.record_counting_operations(1, 5000).unwrap(), 4000);
    assert_eq!(store.record_counting_operations(0, 100).unwrap(), 100);
    drop(store);
    let mut store = sample.open();
    assert_eq!(store.counting_operations(1).unwrap(), Some(4000));
    assert_eq!(store.counting_operations(0).unwrap(), Some(100));
    assert!(store.record_counting_operations(9, 1).is_err(), "unknown");
    assert!(store.record_counting_operations(2, 0).is_err(), "none");
    assert!(
        store.record_counting_operations(2, u64::MAX).is_err(),
        "beyond what the file holds"
    );
}

#[test]
fn what_a_counting_trial_lacks_is_told_with_it() {
    let (_sample, mut store) = counted_run();
    let trial = count(&mut store);
    let gap = Gap {
        source: Source::Perf,
        reason: "cache_misses: not supported".to_owned(),
    };
    store.record_absence(Some(trial), &gap).unwrap();
    assert_eq!(store.absences().unwrap(), [(Some(trial), gap)]);
}

#[test]
fn the_profile_of_a_step_is_kept_once() {
    let (sample, mut store) = counted_run();
    let timed = begin_with_steps(&mut store, 0, 0);
    store.finish_trial(timed, at(2)).unwrap();
    let trial = count(&mut store);
    store.record_profile(trial, 1, b"content").unwrap();
    assert!(store.record_profile(trial, 1, b"other").is_err(), "twice");
    assert!(
        store.record_profile(trial, 9, b"other").is_err(),
        "unknown step"
    );
    store.finish_trial(trial, at(5)).unwrap();
    drop(store);
    let store = Store::open_read_only(&sample.path()).unwrap();
    assert_eq!(
        store.profile(trial, 1).unwrap().as_deref(),
        Some(&b"content"[..])
    );
    assert_eq!(store.profile(trial, 0).unwrap(), None);
}

#[test]
fn the_samples_of_stacks_of_a_step_are_kept_once() {
    let sample = Sample::new();
    let profiling = PlannedTrial {
        kind: TrialKind::Profiling,
        ..planned(0, 0)
    };
    let mut plan = plan();
    plan.trials.push(profiling);
    let mut store = create_with(&sample.path(), &plan);
    assert!(!store.has_stack_samples().unwrap());
    let trial = begin_planned(&mut store, profiling);
    store.record_stack_samples(trial, 1, b"content").unwrap();
    assert!(
        store.record_stack_samples(trial, 1, b"other").is_err(),
        "twice"
    );
    assert!(
        store.record_stack_samples(trial, 9, b"other").is_err(),
        "unknown step"
    );
    store.finish_trial(trial, at(5)).unwrap();
    drop(store);
    let store = Store::open_read_only(&sample.path()).unwrap();
    assert_eq!(
        store.stack_samples(trial, 1).unwrap().as_deref(),
        Some(&b"content"[..])
    );
    assert_eq!(store.stack_samples(trial, 0).unwrap(), None);
    assert!(store.has_stack_samples().unwrap());
    assert_eq!(store.outcomes().unwrap(), [], "no figure of a timed trial");
}
