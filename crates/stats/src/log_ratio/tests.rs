use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

const LOGS: [f64; 8] = [0.012, -0.004, 0.021, 0.008, 0.015, -0.001, 0.019, 0.006];

fn assert_bounds(interval: Interval, low: f64, high: f64) {
    assert!((interval.low.ln() - low).abs() < 1e-9, "{interval:?}");
    assert!((interval.high.ln() - high).abs() < 1e-9, "{interval:?}");
}

/// scipy 1.17.1: `scipy.stats.t.interval(level, 7, mean, sem)`, and mean and sd of numpy.
#[test]
fn known_intervals() {
    let log = LogRatio::of(&LOGS).unwrap();
    assert_eq!(log.n, 8);
    assert!((log.mean - 0.0095).abs() < 1e-15);
    assert!((log.deviation.unwrap() - 0.008_992_059_989_632_123).abs() < 1e-15);
    assert!((log.ratio() - 0.0095_f64.exp()).abs() < 1e-15);
    let (low, high) = (0.003_476_806_288_204_569_4, 0.015_523_193_711_795_433);
    assert_bounds(log.interval(0.9).unwrap(), low, high);
    let (low, high) = (0.001_982_449_720_118_104, 0.017_017_550_279_881_898);
    assert_bounds(log.interval(0.95).unwrap(), low, high);
    let half = ((high - low) / 2.0).exp_m1();
    assert!((log.half_width(0.95).unwrap() - half).abs() < 1e-9);
    let (low, high) = (-0.001_625_463_854_867_748_4, 0.020_625_463_854_867_75);
    assert_bounds(log.interval(0.99).unwrap(), low, high);
}

/// scipy 1.17.1: `scipy.stats.ttest_1samp`, two-sided, and the larger of the two one-sided ones against
/// ±log1p(0.02).
#[test]
fn known_p_values() {
    let log = LogRatio::of(&LOGS).unwrap();
    assert!((log.p_value().unwrap() - 0.020_278_011_501_443_136).abs() < 1e-10);
    assert!((log.equivalence_p(0.02).unwrap() - 0.007_119_998_981_722_947).abs() < 1e-10);
}

/// scipy 1.17.1: first n with `chi2.cdf((n - 1) (log1p(h) √n ÷ (t s))², n - 1)` of 0.8 or more.
#[test]
fn known_numbers_of_pairs() {
    for (deviation, half_width, expected) in [(0.01, 0.01, 8), (0.01, 0.005, 22), (0.02, 0.01, 22)]
    {
        let log = LogRatio {
            n: 3,
            mean: 0.0,
            deviation: Some(deviation),
        };
        assert_eq!(log.pairs_for(half_width, 0.95), Some(expected));
    }
}

#[test]
fn narrow_intervals_need_no_more_pairs() {
    let log = LogRatio::of(&LOGS).unwrap();
    let half = log.half_width(0.95).unwrap();
    assert_eq!(log.pairs_for(half * 1.000_1, 0.95), Some(8));
    assert!(log.pairs_for(half * 0.999, 0.95).unwrap() > 8);
    assert_eq!(log.pairs_for(1e-9, 0.95), None);
    assert_eq!(log.pairs_for(0.0, 0.95), None);
}

#[test]
fn one_pair_has_a_ratio_only() {
    let one = LogRatio::of(&[0.1]).unwrap();
    assert!((one.ratio() - 0.1_f64.exp()).abs() < 1e-15);
    assert_eq!(one.deviation, None);
    assert_eq!(one.interval(0.95), None);
    assert_eq!(one.half_width(0.95), None);
    assert_eq!(one.p_value(), None);
    assert_eq!(one.equivalence_p(0.01), None);
    assert_eq!(one.pairs_for(0.01, 0.95), None);
}

#[test]
fn equal_pairs_are_certain() {
    let same = LogRatio::of(&[0.0; 4]).unwrap();
    assert_eq!(same.p_value(), Some(1.0));
    assert_eq!(same.equivalence_p(0.01), Some(0.0));
    assert_eq!(
        same.interval(0.95),
        Some(Interval {
            low: 1.0,
            high: 1.0
        })
    );
    let other = LogRatio::of(&[0.5; 4]).unwrap();
    assert_eq!(other.p_value(), Some(0.0));
    assert_eq!(other.equivalence_p(0.01), Some(1.0));
}

#[test]
fn what_is_no_logarithm_is_refused() {
    assert_eq!(LogRatio::of(&[]), Err(SampleError::Empty));
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e4, -1e4] {
        assert!(matches!(
            LogRatio::of(&[0.0, bad]),
            Err(SampleError::OutOfDomain { position: 1, .. })
        ));
    }
}

#[test]
fn levels_and_margins_out_of_range_are_none() {
    let log = LogRatio::of(&LOGS).unwrap();
    for level in [0.0 - 1.0, 1.0, 2.0, f64::NAN] {
        assert_eq!(log.interval(level), None);
    }
    for margin in [0.0, -0.5, f64::NAN, f64::INFINITY] {
        assert_eq!(log.equivalence_p(margin), None);
    }
    let wide = LogRatio::of(&[700.0, -700.0]).unwrap();
    assert_eq!(wide.interval(0.95), None);
}

proptest! {
    /// The interval of a level leaves out 1 exactly if the p-value is below the rest.
    #[test]
    fn interval_and_p_value_agree(logs in vec(-0.02..0.03_f64, 2..30), level in 0.5..0.999_f64) {
        let log = LogRatio::of(&logs).unwrap();
        let interval = log.interval(level).unwrap();
        let leaves_out = interval.low > 1.0 || interval.high < 1.0;
        let p = log.p_value().unwrap();
        prop_assume!((p - (1.0 - level)).abs() > 1e-7);
        prop_assert_eq!(leaves_out, p < 1.0 - level);
    }

    /// Equivalence at 5 % is the interval of 90 % between the bounds of the margin.
    #[test]
    fn interval_and_equivalence_agree(logs in vec(-0.02..0.02_f64, 2..30), margin in 0.001..0.05_f64) {
        let log = LogRatio::of(&logs).unwrap();
        let p = log.equivalence_p(margin).unwrap();
        prop_assume!((p - 0.05).abs() > 1e-7);
        let is_inside = log.interval(0.9).is_some_and(|interval| {
            interval.low > 1.0 / (1.0 + margin) && interval.high < 1.0 + margin
        });
        prop_assert_eq!(p < 0.05, is_inside);
    }

    /// The inverse quotients have the inverse ratio and the same tests.
    #[test]
    fn inverse(logs in vec(-1.0..1.0_f64, 2..30)) {
        let there = LogRatio::of(&logs).unwrap();
        let negative: Vec<f64> = logs.iter().map(|log| -log).collect();
        let back = LogRatio::of(&negative).unwrap();
        prop_assert!((there.ratio() * back.ratio() - 1.0).abs() < 1e-12);
        prop_assert!((there.p_value().unwrap() - back.p_value().unwrap()).abs() < 1e-12);
        let (p, q) = (there.equivalence_p(0.1).unwrap(), back.equivalence_p(0.1).unwrap());
        prop_assert!((p - q).abs() < 1e-12);
    }

    /// No result is outside its range, whatever the scale.
    #[test]
    fn results_are_in_range(logs in vec(-700.0..700.0_f64, 2..10), level in 0.01..0.99_f64) {
        let log = LogRatio::of(&logs).unwrap();
        prop_assert!((0.0..=1.0).contains(&log.p_value().unwrap()));
        prop_assert!((0.0..=1.0).contains(&log.equivalence_p(0.01).unwrap()));
        if let Some(interval) = log.interval(level) {
            prop_assert!(0.0 < interval.low && interval.low <= interval.high);
            prop_assert!(interval.high.is_finite());
        }
    }
}
