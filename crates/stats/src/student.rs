//! Student's t distribution.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The distribution with the degrees of freedom of `n` values around their mean. `None` below two values.
pub(crate) fn student(n: usize) -> Option<StudentsT> {
    let degrees = n.checked_sub(1).filter(|&degrees| degrees > 0)?;
    StudentsT::new(0.0, 1.0, degrees as f64).ok()
}

/// The 97.5 % quantile of the t distribution with `degrees` of freedom, which bounds the central
/// 95 %. `None` for 0 degrees.
pub fn t_975(degrees: u32) -> Option<f64> {
    let student = StudentsT::new(0.0, 1.0, f64::from(degrees)).ok()?;
    Some(student.inverse_cdf(0.975))
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
}
