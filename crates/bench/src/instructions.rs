//! `bench-instructions`: instructions that the load generator executes in user space for one point
//! query, with the null server at the other end.
//!
//! A program executes instructions before and after its queries, too. The difference between two
//! runs of different lengths excludes them.

use std::io::{BufRead, BufReader, Write, read_to_string};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use clap::Args;
use prony_client::{Address, Login};
use prony_host::{Launcher, Process};
use prony_load::{DriveTask, Job, Task, choose_backend};
use prony_model::{Backend, Family, Length, Protocol, Tls};

use crate::job::{job, point_queries};
use crate::table::Table;

/// Operations of the two runs.
const OPERATIONS: [u64; 2] = [20_000, 60_000];
const CLIENTS: [u32; 2] = [1, 64];
/// With more, the C library's wrappers of system calls, which only the counted build goes through,
/// have more to do.
const THREADS: u32 = 1;
/// No interval ends during a run: under a simulator a second holds few queries.
const INTERVAL_MS: u64 = 1_000_000_000;
/// The maximum for one prepared query, ...
const LIMIT: f64 = 1000.0;
/// ... with this number of clients.
const LIMIT_CLIENTS: u32 = 64;

/// Count the instructions that Prony executes for a point query
#[derive(Args)]
pub(crate) struct Options {
    /// The processor's counter, or a simulator's
    #[arg(long, hide = true, value_parser = ["perf", "callgrind"])]
    counter: String,
    /// Other binary of Prony, counted beside the current one; for callgrind, built with the feature
    /// rustix/use-libc
    #[arg(long, value_name = "PATH")]
    prony: Option<PathBuf>,
}

/// One case.
struct Case {
    is_other: bool,
    clients: u32,
    protocol: Protocol,
    backend: Backend,
    /// Instructions of the two runs.
    instructions: [u64; 2],
}

impl Case {
    fn per_query(&self) -> f64 {
        let difference = |[short, long]: [u64; 2]| long as f64 - short as f64;
        difference(self.instructions) / difference(OPERATIONS)
    }

    fn verdict(&self) -> String {
        if self.clients != LIMIT_CLIENTS || self.protocol != Protocol::Prepared {
            return String::new();
        }
        let above = self.per_query() - LIMIT;
        if above <= 0.0 {
            format!("at most {LIMIT:.0}: met")
        } else {
            format!("at most {LIMIT:.0}: missed by {above:.0}")
        }
    }
}

/// Counts, and prints a table.
pub(crate) fn run(options: &Options) {
    let launcher = crate::launcher();
    let prony = crate::prony();
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("null.sock");
    let _server = start_server(&launcher, &prony, &socket);
    let mut cases = Vec::new();
    for clients in CLIENTS {
        for protocol in [Protocol::Prepared, Protocol::Text] {
            for backend in [Backend::IoUring, Backend::Epoll] {
                if choose_backend(Some(backend), false).is_err() {
                    continue;
                }
                let pronys = [(false, Some(&prony)), (true, options.prony.as_ref())];
                for (is_other, prony) in pronys {
                    let Some(prony) = prony else { continue };
                    let case = Case {
                        is_other,
                        clients,
                        protocol,
                        backend,
                        instructions: OPERATIONS.map(|operations| {
                            let job = job_of(&socket, clients, protocol, backend, operations);
                            count(&options.counter, &launcher, prony, &job)
                        }),
                    };
                    let per_query = case.per_query();
                    let protocol = protocol.name();
                    eprintln!("{backend}, {protocol}, {clients} clients: {per_query:.0}");
                    cases.push(case);
                }
            }
        }
    }
    print!("{}", table(&options.counter, &cases));
}

/// The null server, which ends when the process is dropped.
fn start_server(launcher: &Launcher, prony: &Path, socket: &Path) -> Process {
    let mut command = launcher.command(prony);
    command
        .args(["null", "--socket"])
        .arg(socket)
        .stdout(Stdio::piped());
    let mut process = launcher.spawn(command).unwrap();
    let output = process.child().stdout.take().unwrap();
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n", "the null server did not start");
    process
}

fn job_of(
    socket: &Path,
    clients: u32,
    protocol: Protocol,
    backend: Backend,
    operations: u64,
) -> Job {
    let login = Login {
        family: Family::Mysql,
        user: "prony".to_owned(),
        password: String::new(),
        database: None,
        tls: Tls::Off,
    };
    let length = Length::Count { operations };
    let task = DriveTask {
        protocol,
        interval_ms: INTERVAL_MS,
        ..point_queries(100_000, clients, THREADS, length, backend)
    };
    let address = Address::Unix(socket.to_owned());
    job(address, login, Task::Drive(Box::new(task)))
}

/// Instructions of a generator process from its start to its end.
fn count(counter: &str, launcher: &Launcher, prony: &Path, job: &Job) -> u64 {
    let (program, arguments, parse): (_, _, fn(&str) -> Option<u64>) = match counter {
        "perf" => ("perf", "stat -x, -e instructions:u", parse_perf),
        _ => (
            "valgrind",
            "--tool=callgrind --callgrind-out-file=/dev/null",
            parse_callgrind,
        ),
    };
    let mut command = launcher.command(program);
    command
        .args(arguments.split(' '))
        .arg(prony)
        .arg("generator")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut process = launcher.spawn(command).unwrap();
    // The pipe stays open: its end would end the generator.
    let mut input = process.child().stdin.take().unwrap();
    serde_json::to_writer(&mut input, job).unwrap();
    input.write_all(b"\n").unwrap();
    let report = process.child().stderr.take().unwrap();
    let report = read_to_string(report).unwrap();
    assert!(process.wait().unwrap().success(), "{report}");
    drop(input);
    parse(&report).unwrap()
}

/// Parses the fields of perf-stat(1), `-x`: value, unit, event.
fn parse_perf(report: &str) -> Option<u64> {
    let mut lines = report.lines();
    let line = lines.find(|line| line.contains("instructions:u"))?;
    line.split(',').next()?.parse().ok()
}

/// Parses `==PID== Collected : N`.
fn parse_callgrind(report: &str) -> Option<u64> {
    let (_, count) = report.split_once("Collected :")?;
    count.split_whitespace().next()?.parse().ok()
}

fn table(counter: &str, cases: &[Case]) -> String {
    let words = ["backend", "protocol", "counted by"];
    let headings = [&words[..], &["clients", "instructions/query", ""]].concat();
    let mut table = Table::new(words.len(), &headings);
    for case in cases {
        let other = if case.is_other { ", other" } else { "" };
        table.push(vec![
            format!("{}{other}", case.backend),
            case.protocol.name().to_owned(),
            counter.to_owned(),
            case.clients.to_string(),
            format!("{:.0}", case.per_query()),
            case.verdict(),
        ]);
    }
    table.markdown()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_once_does_not_count() {
        let case = |clients, protocol, long| Case {
            is_other: false,
            clients,
            protocol,
            backend: Backend::Epoll,
            instructions: [1_000_000, long],
        };
        let cases = [
            case(1, Protocol::Prepared, 37_000_000),
            case(64, Protocol::Prepared, 37_000_000),
            case(64, Protocol::Prepared, 61_000_000),
            case(64, Protocol::Text, 61_000_000),
        ];
        insta::assert_snapshot!(table("callgrind", &cases));
    }

    #[test]
    fn counts_are_found_in_reports() {
        assert_eq!(parse_perf("12345,,instructions:u,1,100.00,,"), Some(12345));
        assert_eq!(parse_perf("<not supported>,,instructions:u"), None);
        assert_eq!(parse_callgrind("==7== Collected : 678\n==7=="), Some(678));
        assert_eq!(parse_callgrind("==7=="), None);
    }
}
