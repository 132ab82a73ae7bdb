//! Bencher Metric Format: benchmarks with measures, each with a value and its bounds.
//!
//! The format: <https://bencher.dev/docs/reference/bencher-metric-format/>.

use prony_report::tidy::Tables;
use serde_json::{Map, Value, json};

use crate::series::{self, Series};

/// Measures that Bencher has of its own, each with the metric that it is and the factor to its unit:
/// operations per second, and nanoseconds.
const BUILT_IN: [(&str, &str, f64); 2] = [
    ("operations_per_second", "throughput", 1.0),
    ("service_time_mean_us", "latency", 1e3),
];

/// Other metrics that are tracked, under their own names.
const OTHERS: [&str; 5] = [
    "service_time_p99_us",
    "response_time_mean_us",
    "response_time_p99_us",
    "server_cpu_us",
    "instructions",
];

/// The whole document.
pub(crate) fn document(tables: &Tables<'_>) -> String {
    let twin = tables.targets().find(|target| target.is_twin);
    let twin = twin.map(|target| target.target.into_owned());
    let mut benchmarks = Map::new();
    for cell in series::of(tables) {
        if Some(&cell.target) == twin.as_ref() {
            continue;
        }
        let mut measures = Map::new();
        for (metric, name, factor) in BUILT_IN {
            if let Some(series) = cell.metrics.get(metric) {
                measures.insert(name.to_owned(), measure(series, factor));
            }
        }
        for metric in OTHERS {
            if let Some(series) = cell.metrics.get(metric) {
                measures.insert(metric.replace('_', "-"), measure(series, 1.0));
            }
        }
        let name = format!("{}/{}", cell.path(), cell.target);
        benchmarks.insert(name, Value::Object(measures));
    }
    format!("{:#}\n", Value::Object(benchmarks))
}

fn measure(series: &Series, factor: f64) -> Value {
    let (value, interval) = series.centre();
    let mut measure = Map::new();
    measure.insert("value".to_owned(), json!(value * factor));
    if let Some(interval) = interval {
        measure.insert("lower_value".to_owned(), json!(interval.low * factor));
        measure.insert("upper_value".to_owned(), json!(interval.high * factor));
    }
    Value::Object(measure)
}
