//! The figures of every cell, for programs.

use std::collections::BTreeMap;

use prony_model::{
    Backend, DebtKind, Display, Group, Pace, Phase, SettleOutcome, Spacing, ThreadUse, Timing,
};
use prony_store::Store;
use serde::Serialize;

use crate::analysis::Analysis;
use crate::cell::{Cell, Measurement};
use crate::figures::rounded;
use crate::json::spent::{self, CostsEntry, SpentEntry};
use crate::json::{RatioEntry, SummaryEntry, ratio, summary};
use crate::latency::Latency;
use crate::paced::Kept;
use crate::place::{Place, Work};
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
    pace: PaceEntry,
    ramp_ms: u64,
    display: Display,
    queries_per_second: Option<SummaryEntry>,
    operations_per_second: Option<SummaryEntry>,
    milliseconds_per_operation: Option<SummaryEntry>,
    ratio: Option<RatioEntry>,
    notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    costs: Option<CostsEntry<'a>>,
    measurements: Vec<MeasurementEntry<'a>>,
    beside: Vec<GroupEntry<'a>>,
}

/// Clients beside those of a step.
#[derive(Serialize)]
struct GroupEntry<'a> {
    name: &'a str,
    clients: u32,
    workload: &'a str,
    group: Group,
    parameters: &'a BTreeMap<String, i64>,
    pace: PaceEntry,
    display: Display,
    queries_per_second: Option<SummaryEntry>,
    operations_per_second: Option<SummaryEntry>,
    milliseconds_per_operation: Option<SummaryEntry>,
    ratio: Option<RatioEntry>,
    notes: Vec<String>,
    measurements: Vec<MeasurementEntry<'a>>,
}

/// When operations begin, and when clients connect anew.
#[derive(Serialize)]
struct PaceEntry {
    rate: Option<f64>,
    think_us: Option<u64>,
    spacing: Option<Spacing>,
    reconnect_every: Option<u64>,
}

/// How intended starts were kept to.
#[derive(Serialize)]
struct KeptEntry {
    planned: u64,
    backlog: u64,
    left: u64,
    response_us: Option<Latency>,
    error_us: Option<Latency>,
}

#[derive(Serialize)]
struct ConnectEntry {
    count: u64,
    latency_us: Option<Latency>,
}

#[derive(Serialize)]
struct MeasurementEntry<'a> {
    block: u32,
    backend: Backend,
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
    schedule: Option<KeptEntry>,
    connect: Option<ConnectEntry>,
    threads: &'a [ThreadUse],
    #[serde(skip_serializing_if = "Option::is_none")]
    spent: Option<SpentEntry<'a>>,
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
            let place = Place::own(step_index);
            let cell = analysis.cell_at(place, target_index);
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
                pace: pace(place.work(analysis.plan)),
                ramp_ms: step.ramp_ms,
                display: step.workload.display,
                queries_per_second: cell.queries_per_second.as_ref().map(summary),
                operations_per_second: cell.operations_per_second.as_ref().map(summary),
                milliseconds_per_operation: cell.milliseconds.as_ref().map(summary),
                ratio: cell.ratio.as_ref().map(ratio),
                notes: notes(cell, base),
                costs: spent::costs(analysis, step_index, target_index),
                measurements: measurements(place, target_index, analysis, store)?,
                beside: beside(step_index, target_index, analysis, store)?,
            });
        }
    }
    Ok(entries)
}

/// The groups beside a step's own clients.
fn beside<'a>(
    step: usize,
    target: usize,
    analysis: &'a Analysis<'_>,
    store: &Store,
) -> Result<Vec<GroupEntry<'a>>, ReportError> {
    let places = Place::of_step(analysis.plan, step).skip(1);
    let entry = |place: Place| {
        let work = place.work(analysis.plan);
        let cell = analysis.cell_at(place, target);
        Ok(GroupEntry {
            name: work.group.unwrap_or_default(),
            clients: work.clients,
            workload: &work.workload.name,
            group: work.workload.group,
            parameters: work.parameters,
            pace: pace(work),
            display: work.workload.display,
            queries_per_second: cell.queries_per_second.as_ref().map(summary),
            operations_per_second: cell.operations_per_second.as_ref().map(summary),
            milliseconds_per_operation: cell.milliseconds.as_ref().map(summary),
            ratio: cell.ratio.as_ref().map(ratio),
            notes: cell.notes.clone(),
            measurements: measurements(place, target, analysis, store)?,
        })
    };
    places.map(entry).collect()
}

fn pace(work: Work<'_>) -> PaceEntry {
    let (rate, think_us, spacing) = match work.pace {
        Pace::Closed { think: None } => (None, None, None),
        Pace::Closed { think: Some(think) } => (None, Some(think.mean_us), Some(think.spacing)),
        Pace::Open { rate, spacing } => (Some(rate.as_f64()), None, Some(spacing)),
    };
    PaceEntry {
        rate,
        think_us,
        spacing,
        reconnect_every: work.reconnect_every,
    }
}

fn notes(cell: &Cell, base: &str) -> Vec<String> {
    let debts = cell.unequal.iter().map(|unequal| unequal.note(base));
    cell.notes.iter().cloned().chain(debts).collect()
}

fn measurements<'a>(
    place: Place,
    target: usize,
    analysis: &'a Analysis<'_>,
    store: &Store,
) -> Result<Vec<MeasurementEntry<'a>>, ReportError> {
    let cell = analysis.cell_at(place, target);
    let entry = |measurement: &'a Measurement| {
        let row = measurement.row();
        let thousandths = |value: Option<f64>| value.map(|value| rounded(value, 3));
        Ok(MeasurementEntry {
            block: measurement.block(),
            backend: row.backend,
            operations: row.operations,
            queries: row.queries,
            queries_per_second: thousandths(measurement.queries_per_second()),
            operations_per_second: thousandths(measurement.operations_per_second()),
            latency_us: Latency::of(measurement, place, analysis, store)?,
            errors: row.errors,
            unexpected: row.unexpected,
            client_cpu_us_per_operation: thousandths(measurement.client_cpu_us_per_operation()),
            debt: &measurement.debt,
            settle: measurement.settle.as_ref(),
            schedule: measurement.kept.as_ref().map(kept),
            connect: measurement.connects.map(|connects| ConnectEntry {
                count: connects.count,
                latency_us: connects.latency,
            }),
            threads: &measurement.threads,
            spent: place
                .is_own()
                .then(|| spent::spent(analysis, place.step, target, measurement.block()))
                .flatten(),
        })
    };
    cell.measurements.iter().map(entry).collect()
}

fn kept(kept: &Kept) -> KeptEntry {
    KeptEntry {
        planned: kept.planned,
        backlog: kept.backlog,
        left: kept.left,
        response_us: kept.response,
        error_us: kept.error,
    }
}
