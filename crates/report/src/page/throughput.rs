//! The tables of throughput: absolute, and relative to the base.

use prony_model::{Display, Plan};

use crate::analysis::Analysis;
use crate::analysis::group::GroupId;
use crate::document::{Block, Cell, Table};
use crate::figures;
use crate::page::view::{View, by_target, over_blocks, with_n};

/// The absolute figures of one view.
pub(crate) fn absolute(
    analysis: &Analysis<'_>,
    view: &View,
    heading: impl Fn(String) -> Block,
) -> Vec<Block> {
    let plan = analysis.plan;
    let columns = analysis.columns();
    let shown = |group: GroupId, target| {
        let cell = analysis.cells.at(group, target);
        cell.shown(group.display(plan))
    };
    let n = |group, target| Some(shown(group, target)?.n);
    let Some(n_max) = n_max(view, &columns, n) else {
        return Vec::new();
    };
    let cell = |group, target| {
        let figure = shown(group, target).map(|summary| {
            let text = with_n(figures::mean(summary), summary.n, n_max);
            Cell::figure(text, summary.mean)
        });
        Cell::from(figure).marked(analysis.cells.at(group, target).has_warnings())
    };
    let common = common_display(plan, view);
    let name = |group: GroupId, name: &str| match group.display(plan) {
        display if display == common => name.to_owned(),
        display => format!("{name}, {}", unit(display)),
    };
    let text = format!(
        "{} {}, {}",
        title(common),
        view.shared,
        over_blocks("mean", n_max)
    );
    let table = table(analysis, view, &columns, name, cell).repeating_two();
    vec![heading(text), Block::Table(table)]
}

/// The figures of one view relative to the base, below a `remark`.
pub(crate) fn relative(
    analysis: &Analysis<'_>,
    view: &View,
    heading: impl Fn(String) -> Block,
    remark: Option<&Block>,
) -> Vec<Block> {
    let columns: Vec<usize> = analysis.contenders().collect();
    let ratio = |group, target| {
        let pairs = analysis.cells.at(group, target).ratio()?;
        Some(pairs.ratio())
    };
    let n_max = n_max(view, &columns, |group, target| {
        Some(ratio(group, target)?.n)
    });
    let Some(n_max) = n_max else {
        return vec![Block::Paragraph(format!(
            "Nothing to compare {}: in no block are both the base and another target done.",
            view.shared
        ))];
    };
    let cell = |group, target| {
        let has_warnings = |target| analysis.cells.at(group, target).has_warnings();
        let ratio = ratio(group, target);
        let figure = ratio.map(|ratio| {
            let text = with_n(figures::ratio(&ratio), ratio.n, n_max);
            Cell::figure(text, ratio.ratio)
        });
        let of_base = ratio.is_some() && has_warnings(analysis.plan.base);
        Cell::from(figure).marked(of_base || has_warnings(target))
    };
    let text = format!(
        "Relative to {} {}, {}",
        analysis.base().name,
        view.shared,
        over_blocks("geometric mean", n_max)
    );
    let table = table(analysis, view, &columns, |_, name| name.to_owned(), cell);
    std::iter::once(heading(text))
        .chain(remark.cloned())
        .chain([Block::Table(table)])
        .collect()
}

fn table(
    analysis: &Analysis<'_>,
    view: &View,
    columns: &[usize],
    name: impl Fn(GroupId, &str) -> String,
    cell: impl Fn(GroupId, usize) -> Cell,
) -> Table {
    let rows = view.rows.iter().map(|(group, row)| {
        let cells = columns.iter().map(|&target| cell(*group, target));
        (name(*group, row), cells.collect())
    });
    by_target(analysis, view.first, columns, rows)
}

/// The greatest number of blocks behind a figure of the table.
fn n_max(
    view: &View,
    columns: &[usize],
    n: impl Fn(GroupId, usize) -> Option<usize>,
) -> Option<usize> {
    let groups = view.rows.iter().map(|(group, _)| *group);
    groups
        .flat_map(|group| columns.iter().map(move |&target| (group, target)))
        .filter_map(|(group, target)| n(group, target))
        .max()
}

/// The unit in the heading of a table: queries per second where any row shows these, because that is
/// what a figure without unit is taken for.
fn common_display(plan: &Plan, view: &View) -> Display {
    let displays = || view.rows.iter().map(|(group, _)| group.display(plan));
    if displays().any(|display| display == Display::Rate) {
        return Display::Rate;
    }
    displays().next().unwrap_or(Display::Rate)
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
