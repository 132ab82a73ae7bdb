//! The answer to a question.

use prony_profile::Comparison;

use super::cells::{Cells, Profiled};
use super::question::ExplainQuestion;

/// Cells that are shown where none is named.
const GROWN_MOST: usize = 5;

/// An answer.
pub(super) enum Explanation<'a> {
    /// The step of a target beside that of its base.
    Two(Box<Compared<'a>>),
    /// A step of all targets.
    All(Vec<&'a Profiled>),
    /// Steps whose cost grew most.
    Grown(Vec<Compared<'a>>),
}

/// A target beside its base in one step.
pub(super) struct Compared<'a> {
    pub(super) base: &'a Profiled,
    pub(super) target: &'a Profiled,
    pub(super) comparison: Comparison,
}

impl<'a> Compared<'a> {
    fn new(base: &'a Profiled, target: &'a Profiled) -> Self {
        Self {
            comparison: Comparison::new(&base.trials, &target.trials),
            base,
            target,
        }
    }

    /// `true` if there is no base, so that a target stands beside itself.
    pub(super) fn is_alone(&self) -> bool {
        self.base.target == self.target.target
    }

    /// Cost of the target ÷ that of the base.
    pub(super) fn growth(&self) -> f64 {
        let total = self.comparison.total;
        total.target / total.base.max(f64::MIN_POSITIVE)
    }
}

/// Answers a question.
pub(super) fn answer<'a>(cells: &'a Cells, question: &ExplainQuestion<'_>) -> Explanation<'a> {
    if question.step.is_none() {
        let mut pairs: Vec<_> = cells.pairs().collect();
        let growth = |(base, target): &(&Profiled, &Profiled)| target.total() / base.total();
        pairs.sort_by(|a, b| growth(b).total_cmp(&growth(a)));
        let grown = pairs.into_iter().take(GROWN_MOST);
        return Explanation::Grown(grown.map(|(b, t)| Compared::new(b, t)).collect());
    }
    let mut pairs: Vec<_> = cells.pairs().collect();
    if question.target.is_none() && pairs.len() != 1 {
        return Explanation::All(cells.all().collect());
    }
    if pairs.is_empty() {
        // The base itself, or a target without one: its cost alone.
        pairs.extend(cells.all().map(|cell| (cell, cell)));
    }
    match pairs.first() {
        Some((base, target)) => Explanation::Two(Box::new(Compared::new(base, target))),
        None => Explanation::All(Vec::new()),
    }
}
