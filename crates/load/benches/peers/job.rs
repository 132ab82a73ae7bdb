//! What the load generator and the bare loops are told.

use std::collections::BTreeMap;

use prony_load::{DriveTask, Job, Task as LoadTask};
use prony_model::{Backend, Dataset, Length, Pace, Protocol, Timing, Workload};
use serde_json::json;

use crate::request::Request;
use crate::server::{DATABASE, Server};

/// Longer than anybody measures.
const ENDLESS_MS: u64 = 3_600_000;
/// Before times count.
const WARMUP_MS: u64 = 500;

/// What every contestant does.
#[derive(Clone, Copy)]
pub(crate) struct Task {
    pub(crate) clients: u32,
    pub(crate) protocol: Protocol,
    /// At most.
    pub(crate) threads: u32,
    pub(crate) rows: u32,
    /// `None` until it is ended.
    pub(crate) seconds: Option<u64>,
}

impl Task {
    /// Queries until it is ended.
    pub(crate) fn endless(clients: u32, protocol: Protocol, request: &Request) -> Self {
        Self {
            clients,
            protocol,
            threads: request.threads.min(clients),
            rows: request.rows,
            seconds: None,
        }
    }

    /// One client that times every query, and says after a while what it took.
    pub(crate) fn timed(request: &Request) -> Self {
        Self {
            seconds: Some(request.seconds),
            ..Self::endless(1, Protocol::Prepared, request)
        }
    }

    fn length_ms(self) -> u64 {
        self.seconds.map_or(ENDLESS_MS, |seconds| seconds * 1000)
    }
}

/// The job of the load generator.
pub(crate) fn generator(task: Task, backend: Backend, server: &Server) -> Vec<u8> {
    let login = server.login();
    let drive = DriveTask {
        workload: point_query(),
        parameters: BTreeMap::new(),
        dataset: Dataset::sbtest(1, task.rows.into(), 1),
        transactional: true,
        protocol: task.protocol,
        clients: task.clients,
        threads_max: task.threads,
        seed: 1,
        warmup_ms: WARMUP_MS,
        length: Length::Time {
            ms: task.length_ms(),
        },
        interval_ms: 1000,
        stall_ms: 60_000,
        timing: Timing::Operations,
        pace: Pace::default(),
        reconnect_every: None,
        ramp_ms: 0,
        drain_ms: 0,
        beside: Vec::new(),
        backend,
        interval_histograms: false,
    };
    let job = Job {
        address: server.address(),
        user: login.user,
        password: login.password,
        tls: login.tls,
        database: DATABASE.to_owned(),
        task: LoadTask::Drive(Box::new(drive)),
    };
    serde_json::to_vec(&job).unwrap()
}

/// The job of a bare loop.
pub(crate) fn bare(task: Task, kind: &str, server: &Server) -> Vec<u8> {
    let login = server.login();
    let job = json!({
        "address": server.address(),
        "user": login.user,
        "password": login.password,
        "database": DATABASE,
        "clients": task.clients,
        "threads": if kind == "io-uring" { 1 } else { task.threads },
        "kind": kind,
        "protocol": task.protocol,
        "rows": task.rows,
        "warmup_ms": WARMUP_MS,
        "measure_ms": task.length_ms(),
        "timed": task.seconds.is_some(),
    });
    serde_json::to_vec(&job).unwrap()
}

fn point_query() -> Workload {
    let workloads = prony_plan::embedded_workloads().unwrap();
    let mut found = workloads
        .into_iter()
        .filter(|workload| workload.name == "point-query");
    found.next().unwrap()
}
