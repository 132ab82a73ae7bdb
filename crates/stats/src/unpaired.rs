//! The quotient of two ratios that share no pairs.

use crate::student::{t_quantile, t_upper_tail};
use crate::{Interval, LogRatio};

/// A ratio divided by another one that was measured apart from it, on the scale of logarithms.
///
/// The variances of both means are added, and the degrees of freedom are those of Welch (The
/// generalization of Student's problem when several different population variances are involved,
/// Biometrika 34, 1947), rounded down, so that intervals are rather too wide than too narrow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnpairedRatio {
    /// The mean of the logarithms of the first less that of the second.
    pub mean: f64,
    /// Standard error of `mean` with its degrees of freedom; `None` if a side has one value.
    error: Option<(f64, u32)>,
}

impl LogRatio {
    /// This ratio divided by `other`.
    pub fn over(&self, other: &Self) -> UnpairedRatio {
        UnpairedRatio {
            mean: self.mean - other.mean,
            error: welch(self, other),
        }
    }
}

impl UnpairedRatio {
    /// The ratio: exp(mean).
    pub fn ratio(&self) -> f64 {
        self.mean.exp()
    }

    /// The interval that holds the ratio with probability `level`, in (0, 1). `None` without an error,
    /// for other levels, and if a bound is beyond the range of numbers.
    pub fn interval(&self, level: f64) -> Option<Interval> {
        let (error, degrees) = self.error?;
        let half = t_quantile(f64::midpoint(1.0, level), degrees)? * error;
        let (low, high) = ((self.mean - half).exp(), (self.mean + half).exp());
        (low > 0.0 && high.is_finite()).then_some(Interval { low, high })
    }

    /// Probability of a mean at least as far from 0 if the ratio is 1. `None` without an error.
    pub fn p_value(&self) -> Option<f64> {
        Some((2.0 * self.upper_tail(self.mean.abs())?).min(1.0))
    }

    /// The larger p-value of the two one-sided tests that the ratio is within `margin` of 1; see
    /// [`LogRatio::equivalence_p`].
    pub fn equivalence_p(&self, margin: f64) -> Option<f64> {
        let is_valid = margin > 0.0 && margin.is_finite();
        self.upper_tail(is_valid.then(|| margin.ln_1p())? - self.mean.abs())
    }

    fn upper_tail(&self, distance: f64) -> Option<f64> {
        let (error, degrees) = self.error?;
        if error > 0.0 {
            return t_upper_tail(distance / error, degrees);
        }
        // All values of each side are alike: what is seen is certain.
        Some(if distance > 0.0 { 0.0 } else { 1.0 })
    }
}

/// Standard error of the difference of both means, and its degrees of freedom.
fn welch(a: &LogRatio, b: &LogRatio) -> Option<(f64, u32)> {
    let variance = |side: &LogRatio| Some(side.deviation?.powi(2) / side.n as f64);
    let (of_a, of_b) = (variance(a)?, variance(b)?);
    let sum = of_a + of_b;
    let each = of_a.powi(2) / (a.n - 1) as f64 + of_b.powi(2) / (b.n - 1) as f64;
    let all = (a.n + b.n - 2) as f64;
    let degrees = if each > 0.0 { sum.powi(2) / each } else { all };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to 1 and the number of values"
    )]
    let degrees = degrees.clamp(1.0, all.min(1e9)).floor() as u32;
    Some((sum.sqrt(), degrees))
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// By hand: variances of the means 1/3 and 4/3 (n = 3 each), degrees (5/3)² ÷ (1/18 + 16/18)
    /// = 2.94, rounded down to 2; t = 3 ÷ √(5/3).
    #[test]
    fn a_known_difference() {
        let a = LogRatio::of(&[3.0, 4.0, 5.0]).unwrap();
        let b = LogRatio::of(&[-1.0, 1.0, 3.0]).unwrap();
        let quotient = a.over(&b);
        let (error, degrees) = quotient.error.unwrap();
        assert!((quotient.mean - 3.0).abs() < 1e-12);
        assert!((error - (5.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!(degrees, 2);
    }

    #[test]
    fn one_value_has_no_interval() {
        let one = LogRatio::of(&[0.1]).unwrap();
        let quotient = one.over(&LogRatio::of(&[0.1, 0.2]).unwrap());
        assert_eq!(quotient.interval(0.95), None);
        assert_eq!(quotient.p_value(), None);
        assert_eq!(quotient.equivalence_p(0.1), None);
    }

    proptest! {
        /// Exchanging both sides inverts ratio and interval; a side over itself is 1.
        #[test]
        fn inverse(a in vec(-1.0..1.0_f64, 2..9), b in vec(-1.0..1.0_f64, 2..9)) {
            let (a, b) = (LogRatio::of(&a).unwrap(), LogRatio::of(&b).unwrap());
            prop_assert!(a.over(&a).mean.abs() < 1e-12);
            let (there, back) = (a.over(&b), b.over(&a));
            prop_assert!((there.ratio() * back.ratio() - 1.0).abs() < 1e-12);
            if let (Some(there), Some(back)) = (there.interval(0.95), back.interval(0.95)) {
                prop_assert!((there.low * back.high - 1.0).abs() < 1e-9);
            }
        }
    }
}
