//! The load generator beside sysbench and beside bare loops, by turns on the same server. `cargo
//! xtask bench-peers` builds the programs, runs this, and makes tables of what it prints: one line
//! of JSON for each contestant and round, raw.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "this is a command for developers: it prints, and ends at the first thing that is wrong"
)]

mod contestant;
mod job;
mod latency;
mod request;
mod running;
mod server;
mod turn;

use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use prony_host::Launcher;
use prony_model::Protocol;
use prony_probe::{HostFacts, Root};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::Serialize;

use crate::contestant::{Contestant, Program, Stage};
use crate::request::Request;
use crate::server::Server;

/// A line of the output.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum Line<'a> {
    /// What is measured, and on what; the first line.
    Setting {
        /// When it began, in seconds since 1970.
        at_unix_s: u64,
        sysbench: &'a str,
        build: &'a str,
        rows: u32,
        seconds: u64,
        rounds: usize,
        host: HostFacts,
    },
    /// The steady state of one contestant.
    Turn {
        round: usize,
        contestant: Contestant,
        clients: u32,
        protocol: Protocol,
        figures: turn::Figures,
    },
    /// One client's times from sending to the last byte.
    Latency {
        round: usize,
        contestant: Contestant,
        figures: latency::Figures,
    },
}

fn main() -> ExitCode {
    let request = match Request::parse(std::env::args().skip(1)) {
        Ok(request) => request,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::FAILURE;
        }
    };
    raise_open_files();
    let stage = Stage {
        launcher: Launcher::new(request.prony.clone()).unwrap(),
        request: &request,
    };
    eprintln!(
        "starting {} and filling {} rows",
        request.build, request.rows
    );
    let mut server = Server::start(&request, &stage.launcher);
    let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    say(&Line::Setting {
        at_unix_s: at.as_secs(),
        sysbench: &request.sysbench,
        build: &request.build,
        rows: request.rows,
        seconds: request.seconds,
        rounds: request.rounds,
        host: HostFacts::read(&Root::live()),
    });
    for round in 0..request.rounds {
        measure_round(round, &stage, &mut server);
    }
    server.stop();
    ExitCode::SUCCESS
}

/// Everybody once at each number of clients and with each protocol.
fn measure_round(round: usize, stage: &Stage<'_>, server: &mut Server) {
    let request = stage.request;
    for &clients in &request.clients {
        for &protocol in &request.protocols {
            for contestant in Contestant::all(clients, round) {
                let program = Program::endless(contestant, clients, protocol, stage, server);
                let figures = turn::take(program, request.seconds, server);
                say(&Line::Turn {
                    round,
                    contestant,
                    clients,
                    protocol,
                    figures,
                });
            }
        }
    }
    if request.clients.contains(&1) {
        for contestant in Contestant::timed(round) {
            let program = Program::timed(contestant, stage, server);
            server.wait_until_idle();
            let figures = latency::take(contestant, program);
            say(&Line::Latency {
                round,
                contestant,
                figures,
            });
        }
    }
}

fn say(line: &Line<'_>) {
    println!("{}", serde_json::to_string(line).unwrap());
}

/// A thousand connections are more files than a shell usually allows; children inherit the limit.
fn raise_open_files() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    setrlimit(Resource::Nofile, raised).unwrap();
}
