//! The loops that the generator is measured in.

use prony_load::{DriveTask, Hello};
use prony_model::{Backend, Dataset, Length, Pace, Spacing, Thousandths, Workload};

use crate::drive::GeneratorSetup;

/// The table that its keys are drawn for; there is none.
const DATASET: Dataset = Dataset::sbtest(1, 1_000_000, 1);
/// Operations per second of the open loop, far below what any host can do.
pub(super) const RATE: Thousandths = Thousandths(10_000_000);
/// Clients of the open loop: one is idle whenever an operation is due.
const OPEN_CLIENTS: u32 = 8;
/// Milliseconds within which what is overdue at the end of the open loop is worked off.
const DRAIN_MS: u64 = 1_000;
/// Silence of the null server, in milliseconds, after which something is wrong.
const STALL_MS: u64 = 20_000;

/// The backends that this host has.
pub fn available_backends() -> Vec<Backend> {
    Hello::of_this_process().backends
}

/// Load before a point is measured.
pub(super) const fn warmup_ms(time_ms: u64) -> u64 {
    time_ms.div_ceil(4)
}

/// A closed loop.
pub(super) fn closed_loop(
    workload: &Workload,
    setup: GeneratorSetup,
    clients: u32,
    time_ms: u64,
) -> DriveTask {
    let length = Length::Time { ms: time_ms };
    DriveTask {
        threads_max: setup.threads_max,
        warmup_ms: warmup_ms(time_ms),
        interval_ms: time_ms,
        stall_ms: STALL_MS,
        ..DriveTask::closed_loop(workload.clone(), clients, DATASET, length, setup.backend)
    }
}

/// The open loop, whose operations a client is idle for whenever one is due.
pub(super) fn open_loop(workload: &Workload, setup: GeneratorSetup, time_ms: u64) -> DriveTask {
    let mut task = closed_loop(workload, setup, OPEN_CLIENTS, time_ms);
    task.groups.own_mut().pace = Pace::Open {
        rate: RATE,
        spacing: Spacing::Regular,
    };
    task.drain_ms = DRAIN_MS;
    task
}
