//! Measurements of the benchmark: raw lines, and quantities that follow from them.

use std::fmt;

use prony_model::{Engine, Protocol};
use prony_probe::HostFacts;
use serde::{Deserialize, Serialize};

use super::contestant::Contestant;
use super::groups::Group;
use crate::bare::Latency;
use crate::job::usual_engine;
use crate::spread::Spread;

/// One line, as `--format json` prints it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(super) enum Line {
    Setting(Setting),
    Turn(Turn),
    Latency(LatencyTurn),
    Open(OpenTurn),
}

/// The choices of the measurement and the machine.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Setting {
    /// Its begin, in seconds since 1970.
    pub(super) at_unix_s: i64,
    /// Name and version of the program of others.
    #[serde(alias = "sysbench")]
    pub(super) peer: String,
    pub(super) build: String,
    pub(super) rows: u64,
    pub(super) seconds: u64,
    pub(super) rounds: usize,
    pub(super) host: HostFacts,
}

/// The steady state of one contestant.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Turn {
    pub(super) round: usize,
    pub(super) contestant: Contestant,
    #[serde(default)]
    pub(super) group: Group,
    pub(super) clients: u32,
    pub(super) protocol: Protocol,
    pub(super) figures: Figures,
}

/// An open loop.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct OpenTurn {
    pub(super) round: usize,
    pub(super) contestant: Contestant,
    pub(super) group: Group,
    /// Operations per second.
    pub(super) rate: u32,
    pub(super) clients: u32,
    pub(super) figures: OpenFigures,
}

/// Figures of an open loop. The times are in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct OpenFigures {
    /// Schedule error: the client's own lateness.
    pub(super) late: Latency,
    /// From the intended start to the last byte.
    pub(super) response: Latency,
    pub(super) operations: u64,
    /// Processor time of the client.
    pub(super) client_ns: u64,
}

/// One client's times.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct LatencyTurn {
    pub(super) round: usize,
    pub(super) contestant: Contestant,
    pub(super) figures: Latency,
}

/// Differences between the two ends of a steady state.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Figures {
    pub(super) wall_ns: u64,
    /// As counted by the server.
    pub(super) queries: u64,
    /// Processor time of the client, exact.
    pub(super) client_ns: u64,
    /// The same in user space and in the kernel; both move in clock ticks.
    pub(super) client_user_ns: u64,
    pub(super) client_system_ns: u64,
    /// Times that a thread of the client was put on a processor.
    pub(super) client_slices: u64,
    /// Maximum resident memory of the client since its start.
    pub(super) client_peak_bytes: u64,
    pub(super) client_threads: u64,
    /// Processor time of the server, exact.
    pub(super) server_ns: u64,
    /// Times of the queries, where the client reports them while it runs.
    #[serde(default)]
    pub(super) latency: Option<Latency>,
}

impl Setting {
    /// The program of others that is compared.
    pub(super) fn peer(&self) -> Contestant {
        peer(&self.build)
    }
}

/// The program of others that is compared on a build.
pub(super) fn peer(build: &str) -> Contestant {
    match usual_engine(build) {
        Engine::Heap => Contestant::Pgbench,
        _ => Contestant::Sysbench,
    }
}

impl Figures {
    fn per_query(&self, value: u64) -> f64 {
        value as f64 / self.queries as f64
    }

    /// Microseconds of the client's processor time for one query.
    pub(super) fn client_us(&self) -> f64 {
        self.per_query(self.client_ns) / 1e3
    }

    /// The part of it in user space. The parts move in clock ticks; their sum is exact.
    pub(super) fn client_user_us(&self) -> f64 {
        let user = self.client_user_ns as f64;
        self.client_us() * user / (user + self.client_system_ns as f64)
    }

    pub(super) fn server_us(&self) -> f64 {
        self.per_query(self.server_ns) / 1e3
    }

    /// Queries per second.
    pub(super) fn throughput(&self) -> f64 {
        self.queries as f64 / (self.wall_ns as f64 / 1e9)
    }

    /// Times that a thread of the client was put on a processor, for one query.
    pub(super) fn switches(&self) -> f64 {
        self.per_query(self.client_slices)
    }

    /// Maximum memory of the client, in megabytes (10^6).
    pub(super) fn memory_mb(&self) -> f64 {
        self.client_peak_bytes as f64 / 1e6
    }

    pub(super) fn threads(&self) -> f64 {
        self.client_threads as f64
    }

    /// Median time of a query, in milliseconds. No number where the client does not report it.
    pub(super) fn p50_ms(&self) -> f64 {
        self.latency
            .map_or(f64::NAN, |times| times.p50 as f64 / 1e6)
    }

    /// 99th percentile of the queries' times, in milliseconds.
    pub(super) fn p99_ms(&self) -> f64 {
        self.latency
            .map_or(f64::NAN, |times| times.p99 as f64 / 1e6)
    }
}

impl OpenFigures {
    /// 99th percentile of the lateness, in microseconds.
    pub(super) fn late_p99_us(&self) -> f64 {
        self.late.p99 as f64 / 1e3
    }

    /// Microseconds of the client's processor time for one operation.
    pub(super) fn client_us(&self) -> f64 {
        self.client_ns as f64 / self.operations as f64 / 1e3
    }
}

/// Shows the progress to the user who waits.
impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting(setting) => {
                write!(f, "{}, {} rounds", setting.build, setting.rounds)
            }
            Self::Turn(turn) => write!(
                f,
                "round {}, {} clients, {}{}: {} {:.2} µs per query",
                turn.round + 1,
                turn.clients,
                turn.protocol.name(),
                turn.group.heading(),
                turn.contestant.name(),
                turn.figures.client_us(),
            ),
            Self::Latency(turn) => write!(
                f,
                "round {}, times of one client: {} {:.2} µs in the median",
                turn.round + 1,
                turn.contestant.name(),
                turn.figures.p50 as f64 / 1e3,
            ),
            Self::Open(turn) => write!(
                f,
                "round {}, open loop{}: {} late by {:.1} µs at 99 %",
                turn.round + 1,
                turn.group.heading(),
                turn.contestant.name(),
                turn.figures.late.p99 as f64 / 1e3,
            ),
        }
    }
}

/// All lines of a measurement.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) setting: Setting,
    turns: Vec<Turn>,
    pub(super) latencies: Vec<LatencyTurn>,
    pub(super) opens: Vec<OpenTurn>,
}

/// The turns at one number of clients with one protocol.
pub(super) struct Cell<'a> {
    pub(super) group: Group,
    pub(super) clients: u32,
    pub(super) protocol: Protocol,
    turns: Vec<&'a Turn>,
}

impl Measured {
    pub(super) fn parse(raw: &str) -> Result<Self, String> {
        let (mut setting, mut turns) = (None, Vec::new());
        let (mut latencies, mut opens) = (Vec::new(), Vec::new());
        for line in raw.lines() {
            let parsed = serde_json::from_str(line);
            match parsed.map_err(|error| format!("failed to read the line `{line}`: {error}"))? {
                Line::Setting(line) => setting = Some(line),
                Line::Turn(turn) => turns.push(turn),
                Line::Latency(turn) => latencies.push(turn),
                Line::Open(turn) => opens.push(turn),
            }
        }
        Ok(Self {
            setting: setting.ok_or("failed to read the measurements: no line has the setting")?,
            turns,
            latencies,
            opens,
        })
    }

    /// The turns at one number of clients with one protocol; none if this was not measured.
    pub(super) fn cell(&self, group: Group, clients: u32, protocol: Protocol) -> Cell<'_> {
        let belongs =
            |turn: &&Turn| (turn.group, turn.clients, turn.protocol) == (group, clients, protocol);
        Cell {
            group,
            clients,
            protocol,
            turns: self.turns.iter().filter(belongs).collect(),
        }
    }

    /// The cells that were measured, each once, in the order of their first turns.
    pub(super) fn cells(&self) -> Vec<Cell<'_>> {
        let mut cells: Vec<Cell<'_>> = Vec::new();
        for turn in &self.turns {
            let of_turn = (turn.group, turn.clients, turn.protocol);
            let known = |cell: &Cell<'_>| (cell.group, cell.clients, cell.protocol) == of_turn;
            if !cells.iter().any(known) {
                cells.push(self.cell(turn.group, turn.clients, turn.protocol));
            }
        }
        cells
    }

    /// Microseconds by which a contestant's median time exceeds the blocking loop's of the same
    /// round.
    pub(super) fn behind_bare_us(&self, contestant: Contestant) -> Option<Spread> {
        Spread::of(self.latencies_of(contestant).filter_map(|turn| {
            let mut bare = self.latencies_of(Contestant::BareBlocking);
            let bare = bare.find(|bare| bare.round == turn.round)?;
            Some((turn.figures.p50 as f64 - bare.figures.p50 as f64) / 1e3)
        }))
    }

    /// A quantity of a contestant's open loops, over the rounds.
    pub(super) fn open_spread(
        &self,
        group: Group,
        contestant: Contestant,
        quantity: fn(&OpenFigures) -> f64,
    ) -> Option<Spread> {
        let belongs = |turn: &&OpenTurn| (turn.group, turn.contestant) == (group, contestant);
        let turns = self.opens.iter().filter(belongs);
        Spread::of(turns.map(|turn| quantity(&turn.figures)))
    }

    pub(super) fn latencies_of(
        &self,
        contestant: Contestant,
    ) -> impl Iterator<Item = &LatencyTurn> {
        let latencies = self.latencies.iter();
        latencies.filter(move |turn| turn.contestant == contestant)
    }
}

impl Cell<'_> {
    /// The contestants, in the order of their first turns.
    pub(super) fn contestants(&self) -> impl Iterator<Item = Contestant> {
        let first = self.turns.iter().filter(|turn| turn.round == 0);
        first.map(|turn| turn.contestant)
    }

    fn turns_of(&self, contestant: Contestant) -> impl Iterator<Item = &Turn> {
        let turns = self.turns.iter().copied();
        turns.filter(move |turn| turn.contestant == contestant)
    }

    /// A quantity over the rounds.
    pub(super) fn spread(
        &self,
        contestant: Contestant,
        quantity: fn(&Figures) -> f64,
    ) -> Option<Spread> {
        Spread::of(
            self.turns_of(contestant)
                .map(|turn| quantity(&turn.figures)),
        )
    }

    /// A quantity divided by another contestant's of the same round, over the rounds.
    pub(super) fn ratio(
        &self,
        contestant: Contestant,
        other: Contestant,
        quantity: fn(&Figures) -> f64,
    ) -> Option<Spread> {
        Spread::of(self.turns_of(contestant).filter_map(|turn| {
            let mut others = self.turns_of(other);
            let other = others.find(|other| other.round == turn.round)?;
            Some(quantity(&turn.figures) / quantity(&other.figures))
        }))
    }
}

#[cfg(test)]
pub(super) mod tests;
