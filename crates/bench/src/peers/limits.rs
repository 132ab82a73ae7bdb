//! Limits of the load generator's cost, and the verdicts.

use prony_model::Protocol;

use super::contestant::Contestant;
use super::groups::Group;
use super::measured::{Cell, Figures, Measured, OpenFigures};
use crate::spread::Spread;

const PRONY: [Contestant; 2] = [Contestant::PronyIoUring, Contestant::PronyEpoll];

/// Client CPU per query, as a multiple of sysbench's.
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
/// The same of pgbench's, with each backend.
const AGAINST_PGBENCH: [(u32, f64); 3] = [(1, 0.9), (64, 0.5), (512, 0.4)];
/// The same where the server is in another scheduling group ...
const APART_AGAINST_SYSBENCH: [(Contestant, u32, f64); 4] = [
    (Contestant::PronyIoUring, 64, 0.50),
    (Contestant::PronyIoUring, 512, 0.50),
    (Contestant::PronyEpoll, 64, 0.50),
    (Contestant::PronyEpoll, 512, 0.50),
];
/// ... and at 64 clients as a multiple of that of a Prony that does not know the batch policy.
const APART_AGAINST_OTHER: f64 = 0.55;
/// Lateness of scheduled operations, in microseconds, at the 99th percentile.
const LATE_US: f64 = 100.0;
/// Client CPU per query, as a multiple of that of the bare loop of the same kind ...
const AGAINST_BARE: f64 = 1.25;
/// ... with at least this many clients.
const BARE_CLIENTS_MIN: u32 = 64;
/// Microseconds by which the median time of one client may exceed the bare loop's.
const LATENCY_US: f64 = 1.0;
/// Memory in megabytes and threads at the greatest number of clients.
const CLIENTS_MAX: u32 = 1000;
const MEMORY_MB: f64 = 64.0;
const THREADS: f64 = 2.0;

/// A limit and the measured value.
#[derive(Debug, PartialEq)]
pub(super) struct Verdict {
    pub(super) what: String,
    pub(super) limit: f64,
    pub(super) seen: Spread,
}

impl Verdict {
    /// A verdict if the value was measured.
    fn of(
        name: &str,
        contestant: Contestant,
        cell: &Cell<'_>,
        limit: f64,
        seen: Option<Spread>,
    ) -> Option<Self> {
        let noun = if cell.clients == 1 {
            "client"
        } else {
            "clients"
        };
        let (clients, protocol) = (cell.clients, cell.protocol.name());
        Some(Self {
            what: format!(
                "{name}: {}, {clients} {noun}, {protocol}{}",
                contestant.name(),
                cell.group.heading()
            ),
            limit,
            seen: seen?,
        })
    }

    /// `met`, or the amount by which the limit was missed.
    pub(super) fn words(&self) -> String {
        let above = self.seen.median - self.limit;
        if above <= 0.0 {
            "met".to_owned()
        } else {
            format!("missed by {above:.3}")
        }
    }
}

/// Verdicts on all limits that were measured.
pub(super) fn verdicts(measured: &Measured) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for (contestant, protocol, clients, limit) in AGAINST_SYSBENCH {
        let cell = measured.cell(Group::Own, clients, protocol);
        let seen = cell.ratio(contestant, Contestant::Sysbench, Figures::client_us);
        let name = "client CPU ÷ sysbench's";
        verdicts.extend(Verdict::of(name, contestant, &cell, limit, seen));
    }
    for (clients, limit) in AGAINST_PGBENCH {
        let cell = measured.cell(Group::Own, clients, Protocol::Prepared);
        for contestant in PRONY {
            let seen = cell.ratio(contestant, Contestant::Pgbench, Figures::client_us);
            let name = "client CPU ÷ pgbench's";
            verdicts.extend(Verdict::of(name, contestant, &cell, limit, seen));
        }
    }
    verdicts.extend(apart(measured));
    let cells = measured.cells().into_iter();
    let many = |cell: &Cell<'_>| cell.group == Group::Own && cell.clients >= BARE_CLIENTS_MIN;
    for cell in cells.filter(many) {
        for contestant in PRONY {
            let bare = contestant.bare(cell.clients);
            let seen = bare.and_then(|bare| cell.ratio(contestant, bare, Figures::client_us));
            let name = "client CPU ÷ bare loop's";
            verdicts.extend(Verdict::of(name, contestant, &cell, AGAINST_BARE, seen));
        }
    }
    let cell = measured.cell(Group::Own, CLIENTS_MAX, Protocol::Prepared);
    for contestant in PRONY {
        let memory = cell.spread(contestant, Figures::memory_mb);
        verdicts.extend(Verdict::of(
            "memory, MB",
            contestant,
            &cell,
            MEMORY_MB,
            memory,
        ));
        let threads = cell.spread(contestant, Figures::threads);
        verdicts.extend(Verdict::of("threads", contestant, &cell, THREADS, threads));
    }
    let cell = measured.cell(Group::Own, 1, Protocol::Prepared);
    for contestant in PRONY {
        let seen = measured.behind_bare_us(contestant);
        let name = "median time − bare loop's, µs";
        verdicts.extend(Verdict::of(name, contestant, &cell, LATENCY_US, seen));
    }
    verdicts.extend(late(measured));
    verdicts
}

/// Verdicts on a server in another scheduling group.
fn apart(measured: &Measured) -> Vec<Verdict> {
    let cell = |clients| measured.cell(Group::Other, clients, Protocol::Prepared);
    let mut verdicts = Vec::new();
    for (contestant, clients, limit) in APART_AGAINST_SYSBENCH {
        let cell = cell(clients);
        let seen = cell.ratio(contestant, Contestant::Sysbench, Figures::client_us);
        let name = "client CPU ÷ sysbench's";
        verdicts.extend(Verdict::of(name, contestant, &cell, limit, seen));
    }
    let cell = cell(64);
    let (prony, other) = (Contestant::PronyIoUring, Contestant::OtherIoUring);
    let seen = cell.ratio(prony, other, Figures::client_us);
    let name = "client CPU ÷ other Prony's";
    verdicts.extend(Verdict::of(name, prony, &cell, APART_AGAINST_OTHER, seen));
    verdicts
}

/// Verdicts on open loops.
fn late(measured: &Measured) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for group in Group::ALL {
        for contestant in PRONY {
            let seen = measured.open_spread(group, contestant, OpenFigures::late_p99_us);
            verdicts.extend(seen.map(|seen| Verdict {
                what: format!(
                    "lateness at 99 %, µs: {}{}",
                    contestant.name(),
                    group.heading()
                ),
                limit: LATE_US,
                seen,
            }));
        }
    }
    verdicts
}

#[cfg(test)]
mod tests {
    use super::super::measured::tests::measured;
    use super::*;

    #[test]
    fn limits_concern_measured_values() {
        let found: Vec<(String, String)> = verdicts(&measured())
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
