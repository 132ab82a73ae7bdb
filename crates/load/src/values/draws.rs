//! Rules for the values that a client draws.

use crate::values::random::ClientRandom;

/// Where a client is in its stream of values: its random numbers, and how far it got with each
/// parameter that goes through its range in an order. A copy draws the same values again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draws {
    client: u32,
    random: ClientRandom,
    /// Values drawn so far of each such parameter.
    positions: Vec<u64>,
}

impl Draws {
    /// The begin of a client's stream, which is a function of the seed and the client's number.
    /// `ordered` is the number of parameters that go through their range in an order.
    pub fn new(seed: u64, client: u32, ordered: usize) -> Self {
        Self {
            client,
            random: ClientRandom::new(seed, client),
            positions: vec![0; ordered],
        }
    }

    /// Goes to where `other` is: a draw of the same program and client. Allocates nothing.
    pub(crate) fn go_to(&mut self, other: &Self) {
        self.random.clone_from(&other.random);
        if !self.positions.is_empty() {
            // Hardly any program has some, and this is done for every operation.
            self.positions.copy_from_slice(&other.positions);
        }
    }

    /// The client's number.
    pub(crate) const fn client(&self) -> u32 {
        self.client
    }

    /// The next random number.
    pub(crate) fn next(&mut self) -> u64 {
        self.random.next()
    }

    /// A number in `0..count`.
    pub(crate) fn below(&mut self, count: u64) -> u64 {
        self.random.below(count)
    }

    /// A number in `[0, 1)`, a multiple of 2^-53.
    pub(crate) fn unit(&mut self) -> f64 {
        self.random.unit()
    }

    /// Counts a value of parameter `place`; returns how many there were before.
    pub(crate) fn advance(&mut self, place: usize) -> u64 {
        let position = self.positions[place];
        self.positions[place] = position.wrapping_add(1);
        position
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn going_back_repeats_everything() {
        let mut draws = Draws::new(1, 2, 2);
        draws.advance(1);
        let saved = draws.clone();
        let mut take = || (draws.next(), draws.advance(0), draws.advance(1));
        let first = take();
        assert_ne!(take(), first);
        draws.go_to(&saved);
        assert_eq!((draws.next(), draws.advance(0), draws.advance(1)), first);
        assert_eq!((first.1, first.2), (0, 1));
    }

    #[test]
    fn units_stay_below_one() {
        let mut draws = Draws::new(1, 0, 0);
        let units: Vec<f64> = (0..10_000).map(|_| draws.unit()).collect();
        assert!(units.iter().all(|unit| (0.0..1.0).contains(unit)));
        let mean = units.iter().sum::<f64>() / 1e4;
        assert!((mean - 0.5).abs() < 0.015, "{mean}");
    }
}
