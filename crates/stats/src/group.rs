//! The ratio of a group of steps that share their blocks.

use crate::log_ratio::check_log;
use crate::{LogRatio, SampleError};

/// Geometric mean of the ratios of several columns, where each row is a block that all columns share.
///
/// Values of one row share what varies from row to row, so that rows × columns are not independent
/// values. The mean over the columns is therefore taken within each row, and the interval is that of t
/// over rows: a mean of correlated values has whatever variance it has, and the rows show it
/// (Kalibera and Jones, Rigorous benchmarking in reasonable time, ISMM 2013: the level that repeats
/// independently decides). The columns are fixed: nothing is claimed about other ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GroupRatio {
    /// The ratio over the complete rows; a pair is a row.
    pub ratio: LogRatio,
    /// Number of rows that were left out because they lack a value.
    pub incomplete: usize,
}

impl GroupRatio {
    /// Takes logarithms of quotients as rows of equal length, blocks × steps.
    ///
    /// # Errors
    /// If no row is complete, if the rows differ in length or are empty, and if a value is not that of
    /// a positive and finite quotient; the position is that in its row.
    pub fn of(rows: &[Vec<Option<f64>>]) -> Result<Self, SampleError> {
        let complete = complete_rows(rows)?;
        let means: Vec<f64> = complete.iter().map(|row| mean(row)).collect();
        let ratio = LogRatio::of(&means)?;
        Ok(Self {
            ratio,
            incomplete: rows.len() - complete.len(),
        })
    }
}

/// The rows that have all their values.
///
/// # Errors
/// If the rows differ in length or are empty, and if a value is not the logarithm of a positive and
/// finite number.
pub(crate) fn complete_rows(rows: &[Vec<Option<f64>>]) -> Result<Vec<Vec<f64>>, SampleError> {
    let first = rows.first().map_or(0, Vec::len);
    if first == 0 {
        return Err(SampleError::Empty);
    }
    let mut complete = Vec::with_capacity(rows.len());
    for (row, values) in rows.iter().enumerate() {
        let n = values.len();
        if n != first {
            return Err(SampleError::UnequalRows { row, n, first });
        }
        for (position, value) in values.iter().enumerate() {
            value.map_or(Ok(()), |value| check_log(position, value))?;
        }
        complete.extend(values.iter().copied().collect::<Option<Vec<f64>>>());
    }
    Ok(complete)
}

/// Mean of values, of which there is one at least.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(values: &[&[f64]]) -> Vec<Vec<Option<f64>>> {
        values
            .iter()
            .map(|row| row.iter().copied().map(Some).collect())
            .collect()
    }

    #[test]
    fn rows_are_the_replicates() {
        let group = GroupRatio::of(&rows(&[&[0.1, 0.3], &[0.2, 0.4], &[0.0, 0.6]])).unwrap();
        let means = LogRatio::of(&[0.2, 0.3, 0.3]).unwrap();
        assert!((group.ratio.mean - means.mean).abs() < 1e-12);
        assert!((group.ratio.deviation.unwrap() - means.deviation.unwrap()).abs() < 1e-12);
        assert_eq!(group.ratio.n, 3);
        assert_eq!(group.incomplete, 0);
    }

    #[test]
    fn incomplete_rows_are_left_out_and_counted() {
        let mut rows = rows(&[&[0.1, 0.3], &[0.2, 0.4], &[5.0, 6.0]]);
        rows[2][0] = None;
        let group = GroupRatio::of(&rows).unwrap();
        assert_eq!((group.ratio.n, group.incomplete), (2, 1));
        assert!((group.ratio.mean - 0.25).abs() < 1e-15);
        assert_eq!(GroupRatio::of(&[vec![None]]), Err(SampleError::Empty));
    }

    /// The same column twice tells nothing more.
    #[test]
    fn equal_columns_add_nothing() {
        let twice = GroupRatio::of(&rows(&[&[0.1, 0.1], &[0.2, 0.2], &[0.4, 0.4]])).unwrap();
        let once = GroupRatio::of(&rows(&[&[0.1], &[0.2], &[0.4]])).unwrap();
        assert_eq!(twice.ratio.interval(0.95), once.ratio.interval(0.95));
    }

    #[test]
    fn what_is_no_matrix_is_refused() {
        assert_eq!(GroupRatio::of(&[]), Err(SampleError::Empty));
        assert_eq!(GroupRatio::of(&[vec![]]), Err(SampleError::Empty));
        let unequal = SampleError::UnequalRows {
            row: 1,
            n: 1,
            first: 2,
        };
        assert_eq!(GroupRatio::of(&rows(&[&[0.1, 0.2], &[0.1]])), Err(unequal));
        assert!(GroupRatio::of(&rows(&[&[f64::NAN]])).is_err());
    }
}
