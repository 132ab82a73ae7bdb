//! Numbers as people read them.
//!
//! **Digits.** The last digit shown is in the place of the first digit of the half range: the mean
//! 41 203 with a half range of 860 is shown as 41,200. At least two and at most four significant
//! digits are shown; three where a single block leaves the spread unknown.

use prony_stats::{Interval, Summary};
use serde::Serialize;

use crate::analysis::estimate::Estimate;
use crate::words::separated;

/// Finest place that a ratio is shown to: thousandths.
const RATIO_PLACE_MIN: i32 = -3;

/// Finest place that an amount of a cost is shown to.
const PLAIN_PLACE_MIN: i32 = -4;

/// A mean with half its range in percent, such as `41,200 ±2.1%`.
pub(crate) fn mean(summary: &Summary) -> String {
    let value = number(summary.mean, place(summary.mean, spread(summary)));
    match spread(summary) {
        Some(half_range) => format!("{value} ±{}", percent(half_range / summary.mean)),
        None => value,
    }
}

/// The same of an amount, which may be nothing.
pub(crate) fn amount(summary: &Summary) -> String {
    little(summary.mean).unwrap_or_else(|| mean(summary))
}

/// The mean of an amount alone, to the digits that its spread supports, for tables of many columns.
pub(crate) fn plain(summary: &Summary) -> String {
    little(summary.mean).unwrap_or_else(|| {
        let place = place(summary.mean, spread(summary)).max(PLAIN_PLACE_MIN);
        number(summary.mean, place)
    })
}

/// Nothing, and what is too little for its digits to matter.
fn little(mean: f64) -> Option<String> {
    let least = 10_f64.powi(PLAIN_PLACE_MIN);
    match mean {
        mean if mean <= 0.0 => Some("0".to_owned()),
        mean if mean < least => Some(format!("<{}", number(least, PLAIN_PLACE_MIN))),
        _ => None,
    }
}

/// A ratio alone, to the digits that its interval supports.
pub(crate) fn plain_ratio(estimate: &Estimate) -> String {
    number(
        estimate.ratio(),
        ratio_place(estimate.ratio(), estimate.interval),
    )
}

/// A ratio with its interval, such as `0.71 [0.70, 0.73]`; alone where there is no interval.
pub(crate) fn ratio(estimate: &Estimate) -> String {
    with_interval(estimate.ratio(), estimate.interval)
}

/// The same of a ratio that is no estimate of pairs.
pub(crate) fn with_interval(ratio: f64, interval: Option<Interval>) -> String {
    match parts(ratio, interval) {
        (centre, Some((low, high))) => format!("{centre} [{low}, {high}]"),
        (centre, None) => centre,
    }
}

/// A ratio in parts: the ratio, then the bounds of its interval.
pub(crate) fn ratio_parts(estimate: &Estimate) -> (String, Option<(String, String)>) {
    parts(estimate.ratio(), estimate.interval)
}

fn parts(ratio: f64, interval: Option<Interval>) -> (String, Option<(String, String)>) {
    let shown = |value| number(value, ratio_place(ratio, interval));
    let bounds = |Interval { low, high }| (shown(low), shown(high));
    (shown(ratio), interval.map(bounds))
}

fn ratio_place(ratio: f64, interval: Option<Interval>) -> i32 {
    let half_width = interval.map(|of| (of.high - of.low) / 2.0);
    place(ratio, half_width).max(RATIO_PLACE_MIN)
}

/// A measured value that is no mean of blocks, to three digits.
pub(crate) fn significant(value: f64) -> String {
    if value > 0.0 {
        number(value, place(value, None))
    } else {
        "0".to_owned()
    }
}

/// The word that stands for a variant in every file of Prony.
pub(crate) fn word<T: Serialize>(variant: &T) -> String {
    let value = serde_json::to_value(variant).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

/// `value` cut to `decimals` places, for formats that programs read.
pub(crate) fn rounded(value: f64, decimals: i32) -> f64 {
    let scale = 10_f64.powi(decimals);
    (value * scale).round() / scale
}

/// `value` with three decimals.
pub(crate) fn thousandths(value: f64) -> f64 {
    rounded(value, 3)
}

/// Half the range, where more than one block gives it a meaning.
fn spread(summary: &Summary) -> Option<f64> {
    (summary.n > 1).then(|| summary.half_range())
}

/// The power of ten of the last digit worth showing.
fn place(value: f64, half_range: Option<f64>) -> i32 {
    let first = exponent(value);
    match half_range {
        None => first - 2,
        Some(half_range) if half_range > 0.0 => exponent(half_range).clamp(first - 3, first - 1),
        Some(_) => first - 3,
    }
}

/// The power of ten of the first digit of a positive number.
fn exponent(value: f64) -> i32 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the logarithm of a finite f64 is within ±324"
    )]
    let exponent = value.log10().floor() as i32;
    exponent
}

fn number(value: f64, place: i32) -> String {
    if place > 0 {
        let scale = 10_f64.powi(place);
        return separated(&format!("{:.0}", (value / scale).round() * scale));
    }
    let decimals = place.unsigned_abs() as usize;
    separated(&format!("{value:.decimals$}"))
}

fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent < 9.95 {
        format!("{percent:.1}%")
    } else {
        format!("{percent:.0}%")
    }
}

#[cfg(test)]
mod tests {
    use prony_stats::Pairs;

    use super::*;
    use crate::analysis::estimate::PlannedLooks;

    fn shown_mean(values: &[f64]) -> String {
        mean(&Summary::of(values).unwrap())
    }

    fn estimate(pairs: &[(f64, f64)]) -> Estimate {
        let plan = prony_testkit::plan("p", Vec::new(), Vec::new(), 0);
        let pairs = Pairs::of(pairs.to_vec()).unwrap();
        PlannedLooks::of(&plan).of_pairs(&pairs)
    }

    fn shown_ratio(pairs: &[(f64, f64)]) -> String {
        ratio(&estimate(pairs))
    }

    #[test]
    fn digits_follow_the_spread() {
        assert_eq!(shown_mean(&[40_343.0, 42_063.0]), "41,200 ±2.1%");
        assert_eq!(shown_mean(&[41_202.0, 41_204.0]), "41,200 ±0.0%");
        assert_eq!(shown_mean(&[1_000.0, 9_000.0]), "5,000 ±80%");
        assert_eq!(shown_mean(&[41_203.0]), "41,200");
        assert_eq!(shown_mean(&[0.012_34, 0.012_36]), "0.01235 ±0.1%");
        assert_eq!(shown_mean(&[7.0, 7.0]), "7.000 ±0.0%");
        assert_eq!(shown_mean(&[1_234_567.0, 1_244_567.0]), "1,240,000 ±0.4%");
    }

    #[test]
    fn ratios_keep_their_interval() {
        assert_eq!(
            shown_ratio(&[(70.0, 100.0), (73.0, 100.0)]),
            "0.71 [0.55, 0.93]"
        );
        assert_eq!(
            shown_ratio(&[(71.01, 100.0), (71.05, 100.0)]),
            "0.710 [0.708, 0.713]"
        );
        assert_eq!(shown_ratio(&[(715.4, 1000.0)]), "0.715");
        assert_eq!(
            shown_ratio(&[(12_000.0, 1.0), (14_000.0, 1.0)]),
            "13,000 [5,000, 35,000]"
        );
        assert_eq!(
            shown_ratio(&[(5.0, 4.0), (5.0, 4.0)]),
            "1.250 [1.250, 1.250]"
        );
    }

    #[test]
    fn figures_of_narrow_columns_have_the_same_digits() {
        let plain = |values: &[f64]| plain(&Summary::of_amounts(values).unwrap());
        assert_eq!(plain(&[40_343.0, 42_063.0]), "41,200");
        assert_eq!(plain(&[0.012_3]), "0.0123");
        assert_eq!(plain(&[0.001_234]), "0.0012");
        assert_eq!(plain(&[0.000_01]), "<0.0001");
        assert_eq!(plain(&[0.0, 0.0]), "0");
        let some = Summary::of_amounts(&[0.0, 2.0]).unwrap();
        assert_eq!(amount(&some), "1.0 ±100%");
        assert_eq!(amount(&Summary::of_amounts(&[0.0]).unwrap()), "0");
        let ratio = |pairs: &[(f64, f64)]| plain_ratio(&estimate(pairs));
        assert_eq!(ratio(&[(70.0, 100.0), (73.0, 100.0)]), "0.71");
        assert_eq!(ratio(&[(715.4, 1000.0)]), "0.715");
    }

    #[test]
    fn values_alone() {
        for (value, text) in [
            (0.0, "0"),
            (0.012_345, "0.0123"),
            (1.0, "1.00"),
            (98.76, "98.8"),
            (207_640.0, "208,000"),
        ] {
            assert_eq!(significant(value), text);
        }
    }

    proptest::proptest! {
        /// A shown value is off by at most half a unit of its last place, which is at most the
        /// half range or a twentieth of the value.
        #[test]
        fn shown_values_are_near(low in 1e-3..1e9_f64, width in 0.0..0.5_f64) {
            let summary = Summary::of(&[low, low * (1.0 + width)]).unwrap();
            let shown = mean(&summary);
            let value: f64 = shown.split(' ').next().unwrap().replace(',', "").parse().unwrap();
            let allowed = (summary.half_range() / 2.0).max(summary.mean * 0.000_51);
            proptest::prop_assert!((value - summary.mean).abs() <= allowed, "{shown}");
        }
    }
}
