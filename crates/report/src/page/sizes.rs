//! Sizes of the targets on disk and in memory.

use prony_model::{Counter, Metric, Source};
use prony_stats::Summary;

use crate::analysis::Analysis;
use crate::analysis::trial_costs::TrialCosts;
use crate::document::{Block, Cell};
use crate::figures;
use crate::page::view::by_target;
use crate::words;

/// The parts of the data directory, and memory.
const SIZES: [(Counter, &str); 5] = [
    (
        Counter::new(Source::Files, "data_bytes"),
        "data and indexes",
    ),
    (Counter::new(Source::Files, "log_bytes"), "logs"),
    (Counter::new(Source::Files, "binlog_bytes"), "binary logs"),
    (Counter::new(Source::Files, "other_bytes"), "other files"),
    (
        Counter::new(Source::Memory, "resident_bytes"),
        "resident memory",
    ),
];

/// The section, where sizes were read.
pub(crate) fn blocks(analysis: &Analysis<'_>) -> Vec<Block> {
    let columns = analysis.columns();
    let row = |name: String, figure: &dyn Fn(usize) -> Option<Cell>| -> (String, Vec<Cell>) {
        let cells = columns.iter().map(|&target| figure(target).into());
        (name, cells.collect())
    };
    let as_loaded = "bytes on disk per row, as loaded".to_owned();
    let mut rows = vec![row(as_loaded, &|target| {
        let summary = per_row(analysis, target)?;
        Some(Cell::figure(figures::amount(&summary), summary.mean))
    })];
    for (counter, name) in &SIZES {
        rows.push(row(format!("{name} at the end"), &|target| {
            let bytes = at_end(analysis, target, counter)?;
            Some(Cell::figure(words::bytes(bytes), bytes as f64))
        }));
    }
    // Sizes that no target has take no row, nor do those that could not be read. A size per row is
    // one even where it is 0.
    let is_shown = |cell: &Cell| cell.value.is_some() && cell.to_string() != words::bytes(0);
    rows.retain(|(_, cells)| cells.iter().any(is_shown));
    if rows.is_empty() {
        return Vec::new();
    }
    let table = by_target(analysis, "", &columns, rows);
    vec![
        Block::Heading("Room on disk and in memory".into()),
        Block::Table(table),
    ]
}

/// Of the first step that knows how many rows there are.
fn per_row(analysis: &Analysis<'_>, target: usize) -> Option<Summary> {
    let mut steps = 0..analysis.plan.steps.len();
    steps.find_map(|step| {
        let figures = &analysis.costs.cell(step, target).figures;
        Some(figures.get(&Metric::DiskPerRow)?.summary)
    })
}

/// Mean over the blocks at the end of the last step that has it.
fn at_end(analysis: &Analysis<'_>, target: usize, counter: &Counter) -> Option<u64> {
    let mut steps = (0..analysis.plan.steps.len()).rev();
    steps.find_map(|step| {
        let sizes = |trial: &TrialCosts| analysis.costs.size(trial, counter);
        let trials = &analysis.costs.cell(step, target).trials.timed;
        let values: Vec<u64> = trials.iter().filter_map(sizes).collect();
        let total: u64 = values.iter().sum();
        total.checked_div(values.len() as u64)
    })
}
