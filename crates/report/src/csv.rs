//! One row per target, step and block, for spreadsheets. RFC 4180, line ends of Unix.

use prony_store::Store;

use crate::analysis::Analysis;
use crate::cell::Measurement;
use crate::latency::Latency;
use crate::render::ReportError;

const HEADER: [&str; 20] = [
    "target",
    "server_version",
    "engine",
    "base",
    "step",
    "clients",
    "block",
    "operations",
    "queries",
    "queries_per_second",
    "operations_per_second",
    "latency_us_mean",
    "latency_us_p50",
    "latency_us_p95",
    "latency_us_p99",
    "latency_us_max",
    "errors",
    "unexpected",
    "client_cpu_us_per_operation",
    "warnings",
];

/// Writes the header and all rows, by target, step and block.
pub(crate) fn write(analysis: &Analysis<'_>, store: &Store) -> Result<String, ReportError> {
    let mut text = line(&HEADER.map(str::to_owned));
    for target in 0..analysis.plan.targets.len() {
        for step in 0..analysis.plan.steps.len() {
            for measurement in &analysis.cell(step, target).measurements {
                let latency = Latency::of(measurement, analysis, store)?;
                text.push_str(&line(&row(analysis, measurement, latency)));
            }
        }
    }
    Ok(text)
}

fn row(
    analysis: &Analysis<'_>,
    measurement: &Measurement,
    latency: Option<Latency>,
) -> [String; HEADER.len()] {
    let row = measurement.row();
    let index = row.planned.target;
    let target = &analysis.plan.targets[index];
    let step = &analysis.plan.steps[row.step];
    let version = analysis.builds[index].as_ref().map(|b| &b.server_version);
    let base = if index == analysis.plan.base {
        "yes"
    } else {
        "no"
    };
    [
        target.name.clone(),
        version.cloned().unwrap_or_default(),
        target.engine.name().to_owned(),
        base.to_owned(),
        step.name.clone(),
        row.clients.to_string(),
        measurement.block().to_string(),
        row.operations.to_string(),
        row.queries.to_string(),
        figure(measurement.queries_per_second()),
        figure(measurement.operations_per_second()),
        figure(latency.map(|latency| latency.mean)),
        figure(latency.and_then(|latency| latency.p50)),
        figure(latency.and_then(|latency| latency.p95)),
        figure(latency.and_then(|latency| latency.p99)),
        figure(latency.map(|latency| latency.max)),
        row.errors.to_string(),
        row.unexpected.to_string(),
        figure(measurement.client_cpu_us_per_operation()),
        warnings(analysis, measurement).to_string(),
    ]
}

/// Number of stored warnings about this step of the trial or about the whole trial.
fn warnings(analysis: &Analysis<'_>, measurement: &Measurement) -> usize {
    let row = measurement.row();
    analysis
        .warnings
        .iter()
        .filter(|warning| warning.trial == Some(row.trial))
        .filter(|warning| warning.step.is_none_or(|step| step == row.step))
        .count()
}

/// A figure to thousandths; empty where there is none.
fn figure(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| format!("{value:.3}"))
}

pub(crate) fn line(fields: &[String]) -> String {
    let fields: Vec<String> = fields.iter().map(|field| quoted(field)).collect();
    format!("{}\n", fields.join(","))
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_with_separators_are_quoted() {
        assert_eq!(quoted("plain"), "plain");
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("say \"no\""), "\"say \"\"no\"\"\"");
    }
}
