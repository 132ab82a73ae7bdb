//! Placements of steps, and the default of a run.

use prony_model::{
    DefaultPlacement, DefaultReason, Placement, PlacementReading, PlacementRule, PlannedTrial,
    Processors, Thousandths, TrialKind,
};
use prony_store::{PlacementRow, Store};
use prony_testkit::{free, paired, placed, planned, threads_on};

use crate::sample::{
    BEFORE_7, Sample, assert_whole, at, begin_planned, begin_with_steps, create_with, plan,
};

fn named() -> PlacementReading {
    PlacementReading {
        placement: Placement {
            rule: PlacementRule::Sets,
            paired: false,
            processors: Processors {
                sessions: None,
                background: Some("0,2-3".parse().unwrap()),
                generator: None,
            },
        },
        sessions: Vec::new(),
        background: vec![threads_on("0,2-3", 30), threads_on("0-3", 1)],
        generator: vec![threads_on("0-3", 2)],
    }
}

#[test]
fn placements_come_back_of_done_trials() {
    let sample = Sample::new();
    let mut store = sample.create();
    let together = placed(PlacementRule::Together, "1", "0", "1");
    let trial = begin_with_steps(&mut store, 0, 0);
    store.record_placement(trial, 1, &named()).unwrap();
    store.record_placement(trial, 0, &together).unwrap();
    assert_eq!(store.placements().unwrap(), [], "the trial is running");
    store.finish_trial(trial, at(2)).unwrap();
    let other = begin_with_steps(&mut store, 0, 1);
    store.record_placement(other, 0, &free(2)).unwrap();
    store.record_placement(other, 1, &paired([2, 1])).unwrap();
    store.finish_trial(other, at(3)).unwrap();
    let row = |trial, target, step, reading| PlacementRow {
        trial,
        planned: planned(0, target),
        step,
        reading,
    };
    assert_eq!(
        store.placements().unwrap(),
        [
            row(trial, 0, 0, together),
            row(trial, 0, 1, named()),
            row(other, 1, 0, free(2)),
            row(other, 1, 1, paired([2, 1])),
        ]
    );
    assert_eq!(store.counted_placements().unwrap(), []);
    assert_whole(&sample.path());
}

#[test]
fn files_without_pairs_are_read_and_brought_up_to_date() {
    let sample = Sample::new();
    let mut store = sample.create();
    let trial = begin_with_steps(&mut store, 0, 0);
    store.record_placement(trial, 0, &free(2)).unwrap();
    store.finish_trial(trial, at(2)).unwrap();
    drop(store);
    rusqlite::Connection::open(sample.path())
        .and_then(|connection| {
            connection.execute_batch(
                "DROP VIEW whole_sample_value;
                 ALTER TABLE placement DROP COLUMN paired; DROP TABLE addition;
                 DROP TABLE definition",
            )?;
            connection.execute_batch(BEFORE_7)?;
            connection.pragma_update(None, "user_version", 1)
        })
        .unwrap();
    let readings = |store: &Store| -> Vec<PlacementReading> {
        let rows = store.placements().unwrap();
        rows.into_iter().map(|row| row.reading).collect()
    };
    let store = Store::open_read_only(&sample.path()).unwrap();
    assert_eq!(readings(&store), [free(2)]);
    drop(store);
    assert_eq!(readings(&sample.open()), [free(2)]);
    assert_whole(&sample.path());
}

#[test]
fn counting_trials_have_placements_of_their_own() {
    let sample = Sample::new();
    let counting = PlannedTrial {
        kind: TrialKind::Counting,
        ..planned(0, 0)
    };
    let mut plan = plan();
    plan.trials.push(counting);
    let mut store = create_with(&sample.path(), &plan);
    let trial = begin_planned(&mut store, counting);
    store.record_placement(trial, 0, &free(2)).unwrap();
    store.finish_trial(trial, at(2)).unwrap();
    assert_eq!(store.placements().unwrap(), []);
    let [row] = <[_; 1]>::try_from(store.counted_placements().unwrap()).unwrap();
    assert_eq!((row.planned, row.reading), (counting, free(2)));
}

#[test]
fn a_placement_is_recorded_once_and_of_a_running_trial() {
    let sample = Sample::new();
    let mut store = sample.create();
    let trial = begin_with_steps(&mut store, 0, 0);
    store.record_placement(trial, 0, &free(2)).unwrap();
    assert!(store.record_placement(trial, 0, &named()).is_err());
    assert!(store.record_placement(trial, 9, &named()).is_err());
    let twice = PlacementReading {
        background: vec![threads_on("0", 1), threads_on("0", 2)],
        ..named()
    };
    assert!(store.record_placement(trial, 1, &twice).is_err());
    store.finish_trial(trial, at(2)).unwrap();
    assert!(store.record_placement(trial, 1, &named()).is_err());
    let found: Vec<_> = store
        .placements()
        .unwrap()
        .into_iter()
        .map(|row| (row.step, row.reading))
        .collect();
    assert_eq!(found, [(0, free(2))], "all of it or nothing");
}

#[test]
fn the_first_default_placement_stays() {
    let sample = Sample::new();
    let mut store = sample.create();
    assert_eq!(store.default_placement().unwrap(), None);
    let dear = DefaultPlacement {
        rule: PlacementRule::Together,
        reason: DefaultReason::Price(Thousandths(3100)),
    };
    assert_eq!(store.record_default_placement(dear).unwrap(), dear);
    drop(store);
    let mut store = sample.open();
    let later = DefaultPlacement::decide(1, None);
    assert_eq!(store.record_default_placement(later).unwrap(), dear);
    assert_eq!(store.default_placement().unwrap(), Some(dear));
}
