//! Graphs of tables: rows are places on the horizontal axis, columns are lines.

use crate::analysis::Analysis;
use crate::chart::{Axis, Chart, Line, Point, Scale};
use crate::views::arrangement::Grid;
use crate::views::figure_table::FigureTable;

/// The graph of a table with one measure. Numbers of clients are on a logarithmic axis, because
/// studies double them.
pub(crate) fn of(table: &FigureTable, grid: &Grid, analysis: &Analysis<'_>) -> Chart {
    let clients: Option<Vec<u32>> = grid.rows.iter().map(|row| row.clients).collect();
    let x = |row: usize| match &clients {
        Some(clients) => f64::from(clients[row]),
        None => row as f64,
    };
    let line = |column: usize| {
        let points = table.rows.iter().enumerate().filter_map(|(row, of_row)| {
            let figure = of_row.figures[column].as_ref()?;
            let (x, y, interval) = (x(row), figure.value, figure.interval);
            Some(Point { x, y, interval })
        });
        Line {
            name: name(grid, column),
            target: target(analysis, grid, column),
            points: points.collect(),
        }
    };
    let names = || table.rows.iter().map(|row| row.name.clone()).collect();
    let scale = if clients.is_some() {
        Scale::Log
    } else {
        Scale::Names(names())
    };
    Chart {
        title: table.heading(),
        x: Axis {
            label: table.first.clone(),
            scale,
        },
        y: Axis {
            label: if table.is_relative() {
                table.relative.clone()
            } else {
                table.unit().to_owned()
            },
            scale: Scale::FromZero,
        },
        lines: (0..grid.columns.len()).map(line).collect(),
        limit: None,
        notes: Vec::new(),
    }
}

fn name(grid: &Grid, column: usize) -> String {
    match grid.columns[column].name.as_str() {
        "" => grid.shared.clone(),
        name => name.to_owned(),
    }
}

/// The target whose line a column is; `None` if its cells have several.
fn target(analysis: &Analysis<'_>, grid: &Grid, column: usize) -> Option<usize> {
    let mut cells = grid.column(column);
    let first = cells.next()?.target;
    let is_alone = cells.all(|cell| cell.target == first) && analysis.plan.targets.len() > 1;
    is_alone.then_some(first)
}
