//! What is asked for on the command line.

use std::path::PathBuf;
use std::process::Command;
use std::str::FromStr;

use prony_model::Protocol;

const USAGE: &str = "\
usage: cargo xtask bench-peers [--build ID] [--clients N,…] [--protocols prepared,text]
                               [--seconds N] [--rounds N] [--rows N] [--threads N]
                               [--format md|json] [--read FILE]

Runs point queries by turns with sysbench, with Prony and with bare loops, on the same server, and
prints what they cost. sysbench 1.0.20 must be on the PATH (Debian: apt-get install sysbench).
--threads are those of Prony and of the bare epoll loop, at most. --format json prints what was
read, which --read takes instead of measuring.";

/// The options, and the programs to run.
pub(crate) struct Request {
    /// The binary with the load generator.
    pub(crate) prony: PathBuf,
    /// The binary with the bare loops.
    pub(crate) bare: PathBuf,
    /// What sysbench calls itself.
    pub(crate) sysbench: String,
    pub(crate) build: String,
    pub(crate) clients: Vec<u32>,
    pub(crate) protocols: Vec<Protocol>,
    /// Length of a steady state.
    pub(crate) seconds: u64,
    pub(crate) rounds: usize,
    pub(crate) rows: u32,
    pub(crate) threads: u32,
}

impl Request {
    /// Reads the options; the error is for people.
    pub(crate) fn parse(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut request = Self::options(arguments).ok_or(USAGE)?;
        let output = Command::new("sysbench")
            .arg("--version")
            .output()
            .map_err(|error| {
                format!("failed to run sysbench: {error}; is it installed?\n\n{USAGE}")
            })?;
        String::from_utf8_lossy(&output.stdout)
            .trim()
            .clone_into(&mut request.sysbench);
        Ok(request)
    }

    fn options(mut arguments: impl Iterator<Item = String>) -> Option<Self> {
        let mut request = Self {
            prony: PathBuf::new(),
            bare: PathBuf::new(),
            sysbench: String::new(),
            build: "mariadb-10.11".to_owned(),
            clients: vec![1, 64, 512, 1000],
            protocols: vec![Protocol::Prepared, Protocol::Text],
            seconds: 5,
            rounds: 5,
            rows: 100_000,
            threads: 2,
        };
        while let Some(option) = arguments.next() {
            let value = arguments.next()?;
            match option.as_str() {
                "--prony" => request.prony = value.into(),
                "--bare" => request.bare = value.into(),
                "--build" => request.build = value,
                "--clients" => request.clients = list(&value, at_least_1)?,
                "--protocols" => request.protocols = list(&value, protocol)?,
                "--seconds" => request.seconds = at_least_1(&value)?,
                "--rounds" => request.rounds = at_least_1(&value)?,
                "--rows" => request.rows = at_least_1(&value)?,
                "--threads" => request.threads = at_least_1(&value)?,
                _ => return None,
            }
        }
        Some(request)
    }
}

fn list<T>(values: &str, read: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    values.split(',').map(read).collect()
}

fn at_least_1<T: FromStr + PartialOrd + From<u8>>(value: &str) -> Option<T> {
    value.parse().ok().filter(|number| *number >= T::from(1))
}

fn protocol(name: &str) -> Option<Protocol> {
    [Protocol::Prepared, Protocol::Text]
        .into_iter()
        .find(|protocol| protocol.name() == name)
}
