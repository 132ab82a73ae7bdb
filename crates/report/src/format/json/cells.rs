//! The figures of every cell, for programs.

use std::collections::BTreeMap;

use prony_model::{
    Backend, ClientGroup, DebtKind, Display, Group, Metric, Pace, Phase, SettleOutcome, Spacing,
    ThreadUse, Timing,
};
use serde::Serialize;

use super::costs::{self, CostsEntry, TrialCostsEntry};
use super::{RatioEntry, SummaryEntry, ratio, summary};
use crate::analysis::Analysis;
use crate::analysis::group::GroupId;
use crate::analysis::measurement::{Measurement, ScheduleTimes};
use crate::analysis::sections;
use crate::analysis::times::Times;
use crate::error::ReportError;
use crate::figures::thousandths;

#[derive(Serialize)]
pub(crate) struct CellEntry<'a> {
    target: &'a str,
    step: &'a str,
    clients: u32,
    section: Option<&'a str>,
    phase: Option<Phase>,
    warm_only: bool,
    timing: Timing,
    #[serde(flatten)]
    work: WorkEntry<'a>,
    ramp_ms: u64,
    #[serde(flatten)]
    figures: FiguresEntry,
    #[serde(skip_serializing_if = "Option::is_none")]
    costs: Option<CostsEntry<'a>>,
    measurements: Vec<MeasurementEntry<'a>>,
    beside: Vec<BesideEntry<'a>>,
}

/// Clients beside those of a step.
#[derive(Serialize)]
struct BesideEntry<'a> {
    name: Option<&'a str>,
    clients: u32,
    #[serde(flatten)]
    work: WorkEntry<'a>,
    #[serde(flatten)]
    figures: FiguresEntry,
    measurements: Vec<MeasurementEntry<'a>>,
}

/// The work of a group of clients.
#[derive(Serialize)]
struct WorkEntry<'a> {
    workload: &'a str,
    group: Group,
    parameters: &'a BTreeMap<String, i64>,
    pace: PaceEntry,
}

/// The figures over the blocks of a group of clients.
#[derive(Serialize)]
struct FiguresEntry {
    display: Display,
    queries_per_second: Option<SummaryEntry>,
    operations_per_second: Option<SummaryEntry>,
    milliseconds_per_operation: Option<SummaryEntry>,
    ratio: Option<RatioEntry>,
    notes: Vec<String>,
}

/// When operations begin, and when clients connect anew.
#[derive(Serialize)]
struct PaceEntry {
    rate: Option<f64>,
    think_us: Option<u64>,
    spacing: Option<Spacing>,
    reconnect_every: Option<u64>,
}

/// The schedule as it was kept.
#[derive(Serialize)]
struct ScheduleEntry {
    planned: u64,
    backlog: u64,
    left: u64,
    response_us: Option<TimesEntry>,
    error_us: Option<TimesEntry>,
}

#[derive(Serialize)]
struct ConnectEntry {
    count: u64,
    latency_us: Option<TimesEntry>,
}

#[derive(Serialize)]
struct MeasurementEntry<'a> {
    block: u32,
    backend: Backend,
    operations: u64,
    queries: u64,
    queries_per_second: Option<f64>,
    operations_per_second: Option<f64>,
    latency_us: Option<TimesEntry>,
    errors: u64,
    unexpected: u64,
    client_cpu_us_per_operation: Option<f64>,
    debt: &'a BTreeMap<DebtKind, u64>,
    settle: Option<&'a SettleOutcome>,
    schedule: Option<ScheduleEntry>,
    connect: Option<ConnectEntry>,
    threads: &'a [ThreadUse],
    #[serde(skip_serializing_if = "Option::is_none")]
    spent: Option<TrialCostsEntry<'a>>,
}

/// Times of operations, in microseconds.
#[derive(Serialize)]
struct TimesEntry {
    mean: f64,
    p50: Option<f64>,
    p95: Option<f64>,
    p99: Option<f64>,
    max: f64,
}

/// One entry for each target and step.
pub(crate) fn cells<'a>(analysis: &'a Analysis<'_>) -> Result<Vec<CellEntry<'a>>, ReportError> {
    let mut entries = Vec::new();
    for (target_index, target) in analysis.plan.targets.iter().enumerate() {
        for (step_index, step) in analysis.plan.steps.iter().enumerate() {
            let group = GroupId::own(step_index);
            entries.push(CellEntry {
                target: &target.name,
                step: &step.name,
                clients: step.own().clients,
                section: sections::title(&analysis.sections, step_index),
                phase: step.phase,
                warm_only: step.warm_only,
                timing: step.timing,
                work: WorkEntry::of(step.own()),
                ramp_ms: step.ramp_ms,
                figures: FiguresEntry::of(analysis, group, target_index),
                costs: costs::costs(analysis, step_index, target_index),
                measurements: measurements(group, target_index, analysis)?,
                beside: beside(step_index, target_index, analysis)?,
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
) -> Result<Vec<BesideEntry<'a>>, ReportError> {
    let groups = GroupId::of_step(analysis.plan, step).skip(1);
    let entry = |group: GroupId| {
        let clients = group.of(analysis.plan);
        Ok(BesideEntry {
            name: clients.name.as_deref(),
            clients: clients.clients,
            work: WorkEntry::of(clients),
            figures: FiguresEntry::of(analysis, group, target),
            measurements: measurements(group, target, analysis)?,
        })
    };
    groups.map(entry).collect()
}

impl<'a> WorkEntry<'a> {
    fn of(clients: &'a ClientGroup) -> Self {
        let (rate, think_us, spacing) = match clients.pace {
            Pace::Closed { think: None } => (None, None, None),
            Pace::Closed { think: Some(think) } => (None, Some(think.mean_us), Some(think.spacing)),
            Pace::Open { rate, spacing } => (Some(rate.as_f64()), None, Some(spacing)),
        };
        Self {
            workload: &clients.workload.name,
            group: clients.workload.group,
            parameters: &clients.parameters,
            pace: PaceEntry {
                rate,
                think_us,
                spacing,
                reconnect_every: clients.reconnect_every,
            },
        }
    }
}

impl FiguresEntry {
    fn of(analysis: &Analysis<'_>, group: GroupId, target: usize) -> Self {
        let cell = analysis.cells.at(group, target);
        let base = &analysis.base().name;
        let unequal = cell.unequal.iter().map(|unequal| unequal.warning(base));
        Self {
            display: group.display(analysis.plan),
            queries_per_second: cell.summary(Metric::Queries).map(summary),
            operations_per_second: cell.summary(Metric::Operations).map(summary),
            milliseconds_per_operation: cell.milliseconds.as_ref().map(summary),
            ratio: cell.ratio().map(ratio),
            notes: cell.warnings.iter().cloned().chain(unequal).collect(),
        }
    }
}

fn measurements<'a>(
    group: GroupId,
    target: usize,
    analysis: &'a Analysis<'_>,
) -> Result<Vec<MeasurementEntry<'a>>, ReportError> {
    let entry = |measurement: &'a Measurement| {
        let row = measurement.row();
        let block = measurement.block_number();
        let cpu_us = measurement.client_cpu_us_per_operation();
        let costs = || costs::of_trial(analysis, group.step, target, block);
        Ok(MeasurementEntry {
            block,
            backend: row.backend,
            operations: row.operations,
            queries: row.queries,
            queries_per_second: measurement.value(Metric::Queries).map(thousandths),
            operations_per_second: measurement.value(Metric::Operations).map(thousandths),
            latency_us: measurement.service()?.map(TimesEntry::from),
            errors: row.errors,
            unexpected: row.unexpected,
            client_cpu_us_per_operation: cpu_us.map(thousandths),
            debt: &measurement.debt,
            settle: measurement.settle.as_ref(),
            schedule: measurement.schedule.map(ScheduleEntry::from),
            connect: measurement.connects.map(|connects| ConnectEntry {
                count: connects.count,
                latency_us: connects.times.map(TimesEntry::from),
            }),
            threads: &measurement.threads,
            spent: group.is_own().then(costs).flatten(),
        })
    };
    let measurements = analysis.cells.at(group, target).measurements.iter();
    measurements.map(entry).collect()
}

impl From<ScheduleTimes> for ScheduleEntry {
    fn from(schedule: ScheduleTimes) -> Self {
        Self {
            planned: schedule.planned,
            backlog: schedule.backlog,
            left: schedule.left,
            response_us: schedule.response.map(TimesEntry::from),
            error_us: schedule.error.map(TimesEntry::from),
        }
    }
}

impl From<Times> for TimesEntry {
    fn from(times: Times) -> Self {
        Self {
            mean: times.mean,
            p50: times.p50,
            p95: times.p95,
            p99: times.p99,
            max: times.max,
        }
    }
}
