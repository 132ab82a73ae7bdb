//! Reasons for the largest differences of a run, for the answer of its report.

use std::collections::BTreeMap;

use prony_model::Verdict;
use prony_profile::Components;
use prony_store::Store;

use super::answer::{Explanation, answer};
use super::cells::Cells;
use super::page;
use super::question::ExplainQuestion;
use crate::analysis::Analysis;
use crate::analysis::findings::{self, Finding};
use crate::error::ReportError;

/// The components that make the difference of a finding, by step and target. Cells without execution profiles
/// have none.
pub(crate) fn reasons(
    store: &Store,
    analysis: &Analysis<'_>,
) -> Result<BTreeMap<(usize, usize), String>, ReportError> {
    let components = Components::built_in()?;
    let plan = analysis.plan;
    let mut reasons = BTreeMap::new();
    for finding in findings::of(analysis) {
        let Finding::Largest(largest) = finding else {
            continue;
        };
        let (step, target) = (largest.judged.group.step, largest.judged.target);
        let Some(base) = plan.other_base_of(target) else {
            continue;
        };
        let question = ExplainQuestion {
            step: Some(&plan.steps[step].name),
            clients: Some(plan.steps[step].own().clients),
            target: Some(&plan.targets[target].name),
            base: Some(&plan.targets[base].name),
            ..ExplainQuestion::default()
        };
        let cells = match Cells::read(store, Some(analysis), &question, &components) {
            Ok(cells) => cells,
            Err(
                ReportError::NoProfile { .. }
                | ReportError::NoProfiles { .. }
                | ReportError::NoSamples { .. }
                | ReportError::Samples { .. },
            ) => continue,
            Err(error) => return Err(error),
        };
        if let Explanation::Two(two) = answer(&cells, &question) {
            let is_slower = largest.judged.verdict != Verdict::Improved;
            let reason = page::reason(&two, cells.unit, is_slower);
            reasons.extend(reason.map(|reason| ((step, target), reason)));
        }
    }
    Ok(reasons)
}
