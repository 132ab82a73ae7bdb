//! Values that come in groups which differ: between and within.

use crate::SampleError;
use crate::log_ratio::check_log;
use crate::student::t_quantile;

/// Means of groups of logarithms, such as those of the blocks of several hosts.
///
/// The model is one of random effects: a value is the overall mean, plus what is its group's own, plus what
/// is its own. Variances by the method of moments (Searle and others, Variance Components, 1992,
/// 3.6): within groups the pooled variance s²; between them that of the means less s² ÷ n, where n is the
/// harmonic mean of the groups' sizes.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupMeans {
    means: Vec<f64>,
    sizes: Vec<usize>,
    /// Pooled variance within groups; `None` where every group has one value.
    variance: Option<f64>,
}

impl GroupMeans {
    /// Takes the values of each group.
    ///
    /// # Errors
    /// When there are no groups, a group is empty, or a value is not the logarithm of a positive and finite
    /// quotient.
    pub fn of(groups: &[Vec<f64>]) -> Result<Self, SampleError> {
        if groups.is_empty() || groups.iter().any(Vec::is_empty) {
            return Err(SampleError::Empty);
        }
        for (position, &log) in groups.iter().flatten().enumerate() {
            check_log(position, log)?;
        }
        let mean = |values: &Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
        let means: Vec<f64> = groups.iter().map(mean).collect();
        let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
        let of_group = groups.iter().zip(&means);
        let squares: f64 = of_group
            .flat_map(|(values, mean)| values.iter().map(move |value| (value - mean).powi(2)))
            .sum();
        let freedom = freedom(&sizes);
        Ok(Self {
            variance: (freedom > 0).then(|| squares / f64::from(freedom)),
            means,
            sizes,
        })
    }

    /// The mean of each group, in their order.
    pub fn means(&self) -> &[f64] {
        &self.means
    }

    /// Standard deviation of values within a group. `None` where every group has one value.
    pub fn within(&self) -> Option<f64> {
        self.variance.map(f64::sqrt)
    }

    /// Standard deviation of what is the groups' own. `None` of one group, and where every group has one
    /// value, so that nothing tells it from that of values.
    pub fn between(&self) -> Option<f64> {
        let n = self.means.len();
        let within = self.variance.filter(|_| n > 1)?;
        let mean = self.means.iter().sum::<f64>() / n as f64;
        let squares: f64 = self.means.iter().map(|own| (own - mean).powi(2)).sum();
        let of_means = squares / (n - 1) as f64;
        let inverse: f64 = self.sizes.iter().map(|&size| 1.0 / size as f64).sum();
        Some((of_means - within * inverse / n as f64).max(0.0).sqrt())
    }

    /// Half the width of the interval that holds what is each group's own with probability `level`, for all
    /// groups at once (Bonferroni), in their order. `None` where every group has one value, and for levels
    /// out of (0, 1).
    pub fn half_widths(&self, level: f64) -> Option<Vec<f64>> {
        let within = self.within()?;
        let tail = (1.0 - level) / 2.0 / self.means.len() as f64;
        let quantile = t_quantile(1.0 - tail, freedom(&self.sizes))?;
        let half = |&size: &usize| quantile * within / (size as f64).sqrt();
        Some(self.sizes.iter().map(half).collect())
    }
}

/// Degrees of freedom of the pooled variance.
fn freedom(sizes: &[usize]) -> u32 {
    let freedom: usize = sizes.iter().map(|size| size - 1).sum();
    u32::try_from(freedom).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_values() {
        let groups = GroupMeans::of(&[vec![0.1, 0.3], vec![0.7, 0.9]]).unwrap();
        let close =
            |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found}");
        close(groups.means()[0], 0.2);
        close(groups.means()[1], 0.8);
        // 4 × 0.1² ÷ 2; then 0.6² ÷ 2 less half of that.
        close(groups.within().unwrap(), 0.02_f64.sqrt());
        close(groups.between().unwrap(), 0.17_f64.sqrt());
        // The quantile of 0.9875 at 2 degrees of freedom is 6.2053.
        let half = groups.half_widths(0.95).unwrap()[0];
        assert!((half - 6.2053 * 0.1).abs() < 1e-4, "{half}");
    }

    #[test]
    fn single_values_say_nothing_of_the_spread() {
        let groups = GroupMeans::of(&[vec![0.1], vec![0.3]]).unwrap();
        assert_eq!((groups.within(), groups.between()), (None, None));
        assert_eq!(groups.half_widths(0.95), None);
        assert_eq!(GroupMeans::of(&[]), Err(SampleError::Empty));
        assert_eq!(GroupMeans::of(&[vec![]]), Err(SampleError::Empty));
        assert!(GroupMeans::of(&[vec![f64::NAN]]).is_err());
    }

    proptest! {
        /// What is common to all values moves no deviation.
        #[test]
        fn a_common_shift_cancels(
            groups in vec(vec(-1.0..1.0_f64, 1..5), 2..6), shift in -2.0..2.0_f64
        ) {
            let moved: Vec<Vec<f64>> = groups.iter()
                .map(|group| group.iter().map(|value| value + shift).collect())
                .collect();
            let (before, after) = (GroupMeans::of(&groups).unwrap(), GroupMeans::of(&moved).unwrap());
            match (before.between(), after.between()) {
                // The root of what cancels to about nothing is known to half of the digits.
                (Some(before), Some(after)) => prop_assert!((before - after).abs() < 1e-6),
                (before, after) => prop_assert_eq!(before, after),
            }
        }
    }
}
