//! Who is compared, and how each is started.

use std::process::Command;

use prony_load::choose_backend;
use prony_model::{Backend, Protocol};
use prony_servers::Launcher;
use serde::Serialize;

use crate::job::{self, Task};
use crate::request::Request;
use crate::server::{DATABASE, Server};

/// The hidden command of the binary that is the load generator.
const GENERATOR: &str = "generator";

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
    pub(crate) fn new(
        contestant: Contestant,
        task: Task,
        request: &Request,
        launcher: &Launcher,
        server: &Server,
    ) -> Self {
        let generator = |backend| {
            let mut command = launcher.command(&request.prony);
            command.arg(GENERATOR);
            (command, job::generator(task, backend, server))
        };
        let bare = |kind| {
            let command = launcher.command(&request.bare);
            (command, job::bare(task, kind, server))
        };
        let (command, input) = match contestant {
            Contestant::Sysbench => (sysbench(task, launcher, server), Vec::new()),
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

/// Without a limit of time or queries.
fn sysbench(task: Task, launcher: &Launcher, server: &Server) -> Command {
    let ps_mode = match task.protocol {
        Protocol::Prepared => "auto",
        Protocol::Text => "disable",
    };
    let mut command = launcher.command("sysbench");
    command
        .arg("oltp_point_select")
        .arg(format!("--mysql-socket={}", server.socket().display()))
        .arg(format!("--mysql-user={}", server.login().user))
        .arg(format!("--mysql-db={DATABASE}"))
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
