//! The programs that are compared, and their start.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use clap::ValueEnum;
use prony_client::Address;
use prony_host::{Launcher, Process};
use prony_load::{DriveTask, Job, Task, choose_backend, usual_scheduling};
use prony_model::{Backend, Protocol, Scheduling};
use serde::{Deserialize, Serialize};

use crate::pgbench;

/// A program that is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Contestant {
    /// sysbench 1.0
    Sysbench,
    /// pgbench, in place of sysbench with servers of PostgreSQL; it has one thread unless told otherwise
    Pgbench,
    /// pgbench with a thread for each processor
    PgbenchThreads,
    PronyIoUring,
    PronyEpoll,
    /// Prony with the scheduling policy that it does not use for the load
    SwitchedIoUring,
    /// The same behind epoll
    SwitchedEpoll,
    /// The binary of `--prony`
    OtherIoUring,
    /// The same behind epoll
    OtherEpoll,
    BareIoUring,
    BareEpoll,
    BareBlocking,
}

impl Contestant {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Sysbench => "sysbench",
            Self::Pgbench => "pgbench",
            Self::PgbenchThreads => "pgbench, more threads",
            Self::PronyIoUring => "Prony, io_uring",
            Self::PronyEpoll => "Prony, epoll",
            Self::SwitchedIoUring => "Prony, io_uring, other policy",
            Self::SwitchedEpoll => "Prony, epoll, other policy",
            Self::OtherIoUring => "other Prony, io_uring",
            Self::OtherEpoll => "other Prony, epoll",
            Self::BareIoUring => "bare loop, io_uring",
            Self::BareEpoll => "bare loop, epoll",
            Self::BareBlocking => "bare loop, blocking",
        }
    }

    /// The bare loop that does the same work with this number of clients.
    pub(super) const fn bare(self, clients: u32) -> Option<Self> {
        match self {
            Self::PronyIoUring | Self::OtherIoUring => Some(Self::BareIoUring),
            Self::PronyEpoll | Self::OtherEpoll if clients == 1 => Some(Self::BareBlocking),
            Self::PronyEpoll | Self::OtherEpoll => Some(Self::BareEpoll),
            _ => None,
        }
    }

    pub(super) const fn backend(self) -> Backend {
        match self {
            Self::PronyIoUring | Self::SwitchedIoUring | Self::OtherIoUring | Self::BareIoUring => {
                Backend::IoUring
            }
            _ => Backend::Epoll,
        }
    }

    /// `true` for those that report their own times: Prony's load generator.
    pub(super) const fn is_prony(self) -> bool {
        !matches!(
            self,
            Self::Sysbench
                | Self::Pgbench
                | Self::PgbenchThreads
                | Self::BareIoUring
                | Self::BareEpoll
                | Self::BareBlocking
        )
    }

    const fn is_pgbench(self) -> bool {
        matches!(self, Self::Pgbench | Self::PgbenchThreads)
    }

    const fn is_switched(self) -> bool {
        matches!(self, Self::SwitchedIoUring | Self::SwitchedEpoll)
    }

    const fn is_other(self) -> bool {
        matches!(self, Self::OtherIoUring | Self::OtherEpoll)
    }

    /// The policy of the contestant; `None` for the usual one.
    pub(super) fn scheduling(self, task: &DriveTask) -> Option<Scheduling> {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        self.is_switched()
            .then(|| match usual_scheduling(&task.groups, processors) {
                Scheduling::Normal => Scheduling::Batch,
                _ => Scheduling::Normal,
            })
    }
}

const SYSBENCH: [Contestant; 1] = [Contestant::Sysbench];
const PGBENCH: [Contestant; 2] = [Contestant::Pgbench, Contestant::PgbenchThreads];
const EPOLL: [Contestant; 3] = [
    Contestant::PronyEpoll,
    Contestant::SwitchedEpoll,
    Contestant::OtherEpoll,
];
const IO_URING: [Contestant; 3] = [
    Contestant::PronyIoUring,
    Contestant::SwitchedIoUring,
    Contestant::OtherIoUring,
];

/// The contestants of a measurement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field<'a> {
    /// sysbench or pgbench.
    pub(super) peer: Contestant,
    /// The wished ones; empty for all but those of another policy.
    pub(super) only: &'a [Contestant],
    /// `true` with `--prony`.
    pub(super) with_other: bool,
}

impl Field<'_> {
    /// All that run with this number of clients. The first one changes from round to round.
    pub(super) fn all(self, clients: u32, round: usize) -> Vec<Contestant> {
        let bare = match clients {
            1 => Contestant::BareBlocking,
            _ => Contestant::BareEpoll,
        };
        let all: [&[Contestant]; 5] = [
            match self.peer {
                Contestant::Pgbench if clients > 1 => &PGBENCH,
                Contestant::Pgbench => &PGBENCH[..1],
                _ => &SYSBENCH,
            },
            &EPOLL,
            &[bare],
            &IO_URING,
            &[Contestant::BareIoUring],
        ];
        self.available(&all, round)
    }

    /// Those whose times are compared, with one client.
    pub(super) fn timed(self, round: usize) -> Vec<Contestant> {
        self.available(&[&EPOLL, &[Contestant::BareBlocking], &IO_URING], round)
    }

    /// Those that run an open loop.
    pub(super) fn open(self, round: usize) -> Vec<Contestant> {
        self.available(&[&EPOLL, &IO_URING], round)
    }

    fn available(self, all: &[&[Contestant]], round: usize) -> Vec<Contestant> {
        let has_io_uring = choose_backend(Some(Backend::IoUring), false).is_ok();
        let all = all.iter().copied().flatten().copied();
        let mut all: Vec<_> = all
            .filter(|contestant| {
                let is_wished = match self.only {
                    [] => !contestant.is_switched(),
                    only => only.contains(contestant),
                };
                is_wished
                    && (self.with_other || !contestant.is_other())
                    && (has_io_uring || contestant.backend() != Backend::IoUring)
            })
            .collect();
        let first = round % all.len().max(1);
        all.rotate_left(first);
        all
    }
}

/// The programs' binaries.
pub(super) struct Programs {
    pub(super) launcher: Launcher,
    pub(super) prony: PathBuf,
    /// The binary of `--prony`.
    pub(super) other: Option<PathBuf>,
}

impl Programs {
    /// Starts a contestant, which runs until it is killed. Prony reports its times.
    pub(super) fn start(&self, contestant: Contestant, job: &Job) -> Process {
        let stdout = if contestant.is_prony() {
            Stdio::piped()
        } else {
            Stdio::null()
        };
        self.start_with(contestant, "blocking", job, stdout)
    }

    /// Starts a contestant that times one client's queries for the length of the job, and prints
    /// the times at the end.
    pub(super) fn start_timed(&self, contestant: Contestant, job: &Job) -> Process {
        self.start_with(contestant, "timed", job, Stdio::piped())
    }

    fn start_with(&self, contestant: Contestant, one: &str, job: &Job, stdout: Stdio) -> Process {
        let generator = |prony: &PathBuf| {
            let mut command = self.launcher.command(prony);
            command.arg("generator");
            command
        };
        let bare = |waiting| {
            let bench = std::env::current_exe().unwrap();
            let mut command = self.launcher.command(bench);
            command.args(["bare", waiting]);
            command
        };
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let mut command = match contestant {
            Contestant::Sysbench => self.sysbench(job),
            Contestant::Pgbench => self.pgbench(job, 1),
            Contestant::PgbenchThreads => self.pgbench(job, processors),
            Contestant::PronyIoUring
            | Contestant::PronyEpoll
            | Contestant::SwitchedIoUring
            | Contestant::SwitchedEpoll => generator(&self.prony),
            Contestant::OtherIoUring | Contestant::OtherEpoll => {
                generator(self.other.as_ref().unwrap())
            }
            Contestant::BareIoUring => bare("io-uring"),
            Contestant::BareEpoll => bare("epoll"),
            Contestant::BareBlocking => bare(one),
        };
        command.stdin(Stdio::piped()).stdout(stdout);
        let mut process = self.launcher.spawn(command).unwrap();
        if contestant.is_pgbench() {
            let rows = drive_task(job).dataset.rows;
            let script =
                format!("\\set id random(1, {rows})\nSELECT c FROM sbtest1 WHERE id = :id;\n");
            let mut input = process.child().stdin.take().unwrap();
            input.write_all(script.as_bytes()).unwrap();
        } else if contestant != Contestant::Sysbench {
            let mut line = serde_json::to_vec(job).unwrap();
            line.push(b'\n');
            // The pipe stays open: its end would end the generator.
            let input = process.child().stdin.as_mut().unwrap();
            input.write_all(&line).unwrap();
        }
        process
    }

    /// sysbench without a limit of time or queries.
    fn sysbench(&self, job: &Job) -> Command {
        let (Address::Unix(socket), task) = (&job.address, drive_task(job)) else {
            unreachable!("the benchmark's own server has a socket");
        };
        let ps_mode = match task.protocol {
            Protocol::Prepared => "auto",
            Protocol::Text => "disable",
        };
        let mut command = self.launcher.command("sysbench");
        command
            .args(["oltp_point_select", "--tables=1", "--rand-type=uniform"])
            .args(["--time=0", "--events=0"])
            .arg(format!("--mysql-socket={}", socket.display()))
            .arg(format!("--mysql-user={}", job.user))
            .arg(format!("--mysql-db={}", job.database))
            .arg(format!("--db-ps-mode={ps_mode}"))
            .arg(format!("--table-size={}", task.dataset.rows))
            .arg(format!("--threads={}", task.groups.own().clients))
            .arg("run");
        command
    }
}

impl Programs {
    /// pgbench without a limit that matters; its script comes on the standard input.
    fn pgbench(&self, job: &Job, threads: usize) -> Command {
        let (Address::Unix(socket), task) = (&job.address, drive_task(job)) else {
            unreachable!("the benchmark's own server has a socket");
        };
        let mode = match task.protocol {
            Protocol::Prepared => "prepared",
            Protocol::Text => "simple",
        };
        let clients = task.groups.own().clients;
        let mut command = self.launcher.command("pgbench");
        command
            .args(["-n", "-T", "86400", "-f", "/dev/stdin", "-M", mode])
            .args(["-c", &clients.to_string(), "-j", &threads.to_string()])
            .args(pgbench::place(socket, &job.user))
            .arg(&job.database);
        command
    }
}

/// The work of a contestant's job.
fn drive_task(job: &Job) -> &DriveTask {
    match &job.task {
        Task::Drive(task) => task,
        _ => unreachable!("contestants send queries"),
    }
}
