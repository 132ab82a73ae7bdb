//! A set of values in a few numbers.

/// The reason why a sample can't be summarised.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum SampleError {
    /// There are no values.
    #[error("summarise a sample without values")]
    Empty,
    /// There are too few values.
    #[error("summarise a sample of {n} values: at least {least} are needed")]
    TooFew {
        /// Number of values.
        n: usize,
        /// Number that is needed.
        least: usize,
    },
    /// There are more values than the method can hold.
    #[error("summarise a sample of {n} values: at most {most} are possible")]
    TooMany {
        /// Number of values.
        n: usize,
        /// Greatest number that is possible.
        most: usize,
    },
    /// A row has another number of values than the first.
    #[error("summarise rows of unequal length: row {row} has {n} values, the first has {first}")]
    UnequalRows {
        /// Position of the row, from 0.
        row: usize,
        /// Number of its values.
        n: usize,
        /// Number of values of the first row.
        first: usize,
    },
    /// A probability is not between 0 and 1.
    #[error("summarise a sample at the level {level}: it must be above 0 and below 1")]
    Level {
        /// The value.
        level: f64,
    },
    /// A value is zero, negative, infinite or not a number.
    #[error(
        "summarise a sample with the value {value} at position {position}: it must be positive and finite"
    )]
    OutOfDomain {
        /// Its position, from 0.
        position: usize,
        /// The value.
        value: f64,
    },
}

/// Centre and spread of a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Arithmetic mean, in `min..=max`.
    pub mean: f64,
    /// Middle value, or the mean of the two middle values.
    pub median: f64,
    /// Lowest value.
    pub min: f64,
    /// Highest value.
    pub max: f64,
    /// Number of values, at least 1.
    pub n: usize,
    /// Coefficient of variation: sample standard deviation (divisor n − 1) ÷ mean. `None` below
    /// two values, and where all are zero.
    pub variation: Option<f64>,
}

impl Summary {
    /// Summarises `values`.
    ///
    /// # Errors
    /// When there are none, or one is not positive and finite.
    pub fn of(values: &[f64]) -> Result<Self, SampleError> {
        for (position, &value) in values.iter().enumerate() {
            check(position, value)?;
        }
        Self::of_checked(values)
    }

    /// Summarises amounts, which may be zero.
    ///
    /// # Errors
    /// When there are no values, or one is negative, infinite or not a number.
    pub fn of_amounts(values: &[f64]) -> Result<Self, SampleError> {
        for (position, &value) in values.iter().enumerate() {
            if value != 0.0 {
                check(position, value)?;
            }
        }
        Self::of_checked(values)
    }

    fn of_checked(values: &[f64]) -> Result<Self, SampleError> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        let (Some(&min), Some(&max)) = (sorted.first(), sorted.last()) else {
            return Err(SampleError::Empty);
        };
        // Divided before adding, so that the sum of large values stays finite. Rounding may push
        // the mean past the ends, which no reader expects.
        let mean = sorted
            .iter()
            .map(|value| value / n as f64)
            .sum::<f64>()
            .clamp(min, max);
        let middle = n / 2;
        let median = if n.is_multiple_of(2) {
            f64::midpoint(sorted[middle - 1], sorted[middle])
        } else {
            sorted[middle]
        };
        Ok(Self {
            mean,
            median,
            min,
            max,
            n,
            variation: variation(&sorted, mean),
        })
    }

    /// Half the distance between the lowest and the highest value.
    pub fn half_range(&self) -> f64 {
        (self.max - self.min) / 2.0
    }
}

/// Refuses what no rate, duration or cost can be.
pub(crate) fn check(position: usize, value: f64) -> Result<(), SampleError> {
    if value.is_finite() && value > 0.0 {
        Ok(())
    } else {
        Err(SampleError::OutOfDomain { position, value })
    }
}

fn variation(values: &[f64], mean: f64) -> Option<f64> {
    let degrees = values.len().checked_sub(1).filter(|&degrees| degrees > 0)?;
    if mean <= 0.0 {
        return None;
    }
    let squares: f64 = values
        .iter()
        .map(|value| (value / mean - 1.0).powi(2))
        .sum();
    Some((squares / degrees as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_values() {
        let summary = Summary::of(&[4.0, 1.0, 3.0, 2.0]).unwrap();
        assert_eq!((summary.mean, summary.median), (2.5, 2.5));
        assert_eq!((summary.min, summary.max, summary.n), (1.0, 4.0, 4));
        assert!((summary.half_range() - 1.5).abs() < 1e-15);
        // Variance 5/3 by hand.
        let expected = (5.0_f64 / 3.0).sqrt() / 2.5;
        assert!((summary.variation.unwrap() - expected).abs() < 1e-15);
        let odd = Summary::of(&[9.0, 1.0, 2.0]).unwrap();
        assert!((odd.median - 2.0).abs() < 1e-15);
    }

    #[test]
    fn one_value_has_no_variation() {
        let summary = Summary::of(&[7.0]).unwrap();
        assert_eq!((summary.mean, summary.median, summary.n), (7.0, 7.0, 1));
        assert_eq!(summary.variation, None);
    }

    #[test]
    fn what_is_not_a_rate_is_refused() {
        assert_eq!(Summary::of(&[]), Err(SampleError::Empty));
        for bad in [0.0, -1.0, f64::INFINITY, f64::NAN] {
            let result = Summary::of(&[1.0, bad]);
            assert!(matches!(
                result,
                Err(SampleError::OutOfDomain { position: 1, .. })
            ));
        }
    }

    #[test]
    fn amounts_may_be_nothing() {
        let nothing = Summary::of_amounts(&[0.0, 0.0]).unwrap();
        assert!(nothing.mean.abs() < f64::EPSILON && nothing.variation.is_none());
        let some = Summary::of_amounts(&[0.0, 3.0]).unwrap();
        assert_eq!((some.mean, some.min, some.max), (1.5, 0.0, 3.0));
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(Summary::of_amounts(&[bad]).is_err());
        }
        assert_eq!(Summary::of_amounts(&[]), Err(SampleError::Empty));
    }

    proptest! {
        /// Centre lies between the ends, whatever the rounding.
        #[test]
        fn centre_is_inside(values in vec(1e-300..1e300_f64, 1..30)) {
            let summary = Summary::of(&values).unwrap();
            prop_assert!(summary.min <= summary.mean && summary.mean <= summary.max);
            prop_assert!(summary.min <= summary.median && summary.median <= summary.max);
        }

        /// A change of unit changes nothing but the unit.
        #[test]
        fn scales(values in vec(1e-3..1e9_f64, 2..30), factor in 1e-6..1e6_f64) {
            let before = Summary::of(&values).unwrap();
            let scaled: Vec<f64> = values.iter().map(|value| value * factor).collect();
            let after = Summary::of(&scaled).unwrap();
            prop_assert!((after.mean / before.mean / factor - 1.0).abs() < 1e-12);
            let (before, after) = (before.variation.unwrap(), after.variation.unwrap());
            prop_assert!((before - after).abs() < 1e-12);
        }

        /// The order of the values does not matter.
        #[test]
        fn order_does_not_matter(mut values in vec(1e-3..1e9_f64, 1..30)) {
            let before = Summary::of(&values).unwrap();
            values.reverse();
            prop_assert_eq!(before, Summary::of(&values).unwrap());
        }
    }
}
