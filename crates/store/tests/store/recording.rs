//! What is written comes back, and only what counts.

use prony_model::{ErrorClass, Finding, FindingState, HostProperty};
use prony_store::{Artefact, BuildRecord, StoreError, Subject};
use prony_testkit::planned;

use crate::sample::{Sample, at, begin_with_steps, outcome};

#[test]
fn outcomes_come_back_for_done_trials_only() {
    let sample = Sample::new();
    let mut store = sample.create();
    let trial = begin_with_steps(&mut store, 0, 1);
    assert_eq!(store.outcomes().unwrap(), []);
    assert_eq!(store.errors().unwrap(), []);
    store.finish_trial(trial, at(2)).unwrap();

    let rows = store.outcomes().unwrap();
    assert_eq!(rows.len(), 2);
    let row = &rows[1];
    assert_eq!(
        (row.trial, row.planned, row.step),
        (trial, planned(0, 1), 1)
    );
    assert_eq!((row.clients, row.operations, row.queries), (2, 1000, 3000));
    assert_eq!(row.busy_ns, 5_000_000_000);
    assert_eq!(
        (row.client_user_ns, row.client_system_ns),
        (11_000_000, 12_000_000)
    );
    assert_eq!((row.errors, row.unexpected), (7, 1));

    let error = &store.errors().unwrap()[0];
    assert_eq!(error.code.as_str(), "1213");
    assert_eq!((error.group, error.class), (0, ErrorClass::Retryable));
    assert_eq!(error.message, "Deadlock found");
    let statements = store.statements(trial, 0, 0).unwrap();
    assert_eq!(statements[0].name, "select");
    assert_eq!((statements[0].rows, statements[0].unexpected), (999, 1));
    assert_eq!(statements[1].name, "commit");
    assert_eq!(
        store.histogram(trial, 0, 0, 0).unwrap(),
        Some(vec![1, 2, 3])
    );
    assert_eq!(store.histogram(trial, 0, 0, 1).unwrap(), Some(vec![4, 5]));
    assert_eq!(store.histogram(trial, 0, 0, 2).unwrap(), Some(vec![]));
    assert_eq!(store.histogram(trial, 0, 0, 3).unwrap(), None);
    drop(store);

    let intervals: i64 = rusqlite::Connection::open(sample.path())
        .unwrap()
        .query_row("SELECT count(*) FROM interval", [], |row| row.get(0))
        .unwrap();
    assert_eq!(intervals, 10);
}

#[test]
fn a_step_is_recorded_whole_or_not_at_all() {
    let sample = Sample::new();
    let mut store = sample.create();
    let trial = store.begin_trial(planned(0, 0), at(1)).unwrap();
    let mut too_large = outcome(1);
    too_large.groups.own_mut().intervals[4].queries = u64::MAX;
    assert!(matches!(
        store.record_step(trial, 0, &too_large),
        Err(StoreError::Database { .. })
    ));
    assert_eq!(store.histogram(trial, 0, 0, 0).unwrap(), None);
    store.record_step(trial, 0, &outcome(1)).unwrap();
    assert!(store.record_step(trial, 0, &outcome(1)).is_err(), "twice");
    assert!(store.record_step(trial, 9, &outcome(1)).is_err(), "unknown");
}

#[test]
fn equal_variables_are_stored_once() {
    let sample = Sample::new();
    let mut store = sample.create();
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let first = store.begin_trial(planned(0, 0), at(1)).unwrap();
    let second = store.begin_trial(planned(0, 1), at(2)).unwrap();
    let common = pair("version", "5.0.21");
    store
        .record_variables(first, &[common.clone(), pair("server_id", "1")])
        .unwrap();
    store
        .record_variables(second, &[common.clone(), pair("server_id", "2")])
        .unwrap();
    assert_eq!(
        store.variables(second).unwrap(),
        [pair("server_id", "2"), common]
    );
    drop(store);
    let pairs: i64 = rusqlite::Connection::open(sample.path())
        .unwrap()
        .query_row("SELECT count(*) FROM server_variable", [], |row| row.get(0))
        .unwrap();
    assert_eq!(pairs, 3);
}

#[test]
fn warnings_of_discarded_trials_are_not_shown() {
    let sample = Sample::new();
    let mut store = sample.create();
    let kept = store.begin_trial(planned(0, 0), at(1)).unwrap();
    let discarded = store.begin_trial(planned(0, 1), at(1)).unwrap();
    store
        .record_warning(Subject::Run, "host-changed", "another kernel")
        .unwrap();
    store
        .record_warning(Subject::Step(discarded, 0), "steal", "3% stolen")
        .unwrap();
    let subjects = [
        Subject::Step(kept, 1),
        Subject::Group(kept, 1, 0),
        Subject::Trial(kept),
    ];
    for subject in subjects {
        store.record_warning(subject, "steal", "2% stolen").unwrap();
    }
    let unknown = Subject::Group(kept, 1, 1);
    assert!(store.record_warning(unknown, "steal", "").is_err());
    store
        .discard_trial(discarded, "interrupted", at(2))
        .unwrap();
    let warnings = store.warnings().unwrap();
    let shown: Vec<_> = warnings.iter().map(|row| row.subject).collect();
    assert_eq!(shown[0], Subject::Run);
    assert_eq!(shown[1..], subjects);
    let group = subjects[1];
    assert_eq!(
        (group.trial(), group.step(), group.group()),
        (Some(kept), Some(1), Some(0))
    );
    assert_eq!(warnings[1].text, "2% stolen");
}

#[test]
fn a_target_keeps_its_build() {
    let sample = Sample::new();
    let mut store = sample.create();
    let build = |hash| BuildRecord {
        server_version: "9.7.4-2",
        content_hash: hash,
        facts_json: "{}",
    };
    store.record_build(1, &build("aa")).unwrap();
    store.record_build(1, &build("aa")).unwrap();
    let error = store.record_build(1, &build("bb")).unwrap_err();
    assert!(matches!(error, StoreError::BuildChanged { .. }));
    insta::assert_snapshot!(error, @"continue with target mysql-9.7: its build is now 9.7.4-2 (bb), this run began with 9.7.4-2 (aa); start a new run");
    assert!(matches!(
        store.record_build(2, &build("aa")),
        Err(StoreError::NoSuchTarget { target: 2 })
    ));
    let builds = store.builds().unwrap();
    assert_eq!(builds[0], None);
    assert_eq!(builds[1].as_ref().unwrap().server_version, "9.7.4-2");
}

#[test]
fn hosts_are_kept_in_order() {
    let sample = Sample::new();
    let mut store = sample.create();
    store.record_host(r#"{"cpus":4}"#, at(60)).unwrap();
    let finding = Finding::new(HostProperty::Swap, FindingState::Doubtful, "1 GiB used");
    store
        .record_findings(std::slice::from_ref(&finding))
        .unwrap();
    let hosts = store.hosts().unwrap();
    assert_eq!(hosts[0].findings, []);
    assert_eq!(hosts[1].findings, [finding]);
    assert_eq!(hosts[0].facts_json, r#"{"cpus":2}"#);
    assert_eq!(
        (hosts[1].recorded_at, &*hosts[1].facts_json),
        (at(60), r#"{"cpus":4}"#)
    );
}

#[test]
fn a_trial_belongs_to_the_host_that_was_recorded_last() {
    let sample = Sample::new();
    let mut store = sample.create();
    store.begin_trial(planned(0, 0), at(1)).unwrap();
    store.record_host(r#"{"cpus":4}"#, at(2)).unwrap();
    store.begin_trial(planned(0, 1), at(3)).unwrap();
    let hosts: Vec<_> = store.trials().unwrap().iter().map(|row| row.host).collect();
    assert_eq!(hosts, [0, 1]);
}

#[test]
fn artefacts_come_back_by_trial_and_step() {
    let sample = Sample::new();
    let mut store = sample.create();
    let trial = begin_with_steps(&mut store, 0, 0);
    let other = begin_with_steps(&mut store, 0, 1);
    let artefact = |trial, step, path: &str| Artefact {
        trial,
        step,
        kind: "profile".into(),
        path: path.into(),
        bytes: 4096,
    };
    let last = artefact(trial, Some(1), "artefacts/b");
    let whole = artefact(trial, None, "artefacts/c");
    let first = artefact(trial, Some(0), "artefacts/d");
    let after_last = artefact(trial, Some(1), "artefacts/a");
    let of_other = artefact(other, None, "artefacts/e");
    for one in [&last, &whole, &first, &after_last, &of_other] {
        store.record_artefact(one).unwrap();
    }
    assert!(store.record_artefact(&first).is_err(), "twice");
    let unknown = artefact(trial, Some(9), "artefacts/f");
    assert!(store.record_artefact(&unknown).is_err(), "unknown step");
    assert_eq!(
        store.artefacts(trial).unwrap(),
        [whole, first, last, after_last]
    );
    assert_eq!(store.artefacts(other).unwrap(), [of_other]);
}

#[test]
fn every_cell_has_its_fingerprint() {
    let sample = Sample::new();
    let store = sample.create();
    let cells = store.cells().unwrap();
    let places: Vec<_> = cells.iter().map(|cell| (cell.target, cell.step)).collect();
    assert_eq!(places, [(0, 0), (0, 1), (1, 0), (1, 1)]);
    let of_plan = store.plan().fingerprints();
    for cell in cells {
        assert_eq!(cell.fingerprint, of_plan[cell.target][cell.step]);
    }
}
