//! Loads, settling and debt.

use prony_model::{Debt, DebtKind, SettleOutcome};
use prony_store::{DebtRow, LoadRecord, LoadRow, SettleRow, StoreError};
use prony_testkit::planned;

use crate::sample::{Sample, at, begin_with_steps, loaded, settled};

fn debt(kind: DebtKind, value: u64) -> Debt {
    Debt { kind, value }
}

#[test]
fn settling_and_debt_come_back_of_done_trials() {
    let sample = Sample::new();
    let mut store = sample.create();
    let quiet = SettleOutcome {
        took_ms: 1,
        waited_ms: 0,
        unmet: vec![],
        debt: vec![],
        levels: vec![],
    };
    let left = [debt(DebtKind::DirtyBytes, 4096), debt(DebtKind::L0Files, 3)];
    let trial = begin_with_steps(&mut store, 0, 0);
    store.record_settle(trial, 1, &settled()).unwrap();
    store.record_settle(trial, 0, &quiet).unwrap();
    store.record_debt(trial, 1, &left).unwrap();
    store.record_debt(trial, 0, &[]).unwrap();
    assert_eq!(store.settles().unwrap(), [], "the trial is running");
    assert_eq!(store.debts().unwrap(), []);
    store.finish_trial(trial, at(2)).unwrap();
    let settle = |step, outcome| SettleRow {
        trial,
        step,
        outcome,
    };
    assert_eq!(
        store.settles().unwrap(),
        [settle(0, quiet), settle(1, settled())]
    );
    let row = |debt| DebtRow {
        trial,
        step: 1,
        debt,
    };
    assert_eq!(store.debts().unwrap(), left.map(row));
}

#[test]
fn every_kind_of_debt_has_its_word() {
    let sample = Sample::new();
    let mut store = sample.create();
    let all: Vec<Debt> = (1..)
        .zip(DebtKind::all())
        .map(|(value, kind)| debt(kind, value))
        .collect();
    let trial = begin_with_steps(&mut store, 0, 0);
    store.record_debt(trial, 0, &all).unwrap();
    store.finish_trial(trial, at(2)).unwrap();
    let mut found: Vec<Debt> = store.debts().unwrap().iter().map(|row| row.debt).collect();
    found.sort_by_key(|debt| debt.value);
    assert_eq!(found, all);
    let document = include_str!("../../../../docs/formats/result-file.md");
    let connection = rusqlite::Connection::open(sample.path()).unwrap();
    let mut kinds = connection.prepare("SELECT kind FROM debt").unwrap();
    let kinds = kinds.query_map([], |row| row.get(0)).unwrap();
    for kind in kinds.map(Result::<String, _>::unwrap) {
        assert!(document.contains(&format!("`{kind}`: ")), "{kind}");
    }
}

#[test]
fn an_image_is_on_record_once_unless_it_was_made_again() {
    let sample = Sample::new();
    let mut store = sample.create();
    let (load, settle) = (loaded(), settled());
    let record = LoadRecord {
        outcome: Some(&load),
        settle: Some(&settle),
        image: "abc",
        reused: false,
    };
    let reused = LoadRecord {
        reused: true,
        ..record
    };
    store.record_load(1, &record).unwrap();
    store.record_load(1, &reused).unwrap();
    let row = LoadRow {
        target: 1,
        trial: None,
        image: Some("abc".into()),
        host: Some(0),
        reused: false,
        outcome: Some(loaded()),
        settle: Some(settled()),
    };
    assert_eq!(store.loads().unwrap(), vec![row.clone()]);
    store.record_load(1, &record).unwrap();
    assert_eq!(store.loads().unwrap(), vec![row; 2]);
    store.record_load(0, &reused).unwrap();
    let shared = store.loads().unwrap().pop().unwrap();
    assert_eq!(
        (shared.target, shared.reused),
        (0, false),
        "made by this run"
    );
    let nothing_known = LoadRecord {
        outcome: None,
        settle: None,
        image: "def",
        reused: true,
    };
    store.record_load(0, &nothing_known).unwrap();
    let last = store.loads().unwrap().pop().unwrap();
    assert_eq!((last.target, last.reused), (0, true));
    assert_eq!((last.outcome, last.settle), (None, None));
    assert!(matches!(
        store.record_load(2, &record),
        Err(StoreError::NoSuchTarget { target: 2 })
    ));
}

#[test]
fn loads_of_trials_count_with_their_trial() {
    let sample = Sample::new();
    let mut store = sample.create();
    let failed = store.begin_trial(planned(0, 0), at(1)).unwrap();
    store.record_trial_load(failed, &loaded(), None).unwrap();
    store.fail_trial(failed, "", "", at(2)).unwrap();
    let trial = begin_with_steps(&mut store, 0, 1);
    store
        .record_trial_load(trial, &loaded(), Some(&settled()))
        .unwrap();
    assert_eq!(store.loads().unwrap(), []);
    store.finish_trial(trial, at(3)).unwrap();
    let loads = store.loads().unwrap();
    assert_eq!(loads.len(), 1);
    assert_eq!((loads[0].target, loads[0].trial), (1, Some(trial)));
    assert_eq!(loads[0].image, None);
    assert_eq!(loads[0].settle, Some(settled()));
}
