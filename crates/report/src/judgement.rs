//! What a run says of each ratio: the verdicts, for those who act on them.

use prony_model::{Metric, Verdict};
use prony_stats::Interval;
use prony_store::Store;

use crate::ReportError;
use crate::analysis::Analysis;
use crate::analysis::verdicts::Judged;

/// What is known of a metric of a target at a step, relative to the base.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// Index in [`Plan::steps`](prony_model::Plan::steps).
    pub step: usize,
    /// Index in [`Step::groups`](prony_model::Step::groups): 0 for the step's own clients.
    pub group: usize,
    /// Index in [`Plan::targets`](prony_model::Plan::targets).
    pub target: usize,
    /// The metric.
    pub metric: Metric,
    /// Number of blocks in which both were measured, at least 1; where looks are planned, up to the last
    /// one that was reached.
    pub pairs: usize,
    /// Geometric mean of the ratios of the blocks.
    pub ratio: f64,
    /// Its interval of 95 %, wider where several looks were planned; `None` below two pairs.
    pub interval: Option<Interval>,
    /// What follows for the difference.
    pub verdict: Verdict,
}

/// Comparisons of the base with its twin in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdenticalServers {
    /// Number of comparisons that have an interval: metrics, over all steps and groups of clients.
    pub comparisons: u64,
    /// Number of those whose interval does not hold 1: false alarms, because the servers are the same.
    pub alarms: u64,
}

/// Judges every metric of every target at every step that verdicts are given for: the steps in the
/// order of the plan, then the groups of clients, the targets and the metrics. A pair that has no
/// ratio is left out, and so is the twin of the base.
///
/// # Errors
/// When the result file can't be read.
pub fn judgements(store: &Store) -> Result<Vec<Judgement>, ReportError> {
    let analysis = Analysis::of(store)?;
    let judgement = |judged: &Judged| Judgement {
        step: judged.group.step,
        group: judged.group.position,
        target: judged.target,
        metric: judged.metric,
        pairs: judged.estimate.n(),
        ratio: judged.estimate.ratio(),
        interval: judged.estimate.interval,
        verdict: judged.verdict,
    };
    Ok(analysis.verdicts.iter().map(judgement).collect())
}

/// Counts false alarms between identical servers. `None` if the plan has no twin of the base.
///
/// # Errors
/// When the result file can't be read.
pub fn identical_servers(store: &Store) -> Result<Option<IdenticalServers>, ReportError> {
    if store.plan().twin.is_none() {
        return Ok(None);
    }
    let analysis = Analysis::of(store)?;
    let (comparisons, alarms) = analysis.verdicts.identical.alarms();
    Ok(Some(IdenticalServers {
        comparisons: comparisons as u64,
        alarms: alarms as u64,
    }))
}
