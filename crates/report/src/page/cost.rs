//! The cost of an operation: one table for each step and one for loads, with targets as rows and metrics
//! as columns.

use std::collections::BTreeMap;

use prony_model::{CostUnit, Metric, TrialKind};

use crate::analysis::Analysis;
use crate::analysis::costs::{self, CellCosts};
use crate::analysis::figure::Figure;
use crate::document::{Block, Cell, Table};
use crate::figures;
use crate::page::Detail;
use crate::page::view::{column_name, over_blocks, with_n};
use crate::words::{capitalised, plural, sentence, share};

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

/// The columns of costs per query: those that studies by hand have, and what only counters know.
const OF_QUERY: [Metric; 7] = [
    Metric::ServerCpu,
    Metric::ContextSwitches,
    Metric::Reads,
    Metric::ReadKb,
    Metric::WrittenKb,
    Metric::Rate,
    Metric::Instructions,
];

/// The divisor of the costs of a table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Per {
    /// An operation, or a row of a scan.
    Unit,
    /// A query, where operations have several.
    Query,
}

impl Per {
    fn figures(self, cell: &CellCosts) -> &BTreeMap<Metric, Figure> {
        match self {
            Self::Unit => &cell.figures,
            Self::Query => &cell.per_query,
        }
    }

    /// The heading of a column: `q` stands for a query as `o` does for an operation.
    fn heading(self, metric: Metric) -> String {
        let heading = metric.facts().heading;
        match self {
            Self::Unit => heading.to_owned(),
            Self::Query => heading.replace("/o", "/q").replace("o/", "q/"),
        }
    }

    /// Returns `true` if digits of an amount would be those of an accident.
    fn is_next_to_nothing(self, cell: &CellCosts, metric: Metric, figure: &Figure) -> bool {
        match self {
            Self::Unit => is_next_to_nothing(cell, metric, figure),
            Self::Query => {
                let mean = figure.summary.mean;
                mean > 0.0 && mean < metric.facts().least
            }
        }
    }
}

/// Returns `true` if any step has costs per query, for the legend.
pub(crate) fn has_queries(analysis: &Analysis<'_>) -> bool {
    let mut steps = analysis.shown_steps();
    steps.any(|step| {
        let mut cells = analysis.costs.step(step).iter();
        cells.any(|cell| !cell.per_query.is_empty())
    })
}

/// The columns that a report may have.
fn columns(detail: Detail) -> Vec<Metric> {
    match detail {
        Detail::Brief => BRIEF.to_vec(),
        Detail::Full => BRIEF.into_iter().chain(MORE).collect(),
    }
}

/// The columns that any step shows, or the loads, for the legend.
pub(crate) fn shown(analysis: &Analysis<'_>, detail: Detail) -> Vec<Metric> {
    let steps = (0..analysis.plan.steps.len()).filter(|&step| analysis.shows(step));
    let steps = steps.map(|step| analysis.costs.step(step));
    let loads = analysis.is_whole.then(|| analysis.costs.loads());
    let all: Vec<&[CellCosts]> = steps
        .chain(loads)
        .filter(|cells| is_measured(cells))
        .collect();
    let anywhere = |metric: &Metric| all.iter().any(|cells| has(cells, *metric));
    columns(detail).into_iter().filter(anywhere).collect()
}

/// Columns that no step has, although they belong to the table.
pub(crate) fn missing(analysis: &Analysis<'_>, detail: Detail) -> Vec<Metric> {
    let shown = shown(analysis, detail);
    let all = columns(detail).into_iter();
    all.filter(|metric| !shown.contains(metric)).collect()
}

/// Returns `true` if anything is known that the load generator alone could not know.
fn is_measured(cells: &[CellCosts]) -> bool {
    let own = |metric: &Metric| !metric.facts().how.counters().is_empty();
    let mut metrics = BRIEF.into_iter().chain(MORE).filter(own);
    metrics.any(|metric| has(cells, metric))
}

fn has(cells: &[CellCosts], metric: Metric) -> bool {
    let mut cells = cells.iter();
    cells.any(|cell| cell.figures.contains_key(&metric))
}

/// The tables of one step, absolute and relative to the base: per operation, and per query where that
/// differs; then the use of the host's processors.
pub(crate) fn blocks(
    analysis: &Analysis<'_>,
    step: usize,
    detail: Detail,
    heading: impl Fn(String) -> Block,
) -> Vec<Block> {
    let cells = analysis.costs.step(step);
    let remark = beside(analysis, step);
    let costs = table(analysis, cells, detail).map(Block::Table);
    if costs.is_none() && remark.is_none() {
        return Vec::new();
    }
    let title = title(analysis, "Cost of", step);
    let mut blocks = vec![heading(title)];
    blocks.extend(costs.into_iter().chain(remark));
    let has_query = |metric: &Metric| cells.iter().any(|cell| cell.per_query.contains_key(metric));
    let metrics: Vec<Metric> = OF_QUERY.into_iter().filter(has_query).collect();
    if !metrics.is_empty() {
        blocks.push(heading(title_per(analysis, "Cost of", step, "query")));
        let costs = table_of(analysis, cells, Per::Query, &metrics, detail);
        blocks.push(Block::Table(costs));
    }
    blocks.extend(utilisation(analysis, step));
    blocks
}

/// The table of the loads of all targets, with its title.
pub(crate) fn of_loads(analysis: &Analysis<'_>, detail: Detail) -> Option<[Block; 2]> {
    let cells = analysis.costs.loads();
    let n_max = Blocks::of(cells);
    let text = format!(
        "Cost of the load, per {}, {}",
        CostUnit::Row,
        over_blocks("mean", n_max.timed)
    );
    let table = table(analysis, cells, detail)?;
    Some([Block::Subheading(text), Block::Table(table)])
}

/// The costs of cells per unit, by target. `None` where nothing is known.
fn table(analysis: &Analysis<'_>, cells: &[CellCosts], detail: Detail) -> Option<Table> {
    if !is_measured(cells) {
        return None;
    }
    let metrics = columns(detail).into_iter();
    let metrics: Vec<Metric> = metrics.filter(|&metric| has(cells, metric)).collect();
    Some(table_of(analysis, cells, Per::Unit, &metrics, detail))
}

/// The table of some costs of cells, by target, absolute and relative to the base.
fn table_of(
    analysis: &Analysis<'_>,
    cells: &[CellCosts],
    per: Per,
    metrics: &[Metric],
    detail: Detail,
) -> Table {
    let rows = absolute(analysis, cells, per, metrics, detail);
    let header = metrics.iter().map(|&metric| per.heading(metric));
    let header = std::iter::once("target".to_owned()).chain(header);
    let relative = relative(analysis, cells, per, metrics, detail);
    Table::of_figures(header, rows.into_iter().chain(relative))
}

/// What is to be said of the groups beside a step: once if it is the same for all targets.
fn beside(analysis: &Analysis<'_>, step: usize) -> Option<Block> {
    let targets = analysis.columns().into_iter();
    let remarks = targets.filter_map(|target| {
        let remark = analysis.costs.cell(step, target).beside.as_ref()?;
        Some((target, remark))
    });
    let remarks: Vec<(usize, &String)> = remarks.collect();
    let (_, first) = remarks.first()?;
    if remarks.iter().all(|(_, remark)| remark == first) {
        return Some(Block::Paragraph(sentence(&capitalised(first))));
    }
    let of_target = |&(target, remark): &(usize, &String)| {
        let name = &analysis.plan.targets[target].name;
        sentence(&format!("{name}: {remark}"))
    };
    Some(Block::List(remarks.iter().map(of_target).collect()))
}

/// The share of the host's processor time that server and load generator use.
fn utilisation(analysis: &Analysis<'_>, step: usize) -> Option<Block> {
    let targets = analysis.columns().into_iter();
    let known = targets.filter_map(|target| {
        let cell = analysis.costs.cell(step, target);
        let used = cell.figures.get(&Metric::HostUtilisation)?;
        let name = &analysis.plan.targets[target].name;
        Some(format!("{name} {}", share(used.summary.mean)))
    });
    let known: Vec<String> = known.collect();
    (!known.is_empty()).then(|| {
        Block::Paragraph(format!(
            "Utilisation of the host by server and load generator: {}.",
            known.join(", ")
        ))
    })
}

/// The title of a table of means of a step.
pub(crate) fn title(analysis: &Analysis<'_>, begin: &str, step: usize) -> String {
    let unit = costs::unit(analysis.plan, step);
    title_per(analysis, begin, step, unit.name())
}

fn title_per(analysis: &Analysis<'_>, begin: &str, step: usize, per: &str) -> String {
    let planned = &analysis.plan.steps[step];
    let n_max = Blocks::of(analysis.costs.step(step));
    format!(
        "{begin} {} at {}, per {per}, {}",
        planned.name,
        plural(planned.own().clients.into(), "client"),
        over_blocks("mean", n_max.timed)
    )
}

fn absolute(
    analysis: &Analysis<'_>,
    cells: &[CellCosts],
    per: Per,
    metrics: &[Metric],
    detail: Detail,
) -> Vec<Vec<Cell>> {
    let n_max = Blocks::of(cells);
    let show = |metric: Metric, cell: &CellCosts, figure: &Figure| {
        let text = match detail {
            _ if per.is_next_to_nothing(cell, metric, figure) => RARE.to_owned(),
            Detail::Brief => figures::plain(&figure.summary),
            Detail::Full => figures::amount(&figure.summary),
        };
        let text = n_max.with_n(text, figure, figure.summary.n, detail);
        Some(Cell::figure(text, figure.summary.mean))
    };
    let targets = analysis.columns().into_iter();
    let measured = targets.filter(|&target| !per.figures(&cells[target]).is_empty());
    measured
        .map(|target| {
            let cell = (&cells[target], per);
            row(cell, None, column_name(analysis, target), metrics, show)
        })
        .collect()
}

fn relative(
    analysis: &Analysis<'_>,
    cells: &[CellCosts],
    per: Per,
    metrics: &[Metric],
    detail: Detail,
) -> Vec<Vec<Cell>> {
    let n_max = Blocks::of(cells);
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
        let mut figures = per.figures(&cells[target]).values();
        figures.any(|figure| figure.ratio.is_some())
    });
    compared
        .map(|target| {
            let base = analysis.plan.base_of(target);
            let base = base.map(|base| &cells[base]);
            let name = format!("{} ÷ base", analysis.plan.targets[target].name);
            let cell = (&cells[target], per);
            row(cell, base, name.into(), metrics, show)
        })
        .collect()
}

/// A row of figures; where they are relative, the base's warnings are theirs too.
fn row(
    (cell, per): (&CellCosts, Per),
    base: Option<&CellCosts>,
    name: Cell,
    metrics: &[Metric],
    show: impl Fn(Metric, &CellCosts, &Figure) -> Option<Cell>,
) -> Vec<Cell> {
    let figures = metrics.iter().map(|&metric| {
        let figure = per.figures(cell).get(&metric);
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
            // No metric is taken in profiling trials.
            TrialKind::Timed | TrialKind::Profiling => self.timed,
            TrialKind::Counting => self.counted,
        };
        match detail {
            Detail::Brief => text,
            Detail::Full => with_n(text, n, n_max),
        }
    }
}
