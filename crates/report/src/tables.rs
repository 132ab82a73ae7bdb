//! The tables of figures: what was measured, and relative to the base.

use std::collections::BTreeSet;

use prony_model::{Display, Plan, Step, Timing};
use prony_stats::{PairedRatio, Summary};

use crate::analysis::Analysis;
use crate::cell::Cell;
use crate::document::{Align, Block, Table};
use crate::effective::Detail;
use crate::figures::{self, plural};
use crate::heading;
use crate::place::Place;
use crate::sections::Part;
use crate::{efficiency, seen, told};

/// Shown where there is no figure.
pub(crate) const NONE: &str = "-";

/// Stands before a figure that has notes.
pub(crate) const MARK: &str = "! ";

/// Steps that make up the rows of a table.
pub(crate) struct View {
    /// What all rows have in common, such as `at 2 clients`.
    pub(crate) place: String,
    /// Heading of the first column.
    pub(crate) first: &'static str,
    /// Whose figures are in each row, and what the row is called.
    pub(crate) rows: Vec<(Place, String)>,
}

/// The tables of one part of a report.
pub(crate) fn part(analysis: &Analysis<'_>, part: &Part, detail: Detail) -> Vec<Block> {
    let heading = |text| match part.title {
        Some(_) => Block::Subheading(text),
        None => Block::Heading(text),
    };
    let remark = heading::beside_version(analysis).map(Block::Paragraph);
    // Once for a part with a title, else beside each table, where it is looked for.
    let (above, beside) = match part.title {
        Some(_) => (remark, None),
        None => (None, remark),
    };
    let compared = analysis.compares();
    let mut blocks = Vec::new();
    let views = views(analysis.plan, part);
    for view in &views {
        blocks.extend(measured(analysis, view, heading));
        if compared {
            blocks.extend(relative(analysis, view, heading, beside.as_ref()));
        }
    }
    // What was reached comes first, and after it what it cost.
    for view in &views {
        blocks.extend(seen::blocks(analysis, view, heading));
    }
    for &step in &part.steps {
        blocks.extend(efficiency::blocks(analysis, step, detail, heading));
    }
    for &step in &part.steps {
        blocks.extend(told::blocks(analysis, step, detail, heading));
    }
    let title = part.title.clone().map(Block::Section);
    title
        .into_iter()
        .chain(above.filter(|_| compared))
        .chain(blocks)
        .collect()
}

/// How the steps of a part are laid out: one table for each number of clients, with a row for each
/// entry of the sequence; or, where there are more numbers of clients than entries, the other way
/// round.
fn views(plan: &Plan, part: &Part) -> Vec<View> {
    let steps = || part.steps.iter().map(|&index| (index, &plan.steps[index]));
    let clients: BTreeSet<u32> = steps().map(|(_, step)| step.clients).collect();
    let mut entries: Vec<usize> = Vec::new();
    for (_, step) in steps() {
        if !entries.contains(&step.entry) {
            entries.push(step.entry);
        }
    }
    if clients.len() > entries.len() {
        return entries
            .iter()
            .map(|&entry| sweep(plan, part, entry))
            .collect();
    }
    let at = |clients: u32| View {
        place: format!("at {}", plural(clients.into(), "client")),
        first: "step",
        rows: steps()
            .filter(|(_, step)| step.clients == clients)
            .flat_map(|(index, step)| rows(plan, index, &named(step)))
            .collect(),
    };
    clients.into_iter().map(at).collect()
}

/// One entry over the numbers of clients.
fn sweep(plan: &Plan, part: &Part, entry: usize) -> View {
    let mut steps: Vec<(usize, &Step)> = part
        .steps
        .iter()
        .map(|&index| (index, &plan.steps[index]))
        .filter(|(_, step)| step.entry == entry)
        .collect();
    steps.sort_by_key(|(_, step)| step.clients);
    let name = steps.first().map(|(_, step)| named(step));
    View {
        place: format!("in {}", name.unwrap_or_default()),
        first: "clients",
        rows: steps
            .iter()
            .flat_map(|(index, step)| rows(plan, *index, &figures::count(step.clients.into())))
            .collect(),
    }
}

/// The row of a step, and those of the groups beside it.
fn rows(plan: &Plan, step: usize, name: &str) -> Vec<(Place, String)> {
    let places = Place::of_step(plan, step);
    places
        .map(|place| (place, place.named(plan, name)))
        .collect()
}

/// A step with what must be known of its figures.
fn named(step: &Step) -> String {
    match step.timing {
        Timing::Operations => step.name.clone(),
        Timing::WholeRun => format!("{}, whole run", step.name),
    }
}

fn measured(analysis: &Analysis<'_>, view: &View, heading: impl Fn(String) -> Block) -> Vec<Block> {
    let columns = analysis.columns();
    let display = |place: Place| place.display(analysis.plan);
    let shown = |place, target| analysis.cell_at(place, target).shown(display(place));
    let n_max = n_max(view, &columns, |place, target| {
        shown(place, target).map(|summary| summary.n)
    });
    let Some(n_max) = n_max else {
        return Vec::new();
    };
    let cell = |place: Place, target: usize| {
        let figure = shown(place, target)
            .map(|summary: &Summary| with_n(figures::mean(summary), summary.n, n_max));
        marked(figure.as_deref(), analysis.cell_at(place, target))
    };
    let common = common_display(analysis.plan, view);
    let name = |(place, name): &(Place, String)| {
        let display = display(*place);
        if display == common {
            name.clone()
        } else {
            format!("{name}, {}", unit(display))
        }
    };
    let text = format!(
        "{} {}, {}",
        title(common),
        view.place,
        over_blocks("mean", n_max)
    );
    let table = table(analysis, view, &columns, 2, name, cell);
    vec![heading(text), Block::Table(table)]
}

fn relative(
    analysis: &Analysis<'_>,
    view: &View,
    heading: impl Fn(String) -> Block,
    remark: Option<&Block>,
) -> Vec<Block> {
    let columns: Vec<usize> = analysis.contenders().collect();
    let ratio = |place, target| analysis.cell_at(place, target).ratio;
    let n_max = n_max(view, &columns, |place, target| {
        ratio(place, target).map(|ratio| ratio.n)
    });
    let Some(n_max) = n_max else {
        return vec![Block::Paragraph(format!(
            "Nothing to compare {}: in no block are both the base and another target done.",
            view.place
        ))];
    };
    let cell = |place, target| {
        let figure = ratio(place, target)
            .map(|ratio: PairedRatio| with_n(figures::ratio(&ratio), ratio.n, n_max));
        let base_is_noted = analysis.cell_at(place, analysis.plan.base).is_noted();
        match figure {
            Some(figure) if base_is_noted => format!("{MARK}{figure}"),
            figure => marked(figure.as_deref(), analysis.cell_at(place, target)),
        }
    };
    let text = format!(
        "Relative to {} {}, {}",
        analysis.base().name,
        view.place,
        over_blocks("geometric mean", n_max)
    );
    let name = |(_, name): &(Place, String)| name.clone();
    let table = table(analysis, view, &columns, 1, name, cell);
    std::iter::once(heading(text))
        .chain(remark.cloned())
        .chain([Block::Table(table)])
        .collect()
}

/// The greatest number of blocks behind a figure of the table.
fn n_max(
    view: &View,
    columns: &[usize],
    n: impl Fn(Place, usize) -> Option<usize>,
) -> Option<usize> {
    let places = view.rows.iter().map(|(place, _)| *place);
    places
        .flat_map(|place| columns.iter().map(move |&target| (place, target)))
        .filter_map(|(place, target)| n(place, target))
        .max()
}

/// What the heading of a table says: queries per second where any row shows these, because that is
/// what a figure without unit is taken for.
fn common_display(plan: &Plan, view: &View) -> Display {
    let displays = || {
        let places = view.rows.iter().map(|(place, _)| *place);
        places.map(|place| place.display(plan))
    };
    let first = displays().next().unwrap_or(Display::Rate);
    if displays().any(|display| display == Display::Rate) {
        Display::Rate
    } else {
        first
    }
}

const fn title(display: Display) -> &'static str {
    match display {
        Display::Rate => "Queries per second",
        Display::Transactions => "Transactions per second",
        Display::Milliseconds => "Milliseconds per operation",
    }
}

const fn unit(display: Display) -> &'static str {
    match display {
        Display::Rate => "queries/s",
        Display::Transactions => "transactions/s",
        Display::Milliseconds => "ms/op",
    }
}

fn table(
    analysis: &Analysis<'_>,
    view: &View,
    columns: &[usize],
    repeated: usize,
    row_name: impl Fn(&(Place, String)) -> String,
    cell: impl Fn(Place, usize) -> String,
) -> Table {
    let header = std::iter::once(view.first.to_owned())
        .chain(columns.iter().map(|&target| column_name(analysis, target)))
        .collect();
    let rows = view
        .rows
        .iter()
        .map(|row| {
            std::iter::once(row_name(row))
                .chain(columns.iter().map(|&target| cell(row.0, target)))
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

/// The heading of a target's column.
pub(crate) fn column_name(analysis: &Analysis<'_>, target: usize) -> String {
    let mark = if analysis.failed(target) { MARK } else { "" };
    let base = if target == analysis.plan.base {
        " (base)"
    } else {
        ""
    };
    format!("{mark}{}{base}", analysis.plan.targets[target].name)
}

/// Says how many blocks a figure rests on, where that is fewer than the heading says.
pub(crate) fn with_n(figure: String, n: usize, n_max: usize) -> String {
    if n == n_max {
        figure
    } else {
        format!("{figure} n={n}")
    }
}

/// A figure, with a mark where something must be said beside it.
pub(crate) fn marked(figure: Option<&str>, cell: &Cell) -> String {
    let mark = if cell.is_noted() { MARK } else { "" };
    format!("{mark}{}", figure.unwrap_or(NONE))
}

/// What figures rest on.
pub(crate) fn over_blocks(what: &str, n: usize) -> String {
    if n == 1 {
        "1 block".to_owned()
    } else {
        format!("{what} of {n} blocks")
    }
}
