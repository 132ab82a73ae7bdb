//! The best throughput of each target over its numbers of clients.

use prony_model::Display;

use crate::views::figure_table::{FigureRow, FigureTable};
use crate::views::measure::{Figure, unit};

/// A sentence for each column: its greatest throughput, or least time, and the row that has it. Empty
/// with a single row.
pub(crate) fn of(table: &FigureTable) -> Vec<String> {
    if table.rows.len() < 2 {
        return Vec::new();
    }
    let of_table = table.unit();
    let peak = |column: usize| {
        let rows = table.rows.iter();
        let known = rows.filter_map(|row| Some((row, row.figures[column].as_ref()?)));
        let order = |(_, a): &(&FigureRow, &Figure), (_, b): &(&FigureRow, &Figure)| {
            a.value.total_cmp(&b.value)
        };
        let (word, found) = if of_table == unit(Display::Milliseconds) {
            ("least", known.min_by(order))
        } else {
            ("most", known.max_by(order))
        };
        let (row, figure) = found?;
        let at = match table.first.as_str() {
            "clients" => format!("{} clients", row.name),
            _ => row.name.clone(),
        };
        let name = &table.columns[column];
        Some(format!(
            "{name}: {word}, {} {of_table}, at {at}",
            figure.text
        ))
    };
    (0..table.columns.len()).filter_map(peak).collect()
}
