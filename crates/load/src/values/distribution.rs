//! Drawing from a range of whole numbers by a distribution. What each one means is in
//! [`prony_model::Distribution`]; here is how.

mod permutation;
#[cfg(test)]
mod tests;
mod zipf;

use prony_model::{Distribution, Hot};

use crate::values::distribution::permutation::Permutation;
use crate::values::distribution::zipf::Zipf;
use crate::values::draws::Draws;
use crate::values::random::scatter;

/// Uniform numbers whose mean is a Gaussian value.
const GAUSSIAN_TERMS: u64 = 12;

/// The key of the permutation that scatters frequent values: the same for all, so that every
/// client of every step and target finds the same values frequent.
const SCATTER_KEY: u64 = 0x5bd1_e995_7f4a_7c15;

/// Draws numbers from `0..count`. Everything that can be computed before is.
#[derive(Debug)]
pub struct Sampler {
    count: u64,
    method: Method,
}

#[derive(Debug)]
enum Method {
    Uniform,
    Zipfian(Zipf),
    /// The ranks from the end of the range on.
    Highest(Zipf),
    /// The ranks all over the range.
    Scattered(Zipf, Permutation),
    Pareto {
        power: f64,
    },
    Gaussian,
    Special {
        /// The window's lowest value and width.
        first: u64,
        width: u64,
        /// Percent of the draws that fall into it.
        share: u64,
    },
    Sequential,
    Unique {
        permutation: Permutation,
        key: u64,
        clients: u64,
    },
}

impl Sampler {
    /// A sampler of `0..count`, `count` being 1 or more. Where no value may come twice, `clients`
    /// clients share the range, in an order that `seed` decides.
    pub fn new(distribution: Distribution, count: u64, clients: u32, seed: u64) -> Self {
        let method = match distribution {
            Distribution::Uniform => Method::Uniform,
            Distribution::Zipfian { exponent, hot } => {
                let zipf = Zipf::new(exponent.as_f64(), count);
                match hot {
                    Hot::Adjacent => Method::Zipfian(zipf),
                    Hot::Highest => Method::Highest(zipf),
                    Hot::Scattered => Method::Scattered(zipf, Permutation::new(count)),
                }
            }
            Distribution::Pareto { h } => Method::Pareto {
                power: h.as_f64().ln() / (1.0 - h.as_f64()).ln(),
            },
            Distribution::Gaussian => Method::Gaussian,
            Distribution::Special {
                hot_percent,
                hot_share,
            } => {
                let width = percent(count, hot_percent).clamp(1, count);
                Method::Special {
                    first: (count - width) / 2,
                    width,
                    share: hot_share.into(),
                }
            }
            Distribution::Sequential => Method::Sequential,
            Distribution::Unique => Method::Unique {
                permutation: Permutation::new(count),
                key: scatter(seed),
                clients: clients.into(),
            },
        };
        Self { count, method }
    }

    /// Returns `true` if the next value depends on how many were drawn before.
    pub(crate) const fn is_ordered(distribution: Distribution) -> bool {
        matches!(
            distribution,
            Distribution::Sequential | Distribution::Unique
        )
    }

    /// The number at a position, counted from 0, of a distribution that goes through its range in an
    /// order; 0 of another.
    pub(crate) fn nth(&self, position: u64) -> u64 {
        let position = around(position, self.count);
        match &self.method {
            Method::Sequential => position,
            Method::Unique {
                permutation, key, ..
            } => permutation.apply(*key, position),
            _ => 0,
        }
    }

    /// Draws a number. `place` is that of the parameter in `draws`, for one that goes through its
    /// range in an order; others have none.
    #[inline]
    pub fn sample(&self, draws: &mut Draws, place: usize) -> u64 {
        let count = self.count;
        match &self.method {
            Method::Uniform => draws.below(count),
            Method::Zipfian(zipf) => zipf.rank(draws),
            Method::Highest(zipf) => count - 1 - zipf.rank(draws),
            Method::Scattered(zipf, permutation) => {
                permutation.apply(SCATTER_KEY, zipf.rank(draws))
            }
            Method::Pareto { power } => {
                let share = draws.unit().powf(*power);
                // The product of a share close to 1 is rounded to the range's end.
                floor(count as f64 * share).min(count - 1)
            }
            Method::Gaussian => gaussian(draws, count),
            Method::Special {
                first,
                width,
                share,
            } => {
                if draws.below(100) < *share {
                    first + draws.below(*width)
                } else {
                    gaussian(draws, count)
                }
            }
            Method::Sequential => around(draws.advance(place), count),
            Method::Unique {
                permutation,
                key,
                clients,
            } => {
                let turn = draws.advance(place);
                let position = u64::from(draws.client()).wrapping_add(turn.wrapping_mul(*clients));
                permutation.apply(*key, around(position, count))
            }
        }
    }
}

/// The position in a range that is gone through again and again. Mostly no division is needed.
const fn around(position: u64, count: u64) -> u64 {
    if position < count {
        position
    } else {
        position % count
    }
}

/// The mean of twelve numbers uniform in the range.
fn gaussian(draws: &mut Draws, count: u64) -> u64 {
    // Each term is below 2^64 ÷ 12, so the sum is a number of 64 bits, and the mean's place in the
    // range is the sum's among them.
    let sum = (0..GAUSSIAN_TERMS)
        .map(|_| draws.next() / GAUSSIAN_TERMS)
        .sum();
    crate::values::random::below(sum, count)
}

/// A percentage of a number, without overflow.
fn percent(number: u64, percent: u32) -> u64 {
    let share = u128::from(number) * u128::from(percent) / 100;
    u64::try_from(share).unwrap_or(number)
}

/// A number without its fraction, 0 for what is below, the greatest number for what is above.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "cutting off is the purpose, and the conversion saturates"
)]
const fn floor(number: f64) -> u64 {
    number as u64
}
