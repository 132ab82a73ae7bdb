//! Fluctuation of a rate in time, and the interval of a ratio that follows from it.

use crate::planning::fewest;
use crate::summary::{Summary, check};
use crate::{SampleError, t_quantile};

/// Fluctuation of a rate, from its means over windows of equal length.
///
/// Neighbouring windows may be alike, so that the variance of a mean over a longer time is not that
/// of a window divided by their number. It is estimated from the means of overlapping batches of
/// `b` of the `m` windows (Meketon and Schmeiser, Overlapping batch means: something for nothing?,
/// Winter Simulation Conference 1984):
///
/// ```text
/// v(b) = m b ÷ ((m − b + 1)(m − b)) × Σ (mean of batch − mean)²
/// variance of a mean over a time of T windows = v(b) ÷ T
/// ```
///
/// A batch is as long as the time in question, up to the square root of the number of windows
/// (Flegal and Jones, Batch means and spectral variance estimators in Markov chain Monte Carlo,
/// Annals of Statistics 2010): longer batches are too few to tell their variance. Longer times are
/// therefore treated as if batches of that length were independent. Fluctuation that is slower than
/// the whole of the windows is unknown.
#[derive(Debug, Clone, PartialEq)]
pub struct Fluctuation {
    /// Means over the windows, relative to their mean.
    relative: Vec<f64>,
    window_s: f64,
}

impl Fluctuation {
    /// Fewest windows that tell anything.
    pub const WINDOWS_MIN: usize = 8;

    /// Takes the means over windows of `window_s` seconds, in the order of time.
    ///
    /// # Errors
    /// When there are fewer than [`Self::WINDOWS_MIN`], when one is negative or not finite, when all
    /// are zero, and when the length is not positive and finite.
    pub fn of(rates: &[f64], window_s: f64) -> Result<Self, SampleError> {
        check(0, window_s)?;
        if rates.len() < Self::WINDOWS_MIN {
            return Err(SampleError::TooFew {
                n: rates.len(),
                least: Self::WINDOWS_MIN,
            });
        }
        let mean = Summary::of_amounts(rates)?.mean;
        check(0, mean)?;
        Ok(Self {
            relative: rates.iter().map(|rate| rate / mean).collect(),
            window_s,
        })
    }

    /// Standard deviation of the logarithm of the mean over `seconds`, which are above 0.
    ///
    /// The mean is treated as log-normal: the variance of its logarithm is ln(1 + relative variance).
    pub fn log_deviation(&self, seconds: f64) -> f64 {
        self.variance(seconds).ln_1p().sqrt()
    }

    /// Expected half-width of the 95 % interval of a ratio over `pairs` of independent means over
    /// `seconds`, as a share of the ratio: exp(t √2 s ÷ √n) − 1, where s is
    /// [`Self::log_deviation`]. `None` below two pairs.
    pub fn half_width(&self, seconds: f64, pairs: u32) -> Option<f64> {
        let t = t_quantile(0.975, pairs.checked_sub(1)?)?;
        let deviation = self.log_deviation(seconds);
        Some((t * (2.0 / f64::from(pairs)).sqrt() * deviation).exp_m1())
    }

    /// Fewest pairs of means over `seconds` with a half-width of `wanted` at most. `None` if even a
    /// hundred thousand are too few.
    pub fn pairs_for(&self, seconds: f64, wanted: f64) -> Option<u32> {
        fewest(|pairs| {
            let width = self.half_width(seconds, pairs);
            width.is_some_and(|width| width <= wanted)
        })
    }

    /// Shortest time, in seconds, with which `pairs` have a half-width of `wanted` at most. `None`
    /// below two pairs.
    pub fn seconds_for(&self, pairs: u32, wanted: f64) -> Option<f64> {
        let t = t_quantile(0.975, pairs.checked_sub(1)?)?;
        let deviation = wanted.ln_1p() / (t * (2.0 / f64::from(pairs)).sqrt());
        let variance = deviation.powi(2).exp_m1();
        let batch = self.batch_max();
        let long = self.batch_variance(batch) * self.window_s / variance;
        if long >= batch as f64 * self.window_s {
            return Some(long);
        }
        let mut times = (1..=batch).map(|batch| batch as f64 * self.window_s);
        times.find(|seconds| self.variance(*seconds) <= variance)
    }

    /// Variance of the mean over a time, relative to the square of the mean.
    fn variance(&self, seconds: f64) -> f64 {
        let windows = seconds / self.window_s;
        let distance = |batch: &usize| (*batch as f64 - windows).abs();
        let nearest = (1..=self.batch_max()).min_by(|a, b| distance(a).total_cmp(&distance(b)));
        self.batch_variance(nearest.unwrap_or(1)) / windows
    }

    fn batch_max(&self) -> usize {
        self.relative.len().isqrt()
    }

    /// The variance of batches of this many windows, multiplied by this number: v(b).
    fn batch_variance(&self, batch: usize) -> f64 {
        let deviations = self.relative.windows(batch).map(|of_batch| {
            let mean = of_batch.iter().sum::<f64>() / batch as f64;
            (mean - 1.0).powi(2)
        });
        let (all, size) = (self.relative.len() as f64, batch as f64);
        all * size / ((all - size + 1.0) * (all - size)) * deviations.sum::<f64>()
    }
}

#[cfg(test)]
mod tests;
