//! Operations of counting trials, decided from timed ones.

use std::path::Path;

use jiff::Timestamp;
use prony_model::{ClientGroup, Spacing, StepOutcome, Thousandths, Version};
use prony_plan::{Knowledge, embedded_workloads, parse_experiment};
use prony_store::NewRun;
use prony_testkit::{self as testkit, planned};
use tempfile::TempDir;

use super::*;

/// Two blocks, of which the second target is the base. The second step is a number of
/// operations, the others are times.
const EXPERIMENT: &str = r#"
name = "counted"
base = "new"
blocks = 2
aa = false

[dataset]
rows = 1000

[[target]]
name = "old"
build = "old-1"

[[target]]
name = "new"
build = "new-1"

[sequence]
time = "1s"

[[step]]
workload = "point-query"

[[step]]
workload = "read-only"
operations = 300

[[step]]
workload = "read-write"
"#;
const OLD: usize = 0;
const NEW: usize = 1;

fn plan() -> Plan {
    let builds = ["old-1", "new-1"].map(|id| testkit::build(id, Version::new(8, 0, 31)));
    let knowledge = Knowledge {
        builds: &builds,
        intents: &[],
        workloads: &embedded_workloads().unwrap(),
        presets: &[],
        folder: Path::new("/"),
        honours: &|_, _| Ok(()),
        digest: &|_| Ok(String::new()),
        hardware_counters: Ok(()),
        stack_samples: Ok(()),
        valgrind: false,
    };
    parse_experiment("counted.toml", EXPERIMENT, None, &knowledge).unwrap()
}

/// A run of the plan, in a folder that vanishes with it.
struct Run {
    folder: TempDir,
    plan: Plan,
    store: Store,
}

impl Run {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let plan = plan();
        let run = NewRun {
            id: "counted-1",
            plan: &plan,
            prony_version: "0.1.0",
            host_json: "{}",
            started_at: Timestamp::UNIX_EPOCH,
        };
        let store = Store::create(&folder.path().join("run.sqlite"), &run).unwrap();
        Self {
            folder,
            plan,
            store,
        }
    }

    /// The run after the program was ended and begun anew.
    fn resumed(self) -> Self {
        let Self {
            folder,
            plan,
            store,
        } = self;
        drop(store);
        let store = Store::open(&folder.path().join("run.sqlite")).unwrap();
        Self {
            folder,
            plan,
            store,
        }
    }

    /// Records a timed trial in which every step did this number of operations.
    fn timed(&mut self, block: u32, target: usize, operations: u64) {
        let now = Timestamp::UNIX_EPOCH;
        let trial = self.store.begin_trial(planned(block, target), now).unwrap();
        for (index, step) in self.plan.steps.iter().enumerate() {
            let outcome = outcome(step.own().clients, operations);
            self.store.record_step(trial, index, &outcome).unwrap();
        }
        self.store.finish_trial(trial, now).unwrap();
    }

    /// Records a timed trial that failed after its first step.
    fn failed(&mut self, block: u32, target: usize) {
        let now = Timestamp::UNIX_EPOCH;
        let trial = self.store.begin_trial(planned(block, target), now).unwrap();
        let done = outcome(1, 900_000);
        self.store.record_step(trial, 0, &done).unwrap();
        self.store.fail_trial(trial, "died", "", now).unwrap();
    }

    /// The operations of a step in counting trials, where the plan leaves them open.
    fn operations(&mut self, step: usize) -> Option<u64> {
        self.planned(step, None)
    }

    fn planned(&mut self, step: usize, operations: Option<u64>) -> Option<u64> {
        let counting = Counting {
            operations,
            ..self.plan.counting.unwrap()
        };
        super::operations(&mut self.store, &self.plan, counting, step).unwrap()
    }
}

fn outcome(clients: u32, operations: u64) -> StepOutcome {
    let own = testkit::group_outcome(clients, operations, 1_000_000_000, Vec::new());
    testkit::step_outcome(own)
}

#[test]
fn the_base_decides_although_another_was_first() {
    let mut run = Run::new();
    assert_eq!(run.plan.base, NEW);
    run.timed(0, OLD, 50_000);
    run.timed(0, NEW, 10_004);
    assert_eq!(run.operations(0), Some(2000), "a fifth, rounded down");
    // Also where it did so in a later block only.
    let mut run = Run::new();
    run.timed(0, OLD, 50_000);
    run.timed(1, NEW, 10_000);
    assert_eq!(run.operations(0), Some(2000));
}

#[test]
fn its_first_block_decides() {
    let mut run = Run::new();
    run.timed(1, NEW, 70_000);
    run.timed(0, NEW, 10_000);
    assert_eq!(run.operations(0), Some(2000));
}

#[test]
fn without_the_base_the_first_target_decides() {
    let mut run = Run::new();
    run.failed(0, NEW);
    assert_eq!(run.operations(0), None, "a failed trial decides nothing");
    run.timed(0, OLD, 50_000);
    assert_eq!(run.operations(0), Some(10_000));
}

#[test]
fn nothing_decides_before_the_first_timed_trial() {
    let mut run = Run::new();
    assert_eq!(run.operations(0), None);
    assert_eq!(run.store.counting_operations(0).unwrap(), None);
    // It is not settled that there is none.
    run.timed(0, NEW, 1000);
    assert_eq!(run.operations(0), Some(200));
}

#[test]
fn a_time_of_the_base_decides_where_it_is_given() {
    let mut run = Run::new();
    // In a second.
    run.timed(0, NEW, 10_000);
    let counting = |time_ms| Counting {
        time_ms: Some(time_ms),
        ..run.plan.counting.unwrap()
    };
    let (short, shortest) = (counting(50), counting(1));
    let operations = |run: &mut Run, counting, step| {
        super::operations(&mut run.store, &run.plan, counting, step).unwrap()
    };
    assert_eq!(operations(&mut run, short, 0), Some(500));
    assert_eq!(operations(&mut run, shortest, 2), Some(10));
    let mut slow = Run::new();
    slow.timed(0, NEW, 3);
    assert_eq!(operations(&mut slow, short, 0), Some(1), "one at least");
}

#[test]
fn the_first_number_stays() {
    let mut run = Run::new();
    run.timed(0, OLD, 50_000);
    assert_eq!(run.operations(0), Some(10_000));
    run.timed(0, NEW, 1000);
    run.timed(1, OLD, 2000);
    assert_eq!(run.operations(0), Some(10_000));
    let mut run = run.resumed();
    run.timed(1, NEW, 3000);
    assert_eq!(run.operations(0), Some(10_000));
    // Each step has its own.
    assert_eq!(run.operations(2), Some(200));
}

#[test]
fn a_step_of_a_number_of_operations_keeps_it() {
    let mut run = Run::new();
    assert_eq!(run.operations(1), Some(300));
    run.timed(0, NEW, 50_000);
    assert_eq!(run.operations(1), Some(300));
    assert_eq!(run.planned(1, Some(7)), Some(300));
    assert_eq!(run.store.counting_operations(1).unwrap(), None);
}

#[test]
fn the_plan_wins() {
    let mut run = Run::new();
    assert_eq!(run.planned(0, Some(7)), Some(7));
    run.timed(0, NEW, 50_000);
    assert_eq!(run.operations(0), Some(10_000));
    assert_eq!(run.planned(0, Some(7)), Some(7));
}

#[test]
fn there_are_at_least_twenty() {
    for (completed, counted) in [(0, 20), (7, 20), (104, 20), (105, 21)] {
        let mut run = Run::new();
        run.timed(0, NEW, completed);
        assert_eq!(run.operations(0), Some(counted), "{completed} completed");
    }
}

#[test]
fn counted_steps_do_fixed_work_at_no_pace() {
    let mut step = Step {
        warmup_ms: 500,
        ramp_ms: 2000,
        timing: Timing::WholeRun,
        warm_only: true,
        ..plan().steps[0].clone()
    };
    let pace = Pace::Open {
        rate: Thousandths(500_000),
        spacing: Spacing::Poisson,
    };
    let own = step.groups.own_mut();
    *own = ClientGroup {
        clients: 16,
        pace,
        reconnect_every: Some(100),
        sla_percent: None,
        ..own.clone()
    };
    let beside = ClientGroup {
        name: Some("beside".into()),
        ..own.clone()
    };
    step.groups.push(beside);
    let mut back = counted(&step, 300);
    assert_eq!(back.length, Length::Count { operations: 300 });
    assert_eq!((back.warmup_ms, back.ramp_ms), (0, 0));
    assert_eq!(back.timing, Timing::Operations);
    assert_eq!(back.own().pace, Pace::Closed { think: None });
    // The work and the clients are as planned, and so are the groups beside them.
    back.groups.own_mut().pace = pace;
    back = Step {
        length: step.length,
        warmup_ms: step.warmup_ms,
        ramp_ms: step.ramp_ms,
        timing: step.timing,
        ..back
    };
    assert_eq!(back, step);
}

#[test]
fn warming_up_is_a_half_within_bounds() {
    let cases = [
        (1, 1, 1),
        (3, 1, 1),
        (20, 1, 10),
        (20, 64, 1),
        (6_400, 64, 50),
        (10_000, 1, 2_000),
        (1_000_000_000, 16, 2_000),
    ];
    for (operations, clients, expected) in cases {
        assert_eq!(warmup_operations(operations, clients), expected);
    }
}
