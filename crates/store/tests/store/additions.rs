//! Blocks that are added to a plan while earlier ones stay as they are.

use prony_model::{AdditionReason, BlockWithout, PlannedTrial, TrialState};
use prony_store::{Addition, Store, StoreError};
use prony_testkit::planned;
use rusqlite::Connection;
use rusqlite::types::Value;

use crate::sample::{Sample, assert_whole, at, begin_with_steps, outcome, plan};

fn addition(trials: &[PlannedTrial], without: &[(u32, &[usize])]) -> Addition {
    let left_out = |&(block, steps): &(u32, &[usize])| BlockWithout {
        block,
        steps: steps.to_vec(),
    };
    Addition {
        reason: AdditionReason::Append,
        trials: trials.to_vec(),
        without: without.iter().map(left_out).collect(),
    }
}

/// Every row of every table, with the table's name.
fn all_rows(sample: &Sample) -> Vec<(String, Vec<Value>)> {
    let connection = Connection::open(sample.path()).unwrap();
    let mut names = connection
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        .unwrap();
    let names: Vec<String> = names
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let mut all = Vec::new();
    for name in names {
        let mut statement = connection
            .prepare(&format!("SELECT * FROM {name}"))
            .unwrap();
        let columns = statement.column_count();
        let rows = statement.query_map([], |row| {
            (0..columns).map(|column| row.get(column)).collect()
        });
        all.extend(rows.unwrap().map(|row| (name.clone(), row.unwrap())));
    }
    all
}

/// Runs everything that is missing.
fn complete(store: &mut Store) {
    for next in store.missing_trials().unwrap() {
        let trial = begin_with_steps(store, next.block, next.target);
        store.finish_trial(trial, at(9)).unwrap();
    }
}

#[test]
fn added_blocks_are_missing_and_survive_reopening() {
    let sample = Sample::new();
    let mut store = sample.create();
    complete(&mut store);
    let added = addition(&[planned(2, 1), planned(2, 0)], &[]);
    store.add_trials(&added, at(10)).unwrap();
    assert_eq!(store.missing_trials().unwrap(), added.trials);
    drop(store);

    let mut store = sample.open();
    assert_eq!(
        (store.plan().blocks(), store.blocks_at_first().unwrap()),
        (3, 2)
    );
    assert_eq!(store.trial_counts().unwrap().planned, 6);
    let known = store.additions().unwrap();
    assert_eq!((known[0].added_at, known[0].host), (at(10), 0));
    assert_eq!(known[0].addition, added);
    complete(&mut store);
    assert_eq!(store.trial_counts().unwrap().missing(), 0);
    drop(store);
    assert_whole(&sample.path());
}

#[test]
fn earlier_blocks_stay_as_they_are() {
    let sample = Sample::new();
    let mut store = sample.create();
    complete(&mut store);
    drop(store);
    let before = all_rows(&sample);

    let mut store = sample.open();
    store.record_host(r#"{"cpus":4}"#, at(11)).unwrap();
    let added = addition(&[planned(2, 0), planned(2, 1)], &[]);
    store.add_trials(&added, at(12)).unwrap();
    complete(&mut store);
    drop(store);
    let after = all_rows(&sample);
    assert!(after.len() > before.len());
    for row in &before {
        assert!(after.contains(row), "{row:?}");
    }
}

#[test]
fn trials_lack_the_steps_that_their_block_leaves_out() {
    let sample = Sample::new();
    let mut store = sample.create();
    let added = addition(&[planned(2, 0), planned(3, 0)], &[(2, &[0])]);
    store.add_trials(&added, at(1)).unwrap();
    for (block, missing) in [(2, 0), (3, 1)] {
        let trial = store.begin_trial(planned(block, 0), at(2)).unwrap();
        store.record_step(trial, 1, &outcome(2)).unwrap();
        let finished = store.finish_trial(trial, at(3));
        match missing {
            0 => finished.unwrap(),
            _ => assert!(matches!(
                finished,
                Err(StoreError::StepsMissing { missing: 1, .. })
            )),
        }
    }
    assert_eq!(store.outcomes().unwrap().len(), 1);
    assert_eq!(store.trials().unwrap()[0].state, TrialState::Done);
}

#[test]
fn only_new_blocks_of_known_targets_are_added() {
    let sample = Sample::new();
    let mut store = sample.create();
    for (bad, reason) in [
        (addition(&[], &[]), "there are none"),
        (
            addition(&[planned(2, 0), planned(1, 0)], &[]),
            "block 1 is in the plan already",
        ),
        (addition(&[planned(2, 2)], &[]), "there is no target 2"),
        (
            addition(&[planned(2, 0)], &[(3, &[0])]),
            "steps of block 3 are left out",
        ),
        (
            addition(&[planned(2, 0)], &[(2, &[5])]),
            "there is no step 5",
        ),
    ] {
        let error = store.add_trials(&bad, at(1)).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
    assert_eq!(*store.plan(), plan());
}

#[test]
fn unknown_kinds_among_added_trials_end_the_run_only() {
    let sample = Sample::new();
    let mut store = sample.create();
    store
        .add_trials(&addition(&[planned(2, 0)], &[]), at(1))
        .unwrap();
    drop(store);
    Connection::open(sample.path())
        .unwrap()
        .execute_batch(
            r#"UPDATE addition SET trials = json_insert(trials, '$[#]',
                   json('{"block": 2, "target": 0, "kind": "profiled"}'));"#,
        )
        .unwrap();
    let reader = Store::open_read_only(&sample.path()).unwrap();
    assert_eq!(reader.plan().trials.len(), 5);
    let error = Store::open(&sample.path()).unwrap_err();
    assert!(matches!(error, StoreError::UnknownKind { .. }), "{error}");
}

#[test]
fn a_block_belongs_to_the_host_of_its_done_trials() {
    let sample = Sample::new();
    let mut store = sample.create();
    let facts = |kernel| format!(r#"{{"cpu_model":"a","cpus":2,"kernel":"{kernel}"}}"#);
    store.record_host(&facts("1"), at(1)).unwrap();
    let done = begin_with_steps(&mut store, 0, 0);
    store.finish_trial(done, at(2)).unwrap();
    let failed = store.begin_trial(planned(1, 1), at(3)).unwrap();
    store.fail_trial(failed, "it died", "", at(4)).unwrap();
    let mut plan = store.plan().trials.clone();
    plan.retain(|trial| *trial != planned(0, 0) && *trial != planned(1, 1));
    assert_eq!(store.missing_here().unwrap(), plan);
    // The same machine later is no other host.
    store.record_host(&facts("1"), at(5)).unwrap();
    assert_eq!(store.missing_here().unwrap(), plan);
    store.record_host(&facts("2"), at(6)).unwrap();
    assert_eq!(store.same_hosts().unwrap(), [0, 1, 1, 3]);
    assert_eq!(store.missing_here().unwrap(), [planned(1, 0)]);
    assert_eq!(store.missing_trials().unwrap(), plan);
}
