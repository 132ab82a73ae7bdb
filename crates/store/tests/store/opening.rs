//! Files that can and cannot be opened.

use std::fs;

use prony_store::{Store, StoreError};
use prony_testkit::planned;

use crate::sample::{Sample, assert_whole, at, begin_with_steps, create, plan};

#[test]
fn a_run_comes_back_as_it_was_created() {
    let sample = Sample::new();
    drop(sample.create());
    let store = sample.open();
    assert_eq!(*store.plan(), plan());
    let run = store.run().unwrap();
    assert_eq!(run.id, "sample-1");
    assert_eq!(run.prony_version, "0.1.0");
    assert_eq!((run.started_at, run.ended_at), (at(0), None));
}

#[test]
fn one_program_works_on_a_run_and_others_read() {
    let sample = Sample::new();
    let mut store = sample.create();
    let error = Store::open(&sample.path()).unwrap_err();
    let mine = std::process::id();
    assert!(
        matches!(error, StoreError::InUse { pid, .. } if pid == Some(mine)),
        "{error}"
    );

    let mut reader = Store::open_read_only(&sample.path()).unwrap();
    store.begin_trial(planned(0, 0), at(1)).unwrap();
    assert_eq!(reader.trial_counts().unwrap().running, 1);
    assert!(matches!(
        reader.abandon_running("not mine"),
        Err(StoreError::ReadOnly)
    ));
    drop(store);
    sample.open();
}

#[test]
fn an_ended_run_is_one_file_that_needs_no_writable_folder() {
    let sample = Sample::new();
    let mut store = sample.create();
    store.set_run_ended(at(1)).unwrap();
    let copy = Sample::new();
    fs::copy(sample.path(), copy.path()).unwrap();
    drop(store);
    assert_whole(&copy.path());
    let reader = Store::open_read_only(&copy.path()).unwrap();
    assert_eq!(reader.run().unwrap().ended_at, Some(at(1)));
    let files = fs::read_dir(copy.path().parent().unwrap()).unwrap().count();
    assert_eq!(files, 1, "reading leaves nothing behind");
}

#[test]
fn existing_files_are_not_overwritten() {
    let sample = Sample::new();
    fs::write(sample.path(), "precious").unwrap();
    let result = std::panic::catch_unwind(|| create(&sample.path()));
    assert!(result.is_err());
    assert_eq!(fs::read(sample.path()).unwrap(), b"precious");
}

#[test]
fn files_that_are_no_results_are_told_apart() {
    let open_with = |bytes: &[u8]| {
        let sample = Sample::new();
        fs::write(sample.path(), bytes).unwrap();
        let write = Store::open(&sample.path()).unwrap_err();
        let read = Store::open_read_only(&sample.path()).unwrap_err();
        assert_eq!(write.to_string(), read.to_string());
        assert_eq!(fs::read(sample.path()).unwrap(), bytes, "left as it was");
        read
    };
    assert!(matches!(
        open_with(b"name = \"not a database\"\n"),
        StoreError::Foreign { .. }
    ));
    assert!(matches!(
        open_with(&[0xAB; 9000]),
        StoreError::Foreign { .. }
    ));
    assert!(matches!(open_with(b""), StoreError::NeverBegun { .. }));
    let nothing = Store::open(&Sample::new().path()).unwrap_err();
    assert!(matches!(nothing, StoreError::Missing { .. }));
}

/// The file of a run that ended in good order.
fn whole_file() -> Vec<u8> {
    let sample = Sample::new();
    let mut store = sample.create();
    let trial = begin_with_steps(&mut store, 0, 0);
    store.finish_trial(trial, at(2)).unwrap();
    store.set_run_ended(at(3)).unwrap();
    drop(store);
    fs::read(sample.path()).unwrap()
}

#[test]
fn a_file_that_was_cut_short_says_so_wherever_it_was_cut() {
    let whole = whole_file();
    let pages = (0..whole.len()).step_by(4096);
    let around_pages = pages.flat_map(|page| [page, page + 1, page + 511, page + 4095]);
    let lengths = (1..130).chain(around_pages.filter(|length| *length > 0));
    let sample = Sample::new();
    for length in lengths {
        fs::write(sample.path(), &whole[..length]).unwrap();
        for result in [
            Store::open(&sample.path()),
            Store::open_read_only(&sample.path()),
        ] {
            let error = result.unwrap_err();
            let size = length as u64;
            let expected = (length >= 100).then_some(whole.len() as u64);
            assert!(
                matches!(&error, StoreError::CutShort { found, expected: all, .. }
                    if (*found, *all) == (size, expected)),
                "{length}: {error}"
            );
        }
        assert_eq!(fs::read(sample.path()).unwrap(), whole[..length], "left");
    }
    fs::write(sample.path(), &whole[..5000]).unwrap();
    let error = Store::open_read_only(&sample.path()).unwrap_err();
    let text = error.to_string();
    let text = text.replace(sample.path().to_str().unwrap(), "FILE");
    let text = text.replace(&whole.len().to_string(), "N");
    insta::assert_snapshot!(text, @"open FILE: the file was cut short, it has 5000 bytes of N; restore it from a copy, or run the experiment again");
    fs::write(sample.path(), &whole).unwrap();
    assert_eq!(sample.open().outcomes().unwrap().len(), 2);
}

#[test]
fn what_a_cut_file_lacks_may_be_in_the_log_beside_it() {
    let sample = Sample::new();
    let mut store = sample.create();
    let trial = begin_with_steps(&mut store, 0, 0);
    store.finish_trial(trial, at(2)).unwrap();
    let outcomes = store.outcomes().unwrap();
    let main = fs::read(sample.path()).unwrap();
    let with = |path: &std::path::Path, suffix: &str| format!("{}{suffix}", path.display());
    let log = fs::read(with(&sample.path(), "-wal")).unwrap();
    assert!(!log.is_empty());
    for length in [1, 50, 100, 2000, main.len() - 1, main.len()] {
        let copy = Sample::new();
        fs::write(copy.path(), &main[..length]).unwrap();
        fs::write(with(&copy.path(), "-wal"), &log).unwrap();
        match Store::open_read_only(&copy.path()) {
            Ok(reader) => assert_eq!(reader.outcomes().unwrap(), outcomes, "{length}"),
            Err(error) => {
                assert!(length < main.len(), "{error}");
                assert!(
                    matches!(error, StoreError::CutShort { .. }),
                    "{length}: {error}"
                );
            }
        }
    }
}

#[test]
fn files_of_others_are_foreign_although_they_were_cut_short() {
    let sample = Sample::new();
    rusqlite::Connection::open(sample.path())
        .and_then(|connection| {
            connection.execute_batch("PRAGMA application_id = 77; CREATE TABLE t (a)")
        })
        .unwrap();
    let whole = fs::read(sample.path()).unwrap();
    for length in [90, 4096, whole.len()] {
        fs::write(sample.path(), &whole[..length]).unwrap();
        let error = Store::open_read_only(&sample.path()).unwrap_err();
        let is_foreign = matches!(error, StoreError::Foreign { .. });
        let is_damaged = matches!(error, StoreError::Database { .. });
        assert!(
            is_foreign || (length == 4096 && is_damaged),
            "{length}: {error}"
        );
    }
}

#[test]
fn databases_of_other_programs_are_foreign() {
    let sample = Sample::new();
    rusqlite::Connection::open(sample.path())
        .and_then(|connection| {
            connection.execute_batch("CREATE TABLE t (a); PRAGMA user_version = 1")
        })
        .unwrap();
    assert!(matches!(
        Store::open(&sample.path()),
        Err(StoreError::Foreign { .. })
    ));
}

#[test]
fn newer_files_are_refused() {
    let sample = Sample::new();
    drop(sample.create());
    rusqlite::Connection::open(sample.path())
        .and_then(|connection| connection.pragma_update(None, "user_version", 10))
        .unwrap();
    for result in [
        Store::open(&sample.path()),
        Store::open_read_only(&sample.path()),
    ] {
        assert!(matches!(
            result,
            Err(StoreError::Newer {
                found: 10,
                known: 9,
                ..
            })
        ));
    }
}

#[test]
fn files_of_unreleased_layouts_are_refused() {
    let sample = Sample::new();
    for version in [1, 5] {
        rusqlite::Connection::open(sample.path())
            .and_then(|connection| {
                connection.execute_batch("CREATE TABLE IF NOT EXISTS reading (id INTEGER)")?;
                connection.pragma_update(None, "application_id", 0x5052_4E59)?;
                connection.pragma_update(None, "user_version", version)
            })
            .unwrap();
        for result in [
            Store::open(&sample.path()),
            Store::open_read_only(&sample.path()),
        ] {
            let error = result.unwrap_err();
            assert!(matches!(error, StoreError::Unreleased { .. }), "{error}");
            let expected = "before the first release";
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}

/// Gives the run a kind of trial that a later version might have: planned, and done once.
fn add_unknown_kind(sample: &Sample) {
    let connection = rusqlite::Connection::open(sample.path()).unwrap();
    connection
        .execute_batch(
            r#"UPDATE run SET plan = json_insert(plan, '$.trials[#]',
                   json('{"block": 0, "target": 0, "kind": "profiled"}'));
               INSERT INTO trial (block, target_id, kind, attempt, host_id, state, began_at)
               VALUES (0, 0, 'profiled', 1, 0, 'done', '2026-01-01T00:00:00.000Z');
               INSERT INTO outcome SELECT last_insert_rowid(), step_id, threads, client_user_ns,
                   client_system_ns, start_ns, end_ns, timing, backend, scheduling FROM outcome;
               INSERT INTO group_outcome SELECT (SELECT max(trial_id) FROM outcome), step_id,
                   group_position, clients, operations, queries, busy_ns FROM group_outcome;"#,
        )
        .unwrap();
}

#[test]
fn readers_ignore_trials_of_unknown_kinds() {
    let sample = Sample::new();
    let mut store = sample.create();
    let trial = begin_with_steps(&mut store, 0, 0);
    store.finish_trial(trial, at(2)).unwrap();
    let outcomes = store.outcomes().unwrap();
    let trials = store.trials().unwrap();
    drop(store);
    add_unknown_kind(&sample);

    let reader = Store::open_read_only(&sample.path()).unwrap();
    assert_eq!(*reader.plan(), plan());
    assert_eq!(reader.outcomes().unwrap(), outcomes);
    assert_eq!(reader.counted().unwrap(), []);
    assert_eq!(reader.trials().unwrap(), trials);
    assert_eq!(reader.trial_counts().unwrap().done, 1);
    drop(reader);
    assert_whole(&sample.path());
    // To go on would leave them out.
    let error = Store::open(&sample.path()).unwrap_err();
    assert!(
        matches!(&error, StoreError::UnknownKind { kind, .. } if kind == "\"profiled\""),
        "{error}"
    );
}

/// Files written before hold the plan in this form. A new key with a default is harmless; any other
/// change of this snapshot needs a schema version and a migration.
#[test]
fn the_stored_plan_keeps_its_form() {
    let sample = Sample::new();
    drop(sample.create());
    let connection = rusqlite::Connection::open(sample.path()).unwrap();
    let text: String = connection
        .query_row("SELECT plan FROM run", [], |row| row.get(0))
        .unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    insta::assert_snapshot!(serde_json::to_string_pretty(&value).unwrap());
}

#[test]
fn targets_and_steps_are_there_for_sql() {
    let sample = Sample::new();
    drop(sample.create());
    let connection = rusqlite::Connection::open(sample.path()).unwrap();
    let text = |sql| -> String { connection.query_row(sql, [], |row| row.get(0)).unwrap() };
    insta::assert_snapshot!(
        text("SELECT concat_ws('|', id, name, is_base, build, engine, protocol, config) FROM target"),
        @r#"0|mysql-5.0|1|mysql-5.0|innodb|prepared|{"intents":{},"raw":{}}"#
    );
    insta::assert_snapshot!(
        text(
            "SELECT concat_ws('|', id, name, clients, entry, warmup_ms, measure_ms, warm_only)
             FROM step WHERE id = 1"
        ),
        @"1|point-query|2|0|1000|5000|0"
    );
    insta::assert_snapshot!(
        text(
            "SELECT concat_ws('|', step_id, position, coalesce(name, '-'), clients, workload,
                 workload_group, parameters) FROM client_group WHERE step_id = 1"
        ),
        @r#"1|0|-|2|point-query|point|{"range":100}"#
    );
}
