//! The cost of an operation: one table for each step, with targets as rows and metrics as columns.

use prony_model::{Metric, TrialKind};

use crate::analysis::Analysis;
use crate::analysis::costs::{self, CellCosts};
use crate::analysis::figure::Figure;
use crate::document::{Block, Cell, Table};
use crate::figures;
use crate::page::Detail;
use crate::page::view::{column_name, over_blocks, with_n};
use crate::words::plural;

/// The columns for a terminal: first those that studies by hand have always had, then the parts of
/// the first, writes, and what only counters know.
const BRIEF: [Metric; 11] = [
    Metric::ServerCpu,
    Metric::ContextSwitches,
    Metric::Reads,
    Metric::ReadKb,
    Metric::WrittenKb,
    Metric::Rate,
    Metric::ServerUser,
    Metric::ServerSystem,
    Metric::Writes,
    Metric::Instructions,
    Metric::InstructionsPerCycle,
];

/// Shown where an operation has less of it, on average, in the unit of its column.
pub(crate) const RARE: &str = "<0.01";

/// More columns, for documents.
const MORE: [Metric; 10] = [
    Metric::KernelInstructions,
    Metric::Cycles,
    Metric::KernelCycles,
    Metric::CacheMisses,
    Metric::BranchMisses,
    Metric::RunQueue,
    Metric::Migrations,
    Metric::PageFaults,
    Metric::WriteAmplification,
    Metric::PerCpuSecond,
];

/// The columns that a report may have.
fn columns(detail: Detail) -> Vec<Metric> {
    match detail {
        Detail::Brief => BRIEF.to_vec(),
        Detail::Full => BRIEF.into_iter().chain(MORE).collect(),
    }
}

/// The columns that any step shows, for the legend.
pub(crate) fn shown(analysis: &Analysis<'_>, detail: Detail) -> Vec<Metric> {
    let steps: Vec<usize> = (0..analysis.plan.steps.len())
        .filter(|&step| analysis.shows(step) && is_measured(analysis, step))
        .collect();
    let anywhere = |metric: &Metric| steps.iter().any(|&step| has(analysis, step, *metric));
    columns(detail).into_iter().filter(anywhere).collect()
}

/// Columns that no step has, although they belong to the table.
pub(crate) fn missing(analysis: &Analysis<'_>, detail: Detail) -> Vec<Metric> {
    let shown = shown(analysis, detail);
    let all = columns(detail).into_iter();
    all.filter(|metric| !shown.contains(metric)).collect()
}

/// Returns `true` if anything is known of a step that the load generator alone could not know.
fn is_measured(analysis: &Analysis<'_>, step: usize) -> bool {
    let own = |metric: &Metric| !metric.facts().how.counters().is_empty();
    let mut metrics = BRIEF.into_iter().chain(MORE).filter(own);
    metrics.any(|metric| has(analysis, step, metric))
}

fn has(analysis: &Analysis<'_>, step: usize, metric: Metric) -> bool {
    let mut cells = analysis.costs.step(step).iter();
    cells.any(|cell| cell.figures.contains_key(&metric))
}

/// The table of one step, absolute and relative to the base.
pub(crate) fn blocks(
    analysis: &Analysis<'_>,
    step: usize,
    detail: Detail,
    heading: impl Fn(String) -> Block,
) -> Vec<Block> {
    if !is_measured(analysis, step) {
        return Vec::new();
    }
    let metrics: Vec<Metric> = columns(detail)
        .into_iter()
        .filter(|&metric| has(analysis, step, metric))
        .collect();
    let n_max = Blocks::of(analysis.costs.step(step));
    let text = title(analysis, "Cost of", step);
    let rows = absolute(analysis, step, &metrics, detail, n_max);
    let header = std::iter::once("target").chain(metrics.iter().map(|m| m.facts().heading));
    let relative = relative(analysis, step, &metrics, detail, n_max);
    let table = Table::of_figures(header, rows.into_iter().chain(relative));
    vec![heading(text), Block::Table(table)]
}

/// The title of a table of means of a step.
pub(crate) fn title(analysis: &Analysis<'_>, begin: &str, step: usize) -> String {
    let planned = &analysis.plan.steps[step];
    let n_max = Blocks::of(analysis.costs.step(step));
    format!(
        "{begin} {} at {}, per {}, {}",
        planned.name,
        plural(planned.own().clients.into(), "client"),
        costs::unit(analysis.plan, step).name(),
        over_blocks("mean", n_max.timed)
    )
}

fn absolute(
    analysis: &Analysis<'_>,
    step: usize,
    metrics: &[Metric],
    detail: Detail,
    n_max: Blocks,
) -> Vec<Vec<Cell>> {
    let show = |metric: Metric, cell: &CellCosts, figure: &Figure| {
        let text = match detail {
            _ if is_next_to_nothing(cell, metric, figure) => RARE.to_owned(),
            Detail::Brief => figures::plain(&figure.summary),
            Detail::Full => figures::amount(&figure.summary),
        };
        let text = n_max.with_n(text, figure, figure.summary.n, detail);
        Some(Cell::figure(text, figure.summary.mean))
    };
    let targets = analysis.columns().into_iter();
    let measured = targets.filter(|&target| !analysis.costs.cell(step, target).figures.is_empty());
    measured
        .map(|target| {
            let cell = analysis.costs.cell(step, target);
            row(cell, None, column_name(analysis, target), metrics, show)
        })
        .collect()
}

fn relative(
    analysis: &Analysis<'_>,
    step: usize,
    metrics: &[Metric],
    detail: Detail,
    n_max: Blocks,
) -> Vec<Vec<Cell>> {
    let show = |_: Metric, _: &CellCosts, figure: &Figure| {
        let estimate = analysis.verdicts.looks.of_pairs(figure.ratio.as_ref()?);
        let text = match detail {
            Detail::Brief => figures::plain_ratio(&estimate),
            Detail::Full => figures::ratio(&estimate),
        };
        let text = n_max.with_n(text, figure, estimate.n(), detail);
        Some(Cell::figure(text, estimate.ratio()))
    };
    let compared = analysis.plan.contenders().filter(|&target| {
        let mut figures = analysis.costs.cell(step, target).figures.values();
        figures.any(|figure| figure.ratio.is_some())
    });
    compared
        .map(|target| {
            let base = analysis.plan.base_of(target);
            let base = base.map(|base| analysis.costs.cell(step, base));
            let name = format!("{} ÷ base", analysis.plan.targets[target].name);
            let cell = analysis.costs.cell(step, target);
            row(cell, base, name.into(), metrics, show)
        })
        .collect()
}

/// A row of figures; where they are relative, the base's warnings are theirs too.
fn row(
    cell: &CellCosts,
    base: Option<&CellCosts>,
    name: Cell,
    metrics: &[Metric],
    show: impl Fn(Metric, &CellCosts, &Figure) -> Option<Cell>,
) -> Vec<Cell> {
    let figures = metrics.iter().map(|&metric| {
        let figure = cell.figures.get(&metric);
        let shown = figure.and_then(|figure| show(metric, cell, figure));
        let mark = shown.is_some() && is_doubtful(cell, base, metric);
        Cell::from(shown).marked(mark)
    });
    std::iter::once(name).chain(figures).collect()
}

/// Whether a warning concerns a metric of a cell, or of the base that it is relative to.
pub(crate) fn is_doubtful(cell: &CellCosts, base: Option<&CellCosts>, metric: Metric) -> bool {
    cell.is_doubtful(metric) || base.is_some_and(|base| base.is_doubtful(metric))
}

/// Returns `true` if digits of an amount per operation would be those of an accident.
pub(crate) fn is_next_to_nothing(cell: &CellCosts, metric: Metric, figure: &Figure) -> bool {
    let of_operations = cell.per_operation(1.0) <= 1.0;
    of_operations && figure.summary.mean > 0.0 && cell.is_rare(metric)
}

/// The greatest number of blocks behind the figures of a table.
#[derive(Clone, Copy)]
struct Blocks {
    timed: usize,
    counted: usize,
}

impl Blocks {
    fn of(cells: &[CellCosts]) -> Self {
        let most = |trials: fn(&CellCosts) -> usize| cells.iter().map(trials).max().unwrap_or(0);
        Self {
            timed: most(|cell| cell.trials.timed.len()),
            counted: most(|cell| cell.trials.counted.len()),
        }
    }

    /// A figure, with its number of blocks where that is another than of its kind elsewhere, and
    /// where there is room for it.
    fn with_n(self, text: String, figure: &Figure, n: usize, detail: Detail) -> String {
        let n_max = match figure.taken {
            TrialKind::Timed => self.timed,
            TrialKind::Counting => self.counted,
        };
        match detail {
            Detail::Brief => text,
            Detail::Full => with_n(text, n, n_max),
        }
    }
}
