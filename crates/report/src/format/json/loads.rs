//! Loads, and pairs of steps before and after the writes, for programs.

use prony_model::{SettleOutcome, Target};
use serde::Serialize;

use super::{RatioEntry, SummaryEntry, ratio, summary};
use crate::analysis::Analysis;
use crate::analysis::loads::DoneLoad;
use crate::figures::rounded;

#[derive(Serialize)]
pub(crate) struct LoadEntry<'a> {
    target: &'a str,
    rows_per_second: Option<SummaryEntry>,
    ratio: Option<RatioEntry>,
    done: Vec<DoneEntry<'a>>,
}

#[derive(Serialize)]
struct DoneEntry<'a> {
    block: Option<u32>,
    image: Option<&'a str>,
    reused: bool,
    rows: Option<u64>,
    rows_seconds: Option<f64>,
    index_seconds: Option<f64>,
    rows_per_second: Option<f64>,
    method: Option<&'a str>,
    settle: Option<&'a SettleOutcome>,
}

#[derive(Serialize)]
pub(crate) struct BeforeAfterEntry<'a> {
    target: &'a str,
    step: &'a str,
    before: &'a str,
    clients: u32,
    ratio: Option<RatioEntry>,
}

/// The loads of every target.
pub(crate) fn loads<'a>(analysis: &'a Analysis<'_>) -> Vec<LoadEntry<'a>> {
    let targets = analysis.plan.targets.iter();
    targets
        .zip(&analysis.loads)
        .map(|(target, load)| LoadEntry {
            target: &target.name,
            rows_per_second: load.rows_per_second.as_ref().map(summary),
            ratio: load.ratio.as_ref().map(ratio),
            done: load.done.iter().map(done).collect(),
        })
        .collect()
}

fn done(load: &DoneLoad) -> DoneEntry<'_> {
    let outcome = load.row.outcome.as_ref();
    let seconds = |ns: u64| rounded(ns as f64 / 1e9, 3);
    DoneEntry {
        block: load.block,
        image: load.row.image.as_deref(),
        reused: load.row.reused,
        rows: outcome.map(|outcome| outcome.rows),
        rows_seconds: outcome.map(|outcome| seconds(outcome.rows_ns)),
        index_seconds: outcome.map(|outcome| seconds(outcome.index_ns)),
        rows_per_second: load.rows_per_second().map(|rate| rounded(rate, 3)),
        method: outcome.map(|outcome| outcome.method.as_str()),
        settle: load.row.settle.as_ref(),
    }
}

/// Steps after the writes relative to the same before them, by target.
pub(crate) fn before_after<'a>(analysis: &'a Analysis<'_>) -> Vec<BeforeAfterEntry<'a>> {
    let plan = analysis.plan;
    let of_target = |(index, target): (usize, &'a Target)| {
        analysis.before_after.iter().map(move |pair| {
            let step = &plan.steps[pair.after];
            BeforeAfterEntry {
                target: &target.name,
                step: &step.name,
                before: &plan.steps[pair.before].name,
                clients: step.own().clients,
                ratio: pair.ratios[index].as_ref().map(ratio),
            }
        })
    };
    plan.targets
        .iter()
        .enumerate()
        .flat_map(of_target)
        .collect()
}
