//! Steps that are run before and after the writes, and the difference that the writes made.

use prony_model::{Metric, Pace, Plan, Step};
use prony_stats::Pairs;

use crate::analysis::cell;
use crate::analysis::cells::Cells;
use crate::analysis::group::GroupId;

/// Marks a step that is repeated after the writes.
const BEFORE: &str = "pre";

/// Marks the repetition, where its name says so.
const AFTER: &str = "post";

/// The same work before and after the writes, with the same number of clients.
#[derive(Debug)]
pub(crate) struct BeforeAfter {
    /// Index of the step before.
    pub(crate) before: usize,
    /// Index of the step after.
    pub(crate) after: usize,
    /// Operations per second after ÷ those before in the same trial, by target.
    pub(crate) ratios: Vec<Option<Pairs>>,
}

/// The pairs of a plan, in the order of the steps after: `X.pre` with `X` or `X.post`. Operations
/// that arrive at a rate are as many before as after, so that steps of them are no pairs.
pub(crate) fn of(plan: &Plan, cells: &Cells) -> Vec<BeforeAfter> {
    let has_pairs = |step: &Step| !step.warm_only && !matches!(step.own().pace, Pace::Open { .. });
    let measured = || plan.steps.iter().enumerate().filter(|(_, s)| has_pairs(s));
    let pair = |(after, step): (usize, &Step)| {
        let same = |other: &Step| {
            has(other, BEFORE) && stem(other) == stem(step) && does_the_same(other, step)
        };
        let (before, _) = measured().find(|(_, other)| same(other))?;
        let of_target = |step, target| &cells.at(GroupId::own(step), target).measurements[..];
        let ratio = |target| {
            cell::ratio(
                Metric::Operations,
                of_target(after, target),
                of_target(before, target),
            )
        };
        (before < after).then(|| BeforeAfter {
            before,
            after,
            ratios: (0..plan.targets.len()).map(ratio).collect(),
        })
    };
    let repeated = measured().filter(|(_, step)| !has(step, BEFORE));
    repeated.filter_map(pair).collect()
}

/// Whether only the state of the server can make the figures of two steps differ.
fn does_the_same(one: &Step, other: &Step) -> bool {
    let (mine, others) = (one.own(), other.own());
    mine.clients == others.clients
        && mine.workload.name == others.workload.name
        && mine.parameters == others.parameters
        && mine.pace == others.pace
        && mine.reconnect_every == others.reconnect_every
        && one.groups.beside() == other.groups.beside()
        && one.timing == other.timing
}

fn has(step: &Step, word: &str) -> bool {
    step.name.split('.').any(|part| part == word)
}

/// The name without the words that tell before from after.
pub(crate) fn stem(step: &Step) -> Vec<&str> {
    let parts = step.name.split('.');
    parts
        .filter(|&part| part != BEFORE && part != AFTER)
        .collect()
}
