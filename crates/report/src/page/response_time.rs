//! The tables of steps whose operations have an intended start, and of the price of connecting
//! anew.

use prony_model::{Metric, Pace, Spacing};
use prony_stats::Summary;

use crate::analysis::Analysis;
use crate::analysis::cell::Cell as AnalysisCell;
use crate::analysis::group::GroupId;
use crate::analysis::measurement::{Measurement, ScheduleTimes};
use crate::analysis::times::Times;
use crate::document::{Block, Cell, Table};
use crate::figures::{self, significant};
use crate::page::view::{Shown, column_name, figures_by_target, over_blocks};
use crate::words::{count, plural};

/// A table for each group of clients whose operations have an intended start, in the order of the
/// plan.
pub(crate) fn blocks(analysis: &Analysis<'_>) -> Vec<Block> {
    let tables = shown(analysis).filter_map(|group| schedule(analysis, group));
    tables.flatten().chain(connecting(analysis)).collect()
}

/// The groups of all steps that do not only warm up.
fn shown<'a>(analysis: &'a Analysis<'_>) -> impl Iterator<Item = GroupId> + 'a {
    GroupId::all(analysis.plan).filter(|group| analysis.shows(group.step))
}

/// The columns of the table of one group.
const COLUMNS: [&str; 8] = [
    "target", "done/s", "service", "p99", "response", "p99", "late p99", "backlog",
];

fn schedule(analysis: &Analysis<'_>, group: GroupId) -> Option<[Block; 3]> {
    let columns = analysis.columns();
    let cell = |target| analysis.cells.at(group, target);
    let blocks = columns
        .iter()
        .map(|&target| schedules(cell(target)).count());
    let n_max = blocks.max().filter(|&n| n > 0)?;
    let rows = columns
        .iter()
        .map(|&target| row(column_name(analysis, target), cell(target)));
    let work = group.of(analysis.plan);
    let heading = format!(
        "Response time of {} at {}",
        group.named(analysis.plan, &analysis.plan.steps[group.step].name),
        plural(work.clients.into(), "client")
    );
    let remark = format!(
        "{}; times in milliseconds, median and 99th percentile; {}.",
        pace(work.pace),
        over_blocks("median", n_max)
    );
    Some([
        Block::Heading(heading),
        Block::Paragraph(remark),
        Block::Table(Table::of_figures(COLUMNS, rows)),
    ])
}

fn schedules(cell: &AnalysisCell) -> impl Iterator<Item = &ScheduleTimes> {
    let measurements = cell.measurements.iter();
    measurements.filter_map(|m| m.schedule.as_ref())
}

fn row(name: Cell, cell: &AnalysisCell) -> Vec<Cell> {
    let done = cell.summary(Metric::Operations);
    let done = done.map(|rate| Cell::figure(figures::mean(rate), rate.mean));
    let median = |times: &dyn Fn(&ScheduleTimes) -> Option<f64>| {
        let values: Vec<f64> = schedules(cell).filter_map(times).collect();
        let median = Summary::of(&values).ok().map(|summary| summary.median);
        Cell::from(median.map(|us| Cell::figure(significant(us / 1e3), us / 1e3)))
    };
    let p50 = |times: Option<Times>| times.and_then(|times| times.p50);
    let p99 = |times: Option<Times>| times.and_then(|times| times.p99);
    let backlog = schedules(cell).map(|schedule| schedule.backlog).max();
    vec![
        name,
        Cell::from(done).marked(cell.has_warnings()),
        median(&|schedule| p50(schedule.service)),
        median(&|schedule| p99(schedule.service)),
        median(&|schedule| p50(schedule.response)),
        median(&|schedule| p99(schedule.response)),
        median(&|schedule| p99(schedule.error)),
        backlog.map(|n| Cell::figure(count(n), n as f64)).into(),
    ]
}

/// A pace in words, which begin a sentence.
fn pace(pace: Pace) -> String {
    let spread = |spacing| match spacing {
        Spacing::Regular => "regularly",
        Spacing::Poisson => "at random",
    };
    match pace {
        Pace::Open { rate, spacing } => {
            format!("{rate} operations/s planned, arriving {}", spread(spacing))
        }
        Pace::Closed { think: Some(think) } => {
            let ms = think.mean_us as f64 / 1e3;
            format!("Thinking {ms} ms in between, {}", spread(think.spacing))
        }
        Pace::Closed { think: None } => "One operation after the other".to_owned(),
    }
}

/// The price of connecting where clients connect anew.
fn connecting(analysis: &Analysis<'_>) -> Vec<Block> {
    let columns = analysis.columns();
    let mean_ms = |measurement: &Measurement| Some(measurement.connects?.times?.mean / 1e3);
    let summary = |group, target| {
        let measurements = analysis.cells.at(group, target).measurements.iter();
        let values: Vec<f64> = measurements.filter_map(mean_ms).collect();
        Summary::of(&values).ok()
    };
    let is_known = |group: &GroupId| columns.iter().any(|&t| summary(*group, t).is_some());
    let rows = shown(analysis).filter(is_known);
    let rows = rows.map(|group| (connecting_name(analysis, group), group));
    let figure = |group: &GroupId, target| {
        let summary = summary(*group, target);
        (summary.as_ref().map(Shown::mean), false)
    };
    let Some((table, n)) = figures_by_target(analysis, "step", &columns, rows, figure) else {
        return Vec::new();
    };
    let heading = format!(
        "Reconnecting after a number of operations: mean milliseconds, {}",
        over_blocks("mean", n)
    );
    vec![Block::Heading(heading), Block::Table(table)]
}

fn connecting_name(analysis: &Analysis<'_>, group: GroupId) -> String {
    let work = group.of(analysis.plan);
    let every = work.reconnect_every.unwrap_or_default();
    format!(
        "{}, {}, every {}",
        group.named(analysis.plan, &analysis.plan.steps[group.step].name),
        plural(work.clients.into(), "client"),
        count(every)
    )
}
