//! A comparison for programs: CSV with a line for each figure, and JSON.

use prony_model::Metric;

use crate::compare::Comparison;
use crate::compare::grid::{Figure, Labels, Mean, Ratio};
use crate::compare::ladder::Kind;
use crate::compare::projection::Projection;
use crate::error::ReportError;
use crate::figures::rounded;
use crate::format::{csv_field, object, pretty};

/// Version of the JSON form.
const FORMAT: u32 = 1;

/// Lines of CSV: the keys of table, row and column, then the figures.
pub(super) fn csv(comparison: &Comparison) -> String {
    let layout = &comparison.layout;
    let keys = [
        ("table", &layout.table),
        ("row", &layout.row),
        ("col", &layout.column),
    ];
    let keys = keys.iter().flat_map(|(place, projection)| {
        let keys = projection.keys.iter();
        keys.map(move |(key, _)| format!("{place}.{key}"))
    });
    let figures = [
        "mean", "blocks", "ratio", "low", "high", "pairs", "way", "sign", "doubtful", "notes",
    ];
    let mut lines = vec![
        keys.chain(figures.map(str::to_owned))
            .collect::<Vec<String>>(),
    ];
    for grid in &comparison.grids {
        for row in &grid.rows {
            for (column, figure) in grid.columns.iter().zip(&row.figures) {
                let Some(figure) = figure else { continue };
                let labels = grid.labels.iter().chain(&row.labels).chain(column).cloned();
                lines.push(labels.chain(fields(figure, comparison.metric)).collect());
            }
        }
    }
    let line = |fields: Vec<String>| {
        let fields: Vec<String> = fields.iter().map(|field| csv_field(field)).collect();
        fields.join(",") + "\n"
    };
    lines.into_iter().map(line).collect()
}

fn fields(figure: &Figure, metric: Metric) -> [String; 10] {
    let text = |value: Option<f64>| value.map_or(String::new(), |v| rounded(v, 6).to_string());
    let relation = match &figure.ratio {
        Ratio::Of(relation) => Some(relation),
        _ => None,
    };
    let interval = relation.and_then(|relation| relation.interval);
    [
        text(figure.summary.map(|summary| summary.mean)),
        figure
            .summary
            .map_or(String::new(), |summary| summary.n.to_string()),
        text(relation.map(|relation| relation.ratio)),
        text(interval.map(|interval| interval.low)),
        text(interval.map(|interval| interval.high)),
        relation.map_or(String::new(), |relation| relation.n.to_string()),
        way(&figure.ratio).unwrap_or_default().to_owned(),
        figure.sign.word(metric).to_owned(),
        figure.is_doubtful.to_string(),
        figure.notes.join("; "),
    ]
}

/// The way to a ratio in a word.
const fn way(ratio: &Ratio) -> Option<&'static str> {
    match ratio {
        Ratio::Reference => Some("reference"),
        Ratio::None => None,
        Ratio::Of(relation) => Some(match relation.kind {
            Kind::Paired => "paired",
            Kind::Through(_) => "common-build",
            Kind::Drift => "drift",
        }),
    }
}

/// One indented JSON object.
pub(super) fn json(comparison: &Comparison) -> Result<String, ReportError> {
    let layout = &comparison.layout;
    let tables = comparison.grids.iter().map(|grid| {
        let rows = grid.rows.iter().map(|row| {
            let figures = grid.columns.iter().zip(&row.figures);
            let figures = figures.filter_map(|(column, figure)| {
                Some(figure_object(comparison, column, figure.as_ref()?))
            });
            object! {
                row: named(&layout.row, &row.labels),
                figures: figures.collect::<Vec<_>>(),
            }
        });
        let means = grid.columns.iter().zip(&grid.means);
        let means = means
            .filter_map(|(column, mean)| Some(mean_object(&layout.column, column, mean.as_ref()?)));
        object! {
            table: named(&layout.table, &grid.labels),
            rows: rows.collect::<Vec<_>>(),
            geometric_means: means.collect::<Vec<_>>(),
        }
    });
    let metric = match comparison.metric {
        Metric::Operations => ("operations", "1/s"),
        metric => (metric.facts().id, metric.facts().unit),
    };
    pretty(&object! {
        format: FORMAT,
        metric: metric.0,
        unit: metric.1,
        better: comparison.metric.facts().better.name(),
        filter: layout.filter.to_string(),
        notes: &comparison.notes,
        tables: tables.collect::<Vec<_>>(),
    })
}

fn named(projection: &Projection, labels: &Labels) -> serde_json::Map<String, serde_json::Value> {
    let keys = projection.keys.iter().zip(labels);
    keys.map(|((key, _), label)| (key.to_string(), label.clone().into()))
        .collect()
}

fn figure_object(
    comparison: &Comparison,
    column: &Labels,
    figure: &Figure,
) -> impl serde::Serialize + use<> {
    let relation = match &figure.ratio {
        Ratio::Of(relation) => Some(relation),
        _ => None,
    };
    let interval = relation.and_then(|relation| relation.interval);
    object! {
        col: named(&comparison.layout.column, column),
        mean: figure.summary.map(|summary| rounded(summary.mean, 6)),
        blocks: figure.summary.map(|summary| summary.n),
        ratio: relation.map(|relation| rounded(relation.ratio, 6)),
        low: interval.map(|interval| rounded(interval.low, 6)),
        high: interval.map(|interval| rounded(interval.high, 6)),
        pairs: relation.map(|relation| relation.n),
        way: way(&figure.ratio),
        sign: figure.sign.word(comparison.metric),
        doubtful: figure.is_doubtful,
        notes: figure.notes.clone(),
    }
}

fn mean_object(
    columns: &Projection,
    column: &Labels,
    mean: &Mean,
) -> impl serde::Serialize + use<> {
    object! {
        col: named(columns, column),
        ratio: rounded(mean.ratio, 6),
        low: mean.interval.map(|interval| rounded(interval.low, 6)),
        high: mean.interval.map(|interval| rounded(interval.high, 6)),
        rows: mean.rows,
        of: mean.of,
    }
}
