//! Random numbers that anybody can draw again.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// 2^64 divided by the golden ratio: an odd number without pattern, the increment of `SplitMix64`.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Scatters a number: David Stafford's thirteenth variant of the `MurmurHash3` finaliser, as
/// `SplitMix64` uses it (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
pub(crate) const fn scatter(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// Maps a random number to `0..count`, all equally likely to within 2^-64 · `count` (Lemire: Fast
/// random integer generation in an interval, 2019, without the rejection, so that every draw
/// takes one number).
pub(crate) fn below(random: u64, count: u64) -> u64 {
    random.carrying_mul(count, 0).1
}

/// The random numbers of one client, a function of the task's seed and the client's number alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClientRandom(Xoshiro256PlusPlus);

impl ClientRandom {
    pub(crate) fn new(seed: u64, client: u32) -> Self {
        let stream = scatter(seed).wrapping_add(u64::from(client).wrapping_mul(GOLDEN));
        Self(Xoshiro256PlusPlus::seed_from_u64(scatter(stream)))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number in `0..count`.
    pub(crate) fn below(&mut self, count: u64) -> u64 {
        below(self.next(), count)
    }

    /// A number in `[0, 1)`, a multiple of 2^-53.
    pub(crate) fn unit(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1_u64 << 53) as f64;
        (self.next() >> 11) as f64 * STEP
    }
}

/// Random numbers that belong to a key: the n-th is a function of key and n alone, so that any
/// row of a dataset can be made without the others.
#[derive(Debug, Clone)]
pub(crate) struct KeyedRandom(u64);

impl KeyedRandom {
    pub(crate) const fn new(key: u64) -> Self {
        Self(key)
    }

    pub(crate) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        scatter(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_and_seeds_have_their_own_streams() {
        let first = |seed, client| ClientRandom::new(seed, client).next();
        assert_eq!(first(1, 1), first(1, 1));
        let mut seen: Vec<u64> = (0..10)
            .flat_map(|seed| (0..100).map(move |client| first(seed, client)))
            .collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 1000);
    }

    #[test]
    fn draws_cover_the_range_evenly() {
        let mut random = ClientRandom::new(7, 0);
        let mut counts = [0_u32; 10];
        for _ in 0..100_000 {
            counts[usize::try_from(random.below(10)).unwrap()] += 1;
        }
        // Five standard deviations of a count of mean 10,000.
        assert!(
            counts.iter().all(|c| c.abs_diff(10_000) < 475),
            "{counts:?}"
        );
        assert_eq!(below(u64::MAX, 5), 4);
        assert_eq!(below(0, 5), 0);
        assert_eq!(below(u64::MAX, u64::MAX), u64::MAX - 1);
    }

    /// The definition of the dataset rests on these numbers: the reference values of `SplitMix64`.
    #[test]
    fn keyed_numbers_never_change() {
        let mut random = KeyedRandom::new(1_234_567);
        let drawn = [random.next(), random.next(), random.next()];
        assert_eq!(
            drawn,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }
}
