//! Steps that are run before and after the writes, and what the writes changed for them.

use prony_model::{Pace, Plan, Step};
use prony_stats::PairedRatio;

use crate::analysis::Analysis;
use crate::document::{Align, Block, Table};
use crate::figures::{self, plural};
use crate::tables::{MARK, NONE, column_name, over_blocks, with_n};

/// Marks a step that is repeated after the writes.
const BEFORE: &str = "pre";

/// Marks the repetition, where its name says so.
const AFTER: &str = "post";

/// The same work before and after the writes, with the same number of clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pair {
    /// Index of the step before.
    pub(crate) before: usize,
    /// Index of the step after.
    pub(crate) after: usize,
}

/// The pairs of a plan, in the order of the steps after: `X.pre` with `X` or `X.post`. Operations
/// that arrive at a rate are as many before as after, so that steps of them are no pairs.
pub(crate) fn of(plan: &Plan) -> Vec<Pair> {
    let paired = |step: &Step| !step.warm_only && !matches!(step.pace, Pace::Open { .. });
    let measured = || plan.steps.iter().enumerate().filter(|(_, s)| paired(s));
    measured()
        .filter(|(_, step)| !has(step, BEFORE))
        .filter_map(|(after, step)| {
            let same = |other: &Step| {
                has(other, BEFORE) && stem(other) == stem(step) && does_the_same(other, step)
            };
            let (before, _) = measured().find(|(_, other)| same(other))?;
            (before < after).then_some(Pair { before, after })
        })
        .collect()
}

/// Whether nothing but what the server went through makes the figures of two steps differ.
fn does_the_same(one: &Step, other: &Step) -> bool {
    one.clients == other.clients
        && one.workload.name == other.workload.name
        && one.parameters == other.parameters
        && one.pace == other.pace
        && one.reconnect_every == other.reconnect_every
        && one.beside == other.beside
        && one.timing == other.timing
}

fn has(step: &Step, word: &str) -> bool {
    step.name.split('.').any(|part| part == word)
}

/// The name without the words that tell before from after.
fn stem(step: &Step) -> Vec<&str> {
    let parts = step.name.split('.');
    parts
        .filter(|&part| part != BEFORE && part != AFTER)
        .collect()
}

/// Operations per second after ÷ those before in the same trial.
pub(crate) fn ratio(analysis: &Analysis<'_>, pair: Pair, target: usize) -> Option<PairedRatio> {
    let before = analysis.cell(pair.before, target);
    analysis.cell(pair.after, target).ratio_to(before)
}

/// The table of all pairs.
pub(crate) fn blocks(analysis: &Analysis<'_>) -> Vec<Block> {
    let pairs = of(analysis.plan);
    let columns = analysis.columns();
    let n_max = pairs
        .iter()
        .flat_map(|&pair| columns.iter().map(move |&target| (pair, target)))
        .filter_map(|(pair, target)| ratio(analysis, pair, target).map(|ratio| ratio.n))
        .max();
    let Some(n_max) = n_max else {
        return Vec::new();
    };
    let cell = |pair: Pair, target: usize| {
        let noted = |step| analysis.cell(step, target).is_noted();
        let mark = if noted(pair.before) || noted(pair.after) {
            MARK
        } else {
            ""
        };
        let figure = ratio(analysis, pair, target)
            .map(|ratio| with_n(figures::ratio(&ratio), ratio.n, n_max));
        format!("{mark}{}", figure.as_deref().unwrap_or(NONE))
    };
    let rows = pairs.iter().map(|&pair| {
        std::iter::once(name(analysis, pair))
            .chain(columns.iter().map(|&target| cell(pair, target)))
            .collect()
    });
    let table = Table {
        header: std::iter::once("step".to_owned())
            .chain(columns.iter().map(|&target| column_name(analysis, target)))
            .collect(),
        rows: rows.collect(),
        align: Align::Right,
        repeated: 1,
    };
    let heading = format!(
        "After the writes relative to before them, {}",
        over_blocks("geometric mean", n_max)
    );
    vec![Block::Heading(heading), Block::Table(table)]
}

fn name(analysis: &Analysis<'_>, pair: Pair) -> String {
    let step = &analysis.plan.steps[pair.after];
    let name = stem(step).join(".");
    if analysis.client_counts().len() == 1 {
        return name;
    }
    format!("{name} at {}", plural(step.clients.into(), "client"))
}
