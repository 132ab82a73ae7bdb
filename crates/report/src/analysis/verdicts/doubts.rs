//! Reasons to doubt a verdict.

use std::collections::BTreeSet;
use std::fmt;

use prony_model::{Metric, Plan, TrialKind};
use prony_store::{Subject, TrialId, WarningRow};
use serde::Serialize;

use crate::analysis::cells::Cells;
use crate::analysis::costs::Costs;
use crate::analysis::group::GroupId;
use crate::analysis::struck::Struck;

/// A reason to doubt a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Doubt {
    /// Warnings about the figures of the target or the base.
    Warnings,
    /// Warnings about whole trials, such as those of canaries.
    Trials,
    /// The step exceeded the load generator's ceiling, which is therefore unknown.
    Ceiling,
    /// Identical servers differ by more than the margin of the step.
    Identical,
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Warnings => "warnings concern its figures",
            Self::Trials => "warnings concern its trials",
            Self::Ceiling => "the load generator's ceiling is unknown there",
            Self::Identical => "identical servers differ by more than the margin",
        })
    }
}

/// The facts that cast doubt on verdicts.
pub(super) struct Doubts<'a> {
    plan: &'a Plan,
    cells: &'a Cells,
    costs: &'a Costs,
    /// Trials that warnings are about.
    trials: BTreeSet<TrialId>,
    struck: &'a Struck,
}

impl<'a> Doubts<'a> {
    pub(super) fn of(
        plan: &'a Plan,
        (cells, costs): (&'a Cells, &'a Costs),
        warnings: &[WarningRow],
        struck: &'a Struck,
    ) -> Self {
        let trials = warnings.iter().filter_map(|warning| match warning.subject {
            Subject::Trial(trial) => Some(trial),
            _ => None,
        });
        Self {
            plan,
            cells,
            costs,
            trials: trials.collect(),
            struck,
        }
    }

    /// The doubts about a metric of a target; `differs` where identical servers differ by more than
    /// the margin.
    pub(super) fn about(
        &self,
        group: GroupId,
        target: usize,
        metric: Metric,
        differs: bool,
    ) -> Vec<Doubt> {
        let base = self.plan.other_base_of(target);
        let sides: Vec<usize> = std::iter::once(target).chain(base).collect();
        let cell = |side| self.cells.at(group, side);
        let costs = |side| self.costs.cell(group.step, side);
        let is_cost = !metric.facts().how.counters().is_empty();
        let is_timed = sides.iter().all(|&side| {
            let figure = costs(side).figures.get(&metric);
            figure.is_none_or(|figure| figure.taken == TrialKind::Timed)
        });
        let has_warnings = sides.iter().any(|&side| {
            (is_timed && cell(side).has_warnings()) || (is_cost && costs(side).is_doubtful(metric))
        });
        let mut measurements = sides.iter().flat_map(|&side| &cell(side).measurements);
        let in_trials = is_timed && measurements.any(|m| self.trials.contains(&m.row().trial));
        let all = [
            (has_warnings, Doubt::Warnings),
            (in_trials, Doubt::Trials),
            (is_timed && self.struck.by(group.step), Doubt::Ceiling),
            (differs, Doubt::Identical),
        ];
        let holding = all.into_iter().filter(|(holds, _)| *holds);
        holding.map(|(_, doubt)| doubt).collect()
    }
}
