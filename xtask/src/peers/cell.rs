//! Figures of all turns at one number of clients with one protocol.

use crate::peers::lines::{Contestant, Figures, Lines, Protocol, Turn};
use crate::peers::spread::Spread;

/// The turns at one number of clients with one protocol.
pub(super) struct Cell<'a> {
    pub(super) clients: u32,
    turns: Vec<&'a Turn>,
}

/// Figures of one turn of a contestant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quantity {
    /// Microseconds of the client's processor time for one query.
    ClientCpu,
    /// The part of it in user space.
    ClientUser,
    /// The same of the server.
    ServerCpu,
    /// Queries per second.
    Throughput,
    /// Times that a thread of the client was put on a processor, for one query.
    Switches,
    /// Megabytes (10^6) of the client's memory at most.
    Memory,
    /// Threads of the client.
    Threads,
}

impl Quantity {
    fn of(self, figures: &Figures) -> f64 {
        let per_query = |value: u64| value as f64 / figures.queries as f64;
        let client_us = per_query(figures.client_ns) / 1e3;
        match self {
            Self::ClientCpu => client_us,
            // The parts move in clock ticks; their sum is known better.
            Self::ClientUser => {
                let user = figures.client_user_ns as f64;
                client_us * user / (user + figures.client_system_ns as f64)
            }
            Self::ServerCpu => per_query(figures.server_ns) / 1e3,
            Self::Throughput => figures.queries as f64 / (figures.wall_ns as f64 / 1e9),
            Self::Switches => per_query(figures.client_slices),
            Self::Memory => figures.client_peak_bytes as f64 / 1e6,
            Self::Threads => figures.client_threads as f64,
        }
    }
}

impl<'a> Cell<'a> {
    pub(super) fn new(lines: &'a Lines, clients: u32, protocol: Protocol) -> Self {
        let belongs = |turn: &&Turn| turn.clients == clients && turn.protocol == protocol;
        Self {
            clients,
            turns: lines.turns.iter().filter(belongs).collect(),
        }
    }

    /// Those who took part, in the order of their first turns.
    pub(super) fn contestants(&self) -> Vec<Contestant> {
        let first = |turn: &&&Turn| turn.round == 0;
        let turns = self.turns.iter().filter(first);
        turns.map(|turn| turn.contestant).collect()
    }

    fn turns_of(&self, contestant: Contestant) -> impl Iterator<Item = &Turn> {
        let turns = self.turns.iter().copied();
        turns.filter(move |turn| turn.contestant == contestant)
    }

    /// A quantity over the rounds.
    pub(super) fn spread(&self, contestant: Contestant, quantity: Quantity) -> Option<Spread> {
        Spread::of(
            self.turns_of(contestant)
                .map(|turn| quantity.of(&turn.figures)),
        )
    }

    /// A quantity divided by another contestant's of the same round, over the rounds.
    pub(super) fn ratio(
        &self,
        contestant: Contestant,
        other: Contestant,
        quantity: Quantity,
    ) -> Option<Spread> {
        Spread::of(self.turns_of(contestant).filter_map(|turn| {
            let mut others = self.turns_of(other);
            let against = others.find(|against| against.round == turn.round)?;
            Some(quantity.of(&turn.figures) / quantity.of(&against.figures))
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::page::tests::lines;

    fn close(spread: Option<Spread>, median: f64) {
        let found = spread.unwrap().median;
        assert!((found - median).abs() < 1e-9, "{found} and not {median}");
    }

    #[test]
    fn quantities_are_per_query() {
        let lines = lines();
        let cell = Cell::new(&lines, 64, Protocol::Prepared);
        let of = |quantity| cell.spread(Contestant::Sysbench, quantity);
        close(of(Quantity::ClientCpu), 11.0);
        close(of(Quantity::ClientUser), 2.75);
        close(of(Quantity::ServerCpu), 20.0);
        close(of(Quantity::Throughput), 50_000.0);
        close(of(Quantity::Switches), 1.0);
        close(of(Quantity::Memory), 33.0);
        close(of(Quantity::Threads), 65.0);
    }

    #[test]
    fn ratios_are_within_rounds() {
        let lines = lines();
        let cell = Cell::new(&lines, 64, Protocol::Prepared);
        // Prony takes 4, 5 and 6 µs where sysbench takes 10, 11 and 12 µs.
        let ratio = cell.ratio(
            Contestant::PronyEpoll,
            Contestant::Sysbench,
            Quantity::ClientCpu,
        );
        close(ratio, 5.0 / 11.0);
        assert!((ratio.unwrap().min - 0.4).abs() < 1e-9);
        assert!((ratio.unwrap().max - 0.5).abs() < 1e-9);
    }

    #[test]
    fn who_was_not_there_has_no_figures() {
        let lines = lines();
        let cell = Cell::new(&lines, 64, Protocol::Text);
        assert!(cell.contestants().is_empty());
        let cell = Cell::new(&lines, 64, Protocol::Prepared);
        let none = cell.spread(Contestant::BareIoUring, Quantity::Memory);
        assert_eq!(none, None);
        let none = cell.ratio(
            Contestant::PronyEpoll,
            Contestant::BareIoUring,
            Quantity::ClientCpu,
        );
        assert_eq!(none, None);
    }
}
