//! Loads, and pairs of steps before and after the writes, for programs.

use serde::Serialize;

use super::{object, ratio, summary};
use crate::analysis::Analysis;
use crate::analysis::loads::DoneLoad;
use crate::figures::rounded;

/// The loads of every target.
pub(crate) fn loads(analysis: &Analysis<'_>) -> Vec<impl Serialize> {
    let targets = analysis.plan.targets.iter();
    targets
        .zip(&analysis.loads)
        .map(|(target, load)| {
            object! {
                target: &target.name,
                rows_per_second: load.rows_per_second.as_ref().map(summary),
                ratio: load.ratio.as_ref().map(|pairs| ratio(analysis, pairs)),
                done: load.done.iter().map(done).collect::<Vec<_>>(),
            }
        })
        .collect()
}

fn done(load: &DoneLoad) -> impl Serialize {
    let outcome = load.row.outcome.as_ref();
    let seconds = |ns: u64| rounded(ns as f64 / 1e9, 3);
    object! {
        block: load.block,
        image: &load.row.image,
        reused: load.row.reused,
        rows: outcome.map(|outcome| outcome.rows),
        rows_seconds: outcome.map(|outcome| seconds(outcome.rows_ns)),
        index_seconds: outcome.map(|outcome| seconds(outcome.index_ns)),
        rows_per_second: load.rows_per_second().map(|rate| rounded(rate, 3)),
        method: outcome.map(|outcome| outcome.method.as_str()),
        settle: &load.row.settle,
    }
}

/// Steps after the writes relative to the same before them, by target.
pub(crate) fn before_after(analysis: &Analysis<'_>) -> Vec<impl Serialize> {
    let plan = analysis.plan;
    let mut entries = Vec::new();
    for (index, target) in plan.targets.iter().enumerate() {
        for pair in &analysis.before_after {
            let step = &plan.steps[pair.after];
            entries.push(object! {
                target: &target.name,
                step: &step.name,
                before: &plan.steps[pair.before].name,
                clients: step.own().clients,
                ratio: pair.ratios[index].as_ref().map(|pairs| ratio(analysis, pairs)),
            });
        }
    }
    entries
}
