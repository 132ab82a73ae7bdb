//! Documents for github-action-benchmark: one for metrics of which more is better, one for the others.
//!
//! The format: <https://github.com/benchmark-action/github-action-benchmark>, `customBiggerIsBetter` and
//! `customSmallerIsBetter`.

use prony_report::tidy::Tables;
use serde_json::{Value, json};

use crate::series;

/// The metrics, in the order of a chart's legend.
const METRICS: [&str; 6] = [
    "operations_per_second",
    "service_time_mean_us",
    "service_time_p99_us",
    "response_time_mean_us",
    "server_cpu_us",
    "instructions",
];

/// Names of the documents, with the direction of their metrics.
pub(crate) const DOCUMENTS: [(&str, &str); 2] = [
    ("bigger-is-better.json", "higher"),
    ("smaller-is-better.json", "lower"),
];

/// The document of the metrics of one direction, `higher` or `lower`.
pub(crate) fn document(tables: &Tables<'_>, better: &str) -> String {
    let twin = tables.targets().find(|target| target.is_twin);
    let twin = twin.map(|target| target.target.into_owned());
    let run = tables.run();
    let mut entries: Vec<Value> = Vec::new();
    for cell in series::of(tables) {
        if Some(&cell.target) == twin.as_ref() {
            continue;
        }
        for metric in METRICS {
            let series = cell.metrics.get(metric);
            let Some(series) = series.filter(|series| series.better == better) else {
                continue;
            };
            let (value, interval) = series.centre();
            let unit = match &series.per {
                Some(per) => format!("{} per {per}", series.unit),
                None => series.unit.clone(),
            };
            let blocks = series.values.len();
            let mut entry = json!({
                "name": format!("{}/{}: {metric}", cell.path(), cell.target),
                "unit": unit,
                "value": value,
                "extra": format!("geometric mean over {blocks} blocks of run {run}"),
            });
            if let Some(interval) = interval.filter(|_| value > 0.0) {
                let half = (interval.high - interval.low) / 2.0 / value * 100.0;
                entry["range"] = json!(format!("± {half:.1}%"));
            }
            entries.push(entry);
        }
    }
    format!("{:#}\n", Value::Array(entries))
}
