//! The tables of throughput: absolute, and relative to the base.

use prony_model::{Display, Plan, RatioDisplay};

use crate::analysis::Analysis;
use crate::analysis::group::GroupId;
use crate::document::Block;
use crate::page::section_summaries;
use crate::page::view::{Shown, View, figures_by_target, over_blocks};

/// The absolute figures of one view.
pub(crate) fn absolute(
    analysis: &Analysis<'_>,
    view: &View,
    heading: impl Fn(String) -> Block,
) -> Vec<Block> {
    let plan = analysis.plan;
    let common = common_display(plan, view);
    let name = |group: GroupId, name: &str| match group.display(plan) {
        display if display == common => name.to_owned(),
        display => format!("{name}, {}", unit(display)),
    };
    let rows = view.rows.iter();
    let rows = rows.map(|(group, row)| (name(*group, row), *group));
    let figure = |group: &GroupId, target| {
        let cell = analysis.cells.at(*group, target);
        let shown = cell.shown(group.display(plan)).map(Shown::mean);
        (shown, cell.has_warnings())
    };
    let columns = analysis.columns();
    let Some((table, n)) = figures_by_target(analysis, view.first, &columns, rows, figure) else {
        return Vec::new();
    };
    let text = format!(
        "{} {}, {}",
        title(common),
        view.shared,
        over_blocks("mean", n)
    );
    vec![heading(text), Block::Table(table.repeating_two())]
}

/// The figures of one view relative to the base, below a `remark`.
pub(crate) fn relative(
    analysis: &Analysis<'_>,
    view: &View,
    heading: impl Fn(String) -> Block,
    remark: Option<&Block>,
) -> Vec<Block> {
    let columns: Vec<usize> = analysis.plan.contenders().collect();
    let rows = view.rows.iter();
    let rows = rows.map(|(group, name)| (name.clone(), *group));
    let figure = |group: &GroupId, target| {
        let has_warnings = |target| analysis.cells.at(*group, target).has_warnings();
        let ratio = analysis.shown_ratio(*group, target);
        let base = analysis.plan.base_of(target).filter(|_| ratio.is_some());
        let of_base = base.is_some_and(has_warnings);
        let shown = ratio.map(|estimate| Shown::estimate(&estimate));
        (shown, of_base || has_warnings(target))
    };
    let Some((mut table, n)) = figures_by_target(analysis, view.first, &columns, rows, figure)
    else {
        return vec![Block::Paragraph(format!(
            "Nothing to compare {}: in no block are both the base and another target done.",
            view.shared
        ))];
    };
    table
        .rows
        .extend(section_summaries::rows(analysis, view, n));
    let text = format!(
        "{} to {} {}, {}",
        relative_words(analysis, view),
        analysis.plan.base_words(),
        view.shared,
        over_blocks("geometric mean", n)
    );
    std::iter::once(heading(text))
        .chain(remark.cloned())
        .chain([Block::Table(table)])
        .collect()
}

/// The beginning of a heading: all rows of a view are of one section, whose ratios have one form.
fn relative_words(analysis: &Analysis<'_>, view: &View) -> &'static str {
    let first = view.rows.first();
    match first.map(|(group, _)| analysis.ratio_display(group.step)) {
        Some(RatioDisplay::Time) => "Time of an operation relative",
        _ => "Relative",
    }
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

/// The heading of figures.
pub(crate) const fn title(display: Display) -> &'static str {
    match display {
        Display::Rate => "Queries per second",
        Display::Transactions => "Transactions per second",
        Display::Milliseconds => "Milliseconds per operation",
    }
}

/// The unit of a row, or of a column.
pub(crate) const fn unit(display: Display) -> &'static str {
    match display {
        Display::Rate => "queries/s",
        Display::Transactions => "transactions/s",
        Display::Milliseconds => "ms/op",
    }
}
