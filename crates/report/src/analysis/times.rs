//! Times of operations, read from histograms: the one place that decodes these and chooses
//! percentiles.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use prony_model::ServiceTimes;
use serde::Serialize;

use crate::analysis::histogram::SparseHistogram;

/// A histogram of nanoseconds.
pub(crate) type NsHistogram = Histogram<u64>;

/// The figures of a histogram in nanoseconds, in whatever form it is kept.
pub(crate) trait Recorded {
    /// Number of recorded times.
    fn count(&self) -> u64;
    fn mean_ns(&self) -> f64;
    /// The time that this share in (0, 1] of all do not exceed.
    fn quantile_ns(&self, share: f64) -> u64;
    fn max_ns(&self) -> u64;
}

impl Recorded for NsHistogram {
    fn count(&self) -> u64 {
        self.len()
    }

    fn mean_ns(&self) -> f64 {
        self.mean()
    }

    fn quantile_ns(&self, share: f64) -> u64 {
        self.value_at_quantile(share)
    }

    fn max_ns(&self) -> u64 {
        self.max()
    }
}

impl Recorded for SparseHistogram {
    fn count(&self) -> u64 {
        self.len()
    }

    fn mean_ns(&self) -> f64 {
        self.mean()
    }

    fn quantile_ns(&self, share: f64) -> u64 {
        self.value_at_quantile(share)
    }

    fn max_ns(&self) -> u64 {
        self.max()
    }
}

/// Times in microseconds, with three decimals. A percentile p is there only where enough operations
/// support it: 100 ÷ (1 − p), that is 200, 1 000, 2 000, 10 000 and 100 000 for the five here.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Times {
    /// Number of operations, at least 1.
    #[serde(skip)]
    pub(crate) count: u64,
    pub(crate) mean: f64,
    pub(crate) p50: Option<f64>,
    #[serde(skip)]
    pub(crate) p90: Option<f64>,
    pub(crate) p95: Option<f64>,
    pub(crate) p99: Option<f64>,
    #[serde(skip)]
    pub(crate) p999: Option<f64>,
    pub(crate) max: f64,
}

impl Times {
    /// The times of a histogram in nanoseconds. `None` when it is empty.
    pub(crate) fn of(histogram: &impl Recorded) -> Option<Self> {
        Self::with_mean(histogram, histogram.mean_ns())
    }

    fn with_mean(histogram: &impl Recorded, mean_ns: f64) -> Option<Self> {
        let count = histogram.count();
        let percentile = |per_mille: u16| {
            ServiceTimes::supports(count, per_mille).then(|| {
                let quantile = f64::from(per_mille) / 1e3;
                microseconds(histogram.quantile_ns(quantile) as f64)
            })
        };
        (count > 0).then(|| Self {
            count,
            mean: microseconds(mean_ns),
            p50: percentile(500),
            p90: percentile(900),
            p95: percentile(950),
            p99: percentile(990),
            p999: percentile(999),
            max: microseconds(histogram.max_ns() as f64),
        })
    }
}

/// The figures of a histogram in nanoseconds: those that metrics are made of, and those that are shown,
/// `None` when it is empty.
pub(crate) fn figures(histogram: &impl Recorded) -> (ServiceTimes, Option<Times>) {
    // Goes through all buckets, and so is computed once for both.
    let mean_ns = histogram.mean_ns();
    let of_metrics = ServiceTimes {
        count: histogram.count(),
        mean_ns,
        p50_ns: histogram.quantile_ns(0.5),
        p95_ns: histogram.quantile_ns(0.95),
        p99_ns: histogram.quantile_ns(0.99),
        max_ns: histogram.max_ns(),
    };
    (of_metrics, Times::with_mean(histogram, mean_ns))
}

/// Decodes a histogram as the load generator writes it.
///
/// # Errors
/// When the bytes are no histogram, with the decoder's complaint.
pub(crate) fn decode(mut bytes: &[u8]) -> Result<NsHistogram, String> {
    let decoded = Deserializer::new().deserialize(&mut bytes);
    decoded.map_err(|error| error.to_string())
}

/// The buckets that are not empty, ascending: the upper end in nanoseconds, and the number of
/// operations.
pub(crate) fn buckets(histogram: &NsHistogram) -> impl Iterator<Item = (u64, u64)> {
    let recorded = histogram.iter_recorded();
    recorded.map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value()))
}

/// Whole nanoseconds.
fn microseconds(nanoseconds: f64) -> f64 {
    nanoseconds.round() / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_need_support() {
        type Percentile = fn(Times) -> Option<f64>;
        let percentiles: [(Percentile, u64); 5] = [
            (|times| times.p50, 200),
            (|times| times.p90, 1_000),
            (|times| times.p95, 2_000),
            (|times| times.p99, 10_000),
            (|times| times.p999, 100_000),
        ];
        for (percentile, needed) in percentiles {
            let mut histogram = Histogram::<u64>::new(3).unwrap();
            histogram.record_n(1_000, needed - 1).unwrap();
            assert_eq!(percentile(Times::of(&histogram).unwrap()), None);
            histogram.record(1_000).unwrap();
            assert!(percentile(Times::of(&histogram).unwrap()).is_some());
        }
    }

    #[test]
    fn few_operations_have_mean_and_maximum_only() {
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        assert_eq!(Times::of(&histogram), None);
        histogram.record(1_000_000).unwrap();
        let times = Times::of(&histogram).unwrap();
        assert!((times.mean / 1000.0 - 1.0).abs() < 1e-3);
        assert!((times.max / 1000.0 - 1.0).abs() < 1e-3);
        let percentiles = [times.p50, times.p90, times.p95, times.p99, times.p999];
        assert_eq!((times.count, percentiles), (1, [None; 5]));
    }

    #[test]
    fn bytes_that_are_no_histogram_have_a_reason() {
        assert!(!decode(b"no histogram").unwrap_err().is_empty());
    }
}
