//! Options, effective variables and execution plans of targets.

use prony_model::{OptionOrigin, RenderedOption};
use prony_store::{Store, StoreError};
use prony_testkit::planned;

use crate::sample::{Sample, at, begin_with_steps};

fn options() -> Vec<RenderedOption> {
    vec![
        RenderedOption::new("skip-networking", OptionOrigin::Baseline, None, "no port"),
        RenderedOption::new(
            "log-bin=binlog",
            OptionOrigin::Intent,
            Some("binlog"),
            "changes",
        ),
        RenderedOption::new("sort_buffer_size=1", OptionOrigin::Raw, None, ""),
    ]
}

#[test]
fn a_target_keeps_its_options() {
    let sample = Sample::new();
    let mut store = sample.create();
    store.record_options(1, &options()).unwrap();
    store.record_options(1, &options()).unwrap();
    assert_eq!(store.options(1).unwrap(), options());
    assert_eq!(store.options(0).unwrap(), []);
    let mut other = options();
    other[2].value = Some("2".into());
    let error = store.record_options(1, &other).unwrap_err();
    insta::assert_snapshot!(error, @"continue with target mysql-9.7: this run began with another `sort_buffer_size` in its options; start a new run");
    let error = store.record_options(1, &options()[..2]).unwrap_err();
    assert!(
        matches!(error, StoreError::OptionsChanged { option, .. } if option == "sort_buffer_size")
    );
    let error = store.record_options(2, &options()).unwrap_err();
    assert!(matches!(error, StoreError::NoSuchTarget { target: 2 }));
}

#[test]
fn execution_plans_come_back_by_statement() {
    let sample = Sample::new();
    let mut store = sample.create();
    for (target, entry, statement, answer) in [
        (1, 0, "select", "[1]"),
        (0, 1, "update", "[2]"),
        (0, 0, "select", "[0]"),
        (0, 0, "select", "[3]"),
    ] {
        store
            .record_plan_text(target, entry, statement, answer)
            .unwrap();
    }
    let found: Vec<(usize, usize, String)> = store
        .plan_texts()
        .unwrap()
        .into_iter()
        .map(|row| (row.target, row.entry, row.answer_json))
        .collect();
    let row = |target, entry, answer: &str| (target, entry, answer.to_owned());
    assert_eq!(
        found,
        [row(0, 0, "[3]"), row(1, 0, "[1]"), row(0, 1, "[2]")]
    );
    assert!(matches!(
        store.record_plan_text(2, 0, "select", "[]"),
        Err(StoreError::NoSuchTarget { target: 2 })
    ));
}

#[test]
fn the_variables_of_a_target_are_those_of_its_first_done_trial() {
    let sample = Sample::new();
    let mut store = sample.create();
    let size = |store: &Store| store.target_variables(0).unwrap().get("size").cloned();
    let record = |store: &mut Store, trial, value: &str| {
        store
            .record_variables(trial, &[("size".into(), value.into())])
            .unwrap();
    };
    assert_eq!(size(&store), None);
    let failed = store.begin_trial(planned(0, 0), at(1)).unwrap();
    record(&mut store, failed, "1");
    store.fail_trial(failed, "", "", at(2)).unwrap();
    assert_eq!(size(&store).as_deref(), Some("1"));
    let done = begin_with_steps(&mut store, 1, 0);
    record(&mut store, done, "2");
    store.finish_trial(done, at(4)).unwrap();
    assert_eq!(size(&store).as_deref(), Some("2"));
    assert!(store.target_variables(1).unwrap().is_empty());
}
