//! An estimate and an interval of a ratio that assume no distribution.

use crate::{Interval, LogRatio, SampleError};

/// Pairs above which the distribution of the statistic is taken as normal.
const EXACT_MAX: usize = 40;
/// The 97.5 % quantile of the normal distribution.
const NORMAL: f64 = 1.959_963_984_540_054;

/// The ratio of pairs as the median of all means of two of their logarithms, with the interval of 95 %
/// that the signed-rank test of Wilcoxon gives.
///
/// Hodges and Lehmann, Estimates of location based on rank tests, Annals of Mathematical Statistics 34,
/// 1963; interval after Hollander and Wolfe, Nonparametric Statistical Methods, 1999, 3.3. It assumes
/// that the logarithms spread alike in both directions, and nothing else; single pairs far off
/// move it little.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignedRank {
    /// The ratio, within the interval.
    pub ratio: f64,
    /// Its interval. `None` below six pairs, which can't reach 95 %.
    pub interval: Option<Interval>,
}

impl SignedRank {
    /// The estimate from logarithms of quotients.
    ///
    /// # Errors
    /// When there are none, or one is not finite.
    pub fn of(logs: &[f64]) -> Result<Self, SampleError> {
        LogRatio::of(logs)?;
        let mut means = Vec::with_capacity(logs.len() * (logs.len() + 1) / 2);
        for (place, one) in logs.iter().enumerate() {
            means.extend(
                logs[place..]
                    .iter()
                    .map(|other| f64::midpoint(*one, *other)),
            );
        }
        means.sort_by(f64::total_cmp);
        let last = means.len() - 1;
        let middle = f64::midpoint(means[last / 2], means[last.div_ceil(2)]);
        let interval = left_out(logs.len()).map(|left_out| Interval {
            low: means[left_out].exp(),
            high: means[last - left_out].exp(),
        });
        Ok(Self {
            ratio: middle.exp(),
            interval,
        })
    }
}

/// Number of means at either end outside of the interval: the most whose probability is 2.5 %
/// at most. `None` if not even none of them can be that improbable.
fn left_out(n: usize) -> Option<usize> {
    let sums = n * (n + 1) / 2;
    if n > EXACT_MAX {
        let (mean, count) = (sums as f64 / 2.0, n as f64);
        let deviation = (count * (count + 1.0) * (2.0 * count + 1.0) / 24.0).sqrt();
        // A continuity correction of one half.
        let improbable = mean - 0.5 - NORMAL * deviation;
        return (0..sums)
            .take_while(|&rank| rank as f64 <= improbable)
            .last();
    }
    // Number of subsets of the ranks 1 to n with each sum, as shares of all of them.
    let mut shares = vec![0.0; sums + 1];
    shares[0] = 1.0;
    for rank in 1..=n {
        for sum in (0..=sums).rev() {
            let with = if sum >= rank { shares[sum - rank] } else { 0.0 };
            shares[sum] = f64::midpoint(shares[sum], with);
        }
    }
    let mut below = 0.0;
    let improbable = shares.iter().take_while(|share| {
        below += **share;
        below <= 0.025
    });
    improbable.count().checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Critical values of the signed-rank statistic, two-sided 5 %: Hollander and Wolfe, table A.4, and any
    /// other.
    #[test]
    fn critical_values_are_those_of_tables() {
        for (n, expected) in [
            (5, None),
            (6, Some(0)),
            (7, Some(2)),
            (8, Some(3)),
            (9, Some(5)),
            (10, Some(8)),
            (15, Some(25)),
            (20, Some(52)),
            (30, Some(137)),
        ] {
            assert_eq!(left_out(n), expected, "{n}");
        }
    }

    #[test]
    fn exact_and_normal_meet() {
        let exact = left_out(EXACT_MAX).unwrap();
        let next = left_out(EXACT_MAX + 1).unwrap();
        // Tables: 264 of 40 pairs, 279 of 41.
        assert_eq!(exact, 264);
        assert!(next.abs_diff(279) <= 1, "{next}");
    }

    #[test]
    fn one_pair_far_off_moves_little() {
        let mut logs = [0.01, 0.012, 0.008, 0.011, 0.009, 0.010, 0.0105];
        let before = SignedRank::of(&logs).unwrap();
        logs[6] = 3.0;
        let after = SignedRank::of(&logs).unwrap();
        assert!((after.ratio / before.ratio - 1.0).abs() < 0.002);
        let interval = before.interval.unwrap();
        assert!(interval.low <= before.ratio && before.ratio <= interval.high);
    }

    #[test]
    fn few_pairs_have_no_interval() {
        let few = SignedRank::of(&[0.1, 0.2, 0.3]).unwrap();
        assert!((few.ratio.ln() - 0.2).abs() < 1e-12);
        assert_eq!(few.interval, None);
        assert!(SignedRank::of(&[]).is_err());
        assert!(SignedRank::of(&[f64::NAN]).is_err());
    }
}
