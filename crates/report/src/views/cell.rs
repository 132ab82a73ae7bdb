//! The cells that views choose from.

use crate::analysis::Analysis;
use crate::analysis::group::GroupId;

/// A cell of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CellId {
    pub(crate) group: GroupId,
    pub(crate) target: usize,
}

impl CellId {
    /// A cell of a target, to read the target's properties from.
    pub(crate) fn of_target(analysis: &Analysis<'_>, target: usize) -> Self {
        let step = steps(analysis).next().unwrap_or(0);
        Self {
            group: GroupId::own(step),
            target,
        }
    }
}

/// All cells, in the order of the sections, then of the targets; without those of the base's twin, and
/// of steps that only warm up.
pub(crate) fn all(analysis: &Analysis<'_>) -> Vec<CellId> {
    let plan = analysis.plan;
    let targets = || (0..plan.targets.len()).filter(|&target| Some(target) != plan.twin);
    steps(analysis)
        .flat_map(|step| GroupId::of_step(plan, step))
        .flat_map(|group| targets().map(move |target| CellId { group, target }))
        .collect()
}

/// The steps of all sections, in the order in which they are shown.
fn steps(analysis: &Analysis<'_>) -> impl Iterator<Item = usize> {
    let sections = analysis.sections.iter();
    sections.flat_map(|section| section.steps.iter().copied())
}
