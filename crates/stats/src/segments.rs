//! Division of an ordered list of values into segments of equal mean.

/// First positions of all segments but the first, ascending.
///
/// Values have the variance `variance`, above 0, and are independent. The result is the least sum over
/// all divisions into segments of `shortest` values at least:
///
/// ```text
/// Σ over values (value − mean of its segment)² ÷ variance + 3 k ln N
/// ```
///
/// for k changes among N values. The plain BIC counts a change as one parameter, ln N; but its
/// position was chosen as the best of N, and so it finds too many. The penalty is the leading term of
/// the modified BIC of Zhang and Siegmund (A modified Bayes information criterion with applications to
/// the analysis of comparative genomic hybridization data, Biometrics 63, 2007). Its other term, Σ
/// ln(length ÷ N), is left out: it holds for large N, and among a dozen values it makes changes beside
/// an end cheaper than chance does.
///
/// Found by dynamic programming over the last segment (Jackson and others, An algorithm for optimal
/// partitioning of data on an interval, IEEE Signal Processing Letters 12, 2005), in N² steps.
pub(crate) fn segment_starts(values: &[f64], variance: f64, shortest: usize) -> Vec<usize> {
    let n = values.len();
    let sums = Sums::of(values);
    let penalty = 3.0 * (n as f64).ln();
    // Of the first `end` values: the least sum, and where its last segment begins.
    let mut best: Vec<Option<(f64, usize)>> = vec![None; n + 1];
    best[0] = Some((0.0, 0));
    for end in shortest.max(1)..=n {
        for start in 0..=(end - shortest.max(1)) {
            let Some((before, _)) = best[start] else {
                continue;
            };
            let change = if start > 0 { penalty } else { 0.0 };
            let cost = before + sums.squares(start, end) / variance + change;
            if best[end].is_none_or(|(least, _)| cost < least) {
                best[end] = Some((cost, start));
            }
        }
    }
    let mut starts = Vec::new();
    let mut end = n;
    while let Some((_, start)) = best[end].filter(|&(_, start)| start > 0) {
        starts.push(start);
        end = start;
    }
    starts.reverse();
    starts
}

/// Sums of the first values and of their squares, about the mean of all.
struct Sums(Vec<(f64, f64)>);

impl Sums {
    fn of(values: &[f64]) -> Self {
        let centre = values.iter().sum::<f64>() / values.len().max(1) as f64;
        let mut sums = vec![(0.0, 0.0)];
        let (mut sum, mut squares) = (0.0, 0.0);
        for value in values {
            let distance = value - centre;
            sum += distance;
            squares += distance * distance;
            sums.push((sum, squares));
        }
        Self(sums)
    }

    /// Sum of squares about the mean of the values from `start` up to `end`, which is not among them.
    fn squares(&self, start: usize, end: usize) -> f64 {
        let (sum, squares) = (
            self.0[end].0 - self.0[start].0,
            self.0[end].1 - self.0[start].1,
        );
        (squares - sum * sum / (end - start) as f64).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// The sum that [`segment_starts`] minimises, from its definition.
    fn cost(values: &[f64], variance: f64, starts: &[usize]) -> f64 {
        let n = values.len();
        let edges: Vec<usize> = [&[0], starts, &[n]].concat();
        let of_segments = edges.windows(2).map(|edge| {
            let segment = &values[edge[0]..edge[1]];
            let mean = segment.iter().sum::<f64>() / segment.len() as f64;
            let squares: f64 = segment.iter().map(|value| (value - mean).powi(2)).sum();
            squares / variance
        });
        of_segments.sum::<f64>() + 3.0 * starts.len() as f64 * (n as f64).ln()
    }

    #[test]
    fn steps_are_found() {
        let values = [0.0, 0.1, -0.1, 5.0, 5.1, 4.9, 5.0, 2.0, 2.1];
        assert_eq!(segment_starts(&values, 0.01, 1), [3, 7]);
        assert!(segment_starts(&values, 100.0, 1).is_empty());
        assert!(segment_starts(&[1.0], 1.0, 1).is_empty());
        assert!(segment_starts(&[], 1.0, 1).is_empty());
    }

    #[test]
    fn short_segments_are_not_made() {
        let mut values = vec![0.0; 20];
        values[10] = 8.0;
        assert_eq!(segment_starts(&values, 1.0, 1), [10, 11]);
        assert!(
            segment_starts(&values, 1.0, 5)
                .iter()
                .all(|start| (5..=15).contains(start))
        );
    }

    proptest! {
        /// No other division has a lower cost: all of them are tried.
        #[test]
        fn least_of_all_divisions(values in vec(-3.0..3.0_f64, 2..10)) {
            let found = segment_starts(&values, 0.3, 1);
            let least = cost(&values, 0.3, &found);
            for chosen in 0_u32..1 << (values.len() - 1) {
                let starts: Vec<usize> =
                    (1..values.len()).filter(|start| chosen >> (start - 1) & 1 == 1).collect();
                prop_assert!(least <= cost(&values, 0.3, &starts) + 1e-9);
            }
        }
    }
}
