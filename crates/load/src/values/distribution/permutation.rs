//! Orders of a range in which a number's place can be computed without a table.

/// Odd multipliers with bits all over: two of the `MurmurHash3` finaliser, and one of `SplitMix64`
/// between them.
const MULTIPLIERS: [u64; 3] = [
    0xff51_afd7_ed55_8ccd,
    0xbf58_476d_1ce4_e5b9,
    0xc4ce_b9fe_1a85_ec53,
];

/// Permutations of `0..count`, one for each key: as good as random from a few hundred numbers on.
///
/// A number is scattered among those of as many bits as `count` needs, by steps that can each be
/// undone there: adding, multiplying with an odd number, and folding the upper half of the bits
/// onto the lower. Whatever falls outside of the range is scattered again (cycle walking: Black
/// and Rogaway, Ciphers with arbitrary finite domains, 2002); it is less than half of the numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Permutation {
    count: u64,
    mask: u64,
    fold: u32,
}

impl Permutation {
    /// Those of `0..count`, `count` being 1 or more.
    pub(super) fn new(count: u64) -> Self {
        let bits = u64::BITS - (count - 1).leading_zeros();
        Self {
            count,
            mask: u64::MAX.checked_shr(u64::BITS - bits).unwrap_or(0),
            fold: bits.div_ceil(2).max(1),
        }
    }

    /// Position of `index`, below `count`.
    #[inline]
    pub(super) fn apply(self, key: u64, index: u64) -> u64 {
        let mut number = index;
        loop {
            number = self.scatter(key, number);
            if number < self.count {
                return number;
            }
        }
    }

    #[inline]
    fn scatter(self, key: u64, number: u64) -> u64 {
        let mut key = key;
        MULTIPLIERS.iter().fold(number, |number, multiplier| {
            // Still odd.
            let multiplier = multiplier ^ (key >> 8 << 1);
            let number = number.wrapping_add(key).wrapping_mul(multiplier) & self.mask;
            key = key.rotate_left(16);
            number ^ (number >> self.fold)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::random::scatter;
    use proptest::prelude::*;

    proptest! {
        /// Every number of the range is met exactly once.
        #[test]
        fn bijections(count in 1..3000_u64, key: u64) {
            let permutation = Permutation::new(count);
            let mut met: Vec<u64> = (0..count).map(|i| permutation.apply(key, i)).collect();
            met.sort_unstable();
            prop_assert!(met.into_iter().eq(0..count));
        }

        /// No two numbers meet, in ranges too large to try all.
        #[test]
        fn large_ranges(count in 1_u64.., key: u64, a: u64, b: u64) {
            let permutation = Permutation::new(count);
            let (a, b) = (a % count, b % count);
            let (to_a, to_b) = (permutation.apply(key, a), permutation.apply(key, b));
            prop_assert!(to_a < count && to_b < count);
            prop_assert_eq!(a == b, to_a == to_b);
        }
    }

    /// Over many keys, two neighbours go to every pair of places equally often.
    #[test]
    fn keys_give_all_orders() {
        const COUNT: u64 = 300;
        const PAIRS: u64 = COUNT * (COUNT - 1);
        let permutation = Permutation::new(COUNT);
        let mut frequencies = vec![0_u32; 90_000];
        for key in 0..10 * PAIRS {
            let key = scatter(key);
            let pair = COUNT * permutation.apply(key, 149) + permutation.apply(key, 150);
            frequencies[usize::try_from(pair).unwrap()] += 1;
        }
        let chi_squared: f64 = frequencies
            .iter()
            .enumerate()
            // No number goes where another goes.
            .filter(|(pair, _)| pair % 301 != 0)
            .map(|(_, frequency)| (f64::from(*frequency) - 10.0).powi(2) / 10.0)
            .sum();
        // Five standard deviations above the mean of chi-squared with 89,699 degrees of freedom.
        assert!(chi_squared < 91_817.0, "{chi_squared}");
    }

    /// Neighbours do not stay together in large ranges.
    #[test]
    fn neighbours_part() {
        for count in [1000, 1_000_003, 1 << 40] {
            let permutation = Permutation::new(count);
            let close = (0..10_000)
                .filter(|index| {
                    let at = |index| permutation.apply(7, index % count);
                    at(*index).abs_diff(at(index + 1)) < count / 10
                })
                .count();
            // A share of 0.19 is close by chance.
            assert!((1700..2100).contains(&close), "{close} of {count}");
        }
    }
}
