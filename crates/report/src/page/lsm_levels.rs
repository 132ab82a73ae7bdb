//! The shape of LSM trees after settling: reads depend on it.

use std::collections::BTreeMap;

use prony_model::{Level, SettleOutcome};

use crate::analysis::Analysis;
use crate::document::{Block, Cell};
use crate::page::view::by_target;
use crate::words;
use crate::words::plural;

/// The levels by target and number, each of the block in which it had the most bytes.
type Levels = BTreeMap<(usize, u32), Level>;

/// The section, where any engine keeps its rows in levels.
pub(crate) fn blocks(analysis: &Analysis<'_>) -> Vec<Block> {
    let columns = analysis.columns();
    let mut rows = rows_of(analysis, "the load", |target| {
        let loads = analysis.loads[target].done.iter();
        loads.filter_map(|load| load.row.settle.as_ref()).collect()
    });
    for (index, step) in analysis.plan.steps.iter().enumerate() {
        if step.settle.is_some() {
            let occasion = format!("settling before {}", step.name);
            rows.extend(rows_of(analysis, &occasion, |target| {
                let measurements = analysis.cell(index, target).measurements.iter();
                measurements.filter_map(|m| m.settle.as_ref()).collect()
            }));
        }
    }
    if rows.is_empty() {
        return Vec::new();
    }
    let table = by_target(analysis, "after", &columns, rows).repeating_two();
    vec![
        Block::Heading("Shape of the LSM trees after settling, the largest of any block".into()),
        Block::Table(table),
    ]
}

/// A row for each level that any target has on one occasion.
fn rows_of<'a>(
    analysis: &Analysis<'_>,
    occasion: &str,
    settles: impl Fn(usize) -> Vec<&'a SettleOutcome>,
) -> Vec<(String, Vec<Cell>)> {
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
                level.map(shown).into()
            });
            (format!("{occasion}, level {number}"), cells.collect())
        })
        .collect()
}

fn shown(level: &Level) -> Cell {
    let files = plural(level.files, "file");
    let text = format!("{files}, {}", words::bytes(level.bytes));
    Cell::figure(text, level.bytes as f64)
}
