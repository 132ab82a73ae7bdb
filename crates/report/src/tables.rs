//! The tables of figures: what was measured, and relative to the base.

use prony_model::{Display, Step};
use prony_stats::{PairedRatio, Summary};

use crate::analysis::Analysis;
use crate::cell::Cell;
use crate::document::{Align, Block, Table};
use crate::figures::{self, plural};
use crate::heading;

/// Shown where there is no figure.
const NONE: &str = "-";

/// Stands before a figure that has notes.
const MARK: &str = "! ";

/// The tables for one number of clients.
pub(crate) fn at_clients(analysis: &Analysis<'_>, clients: u32) -> Vec<Block> {
    let mut blocks = measured(analysis, clients);
    if analysis.plan.targets.len() > 1 {
        blocks.extend(relative(analysis, clients));
    }
    blocks
}

/// The steps at one number of clients, with their indices.
pub(crate) fn steps<'a>(
    analysis: &'a Analysis<'_>,
    clients: u32,
) -> impl Iterator<Item = (usize, &'a Step)> {
    analysis
        .plan
        .steps
        .iter()
        .enumerate()
        .filter(move |(_, step)| step.clients == clients)
}

fn measured(analysis: &Analysis<'_>, clients: u32) -> Vec<Block> {
    let columns = analysis.columns();
    let shown = |step: usize, target| {
        let display = analysis.plan.steps[step].workload.display;
        analysis.cell(step, target).shown(display)
    };
    let n_max = steps(analysis, clients)
        .flat_map(|(step, _)| columns.iter().map(move |&target| (step, target)))
        .filter_map(|(step, target)| shown(step, target).map(|summary| summary.n))
        .max();
    let Some(n_max) = n_max else {
        return Vec::new();
    };
    let cell = |step: usize, target: usize| {
        let figure = shown(step, target)
            .map(|summary: &Summary| with_n(figures::mean(summary), summary.n, n_max));
        marked(figure.as_deref(), analysis.cell(step, target))
    };
    let heading = format!(
        "Queries per second at {}, {}",
        plural(clients.into(), "client"),
        over_blocks("mean", n_max)
    );
    let table = table(analysis, clients, &columns, 2, named_with_unit, cell);
    vec![Block::Heading(heading), Block::Table(table)]
}

fn relative(analysis: &Analysis<'_>, clients: u32) -> Vec<Block> {
    let columns: Vec<usize> = analysis.contenders().collect();
    let ratio = |step, target| analysis.cell(step, target).ratio;
    let n_max = steps(analysis, clients)
        .flat_map(|(step, _)| columns.iter().map(move |&target| (step, target)))
        .filter_map(|(step, target)| ratio(step, target).map(|ratio| ratio.n))
        .max();
    let Some(n_max) = n_max else {
        return vec![Block::Paragraph(format!(
            "Nothing to compare at {}: in no block are both the base and another target done.",
            plural(clients.into(), "client")
        ))];
    };
    let cell = |step, target| {
        let figure = ratio(step, target)
            .map(|ratio: PairedRatio| with_n(figures::ratio(&ratio), ratio.n, n_max));
        let base_is_noted = !analysis.cell(step, analysis.plan.base).notes.is_empty();
        match figure {
            Some(figure) if base_is_noted => format!("{MARK}{figure}"),
            figure => marked(figure.as_deref(), analysis.cell(step, target)),
        }
    };
    let heading = format!(
        "Relative to {} at {}, {}",
        analysis.base().name,
        plural(clients.into(), "client"),
        over_blocks("geometric mean", n_max)
    );
    let table = table(
        analysis,
        clients,
        &columns,
        1,
        |step| step.name.clone(),
        cell,
    );
    let remark = heading::beside_version(analysis).map(Block::Paragraph);
    std::iter::once(Block::Heading(heading))
        .chain(remark)
        .chain([Block::Table(table)])
        .collect()
}

fn named_with_unit(step: &Step) -> String {
    match step.workload.display {
        Display::Rate => step.name.clone(),
        Display::Transactions => format!("{}, transactions/s", step.name),
        Display::Milliseconds => format!("{}, ms/op", step.name),
    }
}

fn table(
    analysis: &Analysis<'_>,
    clients: u32,
    columns: &[usize],
    repeated: usize,
    row_name: impl Fn(&Step) -> String,
    cell: impl Fn(usize, usize) -> String,
) -> Table {
    let header = std::iter::once("step".to_owned())
        .chain(columns.iter().map(|&target| column_name(analysis, target)))
        .collect();
    let rows = steps(analysis, clients)
        .map(|(index, step)| {
            std::iter::once(row_name(step))
                .chain(columns.iter().map(|&target| cell(index, target)))
                .collect()
        })
        .collect();
    Table {
        header,
        rows,
        align: Align::Right,
        repeated,
    }
}

fn column_name(analysis: &Analysis<'_>, target: usize) -> String {
    let mark = if analysis.failed(target) { MARK } else { "" };
    let base = if target == analysis.plan.base {
        " (base)"
    } else {
        ""
    };
    format!("{mark}{}{base}", analysis.plan.targets[target].name)
}

/// Says how many blocks a figure rests on, where that is fewer than the heading says.
fn with_n(figure: String, n: usize, n_max: usize) -> String {
    if n == n_max {
        figure
    } else {
        format!("{figure} n={n}")
    }
}

fn marked(figure: Option<&str>, cell: &Cell) -> String {
    let mark = if cell.notes.is_empty() { "" } else { MARK };
    format!("{mark}{}", figure.unwrap_or(NONE))
}

fn over_blocks(what: &str, n: usize) -> String {
    if n == 1 {
        "1 block".to_owned()
    } else {
        format!("{what} of {n} blocks")
    }
}
