//! Latencies of operations, read from stored histograms.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use prony_store::{Store, TrialId};
use serde::Serialize;

use crate::analysis::Analysis;
use crate::cell::Measurement;
use crate::figures::rounded;
use crate::paced::histogram;
use crate::place::Place;
use crate::render::ReportError;

/// Latency of one cell in one block, in microseconds. A percentile p is there only where enough
/// operations support it: 100 ÷ (1 − p), that is 200, 2 000 and 10 000 for the three here.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Latency {
    pub(crate) mean: f64,
    pub(crate) p50: Option<f64>,
    pub(crate) p95: Option<f64>,
    pub(crate) p99: Option<f64>,
    pub(crate) max: f64,
}

impl Latency {
    /// Reads the histogram of what was measured at a place. `None` when it is empty.
    pub(crate) fn of(
        measurement: &Measurement,
        place: Place,
        analysis: &Analysis<'_>,
        store: &Store,
    ) -> Result<Option<Self>, ReportError> {
        let trial = measurement.row().trial;
        let hdr = histogram(store, trial, place, 0)?;
        Self::decode(&hdr, analysis, trial, place.step)
    }

    /// Reads a stored histogram of a step of a trial. `None` when it is empty.
    pub(crate) fn decode(
        mut hdr: &[u8],
        analysis: &Analysis<'_>,
        trial: TrialId,
        step: usize,
    ) -> Result<Option<Self>, ReportError> {
        let decoded = Deserializer::new().deserialize::<u64, _>(&mut hdr);
        let decoded = decoded.map_err(|error| {
            let planned = analysis.trial(trial).map(|trial| trial.planned);
            let target = planned.map(|planned| &analysis.plan.targets[planned.target].name);
            ReportError::Histogram {
                target: target.cloned().unwrap_or_default(),
                step: analysis.plan.steps[step].name.clone(),
                block: planned.map_or(0, |planned| planned.block + 1),
                problem: error.to_string(),
            }
        })?;
        Ok(Self::of_histogram(&decoded))
    }

    fn of_histogram(histogram: &Histogram<u64>) -> Option<Self> {
        if histogram.is_empty() {
            return None;
        }
        let percentile = |percent: u32| {
            supports(histogram.len(), percent)
                .then(|| microseconds(histogram.value_at_quantile(f64::from(percent) / 100.0)))
        };
        Some(Self {
            mean: rounded(histogram.mean() / 1e3, 3),
            p50: percentile(50),
            p95: percentile(95),
            p99: percentile(99),
            max: microseconds(histogram.max()),
        })
    }
}

/// Whether `operations` are enough for a percentile: 100 ÷ (1 − p), in whole numbers.
fn supports(operations: u64, percent: u32) -> bool {
    operations.saturating_mul(u64::from(100 - percent)) >= 10_000
}

fn microseconds(nanoseconds: u64) -> f64 {
    rounded(nanoseconds as f64 / 1e3, 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_need_support() {
        for (percent, needed) in [(50, 200), (95, 2_000), (99, 10_000)] {
            assert!(supports(needed, percent));
            assert!(!supports(needed - 1, percent));
        }
    }

    #[test]
    fn few_operations_have_mean_and_maximum_only() {
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        assert_eq!(Latency::of_histogram(&histogram), None);
        histogram.record(1_000_000).unwrap();
        let latency = Latency::of_histogram(&histogram).unwrap();
        assert!((latency.mean / 1000.0 - 1.0).abs() < 1e-3);
        assert!((latency.max / 1000.0 - 1.0).abs() < 1e-3);
        assert_eq!((latency.p50, latency.p95, latency.p99), (None, None, None));
    }
}
