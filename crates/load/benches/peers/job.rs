//! What the load generator and the bare loops are told.

use prony_client::{Address, Login};
use prony_load::{DriveTask, Job, Task as LoadTask, usual_threads};
use prony_model::{Backend, Dataset, Length, Protocol, Workload};

/// What every contestant does, and where.
#[derive(Clone)]
pub(crate) struct Task {
    pub(crate) address: Address,
    pub(crate) login: Login,
    /// Where the table is.
    pub(crate) database: &'static str,
    pub(crate) rows: u32,
    pub(crate) clients: u32,
    pub(crate) protocol: Protocol,
    /// At most.
    pub(crate) threads: u32,
    pub(crate) warmup_ms: u64,
    pub(crate) length: Length,
    /// Between two lines of the generator's.
    pub(crate) interval_ms: u64,
}

/// The job of the load generator, a line.
pub(crate) fn generator(task: &Task, backend: Backend) -> Vec<u8> {
    let dataset = Dataset::sbtest(1, task.rows.into(), 1);
    let drive = DriveTask {
        protocol: task.protocol,
        threads_max: task.threads.min(usual_threads(backend, processors())),
        warmup_ms: task.warmup_ms,
        interval_ms: task.interval_ms,
        stall_ms: 60_000,
        ..DriveTask::closed_loop(point_query(), task.clients, dataset, task.length, backend)
    };
    let login = task.login.clone();
    let job = Job {
        address: task.address.clone(),
        user: login.user,
        password: login.password,
        tls: login.tls,
        database: task.database.to_owned(),
        task: LoadTask::Drive(Box::new(drive)),
    };
    let mut line = serde_json::to_vec(&job).unwrap();
    line.push(b'\n');
    line
}

fn point_query() -> Workload {
    let workloads = prony_plan::embedded_workloads().unwrap();
    let mut found = workloads
        .into_iter()
        .filter(|workload| workload.name == "point-query");
    found.next().unwrap()
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
