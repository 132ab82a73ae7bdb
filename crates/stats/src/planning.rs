//! Number of pairs that a question needs.

use statrs::function::gamma::gamma_lr;

use crate::student::{noncentral_t, t_quantile};

/// Most pairs that are considered.
const PAIRS_MAX: u32 = 100_000;

/// The two-sided t test of pairs before its data exist.
///
/// Effects are true ratios less 1: 0.02 is a ratio of 1.02. Formulas: Cohen, Statistical power analysis
/// for the behavioral sciences, 1988, chapter 2. With an effect of log size e and n pairs, the test's
/// statistic has the noncentral t distribution of n − 1 degrees and noncentrality e √n ÷ s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedTest {
    deviation: f64,
    alpha: f64,
}

impl PairedTest {
    /// Takes the true standard deviation of the logarithms of quotients, above 0, and the
    /// probability of a false positive, in (0, 1). Pairs of independent values, where each has a
    /// coefficient of variation c, have a deviation of √2 c. `None` outside these ranges.
    pub fn new(deviation: f64, alpha: f64) -> Option<Self> {
        let is_valid = deviation.is_finite() && deviation > 0.0 && alpha > 0.0 && alpha < 1.0;
        is_valid.then_some(Self { deviation, alpha })
    }

    /// Probability that `pairs` find an `effect`, above −1: 1 − F(t) + F(−t), where F is the noncentral
    /// distribution and t the quantile of 1 − α ÷ 2. `None` below two pairs.
    pub fn power(&self, pairs: u32, effect: f64) -> Option<f64> {
        let is_valid = effect.is_finite() && effect > -1.0;
        self.power_at(pairs, is_valid.then(|| effect.ln_1p())?)
    }

    /// Smallest effect above 0 that `pairs` find with a probability of `power`, in (α, 1). `None` below
    /// two pairs and outside this range.
    pub fn detectable(&self, pairs: u32, power: f64) -> Option<f64> {
        self.is_possible(power).then_some(())?;
        let unit = self.deviation / f64::from(pairs).sqrt();
        let is_found = |log: f64| Some(self.power_at(pairs, log)? >= power);
        let (mut low, mut high) = (0.0, unit);
        while !is_found(high)? {
            low = high;
            high *= 2.0;
        }
        for _ in 0..40 {
            let middle = f64::midpoint(low, high);
            if is_found(middle)? {
                high = middle;
            } else {
                low = middle;
            }
        }
        Some(high.exp_m1()).filter(|effect| effect.is_finite())
    }

    /// Fewest pairs that find an `effect`, above −1 and not 0, with a probability of `power`, in (α, 1).
    /// `None` outside these ranges and if a hundred thousand are too few.
    pub fn pairs_for(&self, effect: f64, power: f64) -> Option<u32> {
        let is_valid = effect.is_finite() && effect > -1.0 && self.is_possible(power);
        let log = is_valid.then(|| effect.ln_1p())?;
        fewest(|pairs| {
            self.power_at(pairs, log)
                .is_some_and(|found| found >= power)
        })
    }

    fn is_possible(&self, power: f64) -> bool {
        power > self.alpha && power < 1.0
    }

    fn power_at(&self, pairs: u32, log: f64) -> Option<f64> {
        let degrees = pairs.checked_sub(1)?;
        let t = t_quantile(1.0 - self.alpha / 2.0, degrees)?;
        let noncentrality = log.abs() * f64::from(pairs).sqrt() / self.deviation;
        let above = 1.0 - noncentral_t(t, degrees, noncentrality);
        Some(above + noncentral_t(-t, degrees, noncentrality))
    }
}

/// Probability that the t interval of `pairs` has a half-width of `log_half` at most, on the scale of
/// logarithms, where `deviation` is the true one: the sample variance times n − 1 is distributed as
/// χ² with n − 1 degrees, so it is P(χ² ≤ (n − 1) n h² ÷ (t s)²) (Kupper and Hafner, How appropriate
/// are popular sample size formulas?, The American Statistician 43, 1989).
fn assurance(pairs: u32, deviation: f64, log_half: f64, level: f64) -> Option<f64> {
    let degrees = pairs.checked_sub(1)?;
    let t = t_quantile(f64::midpoint(1.0, level), degrees)?;
    let quotient = log_half / (t * deviation);
    let chi = f64::from(degrees) * f64::from(pairs) * quotient * quotient;
    if !chi.is_finite() {
        return Some(1.0);
    }
    Some(if chi > 0.0 {
        gamma_lr(f64::from(degrees) / 2.0, chi / 2.0)
    } else {
        0.0
    })
}

/// Fewest pairs whose interval is narrow enough with a probability of `wanted`.
pub(crate) fn pairs_for_width(
    deviation: f64,
    log_half: f64,
    level: f64,
    wanted: f64,
) -> Option<u32> {
    fewest(|pairs| assurance(pairs, deviation, log_half, level).is_some_and(|p| p >= wanted))
}

/// Smallest number, from 2, that is enough, where all above it are enough too.
pub(crate) fn fewest(is_enough: impl Fn(u32) -> bool) -> Option<u32> {
    let (mut too_few, mut enough) = (1, 2);
    while !is_enough(enough) {
        if enough == PAIRS_MAX {
            return None;
        }
        too_few = enough;
        enough = (enough * 2).min(PAIRS_MAX);
    }
    while enough - too_few > 1 {
        let middle = too_few.midpoint(enough);
        if is_enough(middle) {
            enough = middle;
        } else {
            too_few = middle;
        }
    }
    Some(enough)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// scipy 1.17.1: sums of tails of `scipy.stats.nct`, as in [`PairedTest::power`].
    #[test]
    fn known_power() {
        for (pairs, log, expected) in [
            (5, 0.01_f64, 0.401_389_917_371_795_36),
            (10, 0.01, 0.803_096_856_632_721_9),
            (20, 0.005, 0.564_504_418_439_021),
            (6, 0.02, 0.970_503_569_390_416_3),
            (10, 0.0, 0.05),
        ] {
            let test = PairedTest::new(0.01, 0.05).unwrap();
            let power = test.power(pairs, log.exp_m1()).unwrap();
            assert!((power - expected).abs() < 1e-7, "{pairs} {log}: {power}");
            let other = test.power(pairs, (-log).exp_m1()).unwrap();
            assert!((power - other).abs() < 1e-12);
        }
    }

    /// Smallest change found with 80 % in percent, for coefficients of variation of 0.5, 1 and 2 %
    /// at 5, 10 and 20 pairs, from the method's table.
    #[test]
    fn known_detectable_effects() {
        for (variation, expected) in [
            (0.005, [1.2, 0.70, 0.47]),
            (0.01, [2.4, 1.4, 0.94]),
            (0.02, [4.7, 2.8, 1.9]),
        ] {
            let test = PairedTest::new(variation * std::f64::consts::SQRT_2, 0.05).unwrap();
            for (pairs, expected) in [5, 10, 20].into_iter().zip(expected) {
                let effect = test.detectable(pairs, 0.8).unwrap();
                assert!(
                    (effect * 100.0 / expected - 1.0).abs() < 0.04,
                    "{pairs}: {effect}"
                );
                assert!((test.power(pairs, effect).unwrap() - 0.8).abs() < 1e-6);
                assert_eq!(test.pairs_for(effect, 0.8), Some(pairs));
            }
        }
    }

    #[test]
    fn fewest_is_exact_up_to_the_limit() {
        for least in [2, 3, 64, 65, 70_000, PAIRS_MAX] {
            assert_eq!(fewest(|pairs| pairs >= least), Some(least));
        }
        assert_eq!(fewest(|pairs| pairs > PAIRS_MAX), None);
    }

    #[test]
    fn impossible_plans_are_none() {
        assert!(PairedTest::new(0.0, 0.05).is_none());
        assert!(PairedTest::new(f64::NAN, 0.05).is_none());
        assert!(PairedTest::new(0.01, 1.0).is_none());
        let test = PairedTest::new(0.01, 0.05).unwrap();
        assert_eq!(test.power(1, 0.1), None);
        assert_eq!(test.power(5, -1.0), None);
        assert_eq!(test.detectable(0, 0.8), None);
        assert_eq!(test.detectable(5, 1.0), None);
        assert_eq!(test.pairs_for(0.0, 0.8), None);
        assert_eq!(test.pairs_for(0.01, 0.05), None);
    }
}
