//! Where the time of an operation goes, from the timed trials of the same run.

use std::collections::BTreeMap;

use prony_model::Metric;
use prony_profile::{Components, Sampled};
use prony_store::Store;

use super::trial::damaged;
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
    /// Time of threads of sessions between two operations' ends, by what they wait for, from looks at them in
    /// profiling trials; empty where there were none.
    pub(super) waits: BTreeMap<String, f64>,
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
    pub(super) fn read(
        store: &Store,
        step: usize,
        components: &Components,
    ) -> Result<Self, ReportError> {
        let analysis = Analysis::of(store)?;
        let mut waits = waits(store, step, components)?;
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
                waits: waits.remove(&target).unwrap_or_default(),
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

/// Microseconds between the ends of two operations of a client, by what threads of sessions wait for, by target:
/// shares of the looks at these threads in profiling trials, of the time in timed trials.
fn waits(
    store: &Store,
    step: usize,
    components: &Components,
) -> Result<BTreeMap<usize, BTreeMap<String, f64>>, ReportError> {
    let mut cycles: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
    for row in store.outcomes()? {
        if row.group == 0 && row.step == step && row.operations > 0 {
            let (sum, trials) = cycles.entry(row.planned.target).or_default();
            *sum += row.busy_ns as f64 / 1e3 / row.operations as f64;
            *trials += 1.0;
        }
    }
    let mut shares: BTreeMap<usize, Vec<BTreeMap<String, f64>>> = BTreeMap::new();
    for row in store.profiled()? {
        if row.group != 0 || row.step != step {
            continue;
        }
        let Some(content) = store.stack_samples(row.trial, step)? else {
            continue;
        };
        let sampled =
            Sampled::decode(&content).map_err(|problem| damaged(store.plan(), &row, problem))?;
        let of_trial = sampled.waits_of_sessions(components);
        let of_target = shares.entry(row.planned.target).or_default();
        of_target.extend((!of_trial.is_empty()).then_some(of_trial));
    }
    let mut waits: BTreeMap<usize, BTreeMap<String, f64>> = BTreeMap::new();
    for (target, trials) in shares {
        let Some((sum, timed)) = cycles.get(&target) else {
            continue;
        };
        let of_target = waits.entry(target).or_default();
        for (kind, share) in trials.iter().flatten() {
            *of_target.entry(kind.clone()).or_default() +=
                share * sum / timed / trials.len() as f64;
        }
    }
    Ok(waits)
}
