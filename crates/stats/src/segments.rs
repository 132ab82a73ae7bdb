//! Levels of an ordered list: the places between neighbours where the level changes.

mod history;
mod partition;
#[cfg(test)]
mod tests;

pub use self::history::{HISTORY_MIN, change_points};
use self::partition::Partition;
use crate::group::{complete_rows, mean};
use crate::student::student_quantile;
use crate::{Interval, LogRatio, SampleError};

/// Probability that all intervals of changes hold together.
const LEVEL: f64 = 0.95;

/// Least standard deviation of logarithms: differences below it are rounding.
const DEVIATION_MIN: f64 = 1e-9;

/// Segments of equal level in an ordered list of columns that are measured together in blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct Segments {
    /// Number of complete blocks behind everything, at least 2.
    pub blocks: usize,
    /// Standard deviation of one value, as a logarithm, without what blocks and columns explain.
    pub deviation: f64,
    /// Half-width of the interval of one column ÷ its neighbour, as a share: a difference between two
    /// single columns is found from about this size on.
    pub resolution: f64,
    /// Places where the level changes, in the order of the columns.
    pub changes: Vec<Change>,
    /// The last column ÷ the first, paired within blocks: the product of the ratios of all neighbours.
    /// It is chosen before the data are seen, so that its own interval needs no correction.
    pub total: LogRatio,
}

/// A change of level between two neighbouring columns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// Index of the first column after the change, at least 1.
    pub at: usize,
    /// Mean of the segment after the change ÷ mean of the segment before it, geometric means.
    pub ratio: f64,
    /// Bounds of the ratio, which hold with 95 % for all changes together.
    pub interval: Interval,
}

impl Change {
    /// Returns `true` if the ratio is above 1 + `margin` or below 1 ÷ (1 + `margin`).
    pub fn is_large(&self, margin: f64) -> bool {
        self.ratio.ln().abs() > margin.ln_1p()
    }
}

impl Segments {
    /// Divides columns into segments of equal level. `rows` has a row of logarithms for each block,
    /// with one value for each column; blocks that lack a value are left out.
    ///
    /// Model: y(b, v) = block(b) + level(segment of v) + e(b, v), where all e have one variance. Its
    /// estimate s² is the sum of squared residuals of the additive model block + column, divided by
    /// the ν = (n − 1)(K − 1) degrees of freedom of n blocks and K columns. What a block adds to all
    /// its columns is in no contrast between columns. One column that varies far more than the others
    /// widens the intervals of all.
    ///
    /// Dynamic programming over all divisions of the K column means m (Auger and Lawrence, Algorithms
    /// for the optimal identification of segment neighborhoods, Bulletin of Mathematical Biology 51,
    /// 1989) minimises n Σ (m(v) − mean of its segment)² ÷ s² + t² × number of changes. Here t is the
    /// quantile of Student's t with ν degrees of freedom for a two-sided error of 5 % that is divided
    /// (Bonferroni) among all (K + 1) K (K − 1) ÷ 6 pairs of neighbouring segments that any division
    /// could contain. Two properties follow:
    ///
    /// - Removing a change raises the first term by the square of its t statistic, so that a
    ///   change is in the best division only if its interval excludes 1.
    /// - The intervals, ratio × exp(± t s √((1/k + 1/l) ÷ n)) for segments of k and l columns, hold for
    ///   all pairs of segments at once, and therefore also for those that the data chose. If nothing
    ///   changes, a change is found with a probability of 5 % at most.
    ///
    /// The penalty of the modified BIC, about 3 ln K (Zhang and Siegmund, A modified Bayes information
    /// criterion, Biometrics 63, 2007), is derived for many columns and a known variance. With 5 blocks
    /// it finds a change where none is in 15 % of lists of 5 columns and in 8 % of lists of 10, and it
    /// is less than t² for any K.
    ///
    /// # Errors
    /// If the rows differ in length, a value is not the logarithm of a positive and finite number, or
    /// there are fewer than two complete blocks or two columns.
    pub fn of(rows: &[Vec<Option<f64>>]) -> Result<Self, SampleError> {
        let complete = complete(rows)?;
        let (n, columns) = (complete.len(), complete[0].len());
        let means: Vec<f64> = (0..columns)
            .map(|column| mean(complete.iter().map(|row| row[column])))
            .collect();
        let degrees = (n - 1) * (columns - 1);
        let variance = residual_squares(&complete, &means) / degrees as f64;
        let deviation = variance.sqrt().max(DEVIATION_MIN);
        let error = deviation / (n as f64).sqrt();
        let quantile = quantile(columns, degrees);
        let penalty = (quantile * error).powi(2);
        let starts = Partition::of(&means).best(penalty, 1);
        let logs: Vec<f64> = complete
            .iter()
            .map(|row| row[columns - 1] - row[0])
            .collect();
        Ok(Self {
            blocks: n,
            deviation,
            resolution: (quantile * error * std::f64::consts::SQRT_2).exp_m1(),
            changes: changes(&means, &starts, quantile * error),
            total: LogRatio::of(&logs)?,
        })
    }
}

/// The changes between segments that begin at `starts`, with intervals of `half` at a contrast of
/// variance 1.
fn changes(means: &[f64], starts: &[usize], half: f64) -> Vec<Change> {
    let ends = starts.iter().skip(1).copied().chain([means.len()]);
    let segments: Vec<&[f64]> = starts
        .iter()
        .zip(ends)
        .map(|(&a, b)| &means[a..b])
        .collect();
    let neighbours = segments.windows(2).zip(starts.iter().skip(1));
    neighbours
        .map(|(two, &at)| {
            let log = mean(two[1].iter().copied()) - mean(two[0].iter().copied());
            let inverses = two.iter().map(|segment| 1.0 / segment.len() as f64);
            let half = half * inverses.sum::<f64>().sqrt();
            Change {
                at,
                ratio: log.exp(),
                interval: Interval {
                    low: (log - half).exp(),
                    high: (log + half).exp(),
                },
            }
        })
        .collect()
}

/// The blocks that have all values: two at least, of two columns at least.
fn complete(rows: &[Vec<Option<f64>>]) -> Result<Vec<Vec<f64>>, SampleError> {
    let complete = complete_rows(rows)?;
    let n = complete.len().min(rows[0].len());
    if n < 2 {
        return Err(SampleError::TooFew { n, least: 2 });
    }
    Ok(complete)
}

/// Sum of the squared residuals of the additive model block + column.
fn residual_squares(rows: &[Vec<f64>], means: &[f64]) -> f64 {
    let all = mean(means.iter().copied());
    let of_row = |row: &Vec<f64>| {
        let of_block = mean(row.iter().copied()) - all;
        let residuals = row.iter().zip(means).map(|(y, m)| y - m - of_block);
        residuals.map(|residual| residual.powi(2)).sum::<f64>()
    };
    rows.iter().map(of_row).sum()
}

/// Quantile of Student's t that holds for all pairs of neighbouring segments together.
fn quantile(columns: usize, degrees: usize) -> f64 {
    let pairs = (columns + 1) * columns * (columns - 1) / 6;
    let tail = (1.0 - LEVEL) / (2.0 * pairs as f64);
    // Degrees of freedom are at least 1 here; infinity finds no change.
    student_quantile(1.0 - tail, degrees as f64).unwrap_or(f64::INFINITY)
}
