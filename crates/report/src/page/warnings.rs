//! The sections after the figures: warnings, and trials that failed or are missing.

use prony_model::{PlannedTrial, TrialKind, TrialState};
use prony_store::TrialRow;
use serde_json::{Map, Value};

use crate::analysis::Analysis;
use crate::analysis::group::GroupId;
use crate::document::Block;
use crate::page::heading::host_line;
use crate::page::log_excerpt::excerpt;
use crate::page::{hosts, loads};
use crate::words::{self, plural, sentence};

/// Warnings that are shown; the JSON report has them all.
const WARNINGS_MAX: usize = 40;

/// A trial in words.
fn name(analysis: &Analysis<'_>, planned: PlannedTrial) -> String {
    let target = &analysis.plan.targets[planned.target].name;
    let counting = match planned.kind {
        TrialKind::Timed => "",
        TrialKind::Counting => ", counting",
        TrialKind::Profiling => ", profiling",
    };
    format!("{target}, block {}{counting}", planned.block + 1)
}

/// Warnings, with figures and without.
pub(crate) fn warnings(analysis: &Analysis<'_>) -> Vec<Block> {
    let mut items = of_cells(analysis);
    let with_figures = items.len();
    if analysis.is_whole {
        items.extend(general_warnings(analysis));
    }
    if items.is_empty() {
        return Vec::new();
    }
    let more = items.len().saturating_sub(WARNINGS_MAX);
    items.truncate(WARNINGS_MAX);
    if more > 0 {
        items.push(format!(
            "… and {}: see the JSON report.",
            words::count(more as u64)
        ));
    }
    let heading = if with_figures > 0 {
        "Warnings, including those for figures marked !"
    } else {
        "Warnings"
    };
    vec![Block::Heading(heading.into()), Block::List(items)]
}

/// Number of all warnings.
pub(crate) fn count(analysis: &Analysis<'_>) -> usize {
    of_cells(analysis).len() + general_warnings(analysis).len()
}

/// Warnings about the figures of cells.
fn of_cells(analysis: &Analysis<'_>) -> Vec<String> {
    let mut items = Vec::new();
    // Steps that only warm have no figures in the tables: their warnings come last.
    let warming = (0..analysis.plan.steps.len()).filter(|&step| !analysis.shows(step));
    let warming = warming.filter(|_| analysis.is_whole);
    let shown = (0..analysis.plan.steps.len()).filter(|&step| analysis.shows(step));
    for index in shown.chain(warming) {
        let step = &analysis.plan.steps[index];
        for group in GroupId::of_step(analysis.plan, index) {
            let whose = group.named(analysis.plan, &step.name);
            let clients = plural(group.of(analysis.plan).clients.into(), "client");
            for target in analysis.all_targets() {
                let name = &analysis.plan.targets[target].name;
                let own = analysis.cells.at(group, target).warnings.iter();
                let costs = analysis.costs.cell(index, target).warnings.iter();
                let all = own.chain(costs.filter(|_| group.is_own()));
                items.extend(
                    all.map(|text| sentence(&format!("{whose}, {name}, {clients}: {text}"))),
                );
            }
        }
    }
    items
}

/// Returns `true` if two hosts differ in a fact that both records have: a later Prony records more.
fn differ(a: &str, b: &str) -> bool {
    let facts = |json| serde_json::from_str::<Map<String, Value>>(json);
    match (facts(a), facts(b)) {
        (Ok(a), Ok(b)) => a
            .iter()
            .any(|(name, value)| b.get(name).is_some_and(|other| other != value)),
        _ => a != b,
    }
}

/// Warnings that belong to no cell with figures: of the run, of trials, of failed trials.
fn general_warnings(analysis: &Analysis<'_>) -> Vec<String> {
    let mut items = Vec::new();
    items.extend(hosts::contradictions(analysis).map(|text| sentence(&text)));
    for pair in analysis.hosts.windows(2) {
        // Hosts with names are several, and none is resumed as another.
        if pair[1].host_name.is_none() && differ(&pair[0].facts_json, &pair[1].facts_json) {
            items.push(format!(
                "The host changed before the run was resumed at {}: {}.",
                pair[1].recorded_at.strftime("%Y-%m-%d %H:%M UTC"),
                host_line(&pair[1])
            ));
        }
    }
    let of_loads = loads::unsettled(analysis).into_iter();
    let of_loads = of_loads.chain(loads::cost_warnings(analysis));
    items.extend(of_loads.map(|text| sentence(&text)));
    for warning in &analysis.warnings {
        let subject = warning.subject;
        let trial = subject.trial().and_then(|id| analysis.trials.get(id));
        if let (Some(TrialState::Done), Some(_)) = (trial.map(|trial| trial.state), subject.step())
        {
            continue; // A warning of its cell.
        }
        let mut words: Vec<String> = trial
            .map(|trial| name(analysis, trial.planned))
            .into_iter()
            .collect();
        if let Some(step) = subject.step().map(|step| &analysis.plan.steps[step]) {
            words.push(format!(
                "{} at {}",
                step.name,
                plural(step.own().clients.into(), "client")
            ));
        }
        let prefix = if words.is_empty() {
            String::new()
        } else {
            words.join(", ") + ": "
        };
        items.push(sentence(&format!(
            "{prefix}{}",
            analysis.warning_text(warning)
        )));
    }
    items
}

/// Trials without figures that matter most: one failed trial of each target and reason, and those that
/// are missing.
pub(crate) fn worst(analysis: &Analysis<'_>) -> Vec<Block> {
    let mut shown: Vec<(usize, Option<&str>)> = Vec::new();
    let mut blocks = Vec::new();
    for trial in analysis.trials.in_state(TrialState::Failed) {
        let cause = (trial.planned.target, trial.reason.as_deref());
        if !shown.contains(&cause) {
            blocks.push(failed(analysis, trial));
            let lines = excerpt(trial.log_tail.as_deref().unwrap_or_default());
            blocks.extend((!lines.is_empty()).then_some(Block::Verbatim(lines)));
            shown.push(cause);
        }
    }
    if !analysis.trials.missing.is_empty() {
        blocks.push(Block::List(vec![missing_line(analysis)]));
    }
    if !blocks.is_empty() {
        blocks.insert(0, Block::Heading("Missing and failed".into()));
    }
    blocks
}

/// The line of a failed trial.
fn failed(analysis: &Analysis<'_>, trial: &TrialRow) -> Block {
    let reason = trial.reason.as_deref().unwrap_or("no reason given");
    let name = name(analysis, trial.planned);
    Block::Paragraph(format!("{name}, failed: {reason}"))
}

/// Trials without figures, and why.
pub(crate) fn missing_and_failed(analysis: &Analysis<'_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut shown: Vec<(usize, &str)> = Vec::new();
    for trial in analysis.trials.in_state(TrialState::Failed) {
        let reason = trial.reason.as_deref().unwrap_or("no reason given");
        blocks.push(failed(analysis, trial));
        // A target that can't start fails in every block with the same words; once is enough.
        let cause = (trial.planned.target, reason);
        let lines = excerpt(trial.log_tail.as_deref().unwrap_or_default());
        if !lines.is_empty() && !shown.contains(&cause) {
            blocks.push(Block::Verbatim(lines));
            shown.push(cause);
        }
    }
    let without_figures = [TrialState::Discarded, TrialState::Excluded];
    let mut items: Vec<String> = without_figures
        .into_iter()
        .flat_map(|state| analysis.trials.in_state(state))
        .map(|trial| {
            format!(
                "{}, attempt {}, {}: {}",
                name(analysis, trial.planned),
                trial.attempt,
                trial.state,
                trial.reason.as_deref().unwrap_or("no reason given")
            )
        })
        .collect();
    if !analysis.trials.missing.is_empty() {
        items.push(missing_line(analysis));
    }
    if !items.is_empty() {
        blocks.push(Block::List(items));
    }
    let excludes = !analysis.trials.excluded().is_empty();
    let heading = if excludes {
        "Missing, failed and excluded"
    } else {
        "Missing and failed"
    };
    if !blocks.is_empty() {
        blocks.insert(0, Block::Heading(heading.into()));
    }
    blocks
}

fn missing_line(analysis: &Analysis<'_>) -> String {
    const SHOWN_MAX: usize = 6;
    let missing = &analysis.trials.missing;
    let mut names: Vec<String> = missing
        .iter()
        .take(SHOWN_MAX)
        .map(|&planned| name(analysis, planned))
        .collect();
    if missing.len() > SHOWN_MAX {
        names.push(format!("… and {}", missing.len() - SHOWN_MAX));
    }
    format!(
        "{} not done yet: {}; `prony resume` runs what is missing.",
        plural(missing.len() as u64, "trial"),
        names.join("; ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_differ_in_facts_that_both_have() {
        let old = r#"{"cpus": 2, "kernel": "6.1"}"#;
        assert!(!differ(
            old,
            r#"{"cpus": 2, "kernel": "6.1", "turbo": true}"#
        ));
        assert!(differ(old, r#"{"cpus": 2, "kernel": "6.2"}"#));
        assert!(differ(r#"{"turbo": null}"#, r#"{"turbo": true}"#));
    }
}
