//! p-values of many comparisons at once.

/// Adjusts p-values so that those below q are false in a share of q at most, on average (Benjamini
/// and Hochberg, Controlling the false discovery rate, Journal of the Royal Statistical Society B 57,
/// 1995): the least of p₍ⱼ₎ m ÷ j over the ranks j from its own on. In the order given.
pub fn benjamini_hochberg(p_values: &[f64]) -> Vec<f64> {
    let m = p_values.len();
    let mut adjusted = vec![1.0; m];
    let mut least = 1.0_f64;
    for (rank, position) in ranks(p_values).into_iter().enumerate().rev() {
        least = least.min(p_values[position] * m as f64 / (rank + 1) as f64);
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
