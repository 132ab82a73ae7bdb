//! Values of several columns that are measured together in rows.

use crate::SampleError;
use crate::log_ratio::check_log;

/// The mean of each row that has all its values, blocks × steps: what a group of steps says of each
/// block, ready for [`crate::LogRatio::of`].
///
/// Values of one row share what varies from row to row, so that rows × columns are not independent
/// values. A mean of correlated values has whatever variance it has, and the rows show it (Kalibera
/// and Jones, Rigorous benchmarking in reasonable time, ISMM 2013: the level that repeats
/// independently decides). The columns are fixed: nothing is claimed about other ones.
///
/// # Errors
/// If the rows differ in length or are empty, and if a value is not the logarithm of a positive and
/// finite quotient; the position is that in its row.
pub fn row_means(rows: &[Vec<Option<f64>>]) -> Result<Vec<f64>, SampleError> {
    let complete = complete_rows(rows)?;
    Ok(complete
        .iter()
        .map(|row| mean(row.iter().copied()))
        .collect())
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

/// Arithmetic mean of values, of which there is one at least.
pub(crate) fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = values.len() as f64;
    values.sum::<f64>() / n
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
    fn incomplete_rows_are_left_out() {
        let mut rows = rows(&[&[0.1, 0.3], &[0.2, 0.4], &[5.0, 6.0]]);
        rows[2][0] = None;
        let means = row_means(&rows).unwrap();
        assert_eq!(means.len(), 2);
        assert!((means[0] - 0.2).abs() < 1e-15 && (means[1] - 0.3).abs() < 1e-15);
        assert_eq!(row_means(&[vec![None]]), Ok(Vec::new()));
    }

    #[test]
    fn what_is_no_matrix_is_refused() {
        assert_eq!(row_means(&[]), Err(SampleError::Empty));
        assert_eq!(row_means(&[vec![]]), Err(SampleError::Empty));
        let unequal = SampleError::UnequalRows {
            row: 1,
            n: 1,
            first: 2,
        };
        assert_eq!(row_means(&rows(&[&[0.1, 0.2], &[0.1]])), Err(unequal));
        assert!(row_means(&rows(&[&[f64::NAN]])).is_err());
    }
}
