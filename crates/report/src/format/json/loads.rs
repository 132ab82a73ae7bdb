//! Loads, and pairs of steps before and after the writes, for programs.

use serde::Serialize;

use super::{costs, object, ratio, summary};
use crate::analysis::Analysis;
use crate::analysis::loads::DoneLoad;
use crate::figures::rounded;

/// The loads of every target.
pub(crate) fn loads(analysis: &Analysis<'_>) -> Vec<impl Serialize> {
    let targets = analysis.plan.targets.iter().enumerate();
    targets
        .zip(&analysis.loads)
        .map(|((index, target), load)| {
            let done = load.done.iter().map(|load| done(analysis, index, load));
            let costs = costs::of_loads(analysis, index);
            object! {
                target: &target.name,
                rows_per_second: load.rows_per_second.as_ref().map(summary),
                ratio: load.ratio.as_ref().map(|pairs| ratio(analysis, pairs)),
                #[serde(flatten)]
                costs: costs.map(|costs| object! { costs: costs }),
                done: done.collect::<Vec<_>>(),
            }
        })
        .collect()
}

fn done<'a>(
    analysis: &'a Analysis<'_>,
    target: usize,
    load: &'a DoneLoad,
) -> impl Serialize + use<'a> {
    let outcome = load.row.outcome.as_ref();
    let seconds = |ns: u64| rounded(ns as f64 / 1e9, 3);
    let block = load.block;
    let spent = block.and_then(|block| costs::of_load(analysis, target, block));
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
        #[serde(flatten)]
        spent: spent.map(|spent| object! { spent: spent }),
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
