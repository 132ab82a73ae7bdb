//! What the targets take on disk and in memory.

use prony_model::{Counter, Metric, Source};
use prony_stats::Summary;

use crate::analysis::Analysis;
use crate::costs::{CellCosts, Spent};
use crate::document::{Align, Block, Table};
use crate::figures;
use crate::tables::{NONE, column_name};

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
    let row = |name: &str, figure: &dyn Fn(usize) -> Option<String>| -> Vec<String> {
        let cells = columns
            .iter()
            .map(|&target| figure(target).unwrap_or_else(|| NONE.to_owned()));
        std::iter::once(name.to_owned()).chain(cells).collect()
    };
    let mut rows = vec![row("bytes on disk per row, as loaded", &|target| {
        let summary = per_row(analysis, target)?;
        Some(figures::amount(&summary))
    })];
    for (counter, name) in &SIZES {
        rows.push(row(&format!("{name} at the end"), &|target| {
            at_end(analysis, target, counter).map(figures::bytes)
        }));
    }
    // What nobody could read, and what nobody has, take no row.
    rows.retain(|row| row[1..].iter().any(|cell| cell != NONE && cell != "0 B"));
    if rows.is_empty() {
        return Vec::new();
    }
    let header = columns.iter().map(|&target| column_name(analysis, target));
    let table = Table {
        header: std::iter::once(String::new()).chain(header).collect(),
        rows,
        align: Align::Right,
        repeated: 1,
    };
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
        let cell: &CellCosts = analysis.costs.cell(step, target);
        let sizes = |spent: &Spent| spent.sizes.get(counter).copied();
        let values: Vec<u64> = cell.timed.iter().filter_map(sizes).collect();
        let total: u64 = values.iter().sum();
        total.checked_div(values.len() as u64)
    })
}
