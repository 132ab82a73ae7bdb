//! The ratios of a section in a few rows: their geometric mean, the lowest and the highest by step.

use prony_model::RatioDisplay;

use crate::analysis::Analysis;
use crate::analysis::estimate::Estimate;
use crate::analysis::group::GroupId;
use crate::analysis::section_summaries::{SectionSummary, StepRatio, TargetSummary};
use crate::analysis::sections::Section;
use crate::document::{Block, Cell};
use crate::figures;
use crate::page::view::{View, by_target, with_n};
use crate::words::plural;

/// The rows below a table of ratios whose rows are the steps of a section, the ratios of most of which rest
/// on `n` blocks. None if only some steps of the run are shown.
pub(crate) fn rows(analysis: &Analysis<'_>, view: &View, n: usize) -> Vec<Vec<Cell>> {
    let first = view.rows.first().map(|(group, _)| group.step);
    let mut summaries = analysis.summaries.iter();
    let summary =
        summaries.find(|summary| first.is_some_and(|step| holds(analysis, summary, step)));
    let shown = summary.filter(|_| analysis.is_whole && !view.is_sweep());
    shown.map_or_else(Vec::new, |summary| of_summary(analysis, summary, "", n))
}

/// Returns `true` if a summary is of the section and the number of clients of a step.
fn holds(analysis: &Analysis<'_>, summary: &SectionSummary, step: usize) -> bool {
    let mut sections = analysis.sections.iter();
    let section = sections.find(|section| section.steps.contains(&step));
    let is_of = section.is_some_and(|section| section.steps.contains(&summary.steps[0]));
    is_of && analysis.plan.steps[step].own().clients == summary.clients
}

/// The summaries of a section in a table of their own, for each number of clients. Empty without any, and
/// if only some steps of the run are shown.
pub(crate) fn blocks(
    analysis: &Analysis<'_>,
    section: &Section,
    heading: impl Fn(String) -> Block,
) -> Vec<Block> {
    let summaries = analysis.summaries.iter();
    let own = summaries.filter(|summary| section.steps.contains(&summary.steps[0]));
    let own: Vec<&SectionSummary> = own.filter(|_| analysis.is_whole).collect();
    let Some(first) = own.first() else {
        return Vec::new();
    };
    let estimates = own.iter().flat_map(|summary| &summary.targets);
    let estimates = estimates.filter_map(|(_, target)| target.overall.estimate.as_ref());
    let Some(n) = estimates.map(Estimate::n).max() else {
        return Vec::new();
    };
    let title = format!(
        "{} relative to {}, over the steps{}",
        quantity(analysis.ratio_display(first.steps[0])),
        analysis.plan.base_words(),
        if own.len() > 1 {
            " at each number of clients"
        } else {
            ""
        }
    );
    let rows = own.iter().flat_map(|summary| {
        let clients = match own[..] {
            [_] if analysis.client_counts().len() == 1 => String::new(),
            _ => format!("{}: ", plural(summary.clients.into(), "client")),
        };
        of_summary(analysis, summary, &clients, n)
    });
    let rows = rows.map(|mut row| {
        let cells = row.split_off(1);
        let name = row.first().map(ToString::to_string);
        (name.unwrap_or_default(), cells)
    });
    let contenders: Vec<usize> = first.targets.iter().map(|(target, _)| *target).collect();
    let table = by_target(analysis, "over the steps", &contenders, rows);
    vec![heading(title), Block::Table(table)]
}

/// The name of what ratios are of.
pub(crate) const fn quantity(display: RatioDisplay) -> &'static str {
    match display {
        RatioDisplay::Throughput => "Throughput",
        RatioDisplay::Time => "Time of an operation",
    }
}

/// Three rows, whose names begin with `clients`.
fn of_summary(
    analysis: &Analysis<'_>,
    summary: &SectionSummary,
    clients: &str,
    n: usize,
) -> Vec<Vec<Cell>> {
    let display = analysis.ratio_display(summary.steps[0]);
    let has_warnings = |step: usize, target: usize| {
        let cell = |target| analysis.cells.at(GroupId::own(step), target);
        let base = analysis.plan.base_of(target);
        cell(target).has_warnings() || base.is_some_and(|base| cell(base).has_warnings())
    };
    let mean = |target: usize, of: &TargetSummary| {
        let estimate = of.overall.shown(display)?;
        let text = with_n(figures::ratio(estimate), estimate.n(), n);
        let mark = summary.steps.iter().any(|&step| has_warnings(step, target));
        Some(Cell::figure(text, estimate.ratio()).marked(mark))
    };
    let named = |target: usize, of: &StepRatio| {
        let name = &analysis.plan.steps[of.step].name;
        let text = format!("{} {name}", figures::plain_ratio(&of.estimate));
        let mark = has_warnings(of.step, target);
        Cell::figure(text, of.estimate.ratio()).marked(mark)
    };
    let row = |name: &str, cell: &dyn Fn(usize, &TargetSummary) -> Option<Cell>| {
        let cells = summary.targets.iter();
        let cells = cells.map(|(target, of)| Cell::from(cell(*target, of)));
        let name = Cell::from(format!("{clients}{name}"));
        std::iter::once(name).chain(cells).collect()
    };
    let extreme = |place: usize| {
        move |target: usize, of: &TargetSummary| Some(named(target, of.extremes(display)?[place]))
    };
    vec![
        row("geometric mean", &mean),
        row("lowest", &extreme(0)),
        row("highest", &extreme(1)),
    ]
}
