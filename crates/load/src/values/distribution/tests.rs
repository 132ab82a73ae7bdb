use prony_model::Thousandths;
use proptest::prelude::*;

use super::*;

const SEED: u64 = 20_260;

fn zipfian(exponent: u32, hot: Hot) -> Distribution {
    Distribution::Zipfian {
        exponent: Thousandths(exponent),
        hot,
    }
}

fn pareto(h: u32) -> Distribution {
    Distribution::Pareto { h: Thousandths(h) }
}

const SPECIAL: Distribution = Distribution::Special {
    hot_percent: 1,
    hot_share: 75,
};

fn sampler(distribution: Distribution, count: u64) -> Sampler {
    Sampler::new(distribution, count, 1, SEED)
}

/// So many values of client 0.
fn draw(distribution: Distribution, count: u64, draws: usize) -> Vec<u64> {
    let sampler = sampler(distribution, count);
    let mut state = Draws::new(SEED, 0, 1);
    (0..draws).map(|_| sampler.sample(&mut state, 0)).collect()
}

/// How often each value of `0..count` came.
fn frequencies(distribution: Distribution, count: usize, draws: usize) -> Vec<u64> {
    let mut frequencies = vec![0; count];
    for value in draw(distribution, count as u64, draws) {
        frequencies[usize::try_from(value).unwrap()] += 1;
    }
    frequencies
}

/// Holds frequencies against probabilities, which need not add up to 1. Cells that expect less than
/// 20 are put together. The bound is 5 standard deviations above the mean of chi-squared.
fn assert_fits(name: &str, frequencies: &[u64], weights: &[f64]) {
    let draws: u64 = frequencies.iter().sum();
    let total: f64 = weights.iter().sum();
    let (mut chi_squared, mut cells) = (0.0, 0.0_f64);
    let (mut found, mut expected) = (0.0, 0.0);
    for (frequency, weight) in frequencies.iter().zip(weights) {
        found += *frequency as f64;
        expected += draws as f64 * weight / total;
        if expected >= 20.0 {
            chi_squared += (found - expected).powi(2) / expected;
            cells += 1.0;
            (found, expected) = (0.0, 0.0);
        }
    }
    let freedom = cells - 1.0;
    let bound = freedom + 5.0 * (2.0 * freedom).sqrt() + 10.0;
    assert!(
        chi_squared < bound,
        "{name}: {chi_squared:.1} over {cells} cells"
    );
}

/// Holds the share of values below each limit against the probability, within five standard
/// deviations.
fn assert_quantiles(name: &str, values: &[u64], limits: &[(u64, f64)]) {
    let draws = values.len() as f64;
    for (limit, probability) in limits {
        let below = values.iter().filter(|value| *value < limit).count() as f64;
        let bound = 5.0 * (draws * probability * (1.0 - probability)).sqrt() + 1.0;
        assert!(
            (below - draws * probability).abs() < bound,
            "{name}: {below} of {draws} below {limit}, expected a share of {probability}"
        );
    }
}

#[test]
fn uniform_is_even() {
    let frequencies = frequencies(Distribution::Uniform, 1000, 200_000);
    assert_fits("uniform", &frequencies, &[1.0; 1000]);
}

#[test]
fn zipf_keeps_his_law() {
    for exponent in [0, 1, 500, 800, 999, 1000, 1001, 1200, 2000, 5000] {
        for count in [2, 3, 10, 1000] {
            let frequencies = frequencies(zipfian(exponent, Hot::Adjacent), count, 300_000);
            let weights: Vec<f64> = (1..=count)
                .map(|rank| (rank as f64).powf(-f64::from(exponent) / 1000.0))
                .collect();
            let name = format!("exponent {exponent}, {count} values");
            assert_fits(&name, &frequencies, &weights);
        }
    }
}

/// Sums of a large range, in closed form: the integral is right to within a thousandth.
#[test]
fn zipf_reaches_the_end_of_large_ranges() {
    const COUNT: u64 = 1 << 40;
    let end = COUNT as f64;
    for (exponent, limit) in [(500, COUNT / 4), (800, COUNT / 32), (1000, 1 << 20)] {
        let rest = 1.0 - f64::from(exponent) / 1000.0;
        let probability = if exponent == 1000 {
            // Harmonic numbers: ln n + Euler's constant.
            ((limit as f64).ln() + 0.577_215_7) / (end.ln() + 0.577_215_7)
        } else {
            // The constant is zeta(exponent) × rest: it matters for the steeper curve.
            let zeta = if exponent == 500 {
                -1.460_35
            } else {
                -4.437_54
            };
            ((limit as f64).powf(rest) + rest * zeta) / (end.powf(rest) + rest * zeta)
        };
        let values = draw(zipfian(exponent, Hot::Adjacent), COUNT, 100_000);
        assert_quantiles("zipf", &values, &[(limit, probability)]);
    }
}

#[test]
fn scattering_moves_ranks_and_nothing_else() {
    const COUNT: usize = 1000;
    let mut adjacent = frequencies(zipfian(1100, Hot::Adjacent), COUNT, 100_000);
    let mut scattered = frequencies(zipfian(1100, Hot::Scattered), COUNT, 100_000);
    assert_ne!(adjacent, scattered);
    // The ten most frequent values lie in several tenths of the range.
    let mut order: Vec<usize> = (0..COUNT).collect();
    order.sort_by_key(|value| std::cmp::Reverse(scattered[*value]));
    let mut tenths: Vec<usize> = order[..10].iter().map(|value| value / 100).collect();
    tenths.sort_unstable();
    tenths.dedup();
    assert!(tenths.len() >= 4, "{tenths:?}");
    adjacent.sort_unstable();
    scattered.sort_unstable();
    assert_eq!(adjacent, scattered);
}

#[test]
fn pareto_gives_the_few_the_most() {
    // A share of 1 - h of the draws falls into the first share h; of a share s of the range,
    // s^(ln (1 - h) ÷ ln h).
    for (h, count) in [(200, 1_000_000), (200, 1 << 40), (100, 1000), (500, 10_000)] {
        let share = f64::from(h) / 1000.0;
        let power = (1.0 - share).ln() / share.ln();
        let limit = |part: u64| (count / part, (1.0 / part as f64).powf(power));
        let values = draw(pareto(h), count, 200_000);
        assert_quantiles(
            "pareto",
            &values,
            &[limit(2), limit(5), limit(10), limit(100)],
        );
    }
}

/// Irwin and Hall's distribution function of the sum of n uniform numbers, divided by n.
fn bates(x: f64, terms: u32) -> f64 {
    let sum = x * f64::from(terms);
    let mut total = 0.0;
    let mut binomial = 1.0;
    for k in 0..=terms {
        let left = sum - f64::from(k);
        if left <= 0.0 {
            break;
        }
        let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
        total += sign * binomial * left.powi(terms.cast_signed());
        binomial *= f64::from(terms - k) / f64::from(k + 1);
    }
    total / (1..=terms).map(f64::from).product::<f64>()
}

#[test]
fn gaussian_is_the_mean_of_twelve() {
    let limits = [30_u32, 40, 45, 50, 55, 60, 70];
    for count in [1000, 1 << 40] {
        let values = draw(Distribution::Gaussian, count, 200_000);
        let limits = limits.map(|percent| {
            let share = f64::from(percent) / 100.0;
            (count * u64::from(percent) / 100, bates(share, 12))
        });
        assert_quantiles("gaussian", &values, &limits);
    }
}

#[test]
fn special_has_a_hot_window() {
    const COUNT: u64 = 100_000;
    let values = draw(SPECIAL, COUNT, 200_000);
    // 1 % in the middle gets 75 %, and what the bell gives it.
    let bell = |x: f64| 0.25 * bates(x, 12);
    let (low, high) = (COUNT / 2 - 500, COUNT / 2 + 500);
    assert_quantiles(
        "special",
        &values,
        &[
            (COUNT * 4 / 10, bell(0.4)),
            (low, bell(0.495)),
            (COUNT / 2, 0.5),
            (high, 0.75 + bell(0.505)),
            (COUNT * 6 / 10, 0.75 + bell(0.6)),
        ],
    );
    let hot = values.iter().filter(|v| (low..high).contains(v)).count() as f64 / 2e5;
    let expected = 0.75 + bell(0.505) - bell(0.495);
    assert!((hot - expected).abs() < 0.005, "{hot} {expected}");
    // Within the window all are alike.
    let window: Vec<u64> = values
        .iter()
        .filter(|value| (low..high).contains(value))
        .map(|value| value - low)
        .collect();
    let mut counts = [0; 20];
    for value in window {
        counts[usize::try_from(value / 50).unwrap()] += 1;
    }
    assert_fits("window", &counts, &[1.0; 20]);
}

#[test]
fn sequential_counts_and_begins_again() {
    assert_eq!(draw(Distribution::Sequential, 3, 7), [0, 1, 2, 0, 1, 2, 0]);
}

/// What all clients draw in so many turns.
fn unique(count: u64, clients: u32, turns: u64) -> Vec<u64> {
    let sampler = Sampler::new(Distribution::Unique, count, clients, SEED);
    let mut all: Vec<Draws> = (0..clients)
        .map(|client| Draws::new(SEED, client, 1))
        .collect();
    (0..turns)
        .flat_map(|_| {
            let turn = all.iter_mut().map(|draws| sampler.sample(draws, 0));
            turn.collect::<Vec<_>>()
        })
        .collect()
}

/// Rounds in the same order: even clients at different rounds meet no value twice too soon.
#[test]
fn unique_rounds_are_alike() {
    let values = unique(100, 4, 50);
    let (first, second) = values.split_at(100);
    assert_eq!(first, second);
    assert!(!first.is_sorted());
}

#[test]
fn edges() {
    for distribution in [
        Distribution::Uniform,
        zipfian(0, Hot::Scattered),
        zipfian(800, Hot::Adjacent),
        zipfian(1000, Hot::Scattered),
        zipfian(100_000, Hot::Adjacent),
        pareto(1),
        pareto(200),
        pareto(999),
        Distribution::Gaussian,
        SPECIAL,
        Distribution::Special {
            hot_percent: 100,
            hot_share: 100,
        },
        Distribution::Sequential,
        Distribution::Unique,
    ] {
        for count in [1, 2, 3, 1 << 40, u64::MAX >> 1] {
            let values = draw(distribution, count, 2000);
            assert!(
                values.iter().all(|value| *value < count),
                "{distribution:?} of {count}"
            );
            // Even two values are both drawn, unless one is beyond all proportion.
            let steep = matches!(distribution, Distribution::Zipfian { exponent, .. } if exponent.0 > 9000)
                || distribution == pareto(1)
                || distribution == pareto(999);
            if count == 2 && !steep {
                assert!(
                    values.contains(&0) && values.contains(&1),
                    "{distribution:?}"
                );
            }
        }
    }
}

proptest! {
    /// No value comes twice before all came, however many clients share the range.
    #[test]
    fn unique_rounds_are_complete(clients in 1..9_u32, turns in 1..60_u64) {
        let count = u64::from(clients) * turns;
        let values = unique(count, clients, 3 * turns);
        for round in values.chunks(usize::try_from(count).unwrap()) {
            let mut sorted = round.to_vec();
            sorted.sort_unstable();
            prop_assert!(sorted.into_iter().eq(0..count));
        }
    }

    /// All values lie in the range, and the same seed gives the same ones.
    #[test]
    fn values_stay_in_the_range(
        exponent in 0..3000_u32,
        h in 1..1000_u32,
        hot_percent in 1..=100_u32,
        hot_share in 0..=100_u32,
        count in 1_u64..(1 << 62),
    ) {
        for distribution in [
            zipfian(exponent, Hot::Adjacent),
            zipfian(exponent, Hot::Scattered),
            pareto(h),
            Distribution::Gaussian,
            Distribution::Special { hot_percent, hot_share },
            Distribution::Unique,
        ] {
            let values = draw(distribution, count, 20);
            prop_assert!(values.iter().all(|value| *value < count));
            prop_assert_eq!(draw(distribution, count, 20), values);
        }
    }
}
