//! The middle of a few values, and how far they lie apart.

use std::fmt;

/// Median, least and greatest of the rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spread {
    pub(super) median: f64,
    pub(super) min: f64,
    pub(super) max: f64,
}

impl Spread {
    /// `None` of no values.
    pub(super) fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        let (min, max) = (*values.first()?, *values.last()?);
        let middle = values.len() / 2;
        let upper = *values.get(middle)?;
        let median = if values.len() % 2 == 1 {
            upper
        } else {
            f64::midpoint(*values.get(middle - 1)?, upper)
        };
        Some(Self { median, min, max })
    }
}

/// `0.42 (0.40 to 0.45)`, with as many digits as asked for.
impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = f.precision().unwrap_or(2);
        let Self { median, min, max } = self;
        write!(f, "{median:.digits$} ({min:.digits$} to {max:.digits$})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> Option<Spread> {
        Spread::of(values.iter().copied())
    }

    #[test]
    fn the_middle_of_odd_and_even_numbers_of_values() {
        assert_eq!(of(&[]), None);
        let odd = of(&[3.0, 1.0, 2.5]).unwrap();
        assert_eq!((odd.median, odd.min, odd.max), (2.5, 1.0, 3.0));
        assert!((of(&[4.0, 1.0, 3.0, 2.0]).unwrap().median - 2.5).abs() < 1e-12);
    }

    #[test]
    fn shows_the_range() {
        let spread = of(&[0.4, 0.421, 0.46]).unwrap();
        assert_eq!(spread.to_string(), "0.42 (0.40 to 0.46)");
        assert_eq!(format!("{spread:.1}"), "0.4 (0.4 to 0.5)");
    }
}
