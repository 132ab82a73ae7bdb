//! What a histogram of times says, in few figures.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use serde::Serialize;

/// Values that lie above a percentile, at least, where one is shown: with fewer, it is the chance
/// of some values and no property of the server.
const SUPPORT: f64 = 10.0;

/// Times in microseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Times {
    /// How many.
    pub(super) count: u64,
    pub(super) mean: Option<f64>,
    pub(super) p50: Option<f64>,
    pub(super) p90: Option<f64>,
    pub(super) p95: Option<f64>,
    pub(super) p99: Option<f64>,
    pub(super) p999: Option<f64>,
    pub(super) max: Option<f64>,
}

impl Times {
    pub(super) fn of(histogram: &Histogram<u64>) -> Self {
        let count = histogram.len();
        let any = |ns: f64| (count > 0).then(|| microseconds(ns));
        let percentile = |quantile: f64| {
            let supported = count as f64 * (1.0 - quantile) >= SUPPORT - 1e-6;
            supported.then(|| microseconds(histogram.value_at_quantile(quantile) as f64))
        };
        Self {
            count,
            mean: any(histogram.mean()),
            p50: percentile(0.5),
            p90: percentile(0.9),
            p95: percentile(0.95),
            p99: percentile(0.99),
            p999: percentile(0.999),
            max: any(histogram.max() as f64),
        }
    }
}

/// Reads a histogram in nanoseconds as the load generator writes it. `None` when it is none.
pub(super) fn decode(mut bytes: &[u8]) -> Option<Histogram<u64>> {
    Deserializer::new().deserialize(&mut bytes).ok()
}

/// With three decimals, which is whole nanoseconds.
fn microseconds(ns: f64) -> f64 {
    ns.round() / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_need_ten_values_above_them() {
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        assert_eq!(Times::of(&histogram).max, None);
        histogram.record_n(1_500, 99).unwrap();
        let times = Times::of(&histogram);
        assert_eq!((times.count, times.p50, times.p90), (99, Some(1.5), None));
        assert_eq!((times.mean, times.max), (Some(1.5), Some(1.5)));
        histogram.record(1_500).unwrap();
        assert_eq!(Times::of(&histogram).p90, Some(1.5));
        assert_eq!(Times::of(&histogram).p95, None);
    }
}
