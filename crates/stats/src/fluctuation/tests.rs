//! Tests with noise of known variance.

use proptest::prelude::*;

use super::*;

/// Standard normal numbers from a seed: `SplitMix64` and the method of Box and Muller.
struct Normal(u64);

impl Normal {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn next(&mut self) -> f64 {
        let (radius, angle) = (1.0 - self.uniform(), self.uniform());
        (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
    }
}

/// Rates around 1,000 with this standard deviation, in which each window keeps a share of the
/// deviation of the last: AR(1) noise, and white noise where the share is 0.
fn rates(seed: u64, windows: usize, deviation: f64, kept: f64) -> Vec<f64> {
    let mut normal = Normal(seed);
    let mut state = normal.next();
    let fresh = (1.0 - kept * kept).sqrt();
    (0..windows)
        .map(|_| {
            state = kept * state + fresh * normal.next();
            1_000.0 * (1.0 + deviation * state)
        })
        .collect()
}

/// Standard deviation of the mean of `n` windows of such noise: Priestley, Spectral Analysis and
/// Time Series, 5.3.
fn of_mean(n: f64, deviation: f64, kept: f64) -> f64 {
    let long = (1.0 + kept) / (1.0 - kept);
    let ends = 2.0 * kept * (1.0 - kept.powf(n)) / (n * (1.0 - kept).powi(2));
    deviation * ((long - ends) / n).sqrt()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// The deviation of a mean over any time is that of the noise, white or not.
    #[test]
    fn deviation_is_that_of_the_noise(
        seed: u64,
        deviation in 0.01..0.1_f64,
        kept in 0.0..0.7_f64,
        seconds in 0.25..60.0_f64,
    ) {
        let fluctuation = Fluctuation::of(&rates(seed, 10_000, deviation, kept), 0.25).unwrap();
        let expected = of_mean(seconds / 0.25, deviation, kept);
        let estimated = fluctuation.log_deviation(seconds);
        prop_assert!((estimated / expected - 1.0).abs() < 0.25, "{estimated} {expected}");
    }

    /// White noise of 40 windows, as a calibration has them: right to a factor of two.
    #[test]
    fn few_windows_give_the_size(seed: u64, seconds in 0.25..10.0_f64) {
        let fluctuation = Fluctuation::of(&rates(seed, 40, 0.05, 0.0), 0.25).unwrap();
        let ratio = fluctuation.log_deviation(seconds) / of_mean(seconds / 0.25, 0.05, 0.0);
        prop_assert!((0.4..2.2).contains(&ratio), "{ratio}");
    }

    /// The pairs and the seconds that are asked for are enough, and one pair less is not.
    #[test]
    fn answers_are_enough(
        seed: u64,
        deviation in 0.005..0.3_f64,
        kept in 0.0..0.9_f64,
        seconds in 0.25..20.0_f64,
        wanted in 0.005..0.2_f64,
        pairs in 2..20_u32,
    ) {
        let rates = rates(seed, 40, deviation, kept);
        // A wide normal distribution has values that no rate has.
        prop_assume!(rates.iter().all(|rate| *rate > 0.0));
        let fluctuation = Fluctuation::of(&rates, 0.25).unwrap();
        if let Some(enough) = fluctuation.pairs_for(seconds, wanted) {
            prop_assert!(fluctuation.half_width(seconds, enough).unwrap() <= wanted);
            if enough > 2 {
                prop_assert!(fluctuation.half_width(seconds, enough - 1).unwrap() > wanted);
            }
        }
        let time = fluctuation.seconds_for(pairs, wanted).unwrap();
        prop_assert!(fluctuation.half_width(time, pairs).unwrap() <= wanted * (1.0 + 1e-9));
    }
}

/// Intervals of simulated pairs are as wide as expected. The expectation of a sample's standard
/// deviation is 0.94 of the true one with five values.
#[test]
fn half_width_is_that_of_simulated_intervals() {
    const PAIRS: u32 = 5;
    let deviation = 0.05;
    let fluctuation = Fluctuation::of(&rates(1, 10_000, deviation, 0.0), 1.0).unwrap();
    let mut normal = Normal(2);
    let mut value = || (1.0 + deviation * normal.next()).ln();
    let mut widths = 0.0;
    for _ in 0..2_000 {
        let logs: Vec<f64> = (0..PAIRS).map(|_| value() - value()).collect();
        let mean = logs.iter().sum::<f64>() / f64::from(PAIRS);
        let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
        let error = (squares / f64::from(PAIRS - 1) / f64::from(PAIRS)).sqrt();
        widths += t_quantile(0.975, PAIRS - 1).unwrap() * error;
    }
    let simulated = widths / 2_000.0;
    let expected = fluctuation.half_width(1.0, PAIRS).unwrap().ln_1p();
    assert!(
        (simulated / expected / 0.94 - 1.0).abs() < 0.05,
        "{simulated} {expected}"
    );
}

#[test]
fn one_pair_has_no_interval() {
    let fluctuation = Fluctuation::of(&rates(1, 40, 0.05, 0.0), 0.25).unwrap();
    for pairs in [0, 1] {
        assert_eq!(fluctuation.half_width(1.0, pairs), None);
        assert_eq!(fluctuation.seconds_for(pairs, 0.01), None);
    }
}

#[test]
fn a_rate_that_never_changes_needs_two_pairs() {
    let steady = Fluctuation::of(&[5.0; 8], 0.25).unwrap();
    assert_eq!(steady.half_width(1.0, 2), Some(0.0));
    assert_eq!(steady.pairs_for(1.0, 0.01), Some(2));
    assert_eq!(steady.seconds_for(2, 0.01), Some(0.25));
}

#[test]
fn useless_windows_are_refused() {
    for (rates, window_s) in [
        (vec![1.0; 7], 0.25),
        (vec![0.0; 8], 0.25),
        (vec![-1.0; 8], 0.25),
        (vec![f64::NAN; 8], 0.25),
        (vec![1.0; 8], 0.0),
        (vec![1.0; 8], f64::INFINITY),
    ] {
        assert!(Fluctuation::of(&rates, window_s).is_err(), "{rates:?}");
    }
    let stalled = [0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
    assert!(Fluctuation::of(&stalled, 0.25).is_ok());
}
