//! Median and range of a few values.

use std::fmt;

/// Median, lowest and highest of the rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl Spread {
    /// `None` without values.
    pub(crate) fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        let (min, max) = (*values.first()?, *values.last()?);
        let [lower, upper] = [(values.len() - 1) / 2, values.len() / 2].map(|at| values[at]);
        let median = f64::midpoint(lower, upper);
        Some(Self { median, min, max })
    }
}

/// Writes `0.42 (0.40 to 0.45)`, with the digits of the formatter's precision.
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
