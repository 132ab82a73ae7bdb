//! Ratios of values that belong together in pairs.

use crate::SampleError;
use crate::summary::check;

/// The ratio of one side of a set of pairs to the other: the geometric mean of the quotients, with the lowest and the highest of them.
///
/// Pairs share what varies from pair to pair (a time of day, a machine's mood), which the quotient
/// removes. The geometric mean treats a quotient and its inverse alike: the ratio with both sides
/// exchanged is one over the ratio. Formula: exp(Σ ln(aᵢ ÷ bᵢ) ÷ n).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedRatio {
    /// Geometric mean of the quotients, in `min..=max`.
    pub ratio: f64,
    /// Lowest quotient.
    pub min: f64,
    /// Highest quotient.
    pub max: f64,
    /// Number of pairs, at least 1.
    pub n: usize,
}

/// Pairs of (numerator, denominator) with their ratio; at least one pair.
///
/// The pairs stay with the ratio because intervals and tests need every one of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Pairs {
    values: Vec<(f64, f64)>,
    ratio: PairedRatio,
}

impl Pairs {
    /// Keeps `values` and derives their ratio.
    ///
    /// # Errors
    /// When there are no pairs, or a value or quotient is not positive and finite.
    pub fn of(values: Vec<(f64, f64)>) -> Result<Self, SampleError> {
        let ratio = PairedRatio::of(&values)?;
        Ok(Self { values, ratio })
    }

    /// The pairs, in the order in which they were given.
    pub fn values(&self) -> &[(f64, f64)] {
        &self.values
    }

    /// The ratio over all pairs.
    pub const fn ratio(&self) -> PairedRatio {
        self.ratio
    }
}

impl PairedRatio {
    /// The ratio of (numerator, denominator) over all `pairs`.
    ///
    /// # Errors
    /// When there are no pairs, or a value or quotient is not positive and finite.
    pub fn of(pairs: &[(f64, f64)]) -> Result<Self, SampleError> {
        if pairs.is_empty() {
            return Err(SampleError::Empty);
        }
        let n = pairs.len();
        let (mut log_mean, mut min, mut max) = (0.0, f64::INFINITY, 0.0_f64);
        for (position, &(numerator, denominator)) in pairs.iter().enumerate() {
            check(position, numerator)?;
            check(position, denominator)?;
            let quotient = numerator / denominator;
            check(position, quotient)?;
            log_mean += quotient.ln() / n as f64;
            min = min.min(quotient);
            max = max.max(quotient);
        }
        Ok(Self {
            // Rounding may push the mean past the ends; of one pair it is the quotient itself.
            ratio: log_mean.exp().clamp(min, max),
            min,
            max,
            n,
        })
    }

    /// Half the distance between the lowest and the highest quotient.
    pub fn half_range(&self) -> f64 {
        (self.max - self.min) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_values() {
        let ratio = PairedRatio::of(&[(1.0, 2.0), (4.0, 2.0)]).unwrap();
        assert!((ratio.ratio - 1.0).abs() < 1e-15);
        assert_eq!((ratio.min, ratio.max, ratio.n), (0.5, 2.0, 2));
        assert!((ratio.half_range() - 0.75).abs() < 1e-15);
    }

    #[test]
    fn one_pair_is_its_quotient() {
        let ratio = PairedRatio::of(&[(7.0, 3.0)]).unwrap();
        let quotient = 7.0 / 3.0;
        assert_eq!(
            ratio,
            PairedRatio {
                ratio: quotient,
                min: quotient,
                max: quotient,
                n: 1
            }
        );
    }

    #[test]
    fn what_is_not_a_rate_is_refused() {
        assert_eq!(PairedRatio::of(&[]), Err(SampleError::Empty));
        for bad in [0.0, -1.0, f64::INFINITY, f64::NAN] {
            for pair in [(1.0, bad), (bad, 1.0)] {
                assert!(matches!(
                    PairedRatio::of(&[(1.0, 1.0), pair]),
                    Err(SampleError::OutOfDomain { position: 1, .. })
                ));
            }
        }
        let quotient_overflows = PairedRatio::of(&[(1e300, 1e-300)]);
        assert!(quotient_overflows.is_err());
    }

    #[test]
    fn pairs_stay_with_their_ratio() {
        let pairs = Pairs::of(vec![(1.0, 2.0), (4.0, 2.0)]).unwrap();
        assert_eq!(pairs.values(), [(1.0, 2.0), (4.0, 2.0)]);
        assert_eq!(pairs.ratio(), PairedRatio::of(pairs.values()).unwrap());
        assert_eq!(Pairs::of(vec![]), Err(SampleError::Empty));
        assert!(Pairs::of(vec![(1.0, 0.0)]).is_err());
    }

    fn pairs() -> impl Strategy<Value = Vec<(f64, f64)>> {
        vec((1e-3..1e9_f64, 1e-3..1e9_f64), 1..30)
    }

    proptest! {
        /// Exchanging both sides inverts the ratio.
        #[test]
        fn inverse(pairs in pairs()) {
            let exchanged: Vec<_> = pairs.iter().map(|&(a, b)| (b, a)).collect();
            let there = PairedRatio::of(&pairs).unwrap();
            let back = PairedRatio::of(&exchanged).unwrap();
            prop_assert!((there.ratio * back.ratio - 1.0).abs() < 1e-12);
        }

        /// A change of unit on both sides changes nothing.
        #[test]
        fn common_scale_cancels(pairs in pairs(), factor in 1e-6..1e6_f64) {
            let scaled: Vec<_> = pairs.iter().map(|&(a, b)| (a * factor, b * factor)).collect();
            let before = PairedRatio::of(&pairs).unwrap();
            let after = PairedRatio::of(&scaled).unwrap();
            prop_assert!((after.ratio / before.ratio - 1.0).abs() < 1e-12);
        }

        /// A disturbance that both sides of a pair share cancels, pair by pair.
        #[test]
        fn shared_disturbances_cancel(
            quiet in vec((1e-3..1e9_f64, 1e-3..1e9_f64, 0.1..10.0_f64), 1..30)
        ) {
            let pairs: Vec<_> = quiet.iter().map(|&(a, b, _)| (a, b)).collect();
            let disturbed: Vec<_> = quiet.iter().map(|&(a, b, by)| (a * by, b * by)).collect();
            let before = PairedRatio::of(&pairs).unwrap();
            let after = PairedRatio::of(&disturbed).unwrap();
            prop_assert!((after.ratio / before.ratio - 1.0).abs() < 1e-12);
        }

        /// The ratio lies between the lowest and the highest quotient, whatever the rounding.
        #[test]
        fn bounded(pairs in pairs()) {
            let ratio = PairedRatio::of(&pairs).unwrap();
            prop_assert!(ratio.min <= ratio.ratio && ratio.ratio <= ratio.max);
        }
    }
}
