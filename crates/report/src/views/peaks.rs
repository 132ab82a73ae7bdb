//! The greatest throughput of each target over its numbers of clients.

use crate::views::figure_table::FigureTable;

/// A sentence for each column: its greatest figure and the row that has it. Empty with a single row.
pub(crate) fn of(table: &FigureTable) -> Vec<String> {
    if table.rows.len() < 2 {
        return Vec::new();
    }
    let unit = table.unit();
    let peak = |column: usize| {
        let rows = table.rows.iter();
        let known = rows.filter_map(|row| Some((row, row.figures[column].as_ref()?)));
        let (row, figure) = known.max_by(|(_, a), (_, b)| a.value.total_cmp(&b.value))?;
        let at = match table.first.as_str() {
            "clients" => format!("{} clients", row.name),
            _ => row.name.clone(),
        };
        let name = &table.columns[column];
        Some(format!("{name}: most, {} {unit}, at {at}", figure.text))
    };
    (0..table.columns.len()).filter_map(peak).collect()
}
