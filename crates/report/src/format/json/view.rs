//! A view for programs: its tables with the figures behind them.

use serde::Serialize;

use super::{FORMAT, object, pretty};
use crate::analysis::Analysis;
use crate::error::ReportError;
use crate::figures::rounded;
use crate::views::figure_table::{FigureRow, FigureTable};
use crate::views::measure::Figure;
use crate::views::{Part, View};

/// Writes the view as one indented JSON object.
pub(crate) fn write(
    analysis: &Analysis<'_>,
    view: View,
    parts: &[Part],
) -> Result<String, ReportError> {
    let tables = parts.iter().filter_map(|part| match part {
        Part::Figures(of_figures) => Some(table(of_figures)),
        _ => None,
    });
    let lists = parts.iter().filter_map(|part| match part {
        Part::List(items) => Some(items),
        _ => None,
    });
    pretty(&object! {
        format: FORMAT,
        experiment: &analysis.plan.name,
        run: &analysis.run.id,
        view: view.name(),
        tables: tables.collect::<Vec<_>>(),
        sentences: lists.flatten().collect::<Vec<_>>(),
    })
}

fn table(table: &FigureTable) -> impl Serialize {
    let entry = |row: &FigureRow| {
        let figures = row
            .figures
            .iter()
            .map(|of_cell| of_cell.as_ref().map(figure));
        object! { name: row.name.clone(), figures: figures.collect::<Vec<_>>() }
    };
    object! {
        title: table.full_heading(),
        row_key: &table.first,
        columns: &table.columns,
        rows: table.rows.iter().map(entry).collect::<Vec<_>>(),
    }
}

fn figure(figure: &Figure) -> impl Serialize + use<> {
    object! {
        value: rounded(figure.value, 6),
        low: figure.interval.map(|interval| rounded(interval.0, 6)),
        high: figure.interval.map(|interval| rounded(interval.1, 6)),
        unit: figure.unit,
        n: figure.n,
        doubtful: figure.is_doubtful,
    }
}
