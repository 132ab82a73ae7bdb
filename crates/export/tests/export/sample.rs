//! A run with made-up outcomes that are the same every time.

use std::path::PathBuf;

use prony_export::{Format, files};
use prony_model::{Plan, PlannedTrial, Step, StepOutcome, Version};
use prony_report::tidy::{Table, Tables};
use prony_store::{BuildRecord, NewRun, Store, Subject};
use prony_testkit as testkit;
use tempfile::TempDir;

/// A store in a folder of its own.
pub(crate) struct Sample {
    pub(crate) store: Store,
    pub(crate) folder: TempDir,
}

impl Sample {
    /// A complete run of `targets` targets in `blocks` blocks: point queries by one client, and mixed
    /// work by four with a group beside them.
    pub(crate) fn of(targets: u16, blocks: u32) -> Self {
        let target = |index| {
            let version = Version::new(5, index, 7);
            testkit::target(&format!("mysql-5.{index}"), version)
        };
        let mut mixed = testkit::step("read, write", 4);
        let mut beside = mixed.own().clone();
        beside.name = Some("writers".into());
        beside.clients = 2;
        mixed.groups.push(beside);
        let steps = vec![testkit::step("point-query", 1), mixed];
        Self::run(&testkit::plan(
            "export",
            (0..targets).map(target).collect(),
            steps,
            blocks,
        ))
    }

    /// A complete run of a plan.
    fn run(plan: &Plan) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let run = NewRun {
            id: "export-20251121",
            plan,
            prony_version: "0.1.0",
            host_json: r#"{"cpu_model": "Example CPU @ 2.00GHz", "cpus": 2, "kernel": "6.1.0"}"#,
            started_at: at(0),
        };
        let mut store = Store::create(&folder.path().join("run.sqlite"), &run).unwrap();
        for (index, target) in plan.targets.iter().enumerate() {
            let build = BuildRecord {
                server_version: &format!("{}-log", target.build.version),
                content_hash: &format!("{index:08x}"),
                facts_json: "{}",
            };
            store.record_build(index, &build).unwrap();
        }
        for &planned in &plan.trials {
            let trial = store.begin_trial(planned, at(30)).unwrap();
            for (index, step) in plan.steps.iter().enumerate() {
                let outcome = outcome(planned, step);
                store.record_step(trial, index, &outcome).unwrap();
            }
            if planned == testkit::planned(0, 1) {
                let subject = Subject::Step(trial, 0);
                store
                    .record_warning(subject, "steal", "time was stolen")
                    .unwrap();
            }
            store.finish_trial(trial, at(60)).unwrap();
        }
        Self { store, folder }
    }

    /// The text of a table, or of a document.
    pub(crate) fn written(&self, format: Format, table: Option<Table>) -> String {
        let tables = Tables::of(&self.store).unwrap();
        let all = files(&tables, format, table).unwrap();
        let texts = all.iter().map(|file| {
            let mut out = Vec::new();
            file.write(&tables, &mut out).unwrap();
            let text = String::from_utf8(out).unwrap();
            if all.len() > 1 {
                format!("-- {}\n{text}", file.name())
            } else {
                text
            }
        });
        texts.collect()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

fn at(seconds: i64) -> jiff::Timestamp {
    jiff::Timestamp::from_second(1_763_755_200 + seconds).unwrap()
}

/// Five seconds of a server that is slower with every target, and a little in every other block.
fn outcome(planned: PlannedTrial, step: &Step) -> StepOutcome {
    let slower = 100 + 25 * planned.target as u64 + u64::from(planned.block % 2);
    let operation_ns = 1_000 * slower;
    let clients = u64::from(step.own().clients);
    let operations = 5_000_000_000 / operation_ns * clients;
    let histogram = testkit::histogram(&[
        (operation_ns, operations - operations / 20),
        (operation_ns * 3, operations / 20),
    ]);
    let busy_ns = operations * operation_ns;
    let own = testkit::group_outcome(step.own().clients, operations, busy_ns, histogram);
    let mut outcome = testkit::step_outcome(own.clone());
    for group in step.groups.beside() {
        let mut beside = own.clone();
        beside.name.clone_from(&group.name);
        beside.clients = group.clients;
        outcome.groups.push(beside);
    }
    outcome
}
