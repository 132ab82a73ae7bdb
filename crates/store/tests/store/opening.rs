//! Files that can and cannot be opened.

use std::collections::BTreeMap;
use std::fs;

use prony_model::{Backend, Counter, Moment, Sample as Read, Source, StepSamples};
use prony_store::{Store, StoreError, TrialId};

use crate::sample::{Sample, assert_whole, at, begin_with_steps, create, plan, planned, settled};

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

    let mut reader = Store::open_for_reading(&sample.path()).unwrap();
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
    let reader = Store::open_for_reading(&copy.path()).unwrap();
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
        let read = Store::open_for_reading(&sample.path()).unwrap_err();
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
        .and_then(|connection| connection.pragma_update(None, "user_version", 6))
        .unwrap();
    for result in [
        Store::open(&sample.path()),
        Store::open_for_reading(&sample.path()),
    ] {
        assert!(matches!(
            result,
            Err(StoreError::Newer {
                found: 6,
                known: 5,
                ..
            })
        ));
    }
}

/// Every older version, and what makes up its schema.
const OLDER: [(i64, &[&str]); 4] = [
    (1, &[include_str!("../../src/schema/1.sql")]),
    (
        2,
        &[
            include_str!("../../src/schema/1.sql"),
            include_str!("../../src/schema/2.sql"),
        ],
    ),
    (
        3,
        &[
            include_str!("../../src/schema/1.sql"),
            include_str!("../../src/schema/2.sql"),
            include_str!("../../src/schema/3.sql"),
        ],
    ),
    (
        4,
        &[
            include_str!("../../src/schema/1.sql"),
            include_str!("../../src/schema/2.sql"),
            include_str!("../../src/schema/3.sql"),
            include_str!("../../src/schema/4.sql"),
        ],
    ),
];

/// Writes what a file of the present version holds into one of an older version.
fn as_older_version(present: &Sample, version: i64, schema: &[&str]) -> Sample {
    let older = Sample::new();
    let connection = rusqlite::Connection::open(older.path()).unwrap();
    connection
        .execute_batch(&format!(
            "{}; PRAGMA application_id = {}; PRAGMA user_version = {version};",
            schema.concat(),
            0x5052_4E59
        ))
        .unwrap();
    let path = present.path();
    connection
        .execute("ATTACH ?1 AS present", [path.to_str().unwrap()])
        .unwrap();
    let tables: Vec<(String, String)> = connection
        .prepare(
            "SELECT t.name, group_concat(c.name) FROM sqlite_schema AS t,
                 pragma_table_info(t.name, 'main') AS c
             WHERE t.type = 'table' AND t.name <> 'reading' GROUP BY t.name ORDER BY t.rowid",
        )
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    for (table, columns) in tables {
        connection
            .execute_batch(&format!(
                "INSERT INTO main.{table} ({columns}) SELECT {columns} FROM present.{table}"
            ))
            .unwrap();
    }
    // Plans had no word yet of what is read and counted.
    connection
        .execute_batch(
            "UPDATE run SET plan = json_remove(plan, '$.counting', '$.counting_note',
                 '$.targets[0].collect', '$.targets[1].collect', '$.trials[0].kind',
                 '$.trials[1].kind', '$.trials[2].kind', '$.trials[3].kind');",
        )
        .unwrap();
    // What the edges of steps were before there were samples: of the second step, the program
    // died before the end was read.
    connection
        .execute_batch(
            "INSERT INTO reading (trial_id, step_id, source, at_ns, name, value) VALUES
                 (1, 0, 'server', 500, 'user_ns', 20), (1, 0, 'host', 500, 'busy_ns', 30),
                 (1, 0, 'server', 100, 'user_ns', 10), (1, 0, 'server', 100, 'threads', 31),
                 (1, 0, 'server', 100, 'resident_bytes', 4096), (1, 0, 'host', 100, 'busy_ns', 3),
                 (1, 1, 'host', 900, 'steal_ns', 5);",
        )
        .unwrap();
    older
}

/// The readings of [`as_older_version`] as samples: those of the first step and of the second.
fn older_samples() -> [StepSamples; 2] {
    let user = Counter::new(Source::Process, "user_ns");
    let busy = Counter::new(Source::Host, "busy_ns");
    let sample = |moment, at_ns, values: &[(Counter, u64)]| Read {
        moment,
        at_ns,
        took_ns: 0,
        values: values.iter().cloned().collect(),
        gaps: Vec::new(),
    };
    let start = [
        (user.clone(), 10),
        (Counter::new(Source::Memory, "threads"), 31),
        (Counter::new(Source::Memory, "resident_bytes"), 4096),
        (busy.clone(), 3),
    ];
    let cut_short = [(Counter::new(Source::Host, "steal_ns"), 5)];
    [
        StepSamples(vec![
            sample(Moment::Start, 100, &start),
            sample(Moment::End, 500, &[(user, 20), (busy, 30)]),
        ]),
        StepSamples(vec![sample(Moment::Start, 900, &cut_short)]),
    ]
}

/// Checks what a file says that had no samples, before and after it is brought up to date.
fn assert_nothing_was_counted(store: &Store, trial: TrialId) {
    let samples = [0, 1].map(|step| store.samples(trial, step).unwrap());
    assert_eq!(samples, older_samples());
    assert_eq!(store.trials().unwrap()[0].planned, planned(0, 0));
    assert_eq!(store.absences().unwrap(), []);
    assert_eq!(store.counted().unwrap(), []);
    assert_eq!(store.counting_operations(0).unwrap(), None);
    assert_eq!(store.target_variables(0).unwrap(), BTreeMap::new());
}

#[test]
fn files_of_older_versions_are_read_and_brought_up_to_date() {
    let sample = Sample::new();
    let mut store = sample.create();
    store.record_backend(Backend::Epoll).unwrap();
    let trial = begin_with_steps(&mut store, 0, 0);
    store.finish_trial(trial, at(2)).unwrap();
    store.set_run_ended(at(3)).unwrap();
    let outcomes = store.outcomes().unwrap();
    let intervals = store.intervals(trial, 0).unwrap();
    assert_eq!(intervals.len(), 5);
    drop(store);
    for (version, schema) in OLDER {
        let older = as_older_version(&sample, version, schema);

        let reader = Store::open_for_reading(&older.path()).unwrap();
        assert_eq!(*reader.plan(), plan());
        assert_eq!(reader.outcomes().unwrap(), outcomes);
        assert_eq!(reader.options(0).unwrap(), []);
        assert_eq!(reader.plan_texts().unwrap(), []);
        assert_eq!(reader.loads().unwrap(), []);
        assert_eq!(reader.settles().unwrap(), []);
        assert_eq!(reader.debts().unwrap(), []);
        assert_eq!(reader.groups().unwrap(), []);
        assert_eq!(reader.group_errors().unwrap(), []);
        assert_eq!(reader.group_statements(trial, 0, 1).unwrap(), []);
        assert_eq!(reader.group_histogram(trial, 0, 1, 0).unwrap(), None);
        assert_eq!(reader.schedules().unwrap(), []);
        assert_eq!(reader.thread_uses().unwrap(), []);
        assert_eq!(reader.calibration().unwrap(), None);
        assert_eq!(reader.first_calibration().unwrap(), None);
        assert_eq!(reader.intervals(trial, 0).unwrap(), intervals);
        assert_eq!(reader.run().unwrap().backend, Some(Backend::Epoll));
        assert_nothing_was_counted(&reader, trial);
        drop(reader);

        let mut store = older.open();
        assert_eq!(store.outcomes().unwrap(), outcomes);
        assert_eq!(store.intervals(trial, 0).unwrap(), intervals);
        assert_eq!(store.run().unwrap().backend, Some(Backend::Epoll));
        assert_nothing_was_counted(&store, trial);
        store.record_plan_text(0, 0, "select", "[]").unwrap();
        assert_eq!(store.plan_texts().unwrap().len(), 1);
        let next = begin_with_steps(&mut store, 0, 1);
        store.record_settle(next, 0, &settled()).unwrap();
        let [edges, _] = older_samples();
        store.record_samples(next, 0, &edges.0).unwrap();
        assert_eq!(store.samples(next, 0).unwrap(), edges);
        store.finish_trial(next, at(4)).unwrap();
        assert_eq!(store.settles().unwrap().len(), 1);
        drop(store);
        assert_whole(&older.path());
        let connection = rusqlite::Connection::open(older.path()).unwrap();
        let timings: String = connection
            .query_row("SELECT group_concat(timing) FROM outcome", [], |row| {
                row.get(0)
            })
            .unwrap();
        assert_eq!(timings, "operations,operations,operations,operations");
    }
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
            "SELECT concat_ws('|', id, name, clients, entry, workload, workload_group, parameters,
                 warmup_ms, measure_ms, warm_only) FROM step WHERE id = 1"
        ),
        @r#"1|point-query|2|0|point-query|point|{"range":100}|1000|5000|0"#
    );
}
