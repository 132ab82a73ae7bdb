//! Findings, for programs.

use prony_model::Plan;
use serde::Serialize;

use super::object;
use crate::analysis::Analysis;
use crate::analysis::findings::{self, CellMetric};
use crate::figures::rounded;
use crate::page::findings::{Figure, Part, sentence};

/// All findings: their sentences, the cells that they rest on, and the figures of the sentences.
pub(crate) fn entry(analysis: &Analysis<'_>) -> Vec<impl Serialize> {
    let plan = analysis.plan;
    let found = findings::of(analysis).into_iter();
    let entries = found.map(|finding| {
        let sentence = sentence(analysis, &finding);
        let figures = sentence.0.iter().filter_map(|part| match part {
            Part::Figure(figure) => Some(of_figure(plan, figure)),
            Part::Text(_) => None,
        });
        let cells = finding.cells(plan.twin).into_iter();
        object! {
            kind: finding.kind(),
            text: sentence.to_string(),
            cells: cells.map(|cell| of_cell(plan, cell)).collect::<Vec<_>>(),
            figures: figures.collect::<Vec<_>>(),
        }
    });
    entries.collect()
}

fn of_figure(plan: &Plan, figure: &Figure) -> impl Serialize + use<> {
    object! {
        text: figure.text.clone(),
        value: rounded(figure.value, 6),
        low: figure.interval.map(|(low, _)| rounded(low, 6)),
        high: figure.interval.map(|(_, high)| rounded(high, 6)),
        cell: figure.cell.map(|cell| of_cell(plan, cell)),
    }
}

fn of_cell(plan: &Plan, cell: CellMetric) -> impl Serialize + use<> {
    let group = cell.group.of(plan);
    object! {
        step: plan.steps[cell.group.step].name.clone(),
        clients: group.clients,
        beside: group.name.clone(),
        target: plan.targets[cell.target].name.clone(),
        metric: cell.metric.facts().id,
    }
}
