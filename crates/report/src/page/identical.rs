//! The part on identical servers: the base and its twin.

use prony_model::Metric;

use crate::analysis::Analysis;
use crate::analysis::group::GroupId;
use crate::analysis::identical::{Comparison, Identical};
use crate::document::{Block, Table};
use crate::figures;
use crate::page::Detail;
use crate::page::view::step_name;
use crate::words::{plural, share};

/// Steps that are named as unfit; the Markdown and JSON reports have all.
const UNFIT_MAX: usize = 5;

/// What identical servers show, and the steps that are unfit for their margin.
pub(crate) fn blocks(analysis: &Analysis<'_>, detail: Detail) -> Vec<Block> {
    let mut blocks = vec![Block::Paragraph(summary(analysis))];
    let mut unfit = unfit(analysis);
    if unfit.is_empty() {
        return blocks;
    }
    let more = unfit.len().saturating_sub(UNFIT_MAX);
    if detail == Detail::Brief && more > 0 {
        unfit.truncate(UNFIT_MAX);
        let steps = plural(more as u64, "more step");
        unfit.push(format!("… and {steps}: see the Markdown report"));
    }
    blocks.push(Block::List(unfit));
    blocks
}

fn summary(analysis: &Analysis<'_>) -> String {
    let plan = analysis.plan;
    let Some(twin) = plan.twin else {
        return "Identical servers were not compared in this run.".into();
    };
    let identical = &analysis.verdicts.identical;
    let Some(largest) = identical.largest() else {
        return format!(
            "Identical servers: no block has both {} and {} done.",
            analysis.base().name,
            plan.targets[twin].name
        );
    };
    let (judged, alarms) = identical.alarms();
    let intervals = match (judged, alarms) {
        (0, _) => "one block gives no intervals".to_owned(),
        (all, 1) => format!("1 of {all} intervals does not hold 1"),
        (all, alarms) => format!("{alarms} of {all} intervals do not hold 1"),
    };
    format!(
        "Identical servers: {}, largest difference {} ({}, {}); {intervals}.",
        plural(identical.all.len() as u64, "comparison"),
        share(largest.estimate.difference()),
        step_name(analysis, largest.group),
        largest.metric.facts().name
    )
}

/// The steps at which the throughput of identical servers differs by more than the margin.
fn unfit(analysis: &Analysis<'_>) -> Vec<String> {
    let plan = analysis.plan;
    let of_group = |group: GroupId| {
        let margin = plan.steps[group.step].margin();
        let identical = &analysis.verdicts.identical;
        let difference = identical.beyond(group, Metric::Operations, margin)?;
        Some(format!(
            "This host is unfit for a margin of {} at {}: identical servers differ by {}",
            share(margin),
            step_name(analysis, group),
            share(difference)
        ))
    };
    GroupId::all(plan).filter_map(of_group).collect()
}

/// The table of all comparisons, for documents.
pub(crate) fn table(analysis: &Analysis<'_>, detail: Detail) -> Vec<Block> {
    let Identical { all, .. } = &analysis.verdicts.identical;
    if all.is_empty() || detail == Detail::Brief {
        return Vec::new();
    }
    let row = |one: &Comparison| {
        let holds = match one.estimate.excludes_one() {
            None => "-",
            Some(false) => "yes",
            Some(true) => "no",
        };
        vec![
            step_name(analysis, one.group).into(),
            one.metric.facts().name.into(),
            figures::ratio(&one.estimate).into(),
            one.estimate.n().to_string().into(),
            holds.into(),
        ]
    };
    let header = ["step", "metric", "ratio", "n", "holds 1"];
    vec![
        Block::Heading("Identical servers".into()),
        Block::Table(Table::of_words(header, all.iter().map(row))),
    ]
}
