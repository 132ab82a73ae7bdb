//! The load generator runs on exactly as many threads as it says, the calling one included.
//!
//! The test starts its own binary again, as a process that does nothing but run a job, so that no
//! thread of a fake server or of another test is counted.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use prony_load::{Job, Message, Task};
use prony_model::Length;

use crate::drive::{answer, mixed, task};
use crate::job;
use crate::testkit::{Delivery, FakeServer};

crate::backend::behind_each_backend! {
    as_many_threads_as_said,
}

/// Set for the process that runs the job.
const GENERATOR: &str = "PRONY_TEST_GENERATOR";

/// What the other process runs. Nothing when it runs as a test like any other.
#[test]
fn generator_process() {
    if std::env::var_os(GENERATOR).is_some() {
        let mut input = BufReader::new(std::io::stdin());
        let mut line = String::new();
        input.read_line(&mut line).unwrap();
        let job: Job = serde_json::from_str(&line).unwrap();
        eprintln!("{}", count_threads(std::process::id()));
        prony_load::run(&job, &mut input, &mut std::io::stderr()).unwrap();
    }
}

fn as_many_threads_as_said() {
    let server = FakeServer::start(Delivery::Whole, answer);
    for (clients, threads_max, expected) in [(1, 2, 1), (64, 2, 2), (64, 1, 1), (2, 2, 2)] {
        assert_eq!(threads(&server, clients, threads_max), expected);
    }
}

fn count_threads(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/task")).unwrap().count()
}

/// The most threads that a generator uses while it measures, the calling one included.
fn threads(server: &FakeServer, clients: u32, threads_max: u32) -> usize {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "threads::generator_process", "--nocapture"])
        .args(["--test-threads", "1"])
        .env(GENERATOR, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut task = task(mixed(true), clients, Length::Time { ms: 400 });
    task.threads_max = threads_max;
    task.interval_ms = 100;
    let job = serde_json::to_vec(&job(server, Task::Drive(Box::new(task)))).unwrap();
    child.stdin.take().unwrap().write_all(&job).unwrap();
    let mut counts = Vec::new();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let before: usize = lines.next().unwrap().unwrap().parse().unwrap();
    for line in lines {
        if let Message::Interval { .. } = serde_json::from_str(&line.unwrap()).unwrap() {
            counts.push((count_threads(child.id()) + 1).saturating_sub(before));
        }
    }
    assert!(child.wait().unwrap().success());
    // Towards the end of the run some may be gone already.
    counts.into_iter().max().unwrap()
}
