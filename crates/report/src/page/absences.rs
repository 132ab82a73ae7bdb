//! Sources that could not be read in whole trials, or in the whole run.

use std::collections::BTreeSet;

use crate::analysis::Analysis;
use crate::document::Block;
use crate::page::view::grouped;
use crate::page::{Detail, cost};
use crate::words::sentence;

/// The section on sources that could not be read, each reason once.
pub(crate) fn blocks(analysis: &Analysis<'_>, detail: Detail) -> Vec<Block> {
    let gaps = analysis.costs.absences.iter().map(|(trial, gap)| {
        let target = trial.and_then(|id| Some(analysis.trials.get(id)?.planned.target));
        ((gap.source, gap.reason.as_str()), target)
    });
    let mut items: Vec<String> = grouped(gaps)
        .into_iter()
        .map(|((source, reason), targets)| {
            let whose = whose(analysis, &targets.into_iter().flatten().collect());
            sentence(&format!(
                "{source}{whose}: {}",
                reason.trim_end_matches('.')
            ))
        })
        .collect();
    let plan = &analysis.plan;
    for note in plan.counting_note.iter().chain(&plan.profiling_note) {
        items.push(sentence(note));
    }
    if items.is_empty() {
        return Vec::new();
    }
    let missing = cost::missing(analysis, detail);
    if !missing.is_empty() {
        let headings: Vec<&str> = missing.iter().map(|m| m.facts().heading).collect();
        items.push(format!("No step has figures for {}.", headings.join(", ")));
    }
    vec![
        Block::Heading("What could not be read".into()),
        Block::List(items),
    ]
}

/// The targets that something holds for, unless it holds for all.
fn whose(analysis: &Analysis<'_>, targets: &BTreeSet<usize>) -> String {
    if targets.is_empty() || targets.len() == analysis.plan.targets.len() {
        return String::new();
    }
    let names: Vec<&str> = analysis
        .all_targets()
        .into_iter()
        .filter(|target| targets.contains(target))
        .map(|target| analysis.plan.targets[target].name.as_str())
        .collect();
    format!(" of {}", names.join(", "))
}
