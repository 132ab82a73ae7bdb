//! Views: single tables and graphs of a report, by name, of chosen cells in a chosen arrangement.
//!
//! A view is a name for measures, an arrangement of cells in tables, and maybe a graph. Everything that
//! varies beyond the arrangement divides the tables further, so that a place of a table never stands
//! for two cells. `docs/studies.md` has the commands for the tables and graphs of published studies.

mod arrangement;
mod base;
mod cell;
mod choice;
mod crossings;
pub(crate) mod figure_table;
mod graph;
mod key;
mod kind;
pub(crate) mod measure;
mod over_rows;
mod peaks;
mod text_graph;

use prony_model::Plan;

use self::arrangement::{Grid, Projection, grids};
use self::base::Base;
use self::cell::CellId;
use self::choice::Choice;
use self::figure_table::FigureTable;
use self::key::Key;
pub use self::kind::View;
use self::measure::{Measure, is_of_bases};
use crate::analysis::Analysis;
use crate::chart::Chart;
use crate::document::Block;
use crate::error::ViewError;
use crate::page::Detail;

/// The cells that a view shows, and their arrangement, as the user wrote them. Keys and values are
/// those of `docs/formats/report.md`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ViewOptions {
    /// Targets that ratios are relative to, each by name, as `KEY:VALUE`, or `previous`; empty for the
    /// experiment's.
    pub bases: Vec<String>,
    /// Choices of cells as `KEY:VALUE,VALUE`; a cell must meet all of them.
    pub only: Vec<String>,
    /// Keys whose values divide the tables; empty as the view has them.
    pub table: Vec<String>,
    /// Keys whose values are the rows; empty as the view has them.
    pub row: Vec<String>,
    /// Keys whose values are the columns; empty as the view has them.
    pub col: Vec<String>,
}

/// One part of a view.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    /// Figures.
    Figures(FigureTable),
    /// The figures of the table before it, as a graph.
    Chart(Chart),
    /// Sentences about the table before them.
    List(Vec<String>),
}

/// The parts of a view, in reading order; empty without figures.
///
/// # Errors
/// If the options name a key, a value or a target that the run does not have, or no cell meets them.
pub(crate) fn parts(
    analysis: &Analysis<'_>,
    view: View,
    options: &ViewOptions,
) -> Result<Vec<Part>, ViewError> {
    let cells = chosen(analysis, options)?;
    let projection = projection(analysis, view, options)?;
    let bases = Base::all(analysis, &options.bases, &cells)?;
    if view == View::Crossings {
        let all = grids(analysis, &cells, &projection);
        let parts = all
            .iter()
            .map(|grid| crossings::part(analysis, grid, &options.bases, &bases));
        return Ok(parts.flatten().collect());
    }
    let mut parts = Vec::new();
    for measures in view.measures() {
        // Figures that are relative to no base are shown once.
        let bases = if is_of_bases(measures) {
            &bases[..]
        } else {
            &bases[..1]
        };
        for base in bases {
            let kept = if view.leaves_out_bases() && is_of_bases(measures) {
                let kept = cells.iter().filter(|cell| !base.is_start(cell.target));
                kept.copied().collect()
            } else {
                cells.clone()
            };
            for grid in grids(analysis, &kept, &projection) {
                parts.extend(of_grid(analysis, view, measures, base, &grid));
            }
        }
    }
    Ok(parts)
}

/// The table of a grid and what stands beside it. Empty without figures.
fn of_grid(
    analysis: &Analysis<'_>,
    view: View,
    measures: &[Measure],
    base: &Base,
    grid: &Grid,
) -> Vec<Part> {
    let Some(mut table) = FigureTable::of(analysis, grid, measures, base) else {
        return Vec::new();
    };
    if view == View::Relative {
        table
            .rows
            .extend(over_rows::geometric_mean(analysis, grid, base));
    }
    let chart = view.has_graph().then(|| graph::of(&table, grid, analysis));
    let list = match view {
        View::Scaling => peaks::of(&table),
        View::Annotated => table.in_sentences(grid),
        _ => Vec::new(),
    };
    let list = (!list.is_empty()).then_some(Part::List(list));
    std::iter::once(Part::Figures(table))
        .chain(chart.map(Part::Chart))
        .chain(list)
        .collect()
}

/// The plan of a run with another base in place of its own: the name of a target, or `KEY:VALUE`.
///
/// # Errors
/// If `written` is no target and finds none, or is `previous`, which is for views.
pub(crate) fn rebased(analysis: &Analysis<'_>, written: &str) -> Result<Plan, ViewError> {
    let base = Base::read(analysis, written, &cell::all(analysis))?;
    if base.is_previous() {
        return Err(ViewError::PreviousOfAll);
    }
    let plan = base.into_plan(analysis.plan);
    plan.ok_or_else(|| ViewError::NoCounterpart {
        written: written.to_owned(),
    })
}

/// The cells that meet all choices, in the order of the sections, then of the targets.
fn chosen(analysis: &Analysis<'_>, options: &ViewOptions) -> Result<Vec<CellId>, ViewError> {
    let mut cells = cell::all(analysis);
    for written in &options.only {
        let choice = Choice::read(written, analysis)?;
        cells.retain(|cell| choice.holds(analysis, *cell));
    }
    if cells.is_empty() {
        return Err(ViewError::NothingLeft);
    }
    Ok(cells)
}

/// The arrangement that is asked for; a key of it leaves the place that the view has it in.
fn projection(
    analysis: &Analysis<'_>,
    view: View,
    options: &ViewOptions,
) -> Result<Projection, ViewError> {
    let read = |written: &[String]| -> Result<Vec<Key>, ViewError> {
        let keys = written.iter();
        keys.map(|written| Key::read(written, analysis.plan))
            .collect()
    };
    let asked = [&options.table, &options.row, &options.col];
    let [table, row, col] = asked;
    let asked = [read(table)?, read(row)?, read(col)?];
    let usual = view.arrangement();
    let keys = |place: usize| -> Vec<Key> {
        if !asked[place].is_empty() {
            return asked[place].clone();
        }
        let usual = usual[place].iter().cloned();
        usual
            .filter(|key| !asked.iter().flatten().any(|other| other == key))
            .collect()
    };
    Ok(Projection {
        table: keys(0),
        row: keys(1),
        col: keys(2),
    })
}

/// The page of a view for people.
pub(crate) fn document(
    analysis: &Analysis<'_>,
    view: View,
    parts: &[Part],
    detail: Detail,
) -> Vec<Block> {
    let mut blocks = vec![Block::Title(format!("{}: {view}", analysis.plan.name))];
    for part in parts {
        match part {
            Part::Figures(table) => blocks.extend(table.blocks(detail)),
            Part::Chart(chart) => blocks.push(Block::Chart(chart.clone())),
            Part::List(items) => blocks.push(Block::List(items.clone())),
        }
    }
    if parts.is_empty() {
        let text = "There are no figures of this view: no trial of these cells is done, nothing of it \
                    was measured, or it needs several targets or numbers of clients.";
        blocks.push(Block::Paragraph(text.into()));
        return blocks;
    }
    blocks.push(Block::Heading("How to read this".into()));
    blocks.push(Block::List(legend(view)));
    blocks
}

/// The same for a terminal, which draws graphs with letters.
pub(crate) fn drawn(document: Vec<Block>) -> Vec<Block> {
    let drawn = document.into_iter().map(|block| match block {
        Block::Chart(chart) => Block::Verbatim(text_graph::lines(&chart)),
        other => other,
    });
    drawn.collect()
}

fn legend(view: View) -> Vec<String> {
    let mut items = view.legend();
    items.push(
        "n is the number of blocks where it differs from the heading. - means that there is no figure, ! \
         that a warning concerns it: the report without --view has its text."
            .to_owned(),
    );
    items
}
