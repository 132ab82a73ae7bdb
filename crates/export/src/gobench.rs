//! The benchmark format of Go, for `benchstat`: configuration, units, and a line for each block.
//!
//! The format: <https://go.googlesource.com/proposal/+/master/design/14313-benchmark-format.md>, with the
//! lines for units of `golang.org/x/perf/benchfmt`.

use std::fmt::Write as _;

use prony_report::ReportError;
use prony_report::tidy::{Outcome, Tables};

use crate::series::{self, CellSeries};

/// A metric, its unit in Go's words, and the factor to that unit. `OP` stands for `op` or `row`.
///
/// `benchstat` shows units with a part `ns` in seconds.
const METRICS: [(&str, &str, f64); 12] = [
    ("service_time_mean_us", "ns/op", 1e3),
    ("operations_per_second", "ops/s", 1.0),
    ("service_time_p50_us", "p50-ns", 1e3),
    ("service_time_p95_us", "p95-ns", 1e3),
    ("service_time_p99_us", "p99-ns", 1e3),
    ("response_time_mean_us", "response-ns/op", 1e3),
    ("response_time_p99_us", "response-p99-ns", 1e3),
    ("server_cpu_us", "server-cpu-ns/OP", 1e3),
    ("instructions", "instr/OP", 1.0),
    ("context_switches", "switches/OP", 1.0),
    ("read_kb", "read-B/OP", 1024.0),
    ("written_kb", "written-B/OP", 1024.0),
];

/// The names of a metric's unit for operations and for rows.
const DIVISORS: [(&str, &str); 2] = [("operation", "op"), ("row", "row")];

/// The whole document.
///
/// # Errors
/// If the result file can't be read.
pub(crate) fn document(tables: &Tables<'_>) -> Result<String, ReportError> {
    let outcomes = tables.outcomes()?;
    let cells = series::of(tables);
    let mut text = String::new();
    configure(&mut text, "prony-run", tables.run());
    for host in tables.hosts().take(1) {
        configure(
            &mut text,
            "host-cpu",
            host.cpu_model.as_deref().unwrap_or(""),
        );
        configure(&mut text, "kernel", host.kernel.as_deref().unwrap_or(""));
    }
    for line in units(&cells) {
        let _infallible = writeln!(text, "{line}");
    }
    let mut target = None;
    for cell in &cells {
        if target != Some(&cell.target) {
            configure(&mut text, "target", &cell.target);
            target = Some(&cell.target);
        }
        lines(&mut text, &outcomes, cell);
    }
    Ok(text)
}

/// A line of configuration. One without a value is left out: it would delete the key.
fn configure(text: &mut String, key: &str, value: &str) {
    let value: Vec<&str> = value.split_whitespace().collect();
    if !value.is_empty() {
        let _infallible = writeln!(text, "{key}: {}", value.join(" "));
    }
}

/// The good direction of every unit that is used, once.
fn units(cells: &[CellSeries]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (metric, _, _) in METRICS {
        for series in cells.iter().filter_map(|cell| cell.metrics.get(metric)) {
            let unit = unit(metric, series.per.as_deref());
            let line = format!("Unit {unit} better={}", series.better);
            if series.better != "neither" && !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    lines
}

fn unit(metric: &str, per: Option<&str>) -> String {
    let known = METRICS.iter().find(|(id, _, _)| *id == metric);
    let divisor = DIVISORS.iter().find(|(name, _)| Some(*name) == per);
    let divisor = divisor.map_or("op", |(_, divisor)| divisor);
    known.map_or_else(String::new, |(_, unit, _)| unit.replace("OP", divisor))
}

/// A line for each block: name, number of operations, and pairs of value and unit.
fn lines(text: &mut String, outcomes: &[Outcome<'_>], cell: &CellSeries) {
    let name = name(cell);
    let own = outcomes.iter().filter(|outcome| {
        outcome.trial_kind == "timed"
            && outcome.target == cell.target.as_str()
            && outcome.step == cell.step.as_str()
            && outcome.clients == cell.clients
            && outcome.beside.as_deref() == cell.beside.as_deref()
            && outcome.operations > 0
    });
    for outcome in own {
        let _infallible = write!(text, "{name} {}", outcome.operations);
        for (metric, _, factor) in METRICS {
            let series = cell.metrics.get(metric);
            let value = series.and_then(|series| series.values.get(&outcome.block));
            if let Some((series, value)) = series.zip(value) {
                let unit = unit(metric, series.per.as_deref());
                let _infallible = write!(text, " {} {unit}", value * factor);
            }
        }
        text.push('\n');
    }
}

/// The name of a benchmark, without white space. It ends with the clients: a number after a hyphen
/// would be read as the number of processors.
fn name(cell: &CellSeries) -> String {
    let encoded = |character: char| -> Vec<String> {
        if character == '%' || character.is_whitespace() {
            let text = character.to_string();
            text.bytes().map(|byte| format!("%{byte:02X}")).collect()
        } else {
            vec![character.to_string()]
        }
    };
    let path: String = cell.path().chars().flat_map(encoded).collect();
    format!("BenchmarkStep/step={path}")
}
