//! Who is compared, and how each is started.

use std::process::Command;

use prony_client::Address;
use prony_host::Launcher;
use prony_load::choose_backend;
use prony_model::{Backend, Length, Protocol};
use serde::Serialize;
use serde_json::json;

use crate::job::{self, Task};
use crate::request::Request;
use crate::server::{DATABASE, Server};

/// The hidden command of the binary that is the load generator.
const GENERATOR: &str = "generator";

/// Longer than anybody measures.
const ENDLESS_MS: u64 = 3_600_000;
/// Before a contestant's own figures count.
const WARMUP_MS: u64 = 500;
/// Between two lines of the generator's, as in a run.
const INTERVAL_MS: u64 = 1000;

/// What all contestants are started with.
pub(crate) struct Stage<'a> {
    pub(crate) request: &'a Request,
    pub(crate) launcher: Launcher,
}

/// Whether a bare loop times its queries.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Times {
    Yes,
    No,
}

/// Who is compared.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Contestant {
    Sysbench,
    PronyIoUring,
    PronyEpoll,
    BareIoUring,
    BareEpoll,
    BareBlocking,
}

/// A contestant that is ready to be started.
pub(crate) struct Program {
    pub(crate) launcher: Launcher,
    pub(crate) command: Command,
    /// What it reads: a job with a password, which is no argument for that reason.
    pub(crate) input: Vec<u8>,
    pub(crate) clients: u32,
}

impl Contestant {
    /// Everybody who runs with so many clients. Who begins changes from round to round.
    pub(crate) fn all(clients: u32, round: usize) -> Vec<Self> {
        let bare = match clients {
            1 => Self::BareBlocking,
            _ => Self::BareEpoll,
        };
        let mut contestants = vec![Self::Sysbench, Self::PronyEpoll, bare];
        if has_io_uring() {
            contestants.extend([Self::PronyIoUring, Self::BareIoUring]);
        }
        rotated(contestants, round)
    }

    /// Those whose times are compared, with one client.
    pub(crate) fn timed(round: usize) -> Vec<Self> {
        let mut contestants = vec![Self::PronyEpoll, Self::BareBlocking];
        if has_io_uring() {
            contestants.push(Self::PronyIoUring);
        }
        rotated(contestants, round)
    }
}

/// Whether the host lets processes use it.
fn has_io_uring() -> bool {
    choose_backend(Some(Backend::IoUring), false).is_ok()
}

fn rotated(mut contestants: Vec<Contestant>, round: usize) -> Vec<Contestant> {
    let first = round % contestants.len();
    contestants.rotate_left(first);
    contestants
}

impl Program {
    /// One that runs until it is ended.
    pub(crate) fn endless(
        contestant: Contestant,
        clients: u32,
        protocol: Protocol,
        stage: &Stage<'_>,
        server: &Server,
    ) -> Self {
        let length = Length::Time { ms: ENDLESS_MS };
        let task = stage.task(clients, protocol, length, server);
        Self::new(contestant, &task, Times::No, stage)
    }

    /// One with one client that times every query, and says after a while what it took.
    pub(crate) fn timed(contestant: Contestant, stage: &Stage<'_>, server: &Server) -> Self {
        let ms = stage.request.seconds * 1000;
        let task = stage.task(1, Protocol::Prepared, Length::Time { ms }, server);
        Self::new(contestant, &task, Times::Yes, stage)
    }

    fn new(contestant: Contestant, task: &Task, times: Times, stage: &Stage<'_>) -> Self {
        let launcher = &stage.launcher;
        let generator = |backend| {
            let mut command = launcher.command(&stage.request.prony);
            command.arg(GENERATOR);
            (command, job::generator(task, backend))
        };
        let bare = |kind| {
            let command = launcher.command(&stage.request.bare);
            (command, bare_job(task, kind, times))
        };
        let (command, input) = match contestant {
            Contestant::Sysbench => (sysbench(task, launcher), Vec::new()),
            Contestant::PronyIoUring => generator(Backend::IoUring),
            Contestant::PronyEpoll => generator(Backend::Epoll),
            Contestant::BareIoUring => bare("io-uring"),
            Contestant::BareEpoll => bare("epoll"),
            Contestant::BareBlocking => bare("blocking"),
        };
        Self {
            launcher: launcher.clone(),
            command,
            input,
            clients: task.clients,
        }
    }
}

impl Stage<'_> {
    fn task(&self, clients: u32, protocol: Protocol, length: Length, server: &Server) -> Task {
        Task {
            address: server.address(),
            login: server.login(),
            database: DATABASE,
            rows: self.request.rows,
            clients,
            protocol,
            threads: self.request.threads.min(clients),
            warmup_ms: WARMUP_MS,
            length,
            interval_ms: INTERVAL_MS,
        }
    }
}

/// The job of a bare loop.
fn bare_job(task: &Task, kind: &str, times: Times) -> Vec<u8> {
    let Length::Time { ms } = task.length else {
        unreachable!("bare loops run for a time");
    };
    let job = json!({
        "address": task.address,
        "user": task.login.user,
        "password": task.login.password,
        "database": task.database,
        "clients": task.clients,
        "threads": if kind == "io-uring" { 1 } else { task.threads },
        "kind": kind,
        "protocol": task.protocol,
        "rows": task.rows,
        "warmup_ms": task.warmup_ms,
        "measure_ms": ms,
        "timed": times == Times::Yes,
    });
    serde_json::to_vec(&job).unwrap()
}

/// Without a limit of time or queries.
fn sysbench(task: &Task, launcher: &Launcher) -> Command {
    let Address::Unix(socket) = &task.address else {
        unreachable!("the benchmark's own server has a socket");
    };
    let ps_mode = match task.protocol {
        Protocol::Prepared => "auto",
        Protocol::Text => "disable",
    };
    let mut command = launcher.command("sysbench");
    command
        .arg("oltp_point_select")
        .arg(format!("--mysql-socket={}", socket.display()))
        .arg(format!("--mysql-user={}", task.login.user))
        .arg(format!("--mysql-db={}", task.database))
        .arg(format!("--db-ps-mode={ps_mode}"))
        .arg(format!("--table-size={}", task.rows))
        .arg(format!("--threads={}", task.clients))
        .args([
            "--tables=1",
            "--rand-type=uniform",
            "--time=0",
            "--events=0",
        ])
        .arg("run");
    command
}
