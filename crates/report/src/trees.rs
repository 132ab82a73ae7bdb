//! The shape of LSM trees after settling: reads depend on it.

use std::collections::BTreeMap;

use prony_model::{Level, SettleOutcome};

use crate::analysis::Analysis;
use crate::document::{Align, Block, Table};
use crate::figures::{self, plural};
use crate::tables::{NONE, column_name};

/// A level of one target's tree at one place of the sequence: the one of the block in which it had
/// the most bytes.
type Levels = BTreeMap<(usize, u32), Level>;

/// The section, where any engine keeps its rows in levels.
pub(crate) fn blocks(analysis: &Analysis<'_>) -> Vec<Block> {
    let columns = analysis.columns();
    let mut rows = rows_of(analysis, "the load", |target| {
        let loads = analysis.loads[target].rows.iter();
        loads.filter_map(|load| load.row.settle.as_ref()).collect()
    });
    for (index, step) in analysis.plan.steps.iter().enumerate() {
        if step.settle.is_some() {
            let place = format!("settling before {}", step.name);
            rows.extend(rows_of(analysis, &place, |target| {
                let measurements = analysis.cell(index, target).measurements.iter();
                measurements.filter_map(|m| m.settle.as_ref()).collect()
            }));
        }
    }
    if rows.is_empty() {
        return Vec::new();
    }
    let header = columns.iter().map(|&target| column_name(analysis, target));
    let table = Table {
        header: std::iter::once("after".to_owned()).chain(header).collect(),
        rows,
        align: Align::Right,
        repeated: 2,
    };
    vec![
        Block::Heading("Shape of the LSM trees after settling, the largest of any block".into()),
        Block::Table(table),
    ]
}

/// A row for each level that any target has at one place.
fn rows_of<'a>(
    analysis: &Analysis<'_>,
    place: &str,
    settles: impl Fn(usize) -> Vec<&'a SettleOutcome>,
) -> Vec<Vec<String>> {
    let columns = analysis.columns();
    let mut levels = Levels::new();
    for &target in &columns {
        for level in settles(target).iter().flat_map(|settle| &settle.levels) {
            let largest = levels.entry((target, level.level)).or_insert(*level);
            if level.bytes > largest.bytes {
                *largest = *level;
            }
        }
    }
    let mut numbers: Vec<u32> = levels.keys().map(|&(_, number)| number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
        .into_iter()
        .map(|number| {
            let cells = columns.iter().map(|&target| {
                let level = levels.get(&(target, number));
                level.map_or_else(|| NONE.to_owned(), shown)
            });
            std::iter::once(format!("{place}, level {number}"))
                .chain(cells)
                .collect()
        })
        .collect()
}

fn shown(level: &Level) -> String {
    format!(
        "{}, {}",
        plural(level.files, "file"),
        figures::bytes(level.bytes)
    )
}
