//! The section on work left over.

use std::collections::BTreeSet;

use prony_model::DebtKind;

use crate::analysis::Analysis;
use crate::analysis::cell::Cell as AnalysisCell;
use crate::analysis::debt::amount;
use crate::document::{Block, Cell, Table};
use crate::page::Detail;
use crate::page::view::{by_target, more_rows, with_clients};

/// Rows of the table that the text report shows; the other formats show all.
const ROWS_MAX: usize = 30;

/// The section, where targets had unequal amounts left.
pub(crate) fn blocks(analysis: &Analysis<'_>, detail: Detail) -> Vec<Block> {
    let mut rows = unequal(analysis);
    if rows.is_empty() {
        return Vec::new();
    }
    let explained = explanation(analysis, &rows);
    let more = match detail {
        Detail::Brief => rows.len().saturating_sub(ROWS_MAX),
        Detail::Full => 0,
    };
    rows.truncate(rows.len() - more);
    let mut blocks = vec![
        Block::Heading("Work left over".into()),
        Block::Paragraph(explained),
        Block::Table(table(analysis, &rows)),
    ];
    blocks.extend(more_rows(more));
    blocks
}

/// The steps and kinds of which targets had unequal amounts, in the order of the report.
fn unequal(analysis: &Analysis<'_>) -> Vec<(usize, DebtKind)> {
    let sections = analysis.sections.iter();
    sections
        .flat_map(|section| section.steps.clone())
        .flat_map(|step| DebtKind::all().map(move |kind| (step, kind)))
        .filter(|&(step, kind)| {
            let mut targets = 0..analysis.plan.targets.len();
            targets.any(|target| is_unequal(analysis.cell(step, target), kind))
        })
        .collect()
}

fn explanation(analysis: &Analysis<'_>, rows: &[(usize, DebtKind)]) -> String {
    let kinds: BTreeSet<DebtKind> = rows.iter().map(|&(_, kind)| kind).collect();
    let bounds: Vec<String> = kinds
        .into_iter()
        .map(|kind| format!("{} {}", kind.name(), amount(kind, kind.bound())))
        .collect();
    format!(
        "Work that engines had left over before a step, the maximum over the blocks, if a target \
         differs from {} in the same block by more than the bound of the kind ({}). Its figures \
         are marked !, because a difference in speed may come from this.",
        analysis.plan.base_words(),
        bounds.join(", ")
    )
}

fn table(analysis: &Analysis<'_>, rows: &[(usize, DebtKind)]) -> Table {
    let columns = analysis.all_targets();
    let rows = rows.iter().map(|&(step, kind)| {
        let planned = &analysis.plan.steps[step];
        let name = with_clients(analysis, &planned.name, planned);
        let cells = columns.iter().map(|&target| {
            let cell = analysis.cell(step, target);
            greatest(cell, kind).marked(is_unequal(cell, kind))
        });
        (format!("{name}: {}", kind.name()), cells.collect())
    });
    by_target(analysis, "before", &columns, rows).repeating_two()
}

fn is_unequal(cell: &AnalysisCell, kind: DebtKind) -> bool {
    cell.unequal.iter().any(|unequal| unequal.kind == kind)
}

fn greatest(cell: &AnalysisCell, kind: DebtKind) -> Cell {
    let values = cell.measurements.iter().filter_map(|m| m.debt.get(&kind));
    let greatest = values.max();
    greatest
        .map(|&value| Cell::figure(amount(kind, value), value as f64))
        .into()
}
