//! Change points of long histories, whose variance must be estimated from the series itself.

use super::partition::Partition;
use super::{DEVIATION_MIN, mean};
use crate::SampleError;

/// Least number of values of a history.
pub const HISTORY_MIN: usize = 30;

/// Least number of values between two changes, so that an outlier is no segment.
const SHORTEST: usize = 5;

/// Values to each side of the running median.
const MEDIAN_REACH: usize = 4;

/// Standard deviations from the running median beyond which a value is cut.
const CLIP: f64 = 2.5;

/// Standard deviation of the normal distribution ÷ its median absolute deviation.
const NORMAL_MAD: f64 = 1.482_602_218_505_602;

/// Positions where the level of a long series of logarithms changes: indices of the first value
/// after each change, ascending, from 5 to n − 5.
///
/// Dynamic programming minimises Σ (x − mean of its segment)² ÷ σ² + 3 ln n for each change, the
/// modified BIC without its small terms (Zhang and Siegmund, Biometrics 63, 2007). σ comes from the
/// differences of neighbours, which changes of level hardly touch: their median absolute
/// deviation × 1.4826 ÷ √2. The same of means of 5 values × √5 is taken if it is larger, because it
/// includes the slow fluctuation that correlated values have. Values farther than 2.5 σ from the running
/// median of 9 are cut to that distance, so that outliers make no changes.
///
/// # Errors
/// If there are fewer than 30 values, or one is not finite.
pub fn change_points(series: &[f64]) -> Result<Vec<usize>, SampleError> {
    let n = series.len();
    if n < HISTORY_MIN {
        let least = HISTORY_MIN;
        return Err(SampleError::TooFew { n, least });
    }
    if let Some(position) = series.iter().position(|value| !value.is_finite()) {
        let value = series[position];
        return Err(SampleError::OutOfDomain { position, value });
    }
    let deviation = deviation(series);
    let penalty = 3.0 * (n as f64).ln() * deviation.powi(2);
    let starts = Partition::of(&clipped(series, CLIP * deviation)).best(penalty, SHORTEST);
    Ok(starts.into_iter().skip(1).collect())
}

/// Robust standard deviation around the level.
fn deviation(series: &[f64]) -> f64 {
    let means: Vec<f64> = series
        .chunks_exact(SHORTEST)
        .map(|chunk| mean(chunk.iter().copied()))
        .collect();
    let slow = of_differences(&means) * (SHORTEST as f64).sqrt();
    of_differences(series).max(slow).max(DEVIATION_MIN)
}

/// Robust standard deviation from the differences of neighbours.
fn of_differences(values: &[f64]) -> f64 {
    let differences: Vec<f64> = values.windows(2).map(|two| two[1] - two[0]).collect();
    let centre = median(&differences);
    let distances: Vec<f64> = differences.iter().map(|d| (d - centre).abs()).collect();
    median(&distances) * NORMAL_MAD / std::f64::consts::SQRT_2
}

/// Values no farther than `distance` from the running median.
fn clipped(series: &[f64], distance: f64) -> Vec<f64> {
    let clip = |(position, value): (usize, &f64)| {
        let from = position.saturating_sub(MEDIAN_REACH);
        let to = (position + MEDIAN_REACH + 1).min(series.len());
        let centre = median(&series[from..to]);
        value.clamp(centre - distance, centre + distance)
    };
    series.iter().enumerate().map(clip).collect()
}

/// The middle value, or the mean of the two middle ones; 0 of none.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.get(middle) {
        None => 0.0,
        Some(&value) if sorted.len() % 2 == 1 => value,
        Some(&value) => f64::midpoint(sorted[middle - 1], value),
    }
}
