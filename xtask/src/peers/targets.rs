//! Limits that the load generator should keep to, and the verdict.

use crate::peers::cell::{Cell, Quantity};
use crate::peers::lines::{Contestant, LatencyTurn, Lines, Protocol};
use crate::peers::spread::Spread;

/// Client CPU per query, at most so many times sysbench's.
const AGAINST_SYSBENCH: [(Contestant, Protocol, u32, f64); 10] = [
    (Contestant::PronyIoUring, Protocol::Prepared, 1, 0.95),
    (Contestant::PronyIoUring, Protocol::Prepared, 64, 0.45),
    (Contestant::PronyIoUring, Protocol::Prepared, 512, 0.40),
    (Contestant::PronyIoUring, Protocol::Prepared, 1000, 0.35),
    (Contestant::PronyEpoll, Protocol::Prepared, 1, 1.0),
    (Contestant::PronyEpoll, Protocol::Prepared, 64, 0.60),
    (Contestant::PronyEpoll, Protocol::Prepared, 512, 0.45),
    (Contestant::PronyEpoll, Protocol::Prepared, 1000, 0.40),
    (Contestant::PronyIoUring, Protocol::Text, 64, 0.50),
    (Contestant::PronyEpoll, Protocol::Text, 64, 0.50),
];
/// Client CPU per query, at most so many times that of the bare loop of the same kind ...
const AGAINST_BARE: f64 = 1.25;
/// ... with so many clients or more.
const BARE_CLIENTS_MIN: u32 = 64;
/// Microseconds by which the median time of one client may be above the bare loop's.
const LATENCY_US: f64 = 1.0;
/// With a thousand clients: megabytes of memory, and threads.
const CROWD: u32 = 1000;
const CROWD_MEMORY: f64 = 64.0;
const CROWD_THREADS: f64 = 2.0;

/// A limit and what was seen.
#[derive(Debug, PartialEq)]
pub(super) struct Verdict {
    pub(super) what: String,
    pub(super) limit: f64,
    pub(super) seen: Spread,
}

impl Verdict {
    /// `met`, or by how much it was missed.
    pub(super) fn words(&self) -> String {
        let above = self.seen.median - self.limit;
        if above <= 0.0 {
            "met".to_owned()
        } else {
            format!("missed by {above:.3}")
        }
    }
}

/// The limits that concern what was measured.
pub(super) fn verdicts(lines: &Lines) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for (contestant, protocol, clients, limit) in AGAINST_SYSBENCH {
        let cell = Cell::new(lines, clients, protocol);
        let seen = cell.ratio(contestant, Contestant::Sysbench, Quantity::ClientCpu);
        let what = describe("client CPU ÷ sysbench's", contestant, clients, protocol);
        verdicts.extend(seen.map(|seen| Verdict { what, limit, seen }));
    }
    for (clients, protocol) in lines.cells() {
        verdicts.extend(against_bare(lines, clients, protocol));
    }
    verdicts.extend(crowd(lines));
    verdicts.extend(latency(lines));
    verdicts
}

fn against_bare(lines: &Lines, clients: u32, protocol: Protocol) -> Vec<Verdict> {
    if clients < BARE_CLIENTS_MIN {
        return Vec::new();
    }
    let cell = Cell::new(lines, clients, protocol);
    let verdict = |contestant: Contestant| {
        let bare = contestant.bare(clients)?;
        let seen = cell.ratio(contestant, bare, Quantity::ClientCpu)?;
        Some(Verdict {
            what: describe("client CPU ÷ bare loop's", contestant, clients, protocol),
            limit: AGAINST_BARE,
            seen,
        })
    };
    [Contestant::PronyIoUring, Contestant::PronyEpoll]
        .into_iter()
        .filter_map(verdict)
        .collect()
}

fn crowd(lines: &Lines) -> Vec<Verdict> {
    let cell = Cell::new(lines, CROWD, Protocol::Prepared);
    let mut verdicts = Vec::new();
    for contestant in [Contestant::PronyIoUring, Contestant::PronyEpoll] {
        for (name, quantity, limit) in [
            ("memory, MB", Quantity::Memory, CROWD_MEMORY),
            ("threads", Quantity::Threads, CROWD_THREADS),
        ] {
            let seen = cell.spread(contestant, quantity);
            let what = describe(name, contestant, CROWD, Protocol::Prepared);
            verdicts.extend(seen.map(|seen| Verdict { what, limit, seen }));
        }
    }
    verdicts
}

fn latency(lines: &Lines) -> Vec<Verdict> {
    [Contestant::PronyIoUring, Contestant::PronyEpoll]
        .into_iter()
        .filter_map(|contestant| {
            Some(Verdict {
                what: format!(
                    "median time − bare loop's, µs: {}, 1 client, prepared",
                    contestant.name()
                ),
                limit: LATENCY_US,
                seen: behind_bare_us(&lines.latencies, contestant)?,
            })
        })
        .collect()
}

/// Microseconds by which the median time is above the blocking loop's of the same round.
pub(super) fn behind_bare_us(turns: &[LatencyTurn], contestant: Contestant) -> Option<Spread> {
    let of = |contestant| {
        turns
            .iter()
            .filter(move |turn| turn.contestant == contestant)
    };
    Spread::of(of(contestant).filter_map(|turn| {
        let bare = of(Contestant::BareBlocking).find(|bare| bare.round == turn.round)?;
        Some((turn.figures.p50 as f64 - bare.figures.p50 as f64) / 1e3)
    }))
}

fn describe(what: &str, contestant: Contestant, clients: u32, protocol: Protocol) -> String {
    let (contestant, protocol) = (contestant.name(), protocol.name());
    let noun = if clients == 1 { "client" } else { "clients" };
    format!("{what}: {contestant}, {clients} {noun}, {protocol}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::page::tests::lines;

    #[test]
    fn limits_concern_what_was_measured() {
        let lines = lines();
        let found: Vec<(String, String)> = verdicts(&lines)
            .iter()
            .map(|verdict| (verdict.what.clone(), verdict.words()))
            .collect();
        let pair = |what: &str, words: &str| (what.to_owned(), words.to_owned());
        let expected = [
            pair(
                "client CPU ÷ sysbench's: Prony, epoll, 64 clients, prepared",
                "met",
            ),
            pair(
                "client CPU ÷ bare loop's: Prony, epoll, 64 clients, prepared",
                "missed by 0.417",
            ),
            pair(
                "median time − bare loop's, µs: Prony, epoll, 1 client, prepared",
                "missed by 0.500",
            ),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_limit_that_is_reached_is_met() {
        let seen = Spread::of([0.45].into_iter()).unwrap();
        let verdict = |limit| Verdict {
            what: String::new(),
            limit,
            seen,
        };
        assert_eq!(verdict(0.45).words(), "met");
        assert_eq!(verdict(0.40).words(), "missed by 0.050");
    }
}
