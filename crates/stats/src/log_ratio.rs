//! The ratio of paired values, with its interval and tests, on the scale of logarithms.

use crate::planning::pairs_for_width;
use crate::student::{t_quantile, t_upper_tail};
use crate::summary::check;
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
        LogRatio::of_checked(&self.logs())
    }

    /// Logarithms of the quotients, in the order of the pairs.
    pub fn logs(&self) -> Vec<f64> {
        let quotients = self.values().iter().map(|(a, b)| a / b);
        quotients.map(f64::ln).collect()
    }
}

impl LogRatio {
    /// Probability with which [`Self::pairs_for`] keeps its promise.
    pub const ASSURANCE: f64 = 0.8;

    /// Takes logarithms of quotients.
    ///
    /// # Errors
    /// When there are none, or one is not that of a positive and finite quotient.
    pub fn of(logs: &[f64]) -> Result<Self, SampleError> {
        if logs.is_empty() {
            return Err(SampleError::Empty);
        }
        for (position, &log) in logs.iter().enumerate() {
            check_log(position, log)?;
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

    /// The interval that holds the ratio with probability `level`, in (0, 1):
    /// exp(mean ± t s ÷ √n), where t is the quantile of (1 + level) ÷ 2 with n − 1 degrees of freedom
    /// (Student, The probable error of a mean, Biometrika 6, 1908). `None` below two pairs, for other
    /// levels, and if a bound is beyond the range of numbers.
    pub fn interval(&self, level: f64) -> Option<Interval> {
        let half = self.log_half_width(level)?;
        let (low, high) = ((self.mean - half).exp(), (self.mean + half).exp());
        (low > 0.0 && high.is_finite()).then_some(Interval { low, high })
    }

    /// Half of the width of [`Self::interval`] as a share of the ratio: exp(t s ÷ √n) − 1. `None` where
    /// the interval is.
    pub fn half_width(&self, level: f64) -> Option<f64> {
        self.interval(level)?;
        self.log_half_width(level).map(f64::exp_m1)
    }

    /// Number of pairs, those of this ratio included, of which the interval of `level` has a half-width of
    /// `half_width` at most (a share above 0) with the probability [`Self::ASSURANCE`]. This ratio's
    /// deviation is taken for the true one. The number of pairs so far, if their interval is narrow
    /// enough already. `None` below two pairs, outside these ranges, and if a hundred thousand are
    /// too few.
    ///
    /// The mere number with t s ÷ √n ≤ ln(1 + half-width) would be too low for half of the repetitions,
    /// because the deviation of the new pairs varies.
    pub fn pairs_for(&self, half_width: f64, level: f64) -> Option<usize> {
        let deviation = self.deviation?;
        let is_valid = half_width > 0.0 && half_width.is_finite();
        let log_half = is_valid.then(|| half_width.ln_1p())?;
        if self.log_half_width(level)? <= log_half {
            return Some(self.n);
        }
        let pairs = pairs_for_width(deviation, log_half, level, Self::ASSURANCE)?;
        // The pairs so far were not enough.
        Some(usize::try_from(pairs).ok()?.max(self.n + 1))
    }

    /// Probability of a mean at least as far from 0 if the ratio is 1: the two-sided t test. 1 if all
    /// pairs are alike and their ratio is 1, 0 if they are alike and it is not. `None` below two pairs.
    pub fn p_value(&self) -> Option<f64> {
        Some((2.0 * self.upper_tail(self.mean.abs())?).min(1.0))
    }

    /// The larger p-value of the two one-sided tests that the ratio is above 1 ÷ (1 + `margin`) and
    /// below 1 + `margin` (Schuirmann, A comparison of the two one-sided tests procedure and the power
    /// approach, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987). It is below 0.05 exactly
    /// if the interval of 90 % lies between these bounds. `None` below two pairs and unless the margin is
    /// positive and finite.
    pub fn equivalence_p(&self, margin: f64) -> Option<f64> {
        let is_valid = margin > 0.0 && margin.is_finite();
        self.upper_tail(is_valid.then(|| margin.ln_1p())? - self.mean.abs())
    }

    fn log_half_width(&self, level: f64) -> Option<f64> {
        Some(t_quantile(f64::midpoint(1.0, level), self.degrees()?)? * self.error()?)
    }

    /// Standard error of the mean.
    fn error(&self) -> Option<f64> {
        Some(self.deviation? / (self.n as f64).sqrt())
    }

    /// Probability that a mean of 0 comes out above `distance` by chance.
    fn upper_tail(&self, distance: f64) -> Option<f64> {
        let error = self.error()?;
        if error > 0.0 {
            return t_upper_tail(distance / error, self.degrees()?);
        }
        // All pairs are alike: what is seen is certain.
        Some(if distance > 0.0 { 0.0 } else { 1.0 })
    }

    fn degrees(&self) -> Option<u32> {
        u32::try_from(self.n.checked_sub(1)?).ok()
    }
}

/// Refuses what is not the logarithm of a positive and finite quotient.
pub(crate) fn check_log(position: usize, log: f64) -> Result<(), SampleError> {
    check(position, log.exp())
}

#[cfg(test)]
mod tests;
