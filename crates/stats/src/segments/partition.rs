//! The best division of an ordered list into segments.

/// Sums over an ordered list, from which costs of segments follow.
pub(super) struct Partition {
    /// Sum and sum of squares of the first i values, at position i.
    sums: Vec<(f64, f64)>,
}

impl Partition {
    /// The list of `values`.
    pub(super) fn of(values: &[f64]) -> Self {
        // Values near 0 keep the differences of the sums exact.
        let centre = values.iter().sum::<f64>() / values.len().max(1) as f64;
        let mut sums = vec![(0.0, 0.0)];
        let (mut sum, mut squares) = (0.0, 0.0);
        for value in values {
            sum += value - centre;
            squares += (value - centre).powi(2);
            sums.push((sum, squares));
        }
        Self { sums }
    }

    /// First positions of the segments that minimise the sum of squared distances from the means of
    /// the segments + `penalty` for each change. A segment has `shortest` values at least; the first
    /// begins at 0. Time is quadratic in the number of values.
    pub(super) fn best(&self, penalty: f64, shortest: usize) -> Vec<usize> {
        let n = self.sums.len() - 1;
        // Least cost of the first i values, and the start of the last segment of that division.
        let mut best: Vec<(f64, usize)> = vec![(f64::INFINITY, 0); n + 1];
        best[0] = (-penalty, 0);
        for end in shortest..=n {
            for start in 0..=end - shortest {
                let cost = best[start].0 + self.squares(start, end) + penalty;
                if cost < best[end].0 {
                    best[end] = (cost, start);
                }
            }
        }
        let mut starts = vec![best[n].1];
        while let Some(&first) = starts.last().filter(|&&first| first > 0) {
            starts.push(best[first].1);
        }
        starts.reverse();
        starts
    }

    /// Sum of the squared distances of values `start..end` from their mean.
    fn squares(&self, start: usize, end: usize) -> f64 {
        let ((s0, q0), (s1, q1)) = (self.sums[start], self.sums[end]);
        (q1 - q0 - (s1 - s0).powi(2) / (end - start) as f64).max(0.0)
    }
}
