//! The ratio of two means whose values do not belong together in pairs.

use crate::student::student_quantile;
use crate::summary::check;
use crate::{Interval, SampleError};

/// Ratio of the means of two independent samples, with Fieller's set of ratios that agree with them.
///
/// Pairs tell more where they exist: what both sides share cancels in them and counts as noise here.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatioOfMeans {
    numerator: Sample,
    denominator: Sample,
}

/// Ratios that agree with two samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RatioBounds {
    /// Both bounds exist.
    Both(Interval),
    /// All ratios from this one on agree: the mean of the denominators may be 0, for all that they
    /// tell.
    From(f64),
    /// All ratios up to this one agree: the mean of the numerators may be 0, for all that they tell.
    UpTo(f64),
    /// All ratios agree: the samples tell nothing.
    Neither,
}

/// Mean of a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Sample {
    mean: f64,
    /// Square of the standard error of the mean.
    variance: f64,
    degrees: f64,
}

impl RatioOfMeans {
    /// Takes both samples, of two values at least.
    ///
    /// # Errors
    /// If a sample has fewer than two values, and if one is not positive and finite, or so large that the
    /// square of a mean is not.
    pub fn of(numerators: &[f64], denominators: &[f64]) -> Result<Self, SampleError> {
        let (numerator, denominator) = (Sample::of(numerators)?, Sample::of(denominators)?);
        check(0, numerator.mean / denominator.mean)?;
        Ok(Self {
            numerator,
            denominator,
        })
    }

    /// Mean of the numerators ÷ mean of the denominators.
    pub fn ratio(&self) -> f64 {
        self.numerator.mean / self.denominator.mean
    }

    /// The set of positive ratios r with (x − r y)² ≤ t² (v + r² w), where x and y are the means, v and w the
    /// squares of their standard errors, and t is the quantile of (1 + `level`) ÷ 2 (Fieller, Some
    /// problems in interval estimation, Journal of the Royal Statistical Society B 16, 1954). The
    /// degrees of freedom are those of Welch and Satterthwaite at the estimated ratio:
    /// (v + r² w)² ÷ (v² ÷ (n − 1) + r⁴ w² ÷ (m − 1)). `None` unless `level` is in (0, 1).
    pub fn bounds(&self, level: f64) -> Option<RatioBounds> {
        let t = student_quantile(f64::midpoint(1.0, level), self.degrees())?;
        let (above, below) = (self.numerator, self.denominator);
        // r² a − 2 r b + c ≤ 0. The smaller root is c ÷ (b + √(b² − a c)), which loses no digits and
        // stays where a is 0.
        let a = t.mul_add(-t * below.variance, below.mean * below.mean);
        let b = above.mean * below.mean;
        let c = t.mul_add(-t * above.variance, above.mean * above.mean);
        let root = b + b.mul_add(b, -a * c).max(0.0).sqrt();
        let has_high = a > 0.0 && (root / a).is_finite();
        Some(match (has_high, c > 0.0) {
            (true, true) => RatioBounds::Both(Interval {
                low: c / root,
                high: root / a,
            }),
            (true, false) => RatioBounds::UpTo(root / a),
            (false, true) => RatioBounds::From(c / root),
            (false, false) => RatioBounds::Neither,
        })
    }

    fn degrees(&self) -> f64 {
        let (x, y) = (self.numerator, self.denominator);
        let (v, w) = (x.variance, self.ratio().powi(2) * y.variance);
        let sum = v + w;
        if sum <= 0.0 {
            // No spread: any number will do.
            return x.degrees + y.degrees;
        }
        // As shares, so that no square leaves the range of numbers.
        1.0 / ((v / sum).powi(2) / x.degrees + (w / sum).powi(2) / y.degrees)
    }
}

impl Sample {
    fn of(values: &[f64]) -> Result<Self, SampleError> {
        let n = values.len();
        if n < 2 {
            return Err(SampleError::TooFew { n, least: 2 });
        }
        for (position, &value) in values.iter().enumerate() {
            check(position, value)?;
            // The bounds need squares of products.
            check(position, value.powi(4))?;
        }
        let mean = values.iter().sum::<f64>() / n as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let degrees = (n - 1) as f64;
        Ok(Self {
            mean,
            variance: squares / degrees / n as f64,
            degrees,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    const A: [f64; 5] = [102.0, 98.0, 105.0, 99.0, 101.0];
    const B: [f64; 6] = [90.0, 88.0, 93.0, 91.0, 89.0, 92.0];

    /// scipy 1.17.1: roots of Fieller's equation with `scipy.stats.t.ppf(0.975, 7.42059356359589)`.
    #[test]
    fn known_bounds() {
        let ratio = RatioOfMeans::of(&A, &B).unwrap();
        assert!((ratio.ratio() - 1.116_022_099_447_513_8).abs() < 1e-12);
        assert!((ratio.degrees() - 7.420_593_563_595_89).abs() < 1e-9);
        let Some(RatioBounds::Both(interval)) = ratio.bounds(0.95) else {
            panic!("{ratio:?}");
        };
        assert!(
            (interval.low - 1.077_902_381_591_366_9).abs() < 1e-8,
            "{interval:?}"
        );
        assert!(
            (interval.high - 1.155_010_933_978_205).abs() < 1e-8,
            "{interval:?}"
        );
    }

    #[test]
    fn wide_samples_have_open_bounds() {
        let wide = [1.0, 300.0, 2.0];
        let bounds = |a: &[f64], b: &[f64]| RatioOfMeans::of(a, b).unwrap().bounds(0.95).unwrap();
        assert!(matches!(bounds(&A, &wide), RatioBounds::From(low) if low > 0.0));
        assert!(matches!(bounds(&wide, &B), RatioBounds::UpTo(high) if high > 0.0));
        assert_eq!(bounds(&wide, &wide), RatioBounds::Neither);
    }

    #[test]
    fn equal_values_have_no_width() {
        let ratio = RatioOfMeans::of(&[4.0; 3], &[2.0; 3]).unwrap();
        let exact = Interval {
            low: 2.0,
            high: 2.0,
        };
        assert_eq!(ratio.bounds(0.95), Some(RatioBounds::Both(exact)));
        assert_eq!(ratio.bounds(1.0), None);
    }

    #[test]
    fn what_is_not_a_rate_is_refused() {
        assert_eq!(
            RatioOfMeans::of(&[1.0], &B),
            Err(SampleError::TooFew { n: 1, least: 2 })
        );
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e200, 1e-200] {
            assert!(RatioOfMeans::of(&A, &[1.0, bad]).is_err());
        }
    }

    proptest! {
        /// Exchanging both samples inverts ratio and bounds.
        #[test]
        fn inverse(a in vec(1.0..100.0_f64, 2..20), b in vec(1.0..100.0_f64, 2..20)) {
            let there = RatioOfMeans::of(&a, &b).unwrap();
            let back = RatioOfMeans::of(&b, &a).unwrap();
            prop_assert!((there.ratio() * back.ratio() - 1.0).abs() < 1e-12);
            let is_one = |product: f64| (product - 1.0).abs() < 1e-6;
            match (there.bounds(0.9).unwrap(), back.bounds(0.9).unwrap()) {
                (RatioBounds::Both(x), RatioBounds::Both(y)) => {
                    prop_assert!(is_one(x.low * y.high) && is_one(x.high * y.low));
                    prop_assert!(x.low <= there.ratio() && there.ratio() <= x.high);
                }
                (RatioBounds::From(x), RatioBounds::UpTo(y))
                | (RatioBounds::UpTo(x), RatioBounds::From(y)) => prop_assert!(is_one(x * y)),
                (x, y) => prop_assert_eq!(x, y),
            }
        }
    }
}
