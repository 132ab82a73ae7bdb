//! p-values of many comparisons at once.

/// Adjusts p-values so that those below q are false in a share of q at most, on average (Benjamini
/// and Hochberg, Controlling the false discovery rate, Journal of the Royal Statistical Society B 57,
/// 1995): the least of p₍ⱼ₎ m ÷ j over the ranks j from its own on. In the order given. No number counts as 1.
pub fn benjamini_hochberg(p_values: &[f64]) -> Vec<f64> {
    let m = p_values.len();
    let mut adjusted = vec![1.0; m];
    let mut least = 1.0_f64;
    for (rank, position) in ranks(p_values).into_iter().enumerate().rev() {
        least = least.min(p_values[position] * (m as f64 / (rank + 1) as f64));
        adjusted[position] = least;
    }
    adjusted
}

/// Adjusts p-values so that none of those below α is false, with probability 1 − α (Holm, A simple
/// sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6, 1979): the
/// greatest of p₍ⱼ₎ (m − j + 1) over the ranks j up to its own. In the order given. No number counts as 1.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let m = p_values.len();
    let mut adjusted = vec![1.0; m];
    let mut greatest = 0.0_f64;
    for (rank, position) in ranks(p_values).into_iter().enumerate() {
        // A maximum with no number would pass over it.
        let weighted = p_values[position] * (m - rank) as f64;
        greatest = if weighted < 1.0 {
            greatest.max(weighted)
        } else {
            1.0
        };
        adjusted[position] = greatest;
    }
    adjusted
}

/// Positions in ascending order of their values.
fn ranks(p_values: &[f64]) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..p_values.len()).collect();
    positions.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    positions
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    const P_VALUES: [f64; 7] = [0.01, 0.04, 0.03, 0.005, 0.2, 0.8, 0.04];

    fn assert_near(adjusted: &[f64], expected: &[f64]) {
        assert_eq!(adjusted.len(), expected.len());
        for (a, b) in adjusted.iter().zip(expected) {
            assert!((a - b).abs() < 1e-9, "{adjusted:?}");
        }
    }

    /// scipy 1.17.1: `scipy.stats.false_discovery_control`.
    #[test]
    fn known_false_discovery_rates() {
        let expected = [0.035, 0.056, 0.056, 0.035, 0.7 / 3.0, 0.8, 0.056];
        assert_near(&benjamini_hochberg(&P_VALUES), &expected);
    }

    /// By hand, from Holm's definition: 7 × 0.005, 6 × 0.01, 5 × 0.03, 4 × 0.04, then the maxima.
    #[test]
    fn known_family_wise_p_values() {
        let expected = [0.06, 0.16, 0.15, 0.035, 0.4, 0.8, 0.16];
        assert_near(&holm(&P_VALUES), &expected);
    }

    #[test]
    fn nothing_and_no_numbers() {
        assert!(benjamini_hochberg(&[]).is_empty() && holm(&[]).is_empty());
        assert_near(&benjamini_hochberg(&[0.01, f64::NAN]), &[0.02, 1.0]);
        assert_near(&holm(&[0.01, f64::NAN]), &[0.02, 1.0]);
    }

    proptest! {
        /// Adjusting keeps the order, never lowers, and Holm is never below the false discovery rate.
        #[test]
        fn order_is_kept(p_values in vec(0.0..=1.0_f64, 1..40)) {
            let (rates, family) = (benjamini_hochberg(&p_values), holm(&p_values));
            for (i, &p) in p_values.iter().enumerate() {
                prop_assert!(p <= rates[i] && rates[i] <= family[i] + 1e-12 && family[i] <= 1.0);
                for (j, &other) in p_values.iter().enumerate() {
                    if p < other {
                        prop_assert!(rates[i] <= rates[j] && family[i] <= family[j]);
                    }
                }
            }
        }
    }
}
