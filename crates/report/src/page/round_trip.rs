//! The round trip of an operation as its client sees it, and the server's part in it.

use prony_model::{CostUnit, Metric};

use crate::analysis::Analysis;
use crate::analysis::costs::{self, CellCosts};
use crate::analysis::figure::Figure;
use crate::document::{Block, Table};
use crate::figures;
use crate::page::cost::is_doubtful;
use crate::page::view::{Shown, View, figures_by_target, over_blocks};

/// Rows of a step with one client in a closed loop, where the client's part can be taken away.
const ALONE: [(Metric, &str, &str); 5] = [
    (Metric::RoundTrip, "round trip", ", µs"),
    (Metric::ClientCpu, "client CPU", ", µs"),
    (Metric::ServerOnly, "server only", ", µs"),
    (Metric::ServerCpu, "server CPU", ", µs"),
    (Metric::Instructions, "instructions", ""),
];

/// Rows of other steps: clients work while others wait, or take no part worth the name.
const TOGETHER: [(Metric, &str, &str); 3] = [
    (Metric::ServerCpu, "server CPU", ", µs"),
    (Metric::ClientCpu, "client CPU", ", µs"),
    (Metric::Instructions, "instructions", ""),
];

/// The client's part of a round trip that is worth showing: below, a ratio of the server alone is
/// that of the round trip within a thousandth, for slowdowns up to a tenth.
const CLIENT_SHARE_MIN: f64 = 0.01;

/// The figures of a table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Absolute,
    Relative,
}

/// The tables of one view: absolute, and relative to the base.
pub(crate) fn blocks(
    analysis: &Analysis<'_>,
    view: &View,
    heading: impl Fn(String) -> Block,
) -> Vec<Block> {
    if !analysis.costs.sampled {
        return Vec::new();
    }
    let compared: Vec<usize> = analysis.plan.contenders().collect();
    let absolute = table(analysis, view, &analysis.columns(), Kind::Absolute);
    let absolute = absolute.map(|(table, n)| {
        let over = over_blocks("mean", n);
        let text = format!("Cost of an operation {}, {over}", view.shared);
        [heading(text), Block::Table(table)]
    });
    let relative = table(analysis, view, &compared, Kind::Relative);
    let relative = relative.map(|(table, n)| {
        let text = format!(
            "Cost of an operation relative to {} {}, {}",
            analysis.plan.base_words(),
            view.shared,
            over_blocks("geometric mean", n)
        );
        [heading(text), Block::Table(table)]
    });
    absolute.into_iter().chain(relative).flatten().collect()
}

/// Returns `true` if any step has a part that is the client's, for the legend.
pub(crate) fn has_server_only(analysis: &Analysis<'_>) -> bool {
    let mut steps = 0..analysis.plan.steps.len();
    steps.any(|step| shows_client(analysis.costs.step(step)))
}

/// Whether the client's part of a step is known and worth showing.
fn shows_client(cells: &[CellCosts]) -> bool {
    let share = |cell: &CellCosts| {
        let server = cell.figures.get(&Metric::ServerShare)?;
        Some(1.0 - server.summary.min)
    };
    let mut shares = cells.iter().filter_map(share);
    shares.any(|share| share >= CLIENT_SHARE_MIN)
}

/// The rows of all steps with any known fact about the server: each a metric of a step.
fn rows(analysis: &Analysis<'_>, view: &View, kind: Kind) -> Vec<(String, (usize, Metric))> {
    let own = view.rows.iter().filter(|(group, _)| group.is_own());
    let mut rows = Vec::new();
    for (group, name) in own {
        let cells = analysis.costs.step(group.step);
        let has = |metric| cells.iter().any(|cell| cell.figures.contains_key(&metric));
        let metrics: &[(Metric, &str, &str)] = if shows_client(cells) {
            &ALONE
        } else {
            &TOGETHER
        };
        let known = || metrics.iter().filter(|(metric, ..)| has(*metric));
        if known().all(|(metric, ..)| *metric == Metric::ClientCpu) {
            continue;
        }
        let per = match costs::unit(analysis.plan, group.step) {
            CostUnit::Operation => "",
            CostUnit::Row => ", per row",
        };
        // Client CPU is not compared between servers.
        let known =
            known().filter(|(metric, ..)| kind == Kind::Absolute || *metric != Metric::ClientCpu);
        rows.extend(known.enumerate().map(|(index, &(metric, label, unit))| {
            let unit = match kind {
                Kind::Absolute => unit,
                Kind::Relative => "",
            };
            let name = match index {
                0 => format!("{name}{per}: {label}{unit}"),
                _ => format!("  {label}{unit}"),
            };
            (name, (group.step, metric))
        }));
    }
    rows
}

/// The table, and the greatest number of blocks behind its figures of timed trials. `None` without
/// figures.
fn table(
    analysis: &Analysis<'_>,
    view: &View,
    columns: &[usize],
    kind: Kind,
) -> Option<(Table, usize)> {
    let figure = |&(step, metric): &(usize, Metric), target| {
        let cell = analysis.costs.cell(step, target);
        let figure = cell.figures.get(&metric);
        let shown = figure.and_then(|figure| kind.of(analysis, figure));
        let base = analysis.plan.base_of(target);
        let base = base.filter(|_| kind == Kind::Relative);
        let base = base.map(|base| analysis.costs.cell(step, base));
        let mark = shown.is_some() && is_doubtful(cell, base, metric);
        (shown, mark)
    };
    let rows = rows(analysis, view, kind);
    figures_by_target(analysis, view.first, columns, rows, figure)
}

impl Kind {
    fn of(self, analysis: &Analysis<'_>, figure: &Figure) -> Option<Shown> {
        let shown = match self {
            Self::Absolute => Shown {
                text: figures::amount(&figure.summary),
                ..Shown::mean(&figure.summary)
            },
            Self::Relative => Shown::ratio(analysis, figure.ratio.as_ref()?),
        };
        Some(Shown {
            taken: figure.taken,
            ..shown
        })
    }
}
