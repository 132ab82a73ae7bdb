//! A small plan, its store and what a load generator might have measured.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use prony_model::{
    ClientGroup, Dataset, Debt, DebtKind, ErrorClass, ErrorCount, GroupOutcome, Interval, Level,
    LoadOutcome, Plan, PlannedTrial, SettleOutcome, StatementOutcome, Step, StepOutcome, Version,
};
use prony_store::{NewRun, Store, TrialId};
use prony_testkit as testkit;
use prony_testkit::planned;
use tempfile::TempDir;

/// A store in a folder of its own, which vanishes with it.
pub(crate) struct Sample {
    folder: TempDir,
}

impl Sample {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("run.sqlite")
    }

    pub(crate) fn create(&self) -> Store {
        create(&self.path())
    }

    pub(crate) fn open(&self) -> Store {
        Store::open(&self.path()).unwrap()
    }
}

/// Takes away what version 7 and later ones added.
pub(crate) const BEFORE_7: &str =
    "DROP TABLE stack_samples; DROP TABLE profile; DROP TABLE part; DROP TABLE client_host;
    ALTER TABLE run DROP COLUMN run_uuid;
    ALTER TABLE run DROP COLUMN prony_build; ALTER TABLE host DROP COLUMN host_name;
    ALTER TABLE load DROP COLUMN host_id; ALTER TABLE calibration DROP COLUMN host_id;";

pub(crate) fn create(path: &Path) -> Store {
    create_with(path, &plan())
}

pub(crate) fn create_with(path: &Path, plan: &Plan) -> Store {
    Store::create(
        path,
        &NewRun {
            id: "sample-1",
            plan,
            prony_version: "0.1.0",
            host_json: r#"{"cpus":2}"#,
            started_at: at(0),
        },
    )
    .unwrap()
}

/// A wall-clock time, `seconds` after the run began.
pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + seconds).unwrap()
}

/// Two targets, two steps, two blocks; the second block begins with the second target.
pub(crate) fn plan() -> Plan {
    let targets = vec![
        testkit::target("mysql-5.0", Version::new(5, 0, 21)),
        testkit::target("mysql-9.7", Version::new(9, 7, 0)),
    ];
    let steps = vec![step("point-query", 1), step("point-query", 2)];
    Plan {
        question: "Does it hold?".into(),
        seed: 42,
        dataset: Dataset::sbtest(1, 1000, 7),
        trials: vec![planned(0, 0), planned(0, 1), planned(1, 1), planned(1, 0)],
        ..testkit::plan("sample", targets, steps, 0)
    }
}

fn step(name: &str, clients: u32) -> Step {
    let mut step = testkit::step(name, clients);
    let own = step.groups.own_mut();
    own.parameters = BTreeMap::from([("range".into(), 100)]);
    own.workload.parameters = own.parameters.clone();
    own.workload.description = "One row by primary key.".into();
    let sql = "SELECT c FROM {table} WHERE id = 1";
    own.workload.statements = vec![testkit::statement("select", sql, vec![])];
    step
}

/// A group that runs beside the clients of the step.
pub(crate) fn beside(step: &mut Step, name: &str) {
    let group = ClientGroup {
        name: Some(name.into()),
        ..step.own().clone()
    };
    step.groups.push(group);
}

/// Five seconds of so many operations each.
pub(crate) fn intervals(operations: u64) -> Vec<Interval> {
    let second_ns = 1_000_000_000;
    let interval = |second: u64| Interval {
        response_ns_p99: 0,
        backlog: 0,
        start_ns: second * second_ns,
        end_ns: (second + 1) * second_ns,
        operations,
        queries: 3 * operations,
        errors: 1,
        latency_ns_p99: 2_000_000,
        latency_ns_max: 3_000_000,
    };
    (0..5).map(interval).collect()
}

pub(crate) fn outcome(clients: u32) -> StepOutcome {
    let own = GroupOutcome {
        queries: 3000,
        statements: vec![
            StatementOutcome {
                rows: 999,
                unexpected: 1,
                ..testkit::statement_outcome("select", 1000, vec![4, 5])
            },
            StatementOutcome {
                rows: 0,
                ..testkit::statement_outcome("commit", 1000, vec![])
            },
        ],
        errors: vec![ErrorCount {
            code: 1213.into(),
            class: ErrorClass::Retryable,
            count: 7,
            message: "Deadlock found".into(),
        }],
        intervals: intervals(200),
        ..testkit::group_outcome(clients, 1000, 5_000_000_000, vec![1, 2, 3])
    };
    StepOutcome {
        client_user_ns: 11_000_000,
        client_system_ns: 12_000_000,
        start_ns: 1_000,
        end_ns: 5_000_001_000,
        ..testkit::step_outcome(own)
    }
}

/// How a load might have gone.
pub(crate) fn loaded() -> LoadOutcome {
    LoadOutcome {
        rows: 1000,
        rows_ns: 3_000_000,
        index_ns: 1_000_000,
        method: "rows of text, 2 connections".into(),
    }
}

/// How settling might have gone, with something left.
pub(crate) fn settled() -> SettleOutcome {
    SettleOutcome {
        took_ms: 1200,
        waited_ms: 8800,
        unmet: vec!["history list: 5000 transactions, not at most 100".into()],
        debt: vec![Debt {
            kind: DebtKind::HistoryList,
            value: 5000,
        }],
        levels: vec![Level {
            level: 6,
            files: 3,
            bytes: 1 << 20,
        }],
    }
}

/// Begins a trial and records all of its steps.
pub(crate) fn begin_with_steps(store: &mut Store, block: u32, target: usize) -> TrialId {
    begin_planned(store, planned(block, target))
}

/// The same of a trial of any kind.
pub(crate) fn begin_planned(store: &mut Store, planned: PlannedTrial) -> TrialId {
    let trial = store.begin_trial(planned, at(1)).unwrap();
    for (index, step) in plan().steps.iter().enumerate() {
        store
            .record_step(trial, index, &outcome(step.own().clients))
            .unwrap();
    }
    trial
}

/// Fails the test unless SQLite finds the file whole.
pub(crate) fn assert_whole(path: &Path) {
    let connection = rusqlite::Connection::open(path).unwrap();
    let answer: String = connection
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(answer, "ok");
    let broken: i64 = connection
        .query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| {
            row.get(0)
        })
        .unwrap();
    assert_eq!(broken, 0);
}
