//! How many pairs it takes to find a difference.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use statrs::function::gamma::ln_gamma;

/// Most pairs that are thought of.
const PAIRS_MAX: u32 = 100_000;
/// Intervals of Simpson's rule.
const INTERVALS: u32 = 400;
/// Standard deviations around the centre of the integrated density outside of which nothing counts.
const REACH: f64 = 9.0;

/// Probability that the two-sided t test of paired logarithms finds a difference at `alpha`, between 0 and 1,
/// where the true mean is `effect` standard deviations of a single logarithm. `None` below two pairs and
/// where a value is not finite.
///
/// With S = √(χ² ÷ ν), where χ² has ν = n − 1 degrees of freedom, the statistic is (Z + √n effect) ÷ S, so that the power is
///
/// ```text
/// 1 − ∫ [Φ(t s − √n effect) − Φ(−t s − √n effect)] f(s) ds
/// ```
///
/// where f is the density of S: the noncentral t distribution (Johnson, Kotz and Balakrishnan,
/// Continuous Univariate Distributions, volume 2, 1995, chapter 31).
pub fn power(effect: f64, pairs: u32, alpha: f64) -> Option<f64> {
    let degrees = f64::from(pairs.checked_sub(1).filter(|&degrees| degrees > 0)?);
    let is_right = effect.is_finite() && alpha > 0.0 && alpha < 1.0;
    let student = StudentsT::new(0.0, 1.0, degrees)
        .ok()
        .filter(|_| is_right)?;
    let normal = Normal::standard();
    let t = student.inverse_cdf(1.0 - alpha / 2.0);
    let shift = f64::from(pairs).sqrt() * effect;
    let missed = |s: f64| {
        let within = normal.cdf(t * s - shift) - normal.cdf(-t * s - shift);
        within * scaled_chi(s, degrees)
    };
    let spread = 1.0 / (2.0 * degrees).sqrt();
    let (low, high) = ((1.0 - REACH * spread).max(0.0), 1.0 + REACH * spread);
    Some((1.0 - simpson(missed, low, high)).clamp(0.0, 1.0))
}

/// Fewest pairs with a power of `wanted` at least; see [`power`]. `None` if there is no such number up to a
/// hundred thousand.
pub fn pairs_for_power(effect: f64, alpha: f64, wanted: f64) -> Option<u32> {
    let is_enough = |pairs| power(effect, pairs, alpha).is_some_and(|power| power >= wanted);
    let mut enough = 2;
    while !is_enough(enough) {
        enough *= 2;
        if enough > PAIRS_MAX {
            return None;
        }
    }
    let mut too_few = (enough / 2).max(1);
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

/// Density at `s` of √(χ² ÷ degrees).
fn scaled_chi(s: f64, degrees: f64) -> f64 {
    if s <= 0.0 {
        return 0.0;
    }
    let half = degrees / 2.0;
    let log = half * half.ln() + std::f64::consts::LN_2 - ln_gamma(half) + (degrees - 1.0) * s.ln()
        - half * s * s;
    log.exp()
}

fn simpson(of: impl Fn(f64) -> f64, low: f64, high: f64) -> f64 {
    let step = (high - low) / f64::from(INTERVALS);
    let weighted = (0..=INTERVALS).map(|place| {
        let weight = match place {
            0 | INTERVALS => 1.0,
            _ if place % 2 == 1 => 4.0,
            _ => 2.0,
        };
        weight * of(low + step * f64::from(place))
    });
    weighted.sum::<f64>() * step / 3.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From scipy 1.x: `nct.sf(t, n - 1, n**0.5 * effect) + nct.cdf(-t, …)`, t = `t.ppf(0.975, n - 1)`.
    #[test]
    fn known_powers() {
        for (effect, pairs, expected) in [
            (1.0, 10, 0.803_096_857),
            (0.5, 34, 0.807_777_501),
            (2.0, 4, 0.754_983_917),
            (0.3, 50, 0.547_657_039),
        ] {
            let power = power(effect, pairs, 0.05).unwrap();
            assert!((power - expected).abs() < 1e-6, "{effect} {pairs}: {power}");
        }
        assert!((power(0.0, 7, 0.05).unwrap() - 0.05).abs() < 1e-6);
        assert_eq!(power(1.0, 1, 0.05), None);
        assert_eq!(power(f64::NAN, 5, 0.05), None);
    }

    #[test]
    fn pairs_are_the_fewest() {
        for effect in [0.1, 0.5, 1.0, 3.0] {
            let pairs = pairs_for_power(effect, 0.05, 0.8).unwrap();
            assert!(power(effect, pairs, 0.05).unwrap() >= 0.8);
            let fewer = power(effect, pairs - 1, 0.05);
            assert!(fewer.is_none_or(|fewer| fewer < 0.8), "{effect}: {pairs}");
        }
        assert_eq!(pairs_for_power(0.0, 0.05, 0.8), None);
    }
}
