//! Changes in a long history of single values.

use crate::SampleError;
use crate::group::mean;
use crate::log_ratio::check_log;
use crate::segments::segment_starts;

/// Fewest values of a history.
const HISTORY_MIN: usize = 30;
/// Fewest values between two shifts, and between a shift and an end: shorter runs are outliers for all that
/// they tell.
const SEGMENT_MIN: usize = 5;

/// A shift of a history's level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// Position of the first value after the shift.
    pub position: usize,
    /// Mean of the logarithms from the last shift up to this one.
    pub before: f64,
    /// Mean of the logarithms from this shift up to the next one.
    pub after: f64,
}

impl Shift {
    /// Ratio of the new level to the old one. It was chosen because it is large, and is therefore
    /// larger than the true one on average.
    pub fn ratio(&self) -> f64 {
        (self.after - self.before).exp()
    }
}

/// Shifts in the level of a history, from logarithms of its values in their order, where the noise is
/// unknown and each value is a single one.
///
/// The noise is estimated from the differences d of neighbouring values, of which few are shifts:
/// median |d| ÷ (√2 Φ⁻¹(¾)) (Davies and Kovac, Local extremes, runs, strings and multiresolution,
/// Annals of Statistics 29, 2001), or √(mean d² ÷ 2) where more than half of them are 0. The division
/// is that of `segment_starts` in `segments.rs`, with segments of five values at least.
///
/// Values must be independent about their level. Where neighbours are alike, the noise comes out too
/// small and shifts are found that are none. A shift within the last four values is not seen yet.
///
/// # Errors
/// If there are fewer than 30 values, or one is not the logarithm of a positive and finite number.
pub fn change_points(logs: &[f64]) -> Result<Vec<Shift>, SampleError> {
    let n = logs.len();
    if n < HISTORY_MIN {
        return Err(SampleError::TooFew {
            n,
            least: HISTORY_MIN,
        });
    }
    for (position, &log) in logs.iter().enumerate() {
        check_log(position, log)?;
    }
    let deviation = noise(logs);
    if deviation <= 0.0 {
        // All values are alike.
        return Ok(Vec::new());
    }
    let starts = segment_starts(logs, deviation * deviation, SEGMENT_MIN);
    let edges: Vec<usize> = [&[0], starts.as_slice(), &[n]].concat();
    let shift = |edge: &[usize]| Shift {
        position: edge[1],
        before: mean(&logs[edge[0]..edge[1]]),
        after: mean(&logs[edge[1]..edge[2]]),
    };
    Ok(edges.windows(3).map(shift).collect())
}

/// Standard deviation of single values about their level.
fn noise(logs: &[f64]) -> f64 {
    /// Φ⁻¹(¾), the median of |z|.
    const MEDIAN_OF_NORMAL: f64 = 0.674_489_750_196_081_7;
    let mut distances: Vec<f64> = logs.windows(2).map(|two| (two[1] - two[0]).abs()).collect();
    distances.sort_by(f64::total_cmp);
    let (low, high) = ((distances.len() - 1) / 2, distances.len() / 2);
    let median = f64::midpoint(distances[low], distances[high]);
    if median > 0.0 {
        return median / (std::f64::consts::SQRT_2 * MEDIAN_OF_NORMAL);
    }
    let squares: Vec<f64> = distances
        .iter()
        .map(|distance| distance * distance)
        .collect();
    (mean(&squares) / 2.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values about 0 without a pattern of a level: fractions of multiples of the golden ratio.
    fn noisy(n: usize) -> Vec<f64> {
        (1..=n)
            .map(|i| ((i * i) as f64 * 0.618_033_988_75).fract() - 0.5)
            .collect()
    }

    #[test]
    fn shifts_have_place_and_size() {
        let mut logs = noisy(60);
        logs[20..45].iter_mut().for_each(|log| *log += 2.0);
        let shifts = change_points(&logs).unwrap();
        let positions: Vec<usize> = shifts.iter().map(|shift| shift.position).collect();
        assert_eq!(positions, [20, 45]);
        assert!((shifts[0].ratio().ln() - 2.0).abs() < 0.4, "{shifts:?}");
        assert!((shifts[0].after - shifts[1].before).abs() < 1e-12);
    }

    #[test]
    fn outliers_are_no_shift() {
        let mut logs = noisy(60);
        logs[30] += 2.5;
        assert!(change_points(&logs).unwrap().is_empty());
    }

    #[test]
    fn equal_values_have_no_shift() {
        assert!(change_points(&[1.5; 30]).unwrap().is_empty());
        let mut rounded = vec![1.0; 40];
        rounded[20..].fill(2.0);
        assert_eq!(change_points(&rounded).unwrap().len(), 1);
    }

    #[test]
    fn short_histories_are_refused() {
        assert_eq!(
            change_points(&[1.0; 29]),
            Err(SampleError::TooFew { n: 29, least: 30 })
        );
        let mut logs = vec![1.0; 30];
        logs[3] = f64::NAN;
        assert!(matches!(
            change_points(&logs),
            Err(SampleError::OutOfDomain { position: 3, .. })
        ));
    }
}
