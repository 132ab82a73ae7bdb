//! A view in CSV: one row per figure.

use super::line;
use crate::views::Part;

const HEADER: [&str; 10] = [
    "table", "row_key", "row", "column", "value", "low", "high", "unit", "n", "doubtful",
];

/// Writes the header and all figures, table after table.
pub(crate) fn write(parts: &[Part]) -> String {
    let mut text = line(&HEADER.map(str::to_owned));
    let tables = parts.iter().filter_map(|part| match part {
        Part::Figures(table) => Some(table),
        _ => None,
    });
    for table in tables {
        for row in &table.rows {
            for (column, figure) in table.columns.iter().zip(&row.figures) {
                let Some(figure) = figure else { continue };
                let number = |value: f64| format!("{value:.6}");
                let bound = |of: fn((f64, f64)) -> f64| figure.interval.map(of).map(number);
                let doubtful = if figure.is_doubtful { "yes" } else { "no" };
                text.push_str(&line(&[
                    table.full_heading(),
                    table.first.clone(),
                    row.name.clone(),
                    column.clone(),
                    number(figure.value),
                    bound(|interval| interval.0).unwrap_or_default(),
                    bound(|interval| interval.1).unwrap_or_default(),
                    figure.unit.to_owned(),
                    figure.n.to_string(),
                    doubtful.to_owned(),
                ]));
            }
        }
    }
    text
}
