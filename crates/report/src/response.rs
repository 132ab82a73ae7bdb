//! The tables of steps whose operations have an intended start, and of what connecting anew costs.

use prony_model::{Pace, Spacing};
use prony_stats::Summary;

use crate::analysis::Analysis;
use crate::cell::{Cell, Measurement};
use crate::document::{Align, Block, Table};
use crate::figures::{self, count, plural, significant};
use crate::latency::Latency;
use crate::paced::Kept;
use crate::place::Place;
use crate::tables::{NONE, column_name, marked, over_blocks};

/// A table for all clients whose operations have an intended start, in the order of the plan.
pub(crate) fn blocks(analysis: &Analysis<'_>) -> Vec<Block> {
    let tables = shown(analysis).filter_map(|place| schedule(analysis, place));
    tables.flatten().chain(connecting(analysis)).collect()
}

/// The places of all steps that do not only warm up.
fn shown<'a>(analysis: &'a Analysis<'_>) -> impl Iterator<Item = Place> + 'a {
    analysis
        .places()
        .filter(|place| !analysis.plan.steps[place.step].warm_only)
}

/// What stands beside a target's name in the table of one place.
const COLUMNS: [&str; 8] = [
    "target", "done/s", "service", "p99", "response", "p99", "late p99", "backlog",
];

fn schedule(analysis: &Analysis<'_>, place: Place) -> Option<[Block; 3]> {
    let columns = analysis.columns();
    let cell = |target| analysis.cell_at(place, target);
    let blocks = |target: usize| kept(cell(target)).count();
    let n_max = columns.iter().map(|&target| blocks(target)).max()?;
    if n_max == 0 {
        return None;
    }
    let rows = columns
        .iter()
        .map(|&target| row(column_name(analysis, target), cell(target)));
    let table = Table {
        header: COLUMNS.map(str::to_owned).to_vec(),
        rows: rows.collect(),
        align: Align::Right,
        repeated: 1,
    };
    let work = place.work(analysis.plan);
    let heading = format!(
        "Response time of {} at {}",
        place.named(analysis.plan, &analysis.plan.steps[place.step].name),
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
        Block::Table(table),
    ])
}

fn kept(cell: &Cell) -> impl Iterator<Item = &Kept> {
    cell.measurements.iter().filter_map(|m| m.kept.as_ref())
}

fn row(name: String, cell: &Cell) -> Vec<String> {
    let done = cell.operations_per_second.as_ref().map(figures::mean);
    let of = |latency: &dyn Fn(&Kept) -> Option<f64>| {
        let values: Vec<f64> = kept(cell).filter_map(latency).collect();
        let median = Summary::of(&values).ok().map(|summary| summary.median);
        median.map_or_else(|| NONE.to_owned(), |us| significant(us / 1e3))
    };
    let p50 = |latency: Option<Latency>| latency.and_then(|latency| latency.p50);
    let p99 = |latency: Option<Latency>| latency.and_then(|latency| latency.p99);
    let backlog = kept(cell).map(|kept| kept.backlog).max();
    vec![
        name,
        marked(done.as_deref(), cell),
        of(&|kept| p50(kept.service)),
        of(&|kept| p99(kept.service)),
        of(&|kept| p50(kept.response)),
        of(&|kept| p99(kept.response)),
        of(&|kept| p99(kept.error)),
        backlog.map_or_else(|| NONE.to_owned(), count),
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

/// What connecting costs where clients connect anew.
fn connecting(analysis: &Analysis<'_>) -> Vec<Block> {
    let columns = analysis.columns();
    let mean_ms = |measurement: &Measurement| {
        let latency = measurement.connects?.latency?;
        Some(latency.mean / 1e3)
    };
    let summary = |place, target| {
        let measurements = analysis.cell_at(place, target).measurements.iter();
        let values: Vec<f64> = measurements.filter_map(mean_ms).collect();
        Summary::of(&values).ok()
    };
    let places: Vec<Place> = shown(analysis)
        .filter(|&place| {
            columns
                .iter()
                .any(|&target| summary(place, target).is_some())
        })
        .collect();
    let figures = || {
        places
            .iter()
            .flat_map(|&place| columns.iter().map(move |&t| (place, t)))
    };
    let counts = figures().filter_map(|(place, target)| summary(place, target));
    let Some(n_max) = counts.map(|summary| summary.n).max() else {
        return Vec::new();
    };
    let rows = places.iter().map(|&place| {
        let figure = |&target: &usize| {
            let summary = summary(place, target);
            summary.map_or_else(|| NONE.to_owned(), |summary| figures::mean(&summary))
        };
        std::iter::once(connecting_name(analysis, place))
            .chain(columns.iter().map(figure))
            .collect()
    });
    let table = Table {
        rows: rows.collect(),
        header: std::iter::once("step".to_owned())
            .chain(columns.iter().map(|&target| column_name(analysis, target)))
            .collect(),
        align: Align::Right,
        repeated: 1,
    };
    let heading = format!(
        "Connecting anew after every so many operations: mean milliseconds, {}",
        over_blocks("mean", n_max)
    );
    vec![Block::Heading(heading), Block::Table(table)]
}

fn connecting_name(analysis: &Analysis<'_>, place: Place) -> String {
    let work = place.work(analysis.plan);
    let every = work.reconnect_every.unwrap_or_default();
    format!(
        "{}, {}, every {}",
        place.named(analysis.plan, &analysis.plan.steps[place.step].name),
        plural(work.clients.into(), "client"),
        count(every)
    )
}
