//! The figures of every cell, for programs.

use prony_model::{ClientGroup, Metric, Pace};
use serde::Serialize;

use super::placement::{placed, placement};
use super::{costs, estimate, object, ratio, summary};
use crate::analysis::Analysis;
use crate::analysis::evenness::{self, Evenness};
use crate::analysis::group::GroupId;
use crate::analysis::sections;
use crate::error::ReportError;
use crate::figures::thousandths;

/// One entry for each target and step.
pub(crate) fn cells(analysis: &Analysis<'_>) -> Result<Vec<impl Serialize>, ReportError> {
    let mut entries = Vec::new();
    for (target_index, target) in analysis.plan.targets.iter().enumerate() {
        for (step_index, step) in analysis.plan.steps.iter().enumerate() {
            let group = GroupId::own(step_index);
            let costs = costs::costs(analysis, step_index, target_index);
            entries.push(object! {
                target: &target.name,
                step: &step.name,
                clients: step.own().clients,
                section: sections::title(&analysis.sections, step_index),
                phase: step.phase,
                warm_only: step.warm_only,
                timing: step.timing,
                #[serde(flatten)]
                work: work(step.own()),
                ramp_ms: step.ramp_ms,
                placement: analysis.cell(step_index, target_index).placement().map(placement),
                #[serde(flatten)]
                figures: figures(analysis, group, target_index),
                #[serde(flatten)]
                costs: costs.map(|costs| object! { costs: costs }),
                measurements: measurements(group, target_index, analysis)?,
                beside: beside(step_index, target_index, analysis)?,
            });
        }
    }
    Ok(entries)
}

/// The groups beside a step's own clients.
fn beside(
    step: usize,
    target: usize,
    analysis: &Analysis<'_>,
) -> Result<Vec<impl Serialize>, ReportError> {
    let groups = GroupId::of_step(analysis.plan, step).skip(1);
    let entry = |group: GroupId| {
        let clients = group.of(analysis.plan);
        Ok(object! {
            name: &clients.name,
            clients: clients.clients,
            #[serde(flatten)]
            work: work(clients),
            #[serde(flatten)]
            figures: figures(analysis, group, target),
            measurements: measurements(group, target, analysis)?,
        })
    };
    groups.map(entry).collect()
}

/// The work of a group of clients.
fn work(clients: &ClientGroup) -> impl Serialize {
    let (rate, think_us, spacing) = match clients.pace {
        Pace::Closed { think: None } => (None, None, None),
        Pace::Closed { think: Some(think) } => (None, Some(think.mean_us), Some(think.spacing)),
        Pace::Open { rate, spacing } => (Some(rate.as_f64()), None, Some(spacing)),
    };
    object! {
        workload: &clients.workload.name,
        group: clients.workload.group,
        parameters: &clients.parameters,
        pace: object! {
            rate: rate,
            think_us: think_us,
            spacing: spacing,
            reconnect_every: clients.reconnect_every,
            #[serde(flatten)]
            sla: clients.sla_percent.map(|percent| object! { sla_percent: percent.as_f64() }),
        },
    }
}

/// The figures over the blocks of a group of clients.
fn figures(analysis: &Analysis<'_>, group: GroupId, target: usize) -> impl Serialize {
    let cell = analysis.cells.at(group, target);
    let base = analysis.base_name(target);
    let unequal = cell.unequal.iter().map(|unequal| unequal.warning(base));
    object! {
        display: group.display(analysis.plan),
        ratio_display: analysis.ratio_display(group.step),
        queries_per_second: cell.summary(Metric::Queries).map(summary),
        operations_per_second: cell.summary(Metric::Operations).map(summary),
        milliseconds_per_operation: cell.milliseconds.as_ref().map(summary),
        ratio: cell.ratio().map(|pairs| ratio(analysis, pairs)),
        time_ratio: cell.time_ratio(&analysis.verdicts.looks).as_ref().map(estimate),
        evenness: evenness::of(&cell.measurements).map(even),
        notes: cell.warnings.iter().cloned().chain(unequal).collect::<Vec<_>>(),
    }
}

/// The rates of intervals, over the blocks.
fn even(evenness: Evenness) -> impl Serialize {
    object! {
        interval_s: thousandths(evenness.seconds),
        intervals: evenness.intervals,
        median: thousandths(evenness.median),
        p1: evenness.hundredth.map(thousandths),
        slowest: thousandths(evenness.slowest),
        idle: evenness.idle,
        longest_ms: thousandths(evenness.longest_ms),
        slices: evenness.slices.map(|rates| rates.map(thousandths)),
    }
}

fn measurements(
    group: GroupId,
    target: usize,
    analysis: &Analysis<'_>,
) -> Result<Vec<impl Serialize>, ReportError> {
    let measurements = analysis.cells.at(group, target).measurements.iter();
    let entries = measurements.map(|measurement| {
        let row = measurement.row();
        let block = measurement.block_number();
        let cpu_us = measurement.client_cpu_us_per_operation();
        let costs = || costs::of_trial(analysis, group.step, target, block);
        let spent = group.is_own().then(costs).flatten();
        Ok(object! {
            block: block,
            backend: row.backend,
            scheduling: row.scheduling,
            operations: row.operations,
            queries: row.queries,
            queries_per_second: measurement.value(Metric::Queries).map(thousandths),
            operations_per_second: measurement.value(Metric::Operations).map(thousandths),
            latency_us: measurement.service()?,
            errors: row.errors,
            unexpected: row.unexpected,
            client_cpu_us_per_operation: cpu_us.map(thousandths),
            debt: &measurement.debt,
            settle: &measurement.settle,
            schedule: measurement.schedule,
            connect: measurement.connects,
            threads: &measurement.threads,
            placed: measurement.placed.as_ref().filter(|_| group.is_own()).map(placed),
            #[serde(flatten)]
            spent: spent.map(|spent| object! { spent: spent }),
        })
    });
    entries.collect()
}
