//! Samples of counters, what is absent, and what is written of them.

use std::collections::BTreeMap;

use prony_model::{Counter, Gap, Moment, Sample, Source, StepSamples};
use prony_store::{Store, StoreError, TrialId};
use prony_testkit::planned;

use crate::sample::{Sample as File, assert_whole, at, begin_with_steps};

const USER: Counter = Counter::new(Source::Process, "user_ns");
const READS: Counter = Counter::new(Source::Status, "innodb_data_reads");
const SLEEPS: Counter = Counter::new(Source::Status, "slept");
const PURGED: Counter = Counter::new(Source::Innodb, "purged");

fn sample(moment: Moment, at_ns: u64, values: &[(&Counter, u64)]) -> Sample {
    Sample {
        moment,
        at_ns,
        took_ns: 7,
        values: values
            .iter()
            .map(|(counter, value)| ((*counter).clone(), *value))
            .collect(),
        gaps: Vec::new(),
    }
}

fn gap(source: Source, reason: &str) -> Gap {
    Gap {
        source,
        reason: reason.to_owned(),
    }
}

fn begun() -> (File, Store, TrialId) {
    let file = File::new();
    let mut store = file.create();
    let trial = store.begin_trial(planned(0, 0), at(1)).unwrap();
    (file, store, trial)
}

fn count(file: &File, sql: &str) -> i64 {
    rusqlite::Connection::open(file.path())
        .unwrap()
        .query_row(sql, [], |row| row.get(0))
        .unwrap()
}

#[test]
fn samples_come_back_as_they_were_in_order_of_time() {
    let (file, mut store, trial) = begun();
    let start = sample(Moment::Start, 10, &[(&USER, 100), (&READS, 5)]);
    let mut period = sample(Moment::Period, 20, &[(&USER, 110)]);
    period.gaps = vec![
        gap(Source::Memory, "the file is gone"),
        gap(Source::Cgroup, "the group is gone"),
    ];
    let end = sample(Moment::End, 30, &[(&USER, 130), (&READS, 9)]);
    let recorded = [start.clone(), end.clone(), period.clone()];
    store.record_samples(trial, 1, &recorded).unwrap();
    assert_eq!(
        store.samples(trial, 1).unwrap(),
        StepSamples(vec![start, period, end])
    );
    assert_eq!(store.samples(trial, 0).unwrap(), StepSamples::default());
    drop(store);
    assert_whole(&file.path());
}

#[test]
fn every_source_and_moment_has_its_word() {
    let (_file, mut store, trial) = begun();
    let counters = Source::ALL.map(|source| Counter::new(source, "x"));
    let values: Vec<_> = counters.iter().map(|counter| (counter, 3)).collect();
    let moments = [(Moment::Start, 1), (Moment::Period, 2), (Moment::End, 3)];
    let all = moments.map(|(moment, at_ns)| Sample {
        gaps: Source::ALL.map(|source| gap(source, "none")).to_vec(),
        ..sample(moment, at_ns, &values)
    });
    store.record_samples(trial, 0, &all).unwrap();
    assert_eq!(store.samples(trial, 0).unwrap().0, all);
}

#[test]
fn every_value_of_64_bits_comes_back() {
    let (file, mut store, trial) = begun();
    let extremes = [
        0,
        1,
        i64::MAX.unsigned_abs(),
        1 << 63,
        u64::MAX - 1,
        u64::MAX,
    ];
    let names = ["a", "b", "c", "d", "e", "f"].map(|name| Counter::new(Source::Status, name));
    let values: Vec<_> = names.iter().zip(extremes).collect();
    let edges = [(Moment::Start, 10), (Moment::End, 20)];
    let edges = edges.map(|(moment, at_ns)| sample(moment, at_ns, &values));
    store.record_samples(trial, 0, &edges).unwrap();
    for found in store.samples(trial, 0).unwrap().0 {
        assert_eq!(found.values.into_values().collect::<Vec<_>>(), extremes);
    }
    drop(store);
    // As the documentation tells users of SQL to read them.
    assert_eq!(
        count(&file, "SELECT min(value) FROM sample_value"),
        i64::MIN
    );
}

#[test]
fn times_beyond_the_clock_are_refused() {
    let (_file, mut store, trial) = begun();
    let edges = [
        sample(Moment::Start, 1, &[(&USER, 1)]),
        sample(Moment::End, u64::MAX, &[(&USER, 1)]),
    ];
    let error = store.record_samples(trial, 0, &edges).unwrap_err();
    assert!(matches!(error, StoreError::Database { .. }), "{error}");
    assert_eq!(store.samples(trial, 0).unwrap(), StepSamples::default());
}

#[test]
fn of_what_stands_still_the_end_writes_nothing() {
    let (file, mut store, trial) = begun();
    let names: Vec<String> = (0..500).map(|number| format!("v{number}")).collect();
    let counters = names.iter().map(|name| Counter {
        source: Source::Status,
        name: name.clone().into(),
    });
    let mut values: BTreeMap<Counter, u64> = counters.map(|counter| (counter, 1)).collect();
    values.insert(USER, 5);
    let mut start = sample(Moment::Start, 1, &[]);
    start.values = values;
    let mut end = start.clone();
    end.moment = Moment::End;
    end.at_ns = 2;
    end.values.insert(
        Counter {
            source: Source::Status,
            name: "v7".into(),
        },
        2,
    );
    let edges = vec![start, end];
    store.record_samples(trial, 0, &edges).unwrap();
    assert_eq!(store.samples(trial, 0).unwrap(), StepSamples(edges));
    drop(store);
    let of_end = "SELECT count(*) FROM sample_value JOIN sample ON id = sample_id
         WHERE moment = 'end'";
    assert_eq!(count(&file, of_end), 2, "v7 and the processor time");
    assert_eq!(count(&file, "SELECT count(*) FROM counter"), 501);
}

#[test]
fn what_appears_or_vanishes_between_the_edges_does() {
    let (_file, mut store, trial) = begun();
    let start = sample(Moment::Start, 1, &[(&READS, 5), (&SLEEPS, 6), (&USER, 1)]);
    let end = sample(Moment::End, 2, &[(&READS, 5), (&PURGED, 8)]);
    let edges = vec![start, end];
    store.record_samples(trial, 0, &edges).unwrap();
    let found = store.samples(trial, 0).unwrap();
    assert_eq!(found, StepSamples(edges));
    assert!(found.difference(&SLEEPS).is_err());
    assert_eq!(found.difference(&READS), Ok(0));
}

#[test]
fn an_end_without_its_start_is_written_whole() {
    let (_file, mut store, trial) = begun();
    let end = sample(Moment::End, 2, &[(&READS, 5), (&PURGED, 8)]);
    let start = sample(Moment::Start, 1, &[(&READS, 4), (&SLEEPS, 6)]);
    let recorded = [end.clone(), start.clone()];
    store.record_samples(trial, 0, &recorded).unwrap();
    // The start of another step is not that of this one.
    store.record_samples(trial, 1, &recorded[..1]).unwrap();
    assert_eq!(
        store.samples(trial, 0).unwrap(),
        StepSamples(vec![start, end.clone()])
    );
    assert_eq!(store.samples(trial, 1).unwrap(), StepSamples(vec![end]));
}

#[test]
fn the_first_start_counts_and_periods_are_written_whole() {
    let (file, mut store, trial) = begun();
    let values = [(&READS, 5), (&SLEEPS, 6)];
    let recorded = vec![
        sample(Moment::Start, 1, &values),
        sample(Moment::Start, 2, &[(&READS, 7)]),
        sample(Moment::Period, 3, &values),
        sample(Moment::End, 4, &values),
        sample(Moment::End, 5, &[(&READS, 7)]),
    ];
    store.record_samples(trial, 1, &recorded).unwrap();
    assert_eq!(store.samples(trial, 1).unwrap(), StepSamples(recorded));
    drop(store);
    let places = "SELECT group_concat(position || ':' || moment || ':' || written, ' ')
         FROM (SELECT position, moment, (SELECT count(*) FROM sample_value WHERE sample_id = id)
               AS written FROM sample ORDER BY position)";
    let places: String = rusqlite::Connection::open(file.path())
        .unwrap()
        .query_row(places, [], |row| row.get(0))
        .unwrap();
    // Of the last one, one value that differs, and one that it lacks.
    assert_eq!(places, "0:start:2 1:start:1 2:period:2 3:end:0 4:end:2");
}

#[test]
fn the_samples_of_a_step_are_recorded_once() {
    let (_file, mut store, trial) = begun();
    let start = [sample(Moment::Start, 1, &[(&USER, 1)])];
    let end = [sample(Moment::End, 2, &[(&USER, 3)])];
    // Nothing is no sample.
    store.record_samples(trial, 1, &[]).unwrap();
    store.record_samples(trial, 1, &start).unwrap();
    let error = store.record_samples(trial, 1, &end).unwrap_err();
    assert!(matches!(error, StoreError::SampledTwice { .. }));
    insta::assert_snapshot!(error, @"record the samples of step `point-query` at 2 clients in trial 1: they are already recorded");
    assert_eq!(
        store.samples(trial, 1).unwrap(),
        StepSamples(start.to_vec())
    );
    // Another step, another trial.
    store.record_samples(trial, 0, &end).unwrap();
    let other = store.begin_trial(planned(0, 1), at(1)).unwrap();
    store.record_samples(other, 1, &start).unwrap();
    // A step that is not in the plan.
    let error = store.record_samples(trial, 2, &start).unwrap_err();
    assert!(matches!(error, StoreError::Database { .. }), "{error}");
}

#[test]
fn the_samples_of_a_load_come_before_those_of_the_steps() {
    let (file, mut store, trial) = begun();
    let load = [
        sample(Moment::Start, 1, &[(&READS, 5), (&SLEEPS, 6), (&USER, 1)]),
        sample(Moment::End, 2, &[(&READS, 9), (&SLEEPS, 6), (&USER, 3)]),
    ];
    let step = [sample(
        Moment::Start,
        3,
        &[(&READS, 9), (&SLEEPS, 7), (&USER, 4)],
    )];
    store.record_load_samples(trial, &load).unwrap();
    store.record_samples(trial, 0, &step).unwrap();
    assert_eq!(
        store.load_samples(trial).unwrap(),
        StepSamples(load.to_vec())
    );
    assert_eq!(store.samples(trial, 0).unwrap(), StepSamples(step.to_vec()));
    let counters = store.counters().unwrap();
    let flat = store.flat_samples(trial, &counters, true).unwrap();
    let steps: Vec<_> = flat.iter().map(|sample| sample.step).collect();
    assert_eq!(steps, [None, None, Some(0)]);
    let error = store.record_load_samples(trial, &load).unwrap_err();
    insta::assert_snapshot!(error, @"record the samples of the load in trial 1: they are already recorded");
    drop(store);
    let of_step = "SELECT count(*) FROM sample_value JOIN sample ON id = sample_id
         WHERE step_id = 0";
    assert_eq!(count(&file, of_step), 2, "what changed since the load");
    let connection = rusqlite::Connection::open(file.path()).unwrap();
    let twice = "INSERT INTO sample (trial_id, position, moment, at_ns, took_ns)
         VALUES (1, 0, 'start', 1, 1)";
    assert!(connection.execute(twice, []).is_err());
}

#[test]
fn a_base_that_is_not_there_is_damage() {
    let (file, mut store, trial) = begun();
    let start = sample(Moment::Start, 1, &[(&READS, 5)]);
    let end = sample(Moment::End, 2, &[(&READS, 5)]);
    store.record_samples(trial, 0, &[start, end]).unwrap();
    let connection = rusqlite::Connection::open(file.path()).unwrap();
    connection
        .execute_batch(
            "PRAGMA foreign_keys = OFF; UPDATE sample SET base_id = 77 WHERE moment = 'end'",
        )
        .unwrap();
    let error = store.samples(trial, 0).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
}

#[test]
fn a_start_writes_what_changed_since_the_step_before() {
    let (file, mut store, trial) = begun();
    let step = |at_ns, reads| {
        let same = [(&READS, reads), (&SLEEPS, 6), (&USER, at_ns)];
        let end = [
            (&READS, reads + 1),
            (&SLEEPS, 6),
            (&PURGED, 3),
            (&USER, at_ns),
        ];
        vec![
            sample(Moment::Start, at_ns, &same),
            sample(Moment::End, at_ns + 1, &end),
        ]
    };
    let (first, second) = (step(1, 10), step(11, 20));
    store.record_samples(trial, 0, &first).unwrap();
    store.record_samples(trial, 1, &second).unwrap();
    assert_eq!(store.samples(trial, 0).unwrap(), StepSamples(first.clone()));
    assert_eq!(store.samples(trial, 1).unwrap(), StepSamples(second));
    // Another trial begins with its own.
    let other = store.begin_trial(planned(0, 1), at(1)).unwrap();
    store.record_samples(other, 0, &first).unwrap();
    assert_eq!(store.samples(other, 0).unwrap(), StepSamples(first));
    drop(store);
    let of_start = "SELECT count(*) FROM sample_value JOIN sample ON id = sample_id
         WHERE moment = 'start' AND trial_id = 1 AND step_id = 1";
    let written = "reads, the processor time, and that nothing was purged";
    assert_eq!(count(&file, of_start), 3, "{written}");
    let whole = "SELECT count(*) FROM whole_sample_value";
    assert_eq!(count(&file, whole), 3 * (3 + 4));
}

#[test]
fn absences_are_said_once() {
    let file = File::new();
    let mut store = file.create();
    let no_group = gap(Source::Cgroup, "no control group can be made");
    let no_counters = gap(Source::Perf, "not permitted");
    let kept = begin_with_steps(&mut store, 0, 0);
    let cut = begin_with_steps(&mut store, 0, 1);
    for _ in 0..2 {
        store.record_absence(None, &no_group).unwrap();
        store.record_absence(Some(kept), &no_group).unwrap();
        store.record_absence(Some(cut), &no_group).unwrap();
    }
    store.record_absence(None, &no_counters).unwrap();
    store.discard_trial(cut, "interrupted", at(2)).unwrap();
    assert_eq!(
        store.absences().unwrap(),
        [
            (None, no_group.clone()),
            (Some(kept), no_group),
            (None, no_counters)
        ]
    );
}
