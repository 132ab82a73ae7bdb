//! Whole runs of the load generator against a fake server.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "helpers of tests fail the test"
)]

mod backend;
mod check;
mod drive;
mod faults;
mod fill;
mod hold;
mod pacing;
mod samples;
mod serve;
mod testkit;
mod threads;
mod warmup;

use prony_load::{Job, LoadError, Message, Task};

use testkit::FakeServer;

fn job(server: &FakeServer, task: Task) -> Job {
    Job {
        family: server.family(),
        address: server.address(),
        user: "prony".into(),
        password: String::new(),
        tls: prony_model::Tls::Off,
        database: "prony".into(),
        task,
    }
}

/// Runs a job and returns what it said.
fn run(server: &FakeServer, task: Task) -> Result<Vec<Message>, LoadError> {
    let mut out = Vec::new();
    prony_load::run(&job(server, task), &mut std::io::empty(), &mut out)?;
    Ok(out
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect())
}
