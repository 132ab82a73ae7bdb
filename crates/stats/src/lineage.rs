//! Changes along an ordered list of things that are all measured in every block.

use crate::group::{complete_rows, mean};
use crate::segments::segment_starts;
use crate::{Interval, LogRatio, SampleError};

/// Changes along columns in a given order, such as the versions of a program.
///
/// The input is the matrix of logarithms, blocks × columns, and not the columns' ratios to a base: these
/// all contain the base's noise and are correlated, so that neighbouring ones would seem to agree
/// better than they do. In the matrix, each block's own level cancels in every difference of columns,
/// and each change has its spread from the paired differences themselves, block by block.
///
/// The columns are divided into segments of equal mean by their means over the blocks
/// (`segment_starts` in `segments.rs`). The variance of a mean is known from the replicates: the residual of the
/// two-way layout, Σ (yᵢⱼ − row mean − column mean + mean)² ÷ ((B − 1)(V − 1)), divided by B (Scheffé,
/// The analysis of variance, 1959, chapter 4). Methods for long histories, which learn the noise from
/// the course of the values, have too few points here.
#[derive(Debug, Clone, PartialEq)]
pub struct Lineage {
    /// Changes in the order of the columns.
    pub changes: Vec<Change>,
    /// Product of all changes: the last segment to the first. `None` without changes. Its interval knows
    /// nothing of the choice of positions; [`Self::ends`] needs no choice.
    pub product: Option<LogRatio>,
    /// The last column to the first.
    pub ends: LogRatio,
    /// Number of blocks that were left out because they lack a value.
    pub incomplete: usize,
}

/// A change between two neighbouring columns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// First column after the change, from 1.
    pub position: usize,
    /// Mean of the segment from this column on to that before it, paired by block. Its own interval and
    /// p-value know nothing of the choice of the position and are optimistic; those of [`Change`] do.
    pub ratio: LogRatio,
    /// Number of positions from which this one was chosen, at least 1.
    pub candidates: usize,
}

impl Lineage {
    /// Finds the changes in logarithms of values, as rows of equal length, blocks × columns.
    ///
    /// # Errors
    /// If there are fewer than two complete rows or two columns, if rows differ in length, and if a
    /// value is not the logarithm of a positive and finite number.
    pub fn of(blocks: &[Vec<Option<f64>>]) -> Result<Self, SampleError> {
        let rows = complete_rows(blocks)?;
        let columns = blocks.first().map_or(0, Vec::len);
        for n in [rows.len(), columns] {
            if n < 2 {
                return Err(SampleError::TooFew { n, least: 2 });
            }
        }
        let means: Vec<f64> = (0..columns)
            .map(|column| mean(&rows.iter().map(|row| row[column]).collect::<Vec<_>>()))
            .collect();
        let variance = residual_variance(&rows, &means) / rows.len() as f64;
        let starts = segment_starts(&means, variance, 1);
        let edges: Vec<usize> = [&[0], starts.as_slice(), &[columns]].concat();
        let contrast = |before: &[usize], after: &[usize]| {
            let part = |row: &[f64], edge: &[usize]| mean(&row[edge[0]..edge[1]]);
            let logs = rows.iter().map(|row| part(row, after) - part(row, before));
            LogRatio::of(&logs.collect::<Vec<_>>())
        };
        let change = |edge: &[usize]| {
            Ok(Change {
                position: edge[1],
                ratio: contrast(&edge[..2], &edge[1..])?,
                candidates: columns - 1,
            })
        };
        let changes: Vec<Change> = edges
            .windows(3)
            .map(change)
            .collect::<Result<_, SampleError>>()?;
        let product = if changes.is_empty() {
            None
        } else {
            Some(contrast(&edges[..2], &edges[edges.len() - 2..])?)
        };
        Ok(Self {
            changes,
            product,
            ends: contrast(&[0, 1], &[columns - 1, columns])?,
            incomplete: blocks.len() - rows.len(),
        })
    }
}

impl Change {
    /// p-value of this change, multiplied by the number of positions from which it was chosen, at most 1
    /// (Bonferroni; Holm's smaller factors would need the p-values of all positions, which depend on
    /// the other changes).
    pub fn p_value(&self) -> Option<f64> {
        Some((self.ratio.p_value()? * self.candidates as f64).min(1.0))
    }

    /// The interval of the change's size at 1 − (1 − `level`) ÷ candidates (Bonferroni), which holds
    /// the size with a probability of `level`, in (0, 1), although the position was chosen. `None`
    /// where [`LogRatio::interval`] is.
    pub fn interval(&self, level: f64) -> Option<Interval> {
        self.ratio
            .interval(1.0 - (1.0 - level) / self.candidates as f64)
    }
}

/// Variance of a value that neither its row nor its column explains, above 0.
fn residual_variance(rows: &[Vec<f64>], column_means: &[f64]) -> f64 {
    /// Rounding of logarithms: values that agree better than this have no less noise.
    const LEAST: f64 = 1e-24;
    let all = mean(column_means);
    let of_row = |row: &Vec<f64>| -> f64 {
        let of_row = mean(row);
        let residuals = row
            .iter()
            .zip(column_means)
            .map(|(y, column)| y - of_row - column + all);
        residuals.map(|residual| residual * residual).sum()
    };
    let squares: f64 = rows.iter().map(of_row).sum();
    (squares / ((rows.len() - 1) * (column_means.len() - 1)) as f64).max(LEAST)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five blocks with levels of their own and noise of 0.001; the third and sixth column begin
    /// a segment.
    fn blocks() -> Vec<Vec<Option<f64>>> {
        let sizes = [0.0, 0.0, -0.06, -0.06, -0.06, 0.02, 0.02];
        let block = |block: usize| {
            let column = |(column, size): (usize, &f64)| {
                let noise = ((block * 7 + column * 3) % 5) as f64 - 2.0;
                Some(9.0 + block as f64 * 0.1 + size + noise * 0.001)
            };
            sizes.iter().enumerate().map(column).collect()
        };
        (0..5).map(block).collect()
    }

    #[test]
    fn changes_have_place_and_size() {
        let lineage = Lineage::of(&blocks()).unwrap();
        let positions: Vec<usize> = lineage
            .changes
            .iter()
            .map(|change| change.position)
            .collect();
        assert_eq!(positions, [2, 5]);
        for (change, size) in lineage.changes.iter().zip([-0.06_f64, 0.08]) {
            let interval = change.interval(0.95).unwrap();
            assert!(
                interval.low < size.exp() && size.exp() < interval.high,
                "{change:?}"
            );
            let naive = change.ratio.interval(0.95).unwrap();
            assert!(interval.low < naive.low && naive.high < interval.high);
            assert!(change.p_value().unwrap() < 0.001);
            assert_eq!(change.candidates, 6);
        }
        let product = lineage.product.unwrap();
        let of_changes: f64 = lineage
            .changes
            .iter()
            .map(|change| change.ratio.ratio())
            .product();
        assert!((product.ratio() - of_changes).abs() < 1e-12);
        assert!((lineage.ends.mean - 0.02).abs() < 0.004);
    }

    #[test]
    fn levels_of_blocks_cancel() {
        let before = Lineage::of(&blocks()).unwrap();
        let mut shifted = blocks();
        for (block, row) in shifted.iter_mut().enumerate() {
            let by = [5.0, -3.0, 0.5, 1.0, 2.0][block];
            for value in row {
                *value = value.map(|value| value + by);
            }
        }
        let after = Lineage::of(&shifted).unwrap();
        assert_eq!(before.changes.len(), after.changes.len());
        for (a, b) in before.changes.iter().zip(&after.changes) {
            assert_eq!(a.position, b.position);
            assert!((a.ratio.mean - b.ratio.mean).abs() < 1e-12);
        }
    }

    #[test]
    fn equal_columns_have_no_change() {
        let rows: Vec<_> = (0..5).map(|row| vec![Some(f64::from(row)); 4]).collect();
        let lineage = Lineage::of(&rows).unwrap();
        assert!(lineage.changes.is_empty() && lineage.product.is_none());
        assert_eq!(lineage.ends.p_value(), Some(1.0));
    }

    #[test]
    fn incomplete_blocks_are_counted() {
        let mut rows = blocks();
        rows[1][3] = None;
        let lineage = Lineage::of(&rows).unwrap();
        assert_eq!((lineage.incomplete, lineage.ends.n), (1, 4));
    }

    #[test]
    fn small_matrices_are_refused() {
        let one_row = Lineage::of(&[vec![Some(1.0), Some(2.0)]]);
        assert_eq!(one_row, Err(SampleError::TooFew { n: 1, least: 2 }));
        let one_column = Lineage::of(&[vec![Some(1.0)], vec![Some(2.0)]]);
        assert_eq!(one_column, Err(SampleError::TooFew { n: 1, least: 2 }));
        assert!(Lineage::of(&[vec![Some(1.0), Some(f64::NAN)], vec![None, None]]).is_err());
    }
}
