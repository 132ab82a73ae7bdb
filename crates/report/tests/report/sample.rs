//! Runs with made-up outcomes that are the same every time.

use jiff::Timestamp;
use prony_model::{
    Config, Dataset, Display, Group, GroupOutcome, IntentValue, Plan, PlannedTrial, Step,
    StepOutcome, Target, Version, Workload,
};
use prony_store::{BuildRecord, NewRun, Store, TrialId};
use prony_testkit as testkit;
use tempfile::TempDir;

/// A store in a folder of its own, and what to put into it.
pub(crate) struct Sample {
    pub(crate) store: Store,
    _folder: TempDir,
}

impl Sample {
    /// A run of `plan` in which nothing has happened yet.
    pub(crate) fn new(plan: &Plan) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let run = NewRun {
            id: "2025-11-21-quickstart",
            plan,
            prony_version: "0.1.0",
            host_json: r#"{"cpu_model": "Example CPU @ 2.00GHz", "cpus": 2,
                "memory_bytes": 8589934592, "kernel": "6.1.0-18-amd64"}"#,
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
        Self {
            store,
            _folder: folder,
        }
    }

    /// Runs all planned trials of which `wanted` says so, to their end.
    pub(crate) fn run(&mut self, wanted: impl Fn(PlannedTrial) -> bool) {
        for planned in self.store.missing_trials().unwrap() {
            if wanted(planned) {
                let trial = self.begin(planned);
                self.record_steps(trial, planned, |_, _| {});
                self.store.finish_trial(trial, at(60)).unwrap();
            }
        }
    }

    pub(crate) fn begin(&mut self, planned: PlannedTrial) -> TrialId {
        self.store.begin_trial(planned, at(30)).unwrap()
    }

    /// Records an outcome for every step, as `change` leaves it.
    pub(crate) fn record_steps(
        &mut self,
        trial: TrialId,
        planned: PlannedTrial,
        change: impl Fn(usize, &mut StepOutcome),
    ) {
        for (index, step) in self.store.plan().steps.clone().iter().enumerate() {
            let mut outcome = outcome(planned, step);
            change(index, &mut outcome);
            // Every planned group must have an outcome.
            for group in step.groups.iter().skip(outcome.groups.len()) {
                let own = outcome.groups.own().clone();
                let name = group.name.clone();
                outcome.groups.push(GroupOutcome { name, ..own });
            }
            self.store.record_step(trial, index, &outcome).unwrap();
        }
    }
}

pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_763_755_200 + seconds).unwrap()
}

/// `targets` targets at `clients`, four steps each, in `blocks` blocks.
pub(crate) fn plan(targets: usize, clients: &[u32], blocks: u32) -> Plan {
    let all = [
        target("mysql-5.0", Version::new(5, 0, 21), &[]),
        target("mysql-5.7", Version::new(5, 7, 22), &[]),
        target(
            "mysql-9.7",
            Version::new(9, 7, 0),
            &[("performance_schema", IntentValue::Flag(false))],
        ),
    ];
    let more = (3..targets).map(|index| {
        let minor = u16::try_from(index).unwrap();
        target(&format!("mysql-8.{index}"), Version::new(8, minor, 0), &[])
    });
    let targets = all.into_iter().chain(more).take(targets).collect();
    let steps = clients.iter().flat_map(|&clients| steps(clients)).collect();
    Plan {
        question: "What did three decades cost, statement by statement?".into(),
        dataset: Dataset::sbtest(1, 100_000, 1),
        ..testkit::plan("quickstart", targets, steps, blocks)
    }
}

fn target(name: &str, version: Version, own: &[(&str, IntentValue)]) -> Target {
    let buffer_pool = ("buffer_pool".to_owned(), IntentValue::Bytes(512 << 20));
    let own = own
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.clone()));
    Target {
        config: Config {
            intents: std::iter::once(buffer_pool).chain(own).collect(),
            ..Config::default()
        },
        ..testkit::target(name, version)
    }
}

fn steps(clients: u32) -> Vec<Step> {
    let mut steps = vec![
        step(0, "point-query", Group::Point, Display::Rate),
        step(1, "read-only.range100", Group::Mixed, Display::Rate),
        step(2, "update-index", Group::Write, Display::Rate),
        step(3, "scan", Group::Range, Display::Milliseconds),
    ];
    for step in &mut steps {
        step.groups.own_mut().clients = clients;
    }
    steps
}

/// A step of five seconds at one client.
pub(crate) fn step(entry: usize, name: &str, group: Group, display: Display) -> Step {
    let mut step = Step {
        entry,
        ..testkit::step(name, 1)
    };
    let workload = &mut step.groups.own_mut().workload;
    *workload = Workload {
        group,
        display,
        ..workload.clone()
    };
    step
}

/// Five seconds of a server that is slower with every target and a little moody between blocks.
pub(crate) fn outcome(planned: PlannedTrial, step: &Step) -> StepOutcome {
    let slower = 100 + 20 * planned.target as u64;
    let mood = 1000
        + u64::from(planned.block) * 7
        + planned.target as u64 * u64::from(planned.block % 2) * 5;
    let base_ns = [24_000, 900_000, 120_000, 310_000_000][step.entry % 4];
    let operation_ns = base_ns * slower * mood / 100_000;
    let clients = u64::from(step.own().clients);
    let operations = (5_000_000_000 / operation_ns + 1) * clients;
    let busy_ns = operations * operation_ns;
    let histogram = histogram(operation_ns, operations);
    let mut own = testkit::group_outcome(step.own().clients, operations, busy_ns, histogram);
    if step.entry % 4 == 1 {
        own.queries *= 16;
    }
    StepOutcome {
        client_user_ns: operations * 2_100,
        client_system_ns: operations * 3_300,
        ..testkit::step_outcome(own)
    }
}

/// Half of the operations at the mean, a twentieth each somewhat below and far above.
pub(crate) fn histogram(mean_ns: u64, operations: u64) -> Vec<u8> {
    let tail = operations / 20;
    testkit::histogram(&[
        (mean_ns, operations - 2 * tail),
        (mean_ns / 2, tail),
        (mean_ns * 3 / 2, tail),
    ])
}
