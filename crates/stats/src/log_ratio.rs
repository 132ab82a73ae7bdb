//! The ratio of paired values, with its interval and tests, on the scale of logarithms.

use statrs::distribution::ContinuousCDF as _;

use crate::student::student;
use crate::{Pairs, SampleError};

/// Logarithms of the quotients of pairs, in their number, mean and spread.
///
/// A ratio and its inverse are alike on this scale, and what both sides of a pair share has cancelled.
/// Intervals and tests are those of Student's t for one sample; they assume that the logarithms of
/// different pairs are independent and about normal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogRatio {
    /// Number of pairs, at least 1.
    pub n: usize,
    /// Mean of the logarithms.
    pub mean: f64,
    /// Sample standard deviation of the logarithms (divisor n − 1); `None` of one pair.
    pub deviation: Option<f64>,
}

/// Bounds of a ratio.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower bound, above 0.
    pub low: f64,
    /// Upper bound, at least `low`.
    pub high: f64,
}

impl Pairs {
    /// The ratio of these pairs on the scale of logarithms.
    pub fn log_ratio(&self) -> LogRatio {
        let logs: Vec<f64> = self.values().iter().map(|(a, b)| (a / b).ln()).collect();
        LogRatio::of_checked(&logs)
    }
}

impl LogRatio {
    /// Takes logarithms of quotients.
    ///
    /// # Errors
    /// When there are none, or one is not finite.
    pub fn of(logs: &[f64]) -> Result<Self, SampleError> {
        if logs.is_empty() {
            return Err(SampleError::Empty);
        }
        if let Some(position) = logs.iter().position(|log| !log.is_finite()) {
            let value = logs[position];
            return Err(SampleError::OutOfDomain { position, value });
        }
        Ok(Self::of_checked(logs))
    }

    fn of_checked(logs: &[f64]) -> Self {
        let n = logs.len();
        let mean = logs.iter().sum::<f64>() / n as f64;
        let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
        Self {
            n,
            mean,
            deviation: (n > 1).then(|| (squares / (n - 1) as f64).sqrt()),
        }
    }

    /// The ratio: exp(mean).
    pub fn ratio(&self) -> f64 {
        self.mean.exp()
    }

    /// The interval that holds the ratio with probability `level`, between 0 and 1:
    /// exp(mean ± t s ÷ √n), where t is the quantile of (1 + level) ÷ 2 with n − 1 degrees of freedom.
    /// `None` below two pairs.
    pub fn interval(&self, level: f64) -> Option<Interval> {
        let half = self.log_half_width(level)?;
        Some(Interval {
            low: (self.mean - half).exp(),
            high: (self.mean + half).exp(),
        })
    }

    /// Half of the width of [`Self::interval`] as a share of the ratio: exp(t s ÷ √n) − 1.
    pub fn half_width(&self, level: f64) -> Option<f64> {
        self.log_half_width(level).map(f64::exp_m1)
    }

    /// Probability of a mean at least as far from 0 if the ratio is 1: the two-sided t test. 1 if all
    /// pairs are alike and their ratio is 1, 0 if they are alike and it is not. `None` below two pairs.
    pub fn p_value(&self) -> Option<f64> {
        Some((2.0 * self.upper_tail(self.mean.abs())?).min(1.0))
    }

    /// The larger p-value of the two one-sided tests that the ratio is above 1 ÷ (1 + `margin`) and
    /// below 1 + `margin` (Schuirmann 1987). At 0.05 it is below exactly if the interval of 90 % lies
    /// between these bounds. `None` below two pairs.
    pub fn equivalence_p(&self, margin: f64) -> Option<f64> {
        self.upper_tail(margin.ln_1p() - self.mean.abs())
    }

    fn log_half_width(&self, level: f64) -> Option<f64> {
        let quantile = student(self.n)?.inverse_cdf(f64::midpoint(1.0, level));
        Some(quantile * self.error()?)
    }

    /// Standard error of the mean.
    fn error(&self) -> Option<f64> {
        Some(self.deviation? / (self.n as f64).sqrt())
    }

    /// Probability that a mean of 0 comes out above `distance` by chance.
    fn upper_tail(&self, distance: f64) -> Option<f64> {
        let error = self.error()?;
        if error > 0.0 {
            return Some(student(self.n)?.sf(distance / error));
        }
        // All pairs are alike: what is seen is certain.
        Some(if distance > 0.0 { 0.0 } else { 1.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_interval() {
        // scipy.stats.t.interval(0.95, 4, mean, sem) of these values.
        let log = LogRatio::of(&[0.01, 0.02, 0.03, 0.04, 0.05]).unwrap();
        let interval = log.interval(0.95).unwrap();
        assert!((interval.low.ln() - 0.010_367_568_385_224_4).abs() < 1e-9);
        assert!((interval.high.ln() - 0.049_632_431_614_775_6).abs() < 1e-9);
        // scipy.stats.ttest_1samp of the same.
        assert!((log.p_value().unwrap() - 0.013_235_599_6).abs() < 1e-9);
        // The larger p-value of ttest_1samp against -log(1.06) and log(1.06), one-sided.
        assert!((log.equivalence_p(0.06).unwrap() - 0.008_079_635_5).abs() < 1e-9);
        let half = log.half_width(0.95).unwrap();
        assert!((half - (interval.high / log.ratio() - 1.0)).abs() < 1e-12);
    }

    #[test]
    fn one_pair_has_a_ratio_and_nothing_else() {
        let one = LogRatio::of(&[0.1]).unwrap();
        assert_eq!((one.n, one.deviation), (1, None));
        assert_eq!((one.interval(0.95), one.p_value()), (None, None));
        assert_eq!(
            (one.half_width(0.95), one.equivalence_p(0.01)),
            (None, None)
        );
    }

    #[test]
    fn pairs_that_are_all_alike_are_certain() {
        let apart = LogRatio::of(&[0.5; 3]).unwrap();
        assert_eq!(apart.p_value(), Some(0.0));
        assert_eq!(apart.equivalence_p(0.01), Some(1.0));
        let equal = LogRatio::of(&[0.0; 3]).unwrap();
        assert_eq!(equal.p_value(), Some(1.0));
        assert_eq!(equal.equivalence_p(0.01), Some(0.0));
    }

    #[test]
    fn what_is_no_logarithm_is_refused() {
        assert_eq!(LogRatio::of(&[]), Err(SampleError::Empty));
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(LogRatio::of(&[0.1, bad]).is_err());
        }
    }
}
