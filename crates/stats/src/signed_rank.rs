//! An estimate of a ratio that single outlying pairs move little.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::log_ratio::check_log;
use crate::{Interval, Pairs, SampleError};

/// Hodges-Lehmann estimate of a ratio with the interval of Wilcoxon's signed ranks.
///
/// It rests on the means of all two logarithms, each with itself included (Walsh averages). Their
/// median is the estimate (Hodges and Lehmann, Estimates of location based on rank tests, Annals of
/// Mathematical Statistics 34, 1963). The interval assumes that the logarithms are independent and
/// symmetric about their median, and nothing about the shape.
#[derive(Debug, Clone, PartialEq)]
pub struct SignedRank {
    n: usize,
    /// In ascending order, n (n + 1) ÷ 2 of them.
    averages: Vec<f64>,
}

impl Pairs {
    /// The ratio of these pairs by signed ranks.
    ///
    /// # Errors
    /// If there are more than [`SignedRank::PAIRS_MAX`].
    pub fn signed_rank(&self) -> Result<SignedRank, SampleError> {
        SignedRank::of(&self.logs())
    }
}

impl SignedRank {
    /// Most pairs: the averages of more would need too much memory.
    pub const PAIRS_MAX: usize = 2_000;
    /// Most pairs for which the distribution of the ranks is computed exactly.
    const EXACT_MAX: usize = 30;

    /// Takes logarithms of quotients.
    ///
    /// # Errors
    /// If there are none, or more than [`Self::PAIRS_MAX`], or if one is not that of a positive and finite
    /// quotient.
    pub fn of(logs: &[f64]) -> Result<Self, SampleError> {
        let n = logs.len();
        if n == 0 {
            return Err(SampleError::Empty);
        }
        if n > Self::PAIRS_MAX {
            return Err(SampleError::TooMany {
                n,
                most: Self::PAIRS_MAX,
            });
        }
        for (position, &log) in logs.iter().enumerate() {
            check_log(position, log)?;
        }
        let of_one = |(first, &a): (usize, &f64)| {
            logs[first..]
                .iter()
                .map(move |&b| f64::midpoint(a, b))
                .collect::<Vec<_>>()
        };
        let mut averages: Vec<f64> = logs.iter().enumerate().flat_map(of_one).collect();
        averages.sort_by(f64::total_cmp);
        Ok(Self { n, averages })
    }

    /// Number of pairs, at least 1.
    pub const fn n(&self) -> usize {
        self.n
    }

    /// The ratio: exp(median of the averages).
    pub fn ratio(&self) -> f64 {
        let (low, high) = ((self.averages.len() - 1) / 2, self.averages.len() / 2);
        f64::midpoint(self.averages[low], self.averages[high]).exp()
    }

    /// The interval that holds the ratio with a probability of at least `level`, in (0, 1): the
    /// averages of ranks c + 1 from either end, where c is the greatest number with P(W ≤ c) ≤
    /// (1 − level) ÷ 2 for the rank sum W (Hollander, Wolfe and Chicken, Nonparametric statistical
    /// methods, 2014, section 3.3). Up to 30 pairs, P is exact; above, it is normal with the correction for
    /// continuity. `None` if too few pairs have such a c: below 6 for 95 %.
    pub fn interval(&self, level: f64) -> Option<Interval> {
        let is_valid = level > 0.0 && level < 1.0;
        let tail = is_valid.then_some((1.0 - level) / 2.0)?;
        let left_out = if self.n <= Self::EXACT_MAX {
            exact_critical(self.n, tail)?
        } else {
            normal_critical(self.n, tail)?
        };
        let (low, high) = (left_out, self.averages.len().checked_sub(left_out + 1)?);
        (low <= high).then(|| Interval {
            low: self.averages[low].exp(),
            high: self.averages[high].exp(),
        })
    }
}

/// Greatest c with P(W ≤ c) ≤ `tail`, where each of the ranks 1..=n is in the sum W with probability ½.
fn exact_critical(n: usize, tail: f64) -> Option<usize> {
    let sums = n * (n + 1) / 2;
    let mut probability = vec![0.0; sums + 1];
    probability[0] = 1.0;
    for rank in 1..=n {
        for sum in (0..=sums).rev() {
            let with = if sum >= rank {
                probability[sum - rank]
            } else {
                0.0
            };
            probability[sum] = f64::midpoint(probability[sum], with);
        }
    }
    let below = probability.iter().scan(0.0, |below, p| {
        *below += p;
        Some(*below)
    });
    below
        .take_while(|&below| below <= tail)
        .count()
        .checked_sub(1)
}

/// The same by the normal distribution of mean n (n + 1) ÷ 4 and variance n (n + 1) (2n + 1) ÷ 24.
fn normal_critical(n: usize, tail: f64) -> Option<usize> {
    let n = n as f64;
    let mean = n * (n + 1.0) / 4.0;
    let deviation = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
    let z = Normal::standard().inverse_cdf(tail);
    let critical = (mean - 0.5 + z * deviation).floor();
    // A count of ranks, far below the limit of whole numbers.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let whole = critical as usize;
    (critical >= 0.0).then_some(whole)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// numpy 2: median and order statistics of the Walsh averages; the critical value from the counts of
    /// all 2⁸ sums.
    #[test]
    fn known_interval() {
        let logs = [0.012, -0.004, 0.021, 0.008, 0.015, -0.001, 0.019, 0.006];
        let ranks = SignedRank::of(&logs).unwrap();
        let interval = ranks.interval(0.95).unwrap();
        assert!((ranks.ratio().ln() - 0.0095).abs() < 1e-12);
        assert!((interval.low.ln() - 0.001).abs() < 1e-12);
        assert!((interval.high.ln() - 0.018).abs() < 1e-12);
    }

    /// Tables of the signed-rank test, two-sided 5 % (Hollander, Wolfe and Chicken, table A.4).
    #[test]
    fn known_critical_values() {
        for (n, expected) in [(6, 0), (8, 3), (10, 8), (20, 52), (30, 137)] {
            assert_eq!(exact_critical(n, 0.025), Some(expected), "{n}");
        }
        assert_eq!(exact_critical(5, 0.025), None);
    }

    #[test]
    fn exact_and_normal_meet() {
        for n in [31, 40, 50] {
            let (exact, normal) = (exact_critical(n, 0.025), normal_critical(n, 0.025));
            assert!(exact.unwrap().abs_diff(normal.unwrap()) <= 1, "{n}");
        }
    }

    #[test]
    fn five_pairs_have_no_interval_of_95() {
        let five = SignedRank::of(&[0.1, 0.2, 0.3, 0.4, 0.5]).unwrap();
        assert_eq!(five.interval(0.95), None);
        assert!(five.interval(0.9).is_some());
        assert_eq!(five.interval(1.0), None);
        let six = SignedRank::of(&[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]).unwrap();
        let interval = six.interval(0.95).unwrap();
        assert!((interval.low.ln() - 0.1).abs() < 1e-12);
        assert!((interval.high.ln() - 0.6).abs() < 1e-12);
    }

    #[test]
    fn outliers_move_it_little() {
        let mut logs = vec![0.01, 0.011, 0.009, 0.012, 0.008, 0.01, 0.01, 0.011];
        let before = SignedRank::of(&logs).unwrap().ratio();
        logs[0] = 5.0;
        let after = SignedRank::of(&logs).unwrap().ratio();
        assert!((after / before - 1.0).abs() < 0.002, "{after}");
    }

    #[test]
    fn what_is_no_logarithm_is_refused() {
        assert_eq!(SignedRank::of(&[]), Err(SampleError::Empty));
        for bad in [f64::NAN, f64::INFINITY, 1e4] {
            assert!(SignedRank::of(&[0.1, bad]).is_err());
        }
        let many = vec![0.0; SignedRank::PAIRS_MAX + 1];
        assert!(matches!(
            SignedRank::of(&many),
            Err(SampleError::TooMany { .. })
        ));
    }

    proptest! {
        /// The inverse quotients have the inverse estimate and interval.
        #[test]
        fn inverse(logs in vec(-1.0..1.0_f64, 6..40)) {
            let there = SignedRank::of(&logs).unwrap();
            let negative: Vec<f64> = logs.iter().map(|log| -log).collect();
            let back = SignedRank::of(&negative).unwrap();
            prop_assert!((there.ratio() * back.ratio() - 1.0).abs() < 1e-12);
            let (a, b) = (there.interval(0.95).unwrap(), back.interval(0.95).unwrap());
            prop_assert!((a.low * b.high - 1.0).abs() < 1e-12);
            prop_assert!(a.low <= there.ratio() && there.ratio() <= a.high);
        }
    }
}
