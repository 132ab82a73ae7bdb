//! Where the time of an operation goes, from the timed trials of the same run.

use prony_model::Metric;
use prony_store::Store;

use crate::analysis::Analysis;
use crate::error::ReportError;

/// Parts of an operation's time on processors and their metrics, in reading order.
const PARTS: [(&str, Metric); 3] = [
    ("server, user space", Metric::ServerUser),
    ("server, kernel", Metric::ServerSystem),
    ("client", Metric::ClientCpu),
];
/// Share of the whole by which the parts may exceed it, and nothing is left: clocks differ.
const EXCESS: f64 = 0.02;

/// Times of the operations of a step on each target.
pub(super) struct Times {
    /// By target, in the order of the plan.
    targets: Vec<OperationTime>,
}

/// The time of an operation, in microseconds, means of the blocks.
#[derive(Default)]
pub(super) struct OperationTime {
    /// From sending to the last byte of the answer.
    pub(super) whole: Option<f64>,
    /// On processors.
    pub(super) parts: Vec<(&'static str, Option<f64>)>,
    /// The server was ready to run and had no processor. Where client and server share one, that is while the
    /// client has it.
    pub(super) ready: Option<f64>,
    /// `true` if a warning concerns one of them.
    pub(super) is_doubtful: bool,
}

impl OperationTime {
    /// Time of the whole that is on no processor: waits for one, for locks, the log, storage, the network,
    /// and to be woken. `None` where threads besides the session's work at the same time.
    pub(super) fn waiting(&self) -> Option<f64> {
        let parts: Option<f64> = self.parts.iter().map(|(_, time)| *time).sum();
        let whole = self.whole?;
        let waiting = whole - parts?;
        (waiting >= -EXCESS * whole).then_some(waiting.max(0.0))
    }
}

impl Times {
    /// Reads the times of a step.
    pub(super) fn read(store: &Store, step: usize) -> Result<Self, ReportError> {
        let analysis = Analysis::of(store)?;
        let targets = (0..analysis.plan.targets.len()).map(|target| {
            let costs = analysis.costs.cell(step, target);
            let of = |metric: Metric| {
                let figure = costs.figures.get(&metric)?;
                Some(costs.per_operation(figure.summary.mean))
            };
            let metrics = PARTS.iter().map(|(_, metric)| *metric);
            OperationTime {
                whole: of(Metric::RoundTrip),
                ready: of(Metric::RunQueue),
                parts: PARTS
                    .iter()
                    .map(|(name, metric)| (*name, of(*metric)))
                    .collect(),
                is_doubtful: metrics
                    .chain([Metric::RoundTrip, Metric::RunQueue])
                    .any(|metric| costs.is_doubtful(metric)),
            }
        });
        Ok(Self {
            targets: targets.collect(),
        })
    }

    /// The time on a target.
    pub(super) fn of(&self, target: usize) -> &OperationTime {
        &self.targets[target]
    }
}
