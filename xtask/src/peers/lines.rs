//! Output of the benchmark, line by line.

use std::fmt;

use serde::Deserialize;

/// A program that is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Contestant {
    Sysbench,
    PronyIoUring,
    PronyEpoll,
    BareIoUring,
    BareEpoll,
    BareBlocking,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Protocol {
    Prepared,
    Text,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(super) enum Line {
    Setting(Setting),
    Turn(Turn),
    Latency(LatencyTurn),
}

/// Measurements and the machine that they were made on.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Setting {
    pub(super) at_unix_s: i64,
    pub(super) sysbench: String,
    pub(super) build: String,
    pub(super) rows: u64,
    pub(super) seconds: u64,
    pub(super) rounds: usize,
    pub(super) host: Host,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Host {
    pub(super) cpu_model: Option<String>,
    pub(super) cpus: u32,
    pub(super) virtual_machine: Option<bool>,
    pub(super) memory_bytes: Option<u64>,
    pub(super) kernel: Option<String>,
}

/// The steady state of one contestant.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Turn {
    pub(super) round: usize,
    pub(super) contestant: Contestant,
    pub(super) clients: u32,
    pub(super) protocol: Protocol,
    pub(super) figures: Figures,
}

/// Differences between its two ends.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Figures {
    pub(super) wall_ns: u64,
    pub(super) queries: u64,
    pub(super) client_ns: u64,
    pub(super) client_user_ns: u64,
    pub(super) client_system_ns: u64,
    pub(super) client_slices: u64,
    pub(super) client_peak_bytes: u64,
    pub(super) client_threads: u64,
    pub(super) server_ns: u64,
}

/// One client's times.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct LatencyTurn {
    pub(super) round: usize,
    pub(super) contestant: Contestant,
    pub(super) figures: Latency,
}

/// From sending to the last byte, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) struct Latency {
    pub(super) p50: u64,
    pub(super) p99: u64,
}

/// All lines of a measurement.
#[derive(Debug)]
pub(super) struct Lines {
    pub(super) setting: Setting,
    pub(super) turns: Vec<Turn>,
    pub(super) latencies: Vec<LatencyTurn>,
}

impl Contestant {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Sysbench => "sysbench",
            Self::PronyIoUring => "Prony, io_uring",
            Self::PronyEpoll => "Prony, epoll",
            Self::BareIoUring => "bare loop, io_uring",
            Self::BareEpoll => "bare loop, epoll",
            Self::BareBlocking => "bare loop, blocking",
        }
    }

    /// The bare loop that does with so many clients what this one does.
    pub(super) const fn bare(self, clients: u32) -> Option<Self> {
        match self {
            Self::PronyIoUring => Some(Self::BareIoUring),
            Self::PronyEpoll if clients == 1 => Some(Self::BareBlocking),
            Self::PronyEpoll => Some(Self::BareEpoll),
            _ => None,
        }
    }
}

impl Protocol {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Prepared => "prepared",
            Self::Text => "text",
        }
    }
}

impl Line {
    pub(super) fn parse(line: &str) -> Result<Self, String> {
        serde_json::from_str(line).map_err(|error| format!("read the line `{line}`: {error}"))
    }
}

/// For those who wait.
impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting(setting) => {
                write!(f, "{}, {} rounds", setting.build, setting.rounds)
            }
            Self::Turn(turn) => write!(
                f,
                "round {}, {} clients, {}: {} {:.2} µs per query",
                turn.round + 1,
                turn.clients,
                turn.protocol.name(),
                turn.contestant.name(),
                turn.figures.client_ns as f64 / turn.figures.queries as f64 / 1e3,
            ),
            Self::Latency(turn) => write!(
                f,
                "round {}, times of one client: {} {:.2} µs in the median",
                turn.round + 1,
                turn.contestant.name(),
                turn.figures.p50 as f64 / 1e3,
            ),
        }
    }
}

impl Lines {
    pub(super) fn parse(raw: &str) -> Result<Self, String> {
        let (mut setting, mut turns, mut latencies) = (None, Vec::new(), Vec::new());
        for line in raw.lines() {
            match Line::parse(line)? {
                Line::Setting(found) => setting = Some(found),
                Line::Turn(turn) => turns.push(turn),
                Line::Latency(turn) => latencies.push(turn),
            }
        }
        Ok(Self {
            setting: setting.ok_or("the line that tells the setting is missing")?,
            turns,
            latencies,
        })
    }

    /// The cells that were measured, each once, in the order of their first turns.
    pub(super) fn cells(&self) -> Vec<(u32, Protocol)> {
        let mut cells = Vec::new();
        for turn in &self.turns {
            let cell = (turn.clients, turn.protocol);
            if !cells.contains(&cell) {
                cells.push(cell);
            }
        }
        cells
    }
}
