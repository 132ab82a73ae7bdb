//! Instructions that the load generator executes in user space for one point query, with the null
//! server at the other end: `cargo xtask bench-instructions` builds the program, runs this, and
//! makes a table of what it prints, one line of JSON for each case, raw.
//!
//! A program executes instructions before and after its queries, too. Two runs of different lengths
//! differ by those of queries alone.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "this is a command for developers: it prints, and ends at the first thing that is wrong"
)]

#[path = "peers/job.rs"]
mod job;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use prony_client::{Address, Login};
use prony_host::{Launcher, Process};
use prony_load::choose_backend;
use prony_model::{Backend, Length, Protocol, Tls};
use serde::Serialize;

use crate::job::Task;

/// Queries of the two runs.
const QUERIES: [u64; 2] = [20_000, 60_000];
const CLIENTS: [u32; 2] = [1, 64];
/// With more, the C library's wrappers of system calls, which only the counted build goes through,
/// have more to do.
const THREADS: u32 = 1;
/// No line in between: under a simulator a second holds few queries.
const INTERVAL_MS: u64 = 1_000_000_000;

/// What counts.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum Counter {
    /// The processor, where it lets us.
    Perf,
    /// A simulator.
    Callgrind,
}

/// One case.
#[derive(Serialize)]
struct Line {
    counter: Counter,
    clients: u32,
    protocol: Protocol,
    backend: Backend,
    queries: [u64; 2],
    instructions: [u64; 2],
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let prony = PathBuf::from(arguments.next().unwrap());
    let counter = match arguments.next().as_deref() {
        Some("perf") => Counter::Perf,
        _ => Counter::Callgrind,
    };
    let launcher = Launcher::new(prony.clone()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("null.sock");
    let _server = start_server(&launcher, &prony, &socket);
    for clients in CLIENTS {
        for protocol in [Protocol::Prepared, Protocol::Text] {
            for backend in [Backend::IoUring, Backend::Epoll] {
                if choose_backend(Some(backend), false).is_err() {
                    continue;
                }
                let count = |queries| {
                    let task = task(&socket, clients, protocol, queries);
                    counter.count(&launcher, &prony, &job::generator(&task, backend))
                };
                let line = Line {
                    counter,
                    clients,
                    protocol,
                    backend,
                    queries: QUERIES,
                    instructions: QUERIES.map(count),
                };
                println!("{}", serde_json::to_string(&line).unwrap());
            }
        }
    }
}

/// The null server, until what is returned is dropped.
fn start_server(launcher: &Launcher, prony: &Path, socket: &Path) -> Process {
    let mut command = launcher.command(prony);
    command
        .arg("null")
        .arg("--socket")
        .arg(socket)
        .stdout(Stdio::piped());
    let mut process = launcher.spawn(command).unwrap();
    let output = process.child().stdout.take().unwrap();
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n", "the null server did not start");
    process
}

fn task(socket: &Path, clients: u32, protocol: Protocol, queries: u64) -> Task {
    Task {
        address: Address::Unix(socket.to_owned()),
        login: Login {
            user: "prony".to_owned(),
            password: String::new(),
            database: None,
            tls: Tls::Off,
        },
        database: "prony",
        rows: 100_000,
        clients,
        protocol,
        threads: THREADS,
        warmup_ms: 0,
        length: Length::Count {
            operations: queries,
        },
        interval_ms: INTERVAL_MS,
    }
}

impl Counter {
    /// Instructions of the generator's whole life.
    fn count(self, launcher: &Launcher, prony: &Path, job: &[u8]) -> u64 {
        let mut command = match self {
            Self::Perf => {
                let mut command = launcher.command("perf");
                command.args(["stat", "-x,", "-e", "instructions:u"]);
                command
            }
            Self::Callgrind => {
                let mut command = launcher.command("valgrind");
                command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
                command
            }
        };
        command
            .arg(prony)
            .arg("generator")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut process = launcher.spawn(command).unwrap();
        let mut input = process.child().stdin.take().unwrap();
        // It stays open: its end would end the generator.
        input.write_all(job).unwrap();
        let stderr = process.child().stderr.take().unwrap();
        let said = std::io::read_to_string(stderr).unwrap();
        assert!(process.wait().unwrap().success(), "{said}");
        drop(input);
        let found = match self {
            Self::Perf => parse_perf(&said),
            Self::Callgrind => parse_callgrind(&said),
        };
        found.unwrap()
    }
}

/// From the fields of perf-stat(1), `-x`: value, unit, event.
fn parse_perf(said: &str) -> Option<u64> {
    let line = said.lines().find(|line| line.contains("instructions:u"))?;
    line.split(',').next()?.parse().ok()
}

/// From `==PID== Collected : N`.
fn parse_callgrind(said: &str) -> Option<u64> {
    let (_, behind) = said.split_once("Collected :")?;
    behind.split_whitespace().next()?.parse().ok()
}
