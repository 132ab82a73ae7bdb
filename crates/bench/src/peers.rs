//! `bench-peers`: the load generator beside sysbench and beside bare loops, alternately on the same
//! server.

mod contestant;
mod limits;
mod measured;
mod page;
mod server;
mod turn;

use std::fs;
use std::path::PathBuf;

use clap::{Args, ValueEnum, value_parser};
use prony_load::{DriveTask, Task};
use prony_model::{Length, Protocol};
use prony_probe::{HostFacts, Root};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use self::contestant::{Contestant, Programs};
use self::measured::{LatencyTurn, Line, Measured, Setting, Turn};
use self::server::Server;
use crate::job::point_queries;
use crate::sysbench;

/// Longer than any measurement.
const ENDLESS: Length = Length::Time { ms: 3_600_000 };
/// From the first query to a contestant's own figures.
const WARMUP_MS: u64 = 500;

/// Compare the cost of point queries: sysbench, Prony and bare loops, alternately on the same server
///
/// sysbench 1.0.20 must be on the PATH (Debian: apt-get install sysbench).
#[derive(Args)]
pub(crate) struct Options {
    /// Build of the server
    #[arg(long, value_name = "ID", default_value = "mariadb-10.11")]
    build: String,
    /// Numbers of clients
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_values_t = [1, 64, 512, 1000], value_parser = value_parser!(u32).range(1..))]
    clients: Vec<u32>,
    /// Protocols: prepared, text
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', default_value = "prepared,text", value_parser = protocol)]
    protocols: Vec<Protocol>,
    /// Length of a steady state
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = value_parser!(u64).range(1..))]
    seconds: u64,
    /// Turns of each contestant
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = value_parser!(u32).range(1..))]
    rounds: u32,
    /// Rows of the table
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = value_parser!(u64).range(1..=u64::from(u32::MAX)))]
    rows: u64,
    /// Threads of Prony and of the bare epoll loop, at most
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = value_parser!(u32).range(1..))]
    threads: u32,
    /// Tables, or the raw measurements
    #[arg(long, value_enum, default_value = "md")]
    format: Format,
    /// File with raw measurements to print, instead of measuring
    #[arg(long, value_name = "FILE")]
    read: Option<PathBuf>,
    /// Other binary of Prony, measured alternately with the current one
    #[arg(long, value_name = "PATH")]
    prony: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Md,
    Json,
}

fn protocol(name: &str) -> Result<Protocol, String> {
    serde_json::from_value(name.into()).map_err(|error| error.to_string())
}

/// Measures, or reads earlier measurements, and prints them.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    let raw = match &options.read {
        Some(path) => fs::read_to_string(path)
            .map_err(|error| format!("failed to read {}: {error}", path.display()))?,
        None => measure(options, sysbench::version()?),
    };
    match options.format {
        Format::Json => print!("{raw}"),
        Format::Md => print!("{}", page::page(&Measured::parse(&raw)?)),
    }
    Ok(())
}

/// Measures and returns the raw lines. Each is reported as it comes.
fn measure(options: &Options, sysbench: String) -> String {
    raise_open_files();
    let programs = Programs {
        launcher: crate::launcher(),
        prony: crate::prony(),
        other: options.prony.clone(),
    };
    let (build, rows) = (&options.build, options.rows);
    eprintln!("starting {build} and filling {rows} rows");
    let clients_max = options.clients.iter().copied().max().unwrap();
    let mut server = Server::start(&programs.launcher, build, clients_max, rows);
    let mut raw = String::new();
    let mut record = |line: &Line| {
        eprintln!("{line}");
        raw.push_str(&serde_json::to_string(line).unwrap());
        raw.push('\n');
    };
    record(&Line::Setting(Setting {
        at_unix_s: jiff::Timestamp::now().as_second(),
        sysbench,
        build: build.clone(),
        rows,
        seconds: options.seconds,
        rounds: options.rounds as usize,
        host: HostFacts::read(&Root::live()),
    }));
    for round in 0..options.rounds as usize {
        measure_round(round, options, &programs, &mut server, &mut record);
    }
    server.stop();
    raw
}

/// Measures each contestant once at each number of clients and with each protocol.
fn measure_round(
    round: usize,
    options: &Options,
    programs: &Programs,
    server: &mut Server,
    record: &mut dyn FnMut(&Line),
) {
    let with_other = programs.other.is_some();
    let task = |contestant: Contestant, clients: u32, protocol, length| {
        let (threads, backend) = (options.threads.min(clients), contestant.backend());
        Task::Drive(Box::new(DriveTask {
            protocol,
            warmup_ms: WARMUP_MS,
            ..point_queries(options.rows, clients, threads, length, backend)
        }))
    };
    for &clients in &options.clients {
        for &protocol in &options.protocols {
            for contestant in Contestant::all(clients, round, with_other) {
                server.wait_until_idle();
                let job = server.job(task(contestant, clients, protocol, ENDLESS));
                let process = programs.start(contestant, &job);
                let figures = turn::steady_state(process, clients, options.seconds, server);
                record(&Line::Turn(Turn {
                    round,
                    contestant,
                    clients,
                    protocol,
                    figures,
                }));
            }
        }
    }
    if options.clients.contains(&1) {
        for contestant in Contestant::timed(round, with_other) {
            server.wait_until_idle();
            let ms = options.seconds * 1000;
            let task = task(contestant, 1, Protocol::Prepared, Length::Time { ms });
            let process = programs.start_timed(contestant, &server.job(task));
            record(&Line::Latency(LatencyTurn {
                round,
                contestant,
                figures: turn::latency(contestant, process),
            }));
        }
    }
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

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        options: Options,
    }

    #[test]
    fn options_have_defaults() {
        let given = ["", "--rounds", "2", "--format", "json", "--read", "x"];
        let options = Command::try_parse_from(given).unwrap().options;
        assert_eq!((options.rounds, options.format), (2, Format::Json));
        assert_eq!(options.read, Some("x".into()));
        assert_eq!(options.clients, [1, 64, 512, 1000]);
        assert_eq!(options.protocols, [Protocol::Prepared, Protocol::Text]);
    }

    #[test]
    fn unknown_values_are_refused() {
        for given in [["--format", "csv"], ["--protocols", "x"], ["--rounds", "0"]] {
            assert!(Command::try_parse_from(["", given[0], given[1]]).is_err());
        }
    }
}
