//! Positions and marks of axes.

use crate::words::separated;

/// A place on an axis with its label.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tick {
    pub(super) value: f64,
    pub(super) label: String,
}

/// Maps figures to positions in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Positions {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    is_log: bool,
}

impl Positions {
    /// In proportion, `low` at `from` and `high` at `to`, both in pixels.
    pub(super) fn linear((low, high): (f64, f64), (from, to): (f64, f64)) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        Self {
            low,
            high,
            from,
            to,
            is_log: false,
        }
    }

    /// By the logarithm of figures above 0.
    pub(super) fn log((low, high): (f64, f64), (from, to): (f64, f64)) -> Self {
        let high = if high > low { high } else { low * 2.0 };
        Self {
            low: low.ln(),
            high: high.ln(),
            from,
            to,
            is_log: true,
        }
    }

    /// The position of a figure; figures beyond an end are at that end.
    pub(super) fn at(&self, value: f64) -> f64 {
        let value = if self.is_log {
            value.max(f64::MIN_POSITIVE).ln()
        } else {
            value
        };
        let share = (value - self.low) / (self.high - self.low);
        self.from + share.clamp(0.0, 1.0) * (self.to - self.from)
    }
}

/// About `wanted` round figures from 0 to at least `high`: steps of 1, 2 or 5 times a power of ten.
pub(super) fn from_zero(high: f64, wanted: usize) -> Vec<Tick> {
    let high = if high > 0.0 { high } else { 1.0 };
    let step = round_step(high / wanted.max(1) as f64);
    let mut ticks = Vec::new();
    let mut index = 0;
    loop {
        let value = f64::from(index) * step;
        ticks.push(Tick {
            value,
            label: label(value, step),
        });
        if value >= high * (1.0 - 1e-9) {
            return ticks;
        }
        index += 1;
    }
}

/// Round figures from at most `low` to at least `high`, both above 0, for an axis by the logarithm:
/// powers of ten if these suffice, else 1-2-5 or finer.
pub(super) fn log(low: f64, high: f64, wanted: usize) -> Vec<Tick> {
    const SERIES: [&[f64]; 4] = [
        &[1.0],
        &[1.0, 2.0, 5.0],
        &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0],
        &[
            1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 5.5, 6.0,
            6.5, 7.0, 7.5, 8.0, 8.5, 9.0, 9.5,
        ],
    ];
    let all = SERIES.iter().map(|series| around(low, high, series));
    let mut best: Vec<f64> = Vec::new();
    for values in all {
        let is_better = best.len() < 3 || values.len() <= wanted;
        if is_better {
            best = values;
        }
    }
    // Too many are thinned; the ends stay.
    let every = best.len().div_ceil(wanted.max(2));
    let last = best.len().saturating_sub(1);
    let kept = |index: usize| {
        index == 0 || index == last || index.is_multiple_of(every) && last - index >= every
    };
    let values = best.iter().enumerate().filter(|(index, _)| kept(*index));
    values
        .map(|(_, &value)| Tick {
            value,
            label: label(value, value / 10.0),
        })
        .collect()
}

/// The members of a series in all decades from the last at most `low` to the first at least `high`.
fn around(low: f64, high: f64, series: &[f64]) -> Vec<f64> {
    let (first, last) = (decade(low) - 1, decade(high) + 1);
    let powers = (first..=last).map(|power| 10_f64.powi(power));
    let all: Vec<f64> = powers
        .flat_map(|power| series.iter().map(move |digit| digit * power))
        .collect();
    let from = all
        .iter()
        .rposition(|&v| v <= low * (1.0 + 1e-9))
        .unwrap_or(0);
    let to = all.iter().position(|&v| v >= high * (1.0 - 1e-9));
    all[from..=to.unwrap_or(all.len() - 1)].to_vec()
}

/// The power of ten of the first digit.
fn decade(value: f64) -> i32 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the logarithm of a finite f64 is within ±324"
    )]
    let decade = value.log10().floor() as i32;
    decade
}

/// The least of 1, 2, 5 times a power of ten that is at least `least`.
fn round_step(least: f64) -> f64 {
    let power = 10_f64.powi(decade(least));
    let digits = [1.0, 2.0, 5.0, 10.0];
    let step = digits
        .iter()
        .find(|digit| **digit * power >= least * (1.0 - 1e-9));
    step.unwrap_or(&10.0) * power
}

/// A figure with the digits that tell it from others `step` away, thousands as `k` and millions as
/// `M`, so that labels stay short.
fn label(value: f64, step: f64) -> String {
    let (value, step, unit) = match value.abs() {
        v if v >= 1e6 => (value / 1e6, step / 1e6, "M"),
        v if v >= 1e4 => (value / 1e3, step / 1e3, "k"),
        _ => (value, step, ""),
    };
    let decimals = usize::try_from(-decade(step * (1.0 + 1e-9))).unwrap_or(0);
    let text = format!("{value:.decimals$}");
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    format!("{}{unit}", separated(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn round_figures_reach_the_greatest() {
        assert_eq!(labels(&from_zero(17.0, 4)), ["0", "5", "10", "15", "20"]);
        assert_eq!(
            labels(&from_zero(0.34, 4)),
            ["0", "0.1", "0.2", "0.3", "0.4"]
        );
        assert_eq!(labels(&from_zero(41_000.0, 4)), ["0", "20k", "40k", "60k"]);
        assert_eq!(labels(&from_zero(0.0, 2)), ["0", "0.5", "1"]);
    }

    #[test]
    fn logarithms_have_round_figures_around_them() {
        assert_eq!(labels(&log(1.0, 100.0, 6)), ["1", "10", "100"]);
        assert_eq!(labels(&log(3.0, 41.0, 6)), ["2", "5", "10", "20", "50"]);
        let ticks = log(0.47, 1.02, 8);
        assert!(ticks[0].value <= 0.47 && ticks.last().unwrap().value >= 1.02);
    }

    proptest::proptest! {
        /// Axes hold their figures, with at least two and not many more labels than wanted.
        #[test]
        fn axes_hold_their_figures(low in 1e-6..1e9_f64, factor in 1.0..1e6_f64, wanted in 3_usize..9) {
            let high = low * factor;
            let ticks = log(low, high, wanted);
            proptest::prop_assert!(ticks[0].value <= low * 1.000_001);
            proptest::prop_assert!(ticks.last().unwrap().value >= high * 0.999_999);
            proptest::prop_assert!(ticks.len() <= wanted + 2, "{ticks:?}");
            let ticks = from_zero(high, wanted);
            proptest::prop_assert!(ticks.last().unwrap().value >= high * 0.999_999);
            proptest::prop_assert!(ticks.len() <= wanted * 3);
        }
    }
}
