//! p-values of many comparisons at once.

/// Adjusts p-values so that those below q are false in a share of q at most, on average (Benjamini
/// and Hochberg, Controlling the false discovery rate, Journal of the Royal Statistical Society B 57,
/// 1995): the least of p₍ⱼ₎ m ÷ j over the ranks j from its own on. In the order given.
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
/// greatest of p₍ⱼ₎ (m − j + 1) over the ranks j up to its own. In the order given.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let m = p_values.len();
    let mut adjusted = vec![1.0; m];
    let mut greatest = 0.0_f64;
    for (rank, position) in ranks(p_values).into_iter().enumerate() {
        greatest = greatest
            .max(p_values[position] * (m - rank) as f64)
            .min(1.0);
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

    const P: [f64; 6] = [0.001, 0.02, 0.03, 0.2, 0.04, 0.9];

    fn close(actual: &[f64], expected: &[f64]) {
        assert_eq!(actual.len(), expected.len());
        for (actual, expected) in actual.iter().zip(expected) {
            assert!((actual - expected).abs() < 1e-12, "{actual} {expected}");
        }
    }

    #[test]
    fn known_values() {
        // scipy.stats.false_discovery_control.
        close(
            &benjamini_hochberg(&P),
            &[0.006, 0.06, 0.06, 0.24, 0.06, 0.9],
        );
        // By hand: 0.001 × 6, 0.02 × 5, 0.03 × 4, 0.04 × 3, 0.2 × 2, 0.9 × 1.
        close(&holm(&P), &[0.006, 0.1, 0.12, 0.4, 0.12, 0.9]);
        close(&benjamini_hochberg(&[]), &[]);
        close(&holm(&[0.03]), &[0.03]);
    }

    proptest! {
        /// Adjusting never makes anything surer, keeps the order, and Holm is the stricter one.
        #[test]
        fn adjusted_values_are_larger_and_in_order(p in vec(0.0..=1.0_f64, 1..40)) {
            let (rates, any) = (benjamini_hochberg(&p), holm(&p));
            for one in 0..p.len() {
                let rounding = 1e-12;
                prop_assert!(p[one] <= rates[one] && rates[one] <= any[one] + rounding);
                prop_assert!(any[one] <= 1.0);
                for other in 0..p.len() {
                    if p[one] < p[other] {
                        prop_assert!(rates[one] <= rates[other] && any[one] <= any[other]);
                    }
                }
            }
        }
    }
}
