//! Student's t distribution, central and noncentral.

use std::cell::Cell;

use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::function::erf::erfc;
use statrs::function::gamma::ln_gamma;

/// The quantile of `p`, in (0, 1), of Student's t distribution with `degrees` of freedom. `None` for 0
/// degrees and for other values of `p`.
///
/// The central 95 % lie between the quantile of 0.975 and its negative.
pub fn t_quantile(p: f64, degrees: u32) -> Option<f64> {
    // Found by iteration, and nearly all intervals of a report have the same one.
    thread_local! {
        static LAST: Cell<(f64, u32, Option<f64>)> = const { Cell::new((f64::NAN, 0, None)) };
    }
    let (last_p, last_degrees, last) = LAST.get();
    if last_p.to_bits() == p.to_bits() && last_degrees == degrees {
        return last;
    }
    let quantile = student_quantile(p, f64::from(degrees));
    LAST.set((p, degrees, quantile));
    quantile
}

/// The same for degrees that are not whole, as Welch's approximation has them.
pub(crate) fn student_quantile(p: f64, degrees: f64) -> Option<f64> {
    if !(p > 0.0 && p < 1.0) {
        return None;
    }
    let quantile = student(degrees)?.inverse_cdf(p);
    quantile.is_finite().then_some(quantile)
}

/// Probability of a value above `t`, which may be infinite. `None` for 0 degrees and if `t` is no
/// number.
pub(crate) fn t_upper_tail(t: f64, degrees: u32) -> Option<f64> {
    let student = student(f64::from(degrees))?;
    (!t.is_nan()).then(|| student.sf(t))
}

fn student(degrees: f64) -> Option<StudentsT> {
    // It refuses degrees that are not above 0.
    StudentsT::new(0.0, 1.0, degrees).ok()
}

/// Distribution function of the noncentral t distribution: the probability that (z + δ) ÷ s is `t`
/// at most, where z is normal and s² is χ² ÷ ν (Johnson, Kotz and Balakrishnan, Continuous univariate
/// distributions 2, 1995, chapter 31).
///
/// ```text
/// F(t) = ∫ Φ(t s − δ) f(s) ds,   f(s) = 2 (ν ÷ 2)^(ν ÷ 2) ÷ Γ(ν ÷ 2) × s^(ν − 1) exp(−ν s² ÷ 2)
/// ```
///
/// The integral is Simpson's rule over twelve standard deviations of s at either side. The error is
/// below 1e-9 for |t| up to 100.
pub(crate) fn noncentral_t(t: f64, degrees: u32, noncentrality: f64) -> f64 {
    const STEPS: u32 = 1_000;
    let nu = f64::from(degrees);
    let reach = 12.0 / (2.0 * nu).sqrt();
    let from = (1.0 - reach).max(0.0);
    let step = (1.0 + reach - from) / f64::from(STEPS);
    let constant = std::f64::consts::LN_2 + nu / 2.0 * (nu / 2.0).ln() - ln_gamma(nu / 2.0);
    let integrand = |index: u32| {
        let s = step.mul_add(f64::from(index), from);
        let power = if degrees == 1 {
            0.0
        } else {
            (nu - 1.0) * s.ln()
        };
        let density = (constant + power - nu * s * s / 2.0).exp();
        normal_below(t.mul_add(s, -noncentrality)) * density
    };
    let weighted = (0..=STEPS).map(|index| {
        let weight = match index {
            0 | STEPS => 1.0,
            odd if odd % 2 == 1 => 4.0,
            _ => 2.0,
        };
        weight * integrand(index)
    });
    (weighted.sum::<f64>() * step / 3.0).clamp(0.0, 1.0)
}

/// Probability that a value of the normal distribution is as far from its mean as `z` standard deviations, in
/// any direction: the p-value of a two-sided test. No number gives none.
pub fn normal_both_tails(z: f64) -> f64 {
    erfc(z.abs() / std::f64::consts::SQRT_2)
}

/// Probability that a value of the normal distribution is `z` at most.
fn normal_below(z: f64) -> f64 {
    0.5 * erfc(-z / std::f64::consts::SQRT_2)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// scipy 1.17.1: `scipy.stats.t.ppf(p, degrees)`.
    #[test]
    fn known_quantiles() {
        for (p, degrees, expected) in [
            (0.6, 1, 0.324_919_696_232_906_3),
            (0.6, 1_000, 0.253_414_515_839_498_8),
            (0.9, 3, 1.637_744_353_696_209),
            (0.95, 4, 2.131_846_786_326_649_5),
            (0.975, 1, 12.706_204_736_174_694),
            (0.975, 2, 4.302_652_729_749_462),
            (0.975, 4, 2.776_445_105_197_793_4),
            (0.975, 5, 2.570_581_835_636_314_6),
            (0.975, 9, 2.262_157_162_798_205),
            (0.975, 200, 1.971_896_223_633_908_8),
            (0.995, 30, 2.749_995_653_567_225_4),
            (0.9995, 1, 636.619_248_768_789_7),
            (0.9995, 5, 6.868_826_625_881_276),
            (0.9995, 1_000, 3.300_282_648_423_944),
        ] {
            let t = t_quantile(p, degrees).unwrap();
            assert!((t / expected - 1.0).abs() < 1e-8, "{p} {degrees}: {t}");
            let other = t_quantile(1.0 - p, degrees).unwrap();
            assert!(
                (other / expected + 1.0).abs() < 1e-8,
                "{p} {degrees}: {other}"
            );
        }
    }

    /// scipy 1.17.1: `2 * scipy.stats.norm.sf(z)`.
    #[test]
    fn known_tails_of_the_normal_distribution() {
        for (z, expected) in [
            (0.0, 1.0),
            (1.959_963_984_540_054, 0.05),
            (-3.0, 0.002_699_796_063_260_19),
        ] {
            let found = normal_both_tails(z);
            assert!((found - expected).abs() < 1e-10, "{z}: {found}");
        }
        assert!(normal_both_tails(f64::NAN).is_nan());
    }

    #[test]
    fn impossible_quantiles_are_none() {
        assert_eq!(t_quantile(0.975, 0), None);
        for p in [0.0, 1.0, -0.5, 1.5, f64::NAN] {
            assert_eq!(t_quantile(p, 4), None);
        }
        assert_eq!(t_upper_tail(f64::NAN, 4), None);
        assert_eq!(t_upper_tail(f64::INFINITY, 4), Some(0.0));
    }

    /// scipy 1.17.1: `scipy.stats.nct.cdf(t, degrees, noncentrality)`.
    #[test]
    fn known_noncentral_probabilities() {
        for (t, degrees, noncentrality, expected) in [
            (2.776_445, 4, 2.0, 0.664_189_046_340_819_3),
            (2.262_157, 9, 3.0, 0.238_844_692_504_200_15),
            (2.093_024, 19, 2.8, 0.243_123_618_900_855_3),
            (-2.776_445, 4, 2.0, 0.000_154_173_567_230_097_16),
            (12.706_205, 1, 5.0, 0.694_839_906_602_031),
            (4.302_653, 2, 1.0, 0.908_682_225_714_165_9),
            (1.96, 500, 2.8, 0.200_630_796_995_779_5),
        ] {
            let p = noncentral_t(t, degrees, noncentrality);
            assert!((p - expected).abs() < 1e-8, "{t} {degrees}: {p}");
        }
    }

    proptest! {
        /// The distribution function inverts the quantile.
        #[test]
        fn quantile_and_tail_agree(p in 0.0005..0.9995_f64, degrees in 1..2_000_u32) {
            let t = t_quantile(p, degrees).unwrap();
            prop_assert!((t_upper_tail(t, degrees).unwrap() - (1.0 - p)).abs() < 1e-8);
        }

        /// Without noncentrality the distribution is the central one.
        #[test]
        fn central_case(t in -5.0..5.0_f64, degrees in 1..300_u32) {
            let below = noncentral_t(t, degrees, 0.0);
            prop_assert!((below + t_upper_tail(t, degrees).unwrap() - 1.0).abs() < 1e-8);
        }
    }
}
