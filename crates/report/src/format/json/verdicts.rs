//! Verdicts, for programs.

use prony_model::{Plan, RatioDisplay};
use serde::Serialize;

use super::{estimate, object};
use crate::analysis::Analysis;
use crate::analysis::group::GroupId;
use crate::analysis::section_summaries::StepRatio;
use crate::analysis::verdicts::{Judged, Needed};
use crate::figures::{rounded, word};

/// Digits after the point of p-values.
const DECIMALS: i32 = 6;

/// The comparisons of the base with its twin. `None` without a twin.
pub(crate) fn identical(analysis: &Analysis<'_>) -> Option<impl Serialize> {
    let plan = analysis.plan;
    let twin = &plan.targets[plan.twin?];
    let identical = &analysis.verdicts.identical;
    let comparisons = identical.all.iter().map(|one| {
        object! {
            #[serde(flatten)]
            place: place(plan, one.group),
            metric: one.metric.facts().id,
            #[serde(flatten)]
            estimate: estimate(&one.estimate),
            holds_one: one.estimate.excludes_one().map(|excludes| !excludes),
        }
    });
    let (judged, alarms) = identical.alarms();
    Some(object! {
        target: &twin.name,
        intervals: judged,
        alarms: alarms,
        comparisons: comparisons.collect::<Vec<_>>(),
    })
}

/// All verdicts, and what they rest on together.
pub(crate) fn entry(analysis: &Analysis<'_>) -> impl Serialize {
    let verdicts = &analysis.verdicts;
    let judged: Vec<_> = verdicts
        .iter()
        .map(|judged| one(analysis, judged))
        .collect();
    let disagreements = verdicts.disagreements().map(|found| {
        object! {
            #[serde(flatten)]
            place: place(analysis.plan, found.throughput.group),
            target: &analysis.plan.targets[found.throughput.target].name,
            throughput: found.throughput.verdict,
            cost: found.cost.verdict,
            metric: found.cost.metric.facts().id,
        }
    });
    object! {
        pairs_min: verdicts.pairs_min(),
        tested: verdicts.family,
        judged: judged,
        disagreements: disagreements.collect::<Vec<_>>(),
    }
}

fn one(analysis: &Analysis<'_>, judged: &Judged) -> impl Serialize {
    let p_value = |p: Option<f64>| p.map(|p| rounded(p, DECIMALS));
    object! {
        #[serde(flatten)]
        place: place(analysis.plan, judged.group),
        target: &analysis.plan.targets[judged.target].name,
        metric: judged.metric.facts().id,
        #[serde(flatten)]
        estimate: estimate(&judged.estimate),
        p_value: p_value(judged.estimate.p_value),
        adjusted_p: p_value(judged.adjusted_p),
        equivalence_p: p_value(judged.equivalence_p),
        margin_percent: rounded(judged.margin * 100.0, 3),
        verdict: judged.verdict,
        significant: judged.is_significant(),
        size: judged.size.as_ref().map(word),
        more_blocks: match judged.needed {
            Some(Needed::TooFew { least }) => Some(least.saturating_sub(judged.estimate.n())),
            Some(Needed::About(blocks)) => Some(blocks),
            Some(Needed::Many) | None => None,
        },
        doubts: &judged.doubts,
    }
}

/// Throughput over all steps, then over each part, by target.
pub(crate) fn overall(analysis: &Analysis<'_>) -> Vec<impl Serialize> {
    let targets = &analysis.plan.targets;
    let entries = analysis.overall.iter().flat_map(|part| {
        part.targets.iter().map(|(target, ratio)| {
            object! {
                section: part.title.as_ref(),
                target: &targets[*target].name,
                steps: ratio.steps,
                ratio: ratio.estimate.as_ref().map(estimate),
                time_ratio: ratio.time.as_ref().map(estimate),
            }
        })
    });
    entries.collect()
}

/// The ratios of each section by number of clients, by target.
pub(crate) fn summaries(analysis: &Analysis<'_>) -> Vec<impl Serialize> {
    let plan = analysis.plan;
    let of_step = |of: &StepRatio| {
        object! {
            step: plan.steps[of.step].name.clone(),
            #[serde(flatten)]
            estimate: estimate(&of.estimate),
        }
    };
    let entries = analysis.summaries.iter().flat_map(|summary| {
        summary.targets.iter().map(move |(target, of)| {
            let place = |display, place: usize| {
                let extremes = of.extremes(display);
                extremes.map(|extremes| of_step(extremes[place]))
            };
            object! {
                section: summary.title.as_ref(),
                clients: summary.clients,
                target: &plan.targets[*target].name,
                steps: of.overall.steps,
                ratio: of.overall.estimate.as_ref().map(estimate),
                lowest: place(RatioDisplay::Throughput, 0),
                highest: place(RatioDisplay::Throughput, 1),
                time_ratio: of.overall.time.as_ref().map(estimate),
                lowest_time: place(RatioDisplay::Time, 0),
                highest_time: place(RatioDisplay::Time, 1),
            }
        })
    });
    entries.collect()
}

/// The step of a group, and the group.
fn place(plan: &Plan, group: GroupId) -> impl Serialize {
    object! {
        step: &plan.steps[group.step].name,
        clients: group.of(plan).clients,
        beside: group.of(plan).name.as_ref(),
    }
}
