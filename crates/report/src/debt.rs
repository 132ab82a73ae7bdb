//! What engines still had to do when a step began, and where that is not the same for all targets.

use std::collections::BTreeSet;

use prony_model::DebtKind;
use prony_store::{Store, StoreError};

use crate::analysis::Analysis;
use crate::cell::Cell;
use crate::document::{Align, Block, Table};
use crate::effective::Detail;
use crate::figures::{self, plural};
use crate::place::Place;
use crate::sections::parts;
use crate::tables::{MARK, NONE, column_name};

/// Rows of the table that the text report shows; the other formats show all.
const ROWS_MAX: usize = 30;

/// A kind of work of which a target had more or less left than the base, beyond the bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unequal {
    pub(crate) kind: DebtKind,
    /// The block in which the difference was greatest, from 1.
    pub(crate) block: u32,
    /// How much the target had in that block, in the unit of the kind.
    pub(crate) value: u64,
    /// How much the base had.
    pub(crate) base: u64,
}

/// Gives every measurement its debt, and how settling before it went.
pub(crate) fn attach(analysis: &mut Analysis<'_>, store: &Store) -> Result<(), StoreError> {
    for row in store.debts()? {
        if let Some(measurement) = analysis.measurement_mut(row.trial, Place::own(row.step)) {
            measurement.debt.insert(row.debt.kind, row.debt.value);
        }
    }
    for row in store.settles()? {
        if let Some(measurement) = analysis.measurement_mut(row.trial, Place::own(row.step)) {
            measurement.settle = Some(row.outcome);
        }
    }
    Ok(())
}

/// The kinds of which `cell` had more or less left than `base` in the same block, beyond the
/// kind's bound. What one of the two does not let one read is not compared.
pub(crate) fn unequal(cell: &Cell, base: &Cell) -> Vec<Unequal> {
    let greatest = |kind: DebtKind| {
        cell.paired(base)
            .filter_map(|(mine, other)| {
                Some(Unequal {
                    kind,
                    block: mine.block(),
                    value: *mine.debt.get(&kind)?,
                    base: *other.debt.get(&kind)?,
                })
            })
            .max_by_key(Unequal::difference)
            .filter(|unequal| unequal.difference() > kind.bound())
    };
    DebtKind::all().filter_map(greatest).collect()
}

impl Unequal {
    fn difference(&self) -> u64 {
        self.value.abs_diff(self.base)
    }

    /// As a note of its cell.
    pub(crate) fn note(&self, base: &str) -> String {
        format!(
            "block {}: work left over before the step differs from {base}'s by more than {}: {} {}, \
             there {}",
            self.block,
            amount(self.kind, self.kind.bound()),
            self.kind.name(),
            amount(self.kind, self.value),
            amount(self.kind, self.base)
        )
    }
}

/// How much of a kind, as people read it.
fn amount(kind: DebtKind, value: u64) -> String {
    if kind.unit() == "bytes" {
        figures::bytes(value)
    } else {
        figures::count(value)
    }
}

/// The section on work left over, where it is unequal.
pub(crate) fn blocks(analysis: &Analysis<'_>, detail: Detail) -> Vec<Block> {
    let mut places = places(analysis);
    if places.is_empty() {
        return Vec::new();
    }
    let explained = explanation(analysis, &places);
    let more = match detail {
        Detail::Brief => places.len().saturating_sub(ROWS_MAX),
        Detail::Full => 0,
    };
    places.truncate(places.len() - more);
    let mut blocks = vec![
        Block::Heading("Work left over".into()),
        Block::Paragraph(explained),
        Block::Table(table(analysis, &places)),
    ];
    if more > 0 {
        let rows = plural(more as u64, "more row");
        let text = format!("… and {rows}: see the Markdown or JSON report.");
        blocks.push(Block::Paragraph(text));
    }
    blocks
}

/// The steps and kinds of which targets had unequal amounts, in the order of the report.
fn places(analysis: &Analysis<'_>) -> Vec<(usize, DebtKind)> {
    parts(analysis.plan)
        .iter()
        .flat_map(|part| part.steps.clone())
        .flat_map(|step| DebtKind::all().map(move |kind| (step, kind)))
        .filter(|&(step, kind)| is_unequal(analysis, step, kind))
        .collect()
}

fn explanation(analysis: &Analysis<'_>, places: &[(usize, DebtKind)]) -> String {
    let kinds: BTreeSet<DebtKind> = places.iter().map(|&(_, kind)| kind).collect();
    let bounds: Vec<String> = kinds
        .into_iter()
        .map(|kind| format!("{} {}", kind.name(), amount(kind, kind.bound())))
        .collect();
    format!(
        "What the engines still had to do before a step, the most in any block, where a target \
         differs from {} in the same block by more than the bound of the kind ({}). Its figures \
         are marked !: a difference in speed may come from this.",
        analysis.base().name,
        bounds.join(", ")
    )
}

fn table(analysis: &Analysis<'_>, places: &[(usize, DebtKind)]) -> Table {
    let columns = analysis.columns();
    let header = columns.iter().map(|&target| column_name(analysis, target));
    let row = |&(step, kind): &(usize, DebtKind)| {
        let cells = columns
            .iter()
            .map(|&target| cell(analysis, step, target, kind));
        std::iter::once(name(analysis, step, kind))
            .chain(cells)
            .collect()
    };
    Table {
        header: std::iter::once("before".to_owned()).chain(header).collect(),
        rows: places.iter().map(row).collect(),
        align: Align::Right,
        repeated: 2,
    }
}

fn is_unequal(analysis: &Analysis<'_>, step: usize, kind: DebtKind) -> bool {
    analysis
        .columns()
        .into_iter()
        .any(|target| marks(analysis.cell(step, target), kind))
}

fn marks(cell: &Cell, kind: DebtKind) -> bool {
    cell.unequal.iter().any(|unequal| unequal.kind == kind)
}

fn cell(analysis: &Analysis<'_>, step: usize, target: usize, kind: DebtKind) -> String {
    let cell = analysis.cell(step, target);
    let values = cell.measurements.iter().filter_map(|m| m.debt.get(&kind));
    let Some(&most) = values.max() else {
        return NONE.to_owned();
    };
    let mark = if marks(cell, kind) { MARK } else { "" };
    format!("{mark}{}", amount(kind, most))
}

fn name(analysis: &Analysis<'_>, step: usize, kind: DebtKind) -> String {
    let step = &analysis.plan.steps[step];
    let clients = if analysis.client_counts().len() == 1 {
        String::new()
    } else {
        format!(" at {}", plural(step.clients.into(), "client"))
    };
    format!("{}{clients}: {}", step.name, kind.name())
}
