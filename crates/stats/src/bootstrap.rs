//! The ratio of two means where each value lies within a start, by resampling.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::group::mean;
use crate::summary::check;
use crate::{Interval, SampleError};

/// Number of resamples; with one more, the quantiles of usual levels are whole ranks.
const RESAMPLES: usize = 1_999;
/// Fewest starts of a side.
const STARTS_MIN: usize = 5;

/// Ratio of two means with its bootstrap interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BootstrapRatio {
    /// Ratio of the means over starts of the means within starts.
    pub ratio: f64,
    /// The interval of the ratio. `None` if a bound is beyond the range of numbers.
    pub interval: Option<Interval>,
}

/// The ratio of the mean of `numerators` to that of `denominators`, where each has the values of one
/// start in one row. Rows may differ in length; every start weighs the same. The interval of `level`,
/// in (0, 1), is repeatable: it depends on the values and `seed` alone.
///
/// Each resample draws starts, and values within each drawn start, both with replacement (Davison and
/// Hinkley, Bootstrap methods and their application, 1997, section 3.8). The interval is that of the
/// percentile-t method on the scale of logarithms (section 5.2.1): q of (L* − L) ÷ s* at both tails,
/// then exp(L − q s), where L = ln(x ÷ y) and s² = v ÷ x² + w ÷ y² for the means x and y over starts and
/// the squares v and w of their standard errors. With the five to twenty starts that are usual, its
/// coverage is nearer to the level than that of `BCa`, whose quantiles are those of a distribution that
/// is too narrow by √((n − 1) ÷ n).
///
/// Pairs tell more where they exist.
///
/// # Errors
/// If a side has fewer than five starts or a start no value, if a value or the ratio is not positive
/// and finite, and unless `level` is in (0, 1).
pub fn bootstrap_ratio(
    numerators: &[Vec<f64>],
    denominators: &[Vec<f64>],
    level: f64,
    seed: u64,
) -> Result<BootstrapRatio, SampleError> {
    check_side(numerators)?;
    check_side(denominators)?;
    if !(level > 0.0 && level < 1.0) {
        return Err(SampleError::Level { level });
    }
    let side = |starts: &[Vec<f64>]| {
        let means = starts.iter().map(|start| mean(start.iter().copied()));
        Side::of(&means.collect::<Vec<_>>())
    };
    let estimate = LogQuotient::of(&side(numerators), &side(denominators));
    let ratio = estimate.log.exp();
    check(0, ratio)?;
    let mut draws = Draws(Xoshiro256PlusPlus::seed_from_u64(seed));
    let mut studentised = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        let (x, y) = (draws.resample(numerators), draws.resample(denominators));
        let again = LogQuotient::of(&x, &y);
        // Without spread there is no quotient: all draws were of one start.
        let t = (again.log - estimate.log) / again.error;
        studentised.extend(Some(t).filter(|t| t.is_finite()));
    }
    studentised.sort_by(f64::total_cmp);
    let bound = |p: f64| (estimate.log - quantile(&studentised, p) * estimate.error).exp();
    let tail = (1.0 - level) / 2.0;
    let interval = Interval {
        low: bound(1.0 - tail),
        high: bound(tail),
    };
    let is_possible = interval.low > 0.0 && interval.high.is_finite();
    Ok(BootstrapRatio {
        ratio,
        interval: is_possible.then_some(interval),
    })
}

fn check_side(starts: &[Vec<f64>]) -> Result<(), SampleError> {
    let n = starts.len();
    if n < STARTS_MIN {
        return Err(SampleError::TooFew {
            n,
            least: STARTS_MIN,
        });
    }
    for start in starts {
        if start.is_empty() {
            return Err(SampleError::Empty);
        }
        for (position, &value) in start.iter().enumerate() {
            check(position, value)?;
        }
        // Sums and squares stay finite too.
        check(0, mean(start.iter().copied()).powi(2) * n as f64)?;
    }
    Ok(())
}

/// Mean over starts, and the square of its standard error relative to it.
struct Side {
    mean: f64,
    variance: f64,
}

impl Side {
    fn of(starts: &[f64]) -> Self {
        let (n, centre) = (starts.len() as f64, mean(starts.iter().copied()));
        let squares: f64 = starts
            .iter()
            .map(|start| (start / centre - 1.0).powi(2))
            .sum();
        Self {
            mean: centre,
            variance: squares / (n - 1.0) / n,
        }
    }
}

/// Logarithm of a quotient of means, and its standard error.
struct LogQuotient {
    log: f64,
    error: f64,
}

impl LogQuotient {
    fn of(x: &Side, y: &Side) -> Self {
        Self {
            log: (x.mean / y.mean).ln(),
            error: (x.variance + y.variance).sqrt(),
        }
    }
}

struct Draws(Xoshiro256PlusPlus);

impl Draws {
    /// An index below `n`, which is above 0. Multiplication by a fraction of 64 bits: the bias is below
    /// n ÷ 2⁶⁴.
    fn index(&mut self, n: usize) -> usize {
        let product = u128::from(self.0.next_u64()) * n as u128;
        // Below n after the shift.
        #[allow(clippy::cast_possible_truncation)]
        let index = (product >> 64) as usize;
        index
    }

    fn resample(&mut self, starts: &[Vec<f64>]) -> Side {
        let drawn = (0..starts.len()).map(|_| {
            let start = &starts[self.index(starts.len())];
            let sum: f64 = (0..start.len())
                .map(|_| start[self.index(start.len())])
                .sum();
            sum / start.len() as f64
        });
        Side::of(&drawn.collect::<Vec<_>>())
    }
}

/// The value of rank p (n + 1), from 1, of ascending values; 0 of none.
fn quantile(sorted: &[f64], p: f64) -> f64 {
    let rank = (p * (sorted.len() + 1) as f64).round();
    // A rank among thousands; it is bounded below.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let rank = (rank as usize).clamp(1, sorted.len().max(1));
    sorted.get(rank - 1).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(means: &[f64]) -> Vec<Vec<f64>> {
        means
            .iter()
            .map(|mean| vec![mean * 0.99, *mean, mean * 1.01])
            .collect()
    }

    #[test]
    fn seeds_decide() {
        let (a, b) = (
            starts(&[10.0, 11.0, 12.0, 10.5, 11.5]),
            starts(&[5.0, 5.2, 5.4, 5.1, 5.3]),
        );
        let first = bootstrap_ratio(&a, &b, 0.95, 7).unwrap();
        assert_eq!(first, bootstrap_ratio(&a, &b, 0.95, 7).unwrap());
        assert_ne!(first, bootstrap_ratio(&a, &b, 0.95, 8).unwrap());
        assert!((first.ratio - 11.0 / 5.2).abs() < 1e-12);
        let interval = first.interval.unwrap();
        assert!(interval.low < first.ratio && first.ratio < interval.high);
        let narrow = bootstrap_ratio(&a, &b, 0.5, 7).unwrap().interval.unwrap();
        assert!(interval.low < narrow.low && narrow.high < interval.high);
    }

    /// More values in the same starts hardly narrow the interval: starts are what repeats.
    #[test]
    fn starts_are_the_replicates() {
        let width = |values: usize| {
            let side = |means: [f64; 5]| means.map(|mean| vec![mean; values]).to_vec();
            let (a, b) = (
                side([10.0, 11.0, 12.0, 10.5, 11.5]),
                side([5.0, 5.2, 5.4, 5.1, 5.3]),
            );
            let interval = bootstrap_ratio(&a, &b, 0.95, 1).unwrap().interval.unwrap();
            (interval.high / interval.low).ln()
        };
        assert!((width(1) / width(100) - 1.0).abs() < 0.15);
    }

    #[test]
    fn equal_values_have_no_width() {
        let exact = bootstrap_ratio(&vec![vec![4.0]; 5], &vec![vec![2.0]; 5], 0.95, 1).unwrap();
        assert_eq!(
            exact.interval,
            Some(Interval {
                low: 2.0,
                high: 2.0
            })
        );
    }

    #[test]
    fn what_is_not_a_rate_is_refused() {
        let good = starts(&[1.0; 5]);
        let few = bootstrap_ratio(&good[..4], &good, 0.95, 1);
        assert_eq!(few, Err(SampleError::TooFew { n: 4, least: 5 }));
        assert_eq!(
            bootstrap_ratio(&good, &vec![vec![]; 5], 0.95, 1),
            Err(SampleError::Empty)
        );
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(bootstrap_ratio(&good, &vec![vec![1.0, bad]; 5], 0.95, 1).is_err());
        }
        assert_eq!(
            bootstrap_ratio(&good, &good, 1.0, 1),
            Err(SampleError::Level { level: 1.0 })
        );
    }
}
