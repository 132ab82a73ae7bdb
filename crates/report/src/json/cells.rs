//! The figures of every cell, for programs.

use std::collections::BTreeMap;

use prony_model::{DebtKind, Display, Group, Phase, SettleOutcome, Timing};
use prony_store::Store;
use serde::Serialize;

use crate::analysis::Analysis;
use crate::cell::{Cell, Measurement};
use crate::figures::rounded;
use crate::json::{RatioEntry, SummaryEntry, ratio, summary};
use crate::latency::Latency;
use crate::render::ReportError;
use crate::sections::{self, Part};

#[derive(Serialize)]
pub(crate) struct CellEntry<'a> {
    target: &'a str,
    step: &'a str,
    clients: u32,
    section: Option<&'a str>,
    phase: Option<Phase>,
    warm_only: bool,
    timing: Timing,
    workload: &'a str,
    group: Group,
    parameters: &'a BTreeMap<String, i64>,
    display: Display,
    queries_per_second: Option<SummaryEntry>,
    operations_per_second: Option<SummaryEntry>,
    milliseconds_per_operation: Option<SummaryEntry>,
    ratio: Option<RatioEntry>,
    notes: Vec<String>,
    measurements: Vec<MeasurementEntry<'a>>,
}

#[derive(Serialize)]
struct MeasurementEntry<'a> {
    block: u32,
    operations: u64,
    queries: u64,
    queries_per_second: Option<f64>,
    operations_per_second: Option<f64>,
    latency_us: Option<Latency>,
    errors: u64,
    unexpected: u64,
    client_cpu_us_per_operation: Option<f64>,
    debt: &'a BTreeMap<DebtKind, u64>,
    settle: Option<&'a SettleOutcome>,
}

/// One entry for each target and step.
pub(crate) fn cells<'a>(
    analysis: &'a Analysis<'_>,
    parts: &'a [Part],
    store: &Store,
) -> Result<Vec<CellEntry<'a>>, ReportError> {
    let base = &analysis.base().name;
    let mut entries = Vec::new();
    for (target_index, target) in analysis.plan.targets.iter().enumerate() {
        for (step_index, step) in analysis.plan.steps.iter().enumerate() {
            let cell = analysis.cell(step_index, target_index);
            entries.push(CellEntry {
                target: &target.name,
                step: &step.name,
                clients: step.clients,
                section: sections::title(parts, step_index),
                phase: step.phase,
                warm_only: step.warm_only,
                timing: step.timing,
                workload: &step.workload.name,
                group: step.workload.group,
                parameters: &step.parameters,
                display: step.workload.display,
                queries_per_second: cell.queries_per_second.as_ref().map(summary),
                operations_per_second: cell.operations_per_second.as_ref().map(summary),
                milliseconds_per_operation: cell.milliseconds.as_ref().map(summary),
                ratio: cell.ratio.as_ref().map(ratio),
                notes: notes(cell, base),
                measurements: measurements(cell, analysis, store)?,
            });
        }
    }
    Ok(entries)
}

fn notes(cell: &Cell, base: &str) -> Vec<String> {
    let debts = cell.unequal.iter().map(|unequal| unequal.note(base));
    cell.notes.iter().cloned().chain(debts).collect()
}

fn measurements<'a>(
    cell: &'a Cell,
    analysis: &Analysis<'_>,
    store: &Store,
) -> Result<Vec<MeasurementEntry<'a>>, ReportError> {
    let entry = |measurement: &'a Measurement| {
        let row = measurement.row();
        let thousandths = |value: Option<f64>| value.map(|value| rounded(value, 3));
        Ok(MeasurementEntry {
            block: measurement.block(),
            operations: row.operations,
            queries: row.queries,
            queries_per_second: thousandths(measurement.queries_per_second()),
            operations_per_second: thousandths(measurement.operations_per_second()),
            latency_us: Latency::of(measurement, analysis, store)?,
            errors: row.errors,
            unexpected: row.unexpected,
            client_cpu_us_per_operation: thousandths(measurement.client_cpu_us_per_operation()),
            debt: &measurement.debt,
            settle: measurement.settle.as_ref(),
        })
    };
    cell.measurements.iter().map(entry).collect()
}
