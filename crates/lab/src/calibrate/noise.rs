//! Noise of the host: two closed loops, counted in short windows.

use prony_load::{DriveTask, Hello};
use prony_model::{Backend, NoisePoint, NoiseWindow, Workload};

use super::measured::Measured;
use super::tasks::closed_loop;
use crate::drive::GeneratorSetup;

/// Numbers of clients: one that waits for each answer, and as many as keep the server from waiting.
pub(super) const CLIENTS: [u32; 2] = [1, 16];
/// Milliseconds of a window.
const WINDOW_MS: u64 = 250;
/// Milliseconds of load before the first window.
const WARMUP_MS: u64 = 500;

/// Milliseconds of measuring noise for a time at each number of clients, warm-up included.
pub(super) const fn predicted_ms(noise_ms: u64) -> u64 {
    match noise_ms {
        0 => 0,
        ms => (ms + WARMUP_MS) * CLIENTS.len() as u64,
    }
}

/// The closed loop at one number of clients.
pub(super) fn task(
    workload: &Workload,
    hello: &Hello,
    backend: Backend,
    clients: u32,
    time_ms: u64,
) -> DriveTask {
    let setup = GeneratorSetup::new(hello, backend);
    DriveTask {
        warmup_ms: WARMUP_MS,
        interval_ms: WINDOW_MS,
        ..closed_loop(workload, setup, clients, time_ms)
    }
}

/// The windows of such a loop.
pub(super) fn point(task: &DriveTask, measured: &Measured) -> NoisePoint {
    let windows = measured.outcome.groups.own().intervals.iter();
    NoisePoint {
        backend: task.backend,
        clients: task.groups.own().clients,
        threads: measured.outcome.threads,
        cpus: measured.cpus.clone(),
        host: measured.host,
        window_ms: WINDOW_MS,
        windows: windows
            .map(|interval| NoiseWindow {
                wall_ns: interval.end_ns.saturating_sub(interval.start_ns),
                queries: interval.queries,
            })
            .collect(),
    }
}
