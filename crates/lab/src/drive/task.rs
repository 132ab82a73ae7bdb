//! The tasks that the load generator gets from a plan's steps.

use prony_load::{DriveTask, Hello};
use prony_model::{Backend, ClientGroup, Engine, Plan, Step, Target};

/// Silence of the server, in milliseconds, after which a step is given up.
const STALL_MS: u64 = 60_000;
/// The same where a statement works on a whole table.
const STALL_OF_TABLE_MS: u64 = 24 * 3_600_000;

/// The backend and the threads of the load generator, which are the same in all trials of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GeneratorSetup {
    pub(crate) backend: Backend,
    pub(crate) threads_max: u32,
}

impl GeneratorSetup {
    /// The usual threads for a backend on the generator's host.
    pub(crate) fn new(hello: &Hello, backend: Backend) -> Self {
        Self {
            backend,
            threads_max: hello.usual_threads(backend),
        }
    }
}

/// The task of the load generator in a step.
pub(crate) fn drive_task(
    plan: &Plan,
    target: &Target,
    step: &Step,
    seed: u64,
    setup: GeneratorSetup,
) -> DriveTask {
    let mut task = DriveTask {
        transactional: target.engine.transactional(),
        protocol: target.protocol,
        threads_max: setup.threads_max,
        seed,
        stall_ms: stall_ms(step),
        hold: true,
        ..DriveTask::of(step, plan.dataset, setup.backend)
    };
    if sees_gaps(step, target.engine) {
        for group in task.groups.iter_mut() {
            group.workload.expect_missing_rows();
        }
    }
    task
}

fn stall_ms(step: &Step) -> u64 {
    let mut groups = step.groups.iter();
    if groups.any(|group| group.workload.goes_through_tables()) {
        STALL_OF_TABLE_MS
    } else {
        STALL_MS
    }
}

/// Tells whether clients can see each other's rows half changed: a row that one deletes to insert it
/// again is missing for the others meanwhile, and two that do so to the same row insert it twice.
pub(crate) fn sees_gaps(step: &Step, engine: Engine) -> bool {
    let makes_gaps = |group: &ClientGroup| {
        let workload = &group.workload;
        let statements = &workload.statements;
        let changes = |rows: i64| statements.iter().any(|other| other.change.rows == rows);
        let atomic = workload.transaction && engine.finds_replaced_rows();
        // Who deletes the lowest keys does not put them back.
        !atomic && !workload.uses_marks() && changes(-1) && changes(1)
    };
    step.all_clients() > 1 && step.groups.iter().any(makes_gaps)
}

/// The seed of a step: the same for every target of a block, so that all answer the same
/// statements, and another one for every block and step. The mixing is `SplitMix64`'s
/// (Steele, Lea, Flood 2014).
pub(crate) fn step_seed(seed: u64, block: u32, step: usize) -> u64 {
    [u64::from(block), step as u64]
        .into_iter()
        .fold(seed, |state, input| {
            let mut z = state
                .wrapping_add(input)
                .wrapping_add(0x9E37_79B9_7F4A_7C15);
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^ (z >> 31)
        })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Two clients delete and insert the same rows, in transactions.
    #[test]
    fn rows_that_are_put_back_are_missed_in_postgresql() {
        let mut step = prony_testkit::step("write-only", 2);
        let workloads = prony_plan::embedded_workloads().unwrap();
        let mut named = workloads.into_iter();
        let workload = named
            .find(|workload| workload.name == "write-only")
            .unwrap();
        step.groups.own_mut().workload = workload;
        for (engine, gaps) in [
            (Engine::Innodb, false),
            (Engine::Heap, true),
            (Engine::Myisam, true),
        ] {
            assert_eq!(sees_gaps(&step, engine), gaps, "{engine}");
        }
        step.groups.own_mut().clients = 1;
        assert!(!sees_gaps(&step, Engine::Heap));
    }

    #[test]
    fn every_step_of_every_block_has_its_own_seed() {
        let seeds: HashSet<u64> = (0..20)
            .flat_map(|block| (0..50).map(move |step| step_seed(7, block, step)))
            .collect();
        assert_eq!(seeds.len(), 20 * 50);
        assert_ne!(step_seed(7, 0, 0), step_seed(8, 0, 0));
    }
}
