//! `bench-peers`: the load generator beside sysbench or pgbench and beside bare loops, alternately on the same
//! server.

mod contestant;
mod groups;
mod limits;
mod measured;
mod page;
mod server;
mod turn;

use std::fs;
use std::path::PathBuf;

use clap::{Args, ValueEnum, value_parser};
use prony_load::{DriveTask, Task};
use prony_model::{Length, Pace, Protocol, Spacing, Thousandths};
use prony_probe::{HostFacts, Root};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use self::contestant::{Contestant, Field, Programs};
use self::groups::{Group, Servers};
use self::measured::{LatencyTurn, Line, Measured, OpenTurn, Setting, Turn};
use self::server::Server;
use crate::job::point_queries;
use crate::{pgbench, sysbench};

/// Longer than any measurement.
const ENDLESS: Length = Length::Time { ms: 3_600_000 };
/// From the first query to a contestant's own figures.
const WARMUP_MS: u64 = 500;
/// Between two reports of a contestant's times: several lie in the shortest steady state.
const INTERVAL_MS: u64 = 250;
/// Clients of the open loop: one is idle nearly whenever an operation is due.
const OPEN_CLIENTS: u32 = 8;

/// Compare the cost of point queries: sysbench, Prony and bare loops, alternately on the same server
///
/// sysbench 1.0.20 must be on the PATH (Debian: apt-get install sysbench), and for servers of PostgreSQL pgbench
/// in its place (Debian: apt-get install postgresql-15).
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
    /// Scheduling group of the server, as the contestants see it: own, other
    #[arg(
        long,
        value_enum,
        value_name = "NAME,…",
        value_delimiter = ',',
        default_value = "own,other"
    )]
    group: Vec<Group>,
    /// Rate of an open loop, in operations per second; 0 for none
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    rate: u32,
    /// Contestants; all by default, except Prony with another scheduling policy than it would use
    #[arg(
        long,
        value_enum,
        value_name = "NAME,…",
        value_delimiter = ',',
        hide_possible_values = true
    )]
    only: Vec<Contestant>,
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
        None => measure(options, peer_version(&options.build)?)?,
    };
    match options.format {
        Format::Json => print!("{raw}"),
        Format::Md => print!("{}", page::page(&Measured::parse(&raw)?)),
    }
    Ok(())
}

/// The program of others that is compared on a build, with its version.
fn peer_version(build: &str) -> Result<String, String> {
    match measured::peer(build) {
        Contestant::Pgbench => pgbench::version(),
        _ => sysbench::version(),
    }
}

/// Measures and returns the raw lines. Each is reported as it comes.
fn measure(options: &Options, peer: String) -> Result<String, String> {
    raise_open_files();
    let programs = Programs {
        launcher: crate::launcher(),
        prony: crate::prony(),
        other: options.prony.clone(),
    };
    let (build, rows) = (&options.build, options.rows);
    let clients_max = options.clients.iter().copied().max().unwrap();
    let mut servers = Servers::start(&options.group, || {
        eprintln!("starting {build} and filling {rows} rows");
        Server::start(&programs.launcher, build, clients_max, rows)
    })?;
    let mut raw = String::new();
    let mut record = |line: &Line| {
        eprintln!("{line}");
        raw.push_str(&serde_json::to_string(line).unwrap());
        raw.push('\n');
    };
    record(&Line::Setting(Setting {
        at_unix_s: jiff::Timestamp::now().as_second(),
        peer,
        build: build.clone(),
        rows,
        seconds: options.seconds,
        rounds: options.rounds as usize,
        host: HostFacts::read(&Root::live()),
    }));
    for round in 0..options.rounds as usize {
        for &group in &options.group {
            let turns = Turns {
                round,
                group,
                options,
                programs: &programs,
                server: servers.of(group),
                record: &mut record,
            };
            turns.measure();
        }
    }
    servers.stop();
    Ok(raw)
}

/// The turns of a round with the server of one group.
struct Turns<'a> {
    round: usize,
    group: Group,
    options: &'a Options,
    programs: &'a Programs,
    server: &'a mut Server,
    record: &'a mut dyn FnMut(&Line),
}

impl Turns<'_> {
    /// Measures each contestant once at each number of clients and with each protocol.
    fn measure(mut self) {
        for &clients in &self.options.clients {
            for &protocol in &self.options.protocols {
                self.closed_loops(clients, protocol);
            }
        }
        if self.group == Group::Own && self.options.clients.contains(&1) {
            self.latencies();
        }
        if self.options.rate > 0 {
            self.open_loops();
        }
    }

    fn field(&self) -> Field<'_> {
        Field {
            peer: measured::peer(&self.options.build),
            only: &self.options.only,
            with_other: self.options.prony.is_some(),
        }
    }

    fn closed_loops(&mut self, clients: u32, protocol: Protocol) {
        for contestant in self.field().all(clients, self.round) {
            self.server.wait_until_idle();
            let task = self.task(contestant, clients, protocol, ENDLESS);
            let process = self.programs.start(contestant, &self.server.job(task));
            let figures = turn::steady_state(process, clients, self.options.seconds, self.server);
            (self.record)(&Line::Turn(Turn {
                round: self.round,
                contestant,
                group: self.group,
                clients,
                protocol,
                figures,
            }));
        }
    }

    fn latencies(&mut self) {
        for contestant in self.field().timed(self.round) {
            self.server.wait_until_idle();
            let task = self.task(contestant, 1, Protocol::Prepared, self.length());
            let process = self
                .programs
                .start_timed(contestant, &self.server.job(task));
            (self.record)(&Line::Latency(LatencyTurn {
                round: self.round,
                contestant,
                figures: turn::latency(contestant, process),
            }));
        }
    }

    fn open_loops(&mut self) {
        let rate = self.options.rate;
        for contestant in self.field().open(self.round) {
            self.server.wait_until_idle();
            let length = self.length();
            let mut drive = self.drive(contestant, OPEN_CLIENTS, Protocol::Prepared, length);
            drive.groups.own_mut().pace = Pace::Open {
                rate: Thousandths(rate.saturating_mul(1000)),
                spacing: Spacing::Regular,
            };
            drive.drain_ms = WARMUP_MS;
            drive.scheduling = contestant.scheduling(&drive);
            let job = self.server.job(Task::Drive(Box::new(drive)));
            let process = self.programs.start_timed(contestant, &job);
            (self.record)(&Line::Open(OpenTurn {
                round: self.round,
                contestant,
                group: self.group,
                rate,
                clients: OPEN_CLIENTS,
                figures: turn::open_loop(process),
            }));
        }
    }

    const fn length(&self) -> Length {
        Length::Time {
            ms: self.options.seconds * 1000,
        }
    }

    fn task(
        &self,
        contestant: Contestant,
        clients: u32,
        protocol: Protocol,
        length: Length,
    ) -> Task {
        Task::Drive(Box::new(self.drive(contestant, clients, protocol, length)))
    }

    /// The work of a contestant in a closed loop.
    fn drive(
        &self,
        contestant: Contestant,
        clients: u32,
        protocol: Protocol,
        length: Length,
    ) -> DriveTask {
        let (threads, backend) = (self.options.threads.min(clients), contestant.backend());
        let task = point_queries(self.options.rows, clients, threads, length, backend);
        let scheduling = contestant.scheduling(&task);
        DriveTask {
            protocol,
            warmup_ms: WARMUP_MS,
            interval_ms: INTERVAL_MS,
            interval_histograms: true,
            scheduling,
            ..task
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
