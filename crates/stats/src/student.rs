//! Student's t distribution.

/// Degrees of freedom up to which the exact sum is used. Above, the error of the expansion is less
/// than 1e-8.
const EXACT_MAX: u32 = 200;
/// The 97.5 % quantile of the normal distribution.
const NORMAL: f64 = 1.959_963_984_540_054;

/// The 97.5 % quantile of the t distribution with `degrees` of freedom, which bounds the central
/// 95 %. `None` for 0 degrees.
pub fn t_975(degrees: u32) -> Option<f64> {
    match degrees {
        0 => None,
        1..=EXACT_MAX => Some(by_bisection(degrees)),
        _ => Some(by_expansion(f64::from(degrees))),
    }
}

fn by_bisection(degrees: u32) -> f64 {
    let (mut low, mut high) = (NORMAL, 13.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if central(middle, degrees) < 0.95 {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// Probability of a value between −t and t. Abramowitz and Stegun, Handbook of Mathematical
/// Functions, 26.7.3 and 26.7.4.
fn central(t: f64, degrees: u32) -> f64 {
    let (sine, cosine) = (t / f64::from(degrees).sqrt()).atan().sin_cos();
    // Factors from term to term: 2/3, 4/5, … for odd degrees, 1/2, 3/4, … for even ones.
    let is_odd = degrees % 2 == 1;
    let (first, factor_from) = if is_odd { (cosine, 3) } else { (1.0, 2) };
    let mut term = if degrees == 1 { 0.0 } else { first };
    let mut sum = term;
    for below in (factor_from..degrees.saturating_sub(1).max(factor_from)).step_by(2) {
        term *= f64::from(below - 1) / f64::from(below) * cosine * cosine;
        sum += term;
    }
    if is_odd {
        let angle = sine.atan2(cosine);
        (angle + sine * sum) * std::f64::consts::FRAC_2_PI
    } else {
        sine * sum
    }
}

/// Abramowitz and Stegun, 26.7.5.
fn by_expansion(degrees: f64) -> f64 {
    let z = NORMAL;
    let g1 = (z.powi(3) + z) / 4.0;
    let g2 = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    let g3 = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
    z + g1 / degrees + g2 / degrees.powi(2) + g3 / degrees.powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From tables of the distribution.
    #[test]
    fn known_quantiles() {
        for (degrees, expected) in [
            (1, 12.706_205),
            (2, 4.302_653),
            (3, 3.182_446),
            (4, 2.776_445),
            (5, 2.570_582),
            (9, 2.262_157),
            (10, 2.228_139),
            (30, 2.042_272),
            (100, 1.983_972),
            (1_000, 1.962_339),
        ] {
            let t = t_975(degrees).unwrap();
            assert!((t - expected).abs() < 1e-6, "{degrees}: {t}");
        }
        assert_eq!(t_975(0), None);
    }

    #[test]
    fn sum_and_expansion_meet() {
        let difference = by_bisection(EXACT_MAX) - by_expansion(f64::from(EXACT_MAX));
        assert!(difference.abs() < 1e-8, "{difference}");
    }
}
