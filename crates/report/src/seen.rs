//! What a client sees of an operation, and what of it is the server's.

use prony_model::{CostUnit, Metric, TrialKind};

use crate::analysis::Analysis;
use crate::costs::{self, CellCosts};
use crate::document::{Align, Block, Table};
use crate::figures;
use crate::tables::{NONE, View, column_name, over_blocks, with_n};

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

/// The client's part of a round trip that is worth telling: below, a ratio of the server alone is
/// that of the round trip within a thousandth, for slowdowns up to a tenth.
const CLIENT_SHARE_MIN: f64 = 0.01;

/// One row: a metric of a step.
struct Row {
    step: usize,
    metric: Metric,
    name: String,
}

/// Which figures a table shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
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
    let compared: Vec<usize> = analysis.contenders().collect();
    let absolute = table(analysis, view, &analysis.columns(), Shown::Absolute);
    let absolute = absolute.map(|(table, n)| {
        let over = over_blocks("mean", n);
        let text = format!("Cost of an operation {}, {over}", view.place);
        [heading(text), Block::Table(table)]
    });
    let relative = table(analysis, view, &compared, Shown::Relative);
    let relative = relative.map(|(table, n)| {
        let text = format!(
            "Cost of an operation relative to {} {}, {}",
            analysis.base().name,
            view.place,
            over_blocks("geometric mean", n)
        );
        [heading(text), Block::Table(table)]
    });
    absolute.into_iter().chain(relative).flatten().collect()
}

/// Whether any step has a part that is the client's, for the legend.
pub(crate) fn has_server_only(analysis: &Analysis<'_>) -> bool {
    let mut steps = 0..analysis.plan.steps.len();
    steps.any(|step| tells_client(analysis.costs.step(step)))
}

/// Whether the client's part of a step is known and worth telling.
fn tells_client(cells: &[CellCosts]) -> bool {
    let share = |cell: &CellCosts| {
        let server = cell.figures.get(&Metric::ServerShare)?;
        Some(1.0 - server.summary.min)
    };
    let mut shares = cells.iter().filter_map(share);
    shares.any(|share| share >= CLIENT_SHARE_MIN)
}

/// The rows of all steps of which anything about the server is known.
fn rows(analysis: &Analysis<'_>, view: &View, shown: Shown) -> Vec<Row> {
    let own = view.rows.iter().filter(|(place, _)| place.is_own());
    let mut rows = Vec::new();
    for (place, name) in own {
        let cells = analysis.costs.step(place.step);
        let has = |metric| cells.iter().any(|cell| cell.figures.contains_key(&metric));
        let metrics: &[(Metric, &str, &str)] = if tells_client(cells) {
            &ALONE
        } else {
            &TOGETHER
        };
        let known = || metrics.iter().filter(|(metric, ..)| has(*metric));
        if known().all(|(metric, ..)| *metric == Metric::ClientCpu) {
            continue;
        }
        let per = match costs::unit(analysis.plan, place.step) {
            CostUnit::Operation => "",
            CostUnit::Row => ", per row",
        };
        // What the client takes is nobody's ratio.
        let known =
            known().filter(|(metric, ..)| shown == Shown::Absolute || *metric != Metric::ClientCpu);
        rows.extend(known.enumerate().map(|(index, &(metric, label, unit))| {
            let unit = match shown {
                Shown::Absolute => unit,
                Shown::Relative => "",
            };
            Row {
                step: place.step,
                metric,
                name: match index {
                    0 => format!("{name}{per}: {label}{unit}"),
                    _ => format!("  {label}{unit}"),
                },
            }
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
    shown: Shown,
) -> Option<(Table, usize)> {
    let rows = rows(analysis, view, shown);
    let figure = |row: &Row, target: usize| -> Option<(String, usize, TrialKind)> {
        let figure = analysis
            .costs
            .cell(row.step, target)
            .figures
            .get(&row.metric)?;
        let (text, n) = match shown {
            Shown::Absolute => (figures::amount(&figure.summary), figure.summary.n),
            Shown::Relative => (figures::ratio(&figure.ratio?), figure.ratio?.n),
        };
        Some((text, n, figure.taken))
    };
    let n_max = |kind| {
        let all = rows
            .iter()
            .flat_map(|row| columns.iter().map(move |&t| (row, t)));
        let of_kind = all.filter_map(|(row, target)| figure(row, target));
        of_kind
            .filter(|(.., taken)| *taken == kind)
            .map(|(_, n, _)| n)
            .max()
    };
    let (timed, counted) = (n_max(TrialKind::Timed), n_max(TrialKind::Counting));
    let n = timed.or(counted)?;
    let cell = |row: &Row, target: usize| {
        let Some((text, n, taken)) = figure(row, target) else {
            return NONE.to_owned();
        };
        let base = match shown {
            Shown::Absolute => None,
            Shown::Relative => Some(analysis.costs.cell(row.step, analysis.plan.base)),
        };
        let cell = analysis.costs.cell(row.step, target);
        let mark = cell.mark_beside(base, row.metric);
        let n_max = if taken == TrialKind::Timed {
            timed
        } else {
            counted
        };
        format!("{mark}{}", with_n(text, n, n_max.unwrap_or(n)))
    };
    let header = columns.iter().map(|&target| column_name(analysis, target));
    let drawn = rows.iter().map(|row| {
        let cells = columns.iter().map(|&target| cell(row, target));
        std::iter::once(row.name.clone()).chain(cells).collect()
    });
    let table = Table {
        header: std::iter::once(view.first.to_owned())
            .chain(header)
            .collect(),
        rows: drawn.collect(),
        align: Align::Right,
        repeated: 1,
    };
    Some((table, n))
}
