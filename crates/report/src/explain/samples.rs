//! Costs in time: the processor time of timed trials, divided among the stacks that were found in profiling ones.

use std::collections::BTreeMap;

use prony_model::Metric;
use prony_profile::{Components, Sampled};
use prony_store::{OutcomeRow, Store};

use super::trial::{TrialCosts, damaged};
use crate::analysis::Analysis;
use crate::error::ReportError;
use crate::parallel;

/// Nanoseconds of a microsecond.
const NS: f64 = 1_000.0;
/// The 97.5 % quantile of the normal distribution.
const NORMAL: f64 = 1.96;
/// Share of lost samples from which on there are no figures.
const LOST_MOST: f64 = 0.1;

/// The costs in profiling trials.
pub(super) fn read(
    store: &Store,
    analysis: &Analysis<'_>,
    components: &Components,
    is_wanted: &dyn Fn(&OutcomeRow) -> bool,
) -> Result<Vec<TrialCosts>, ReportError> {
    let profiled = store.profiled()?;
    let mut found = Vec::new();
    for row in profiled.iter().filter(|row| is_wanted(row)) {
        if let Some(content) = store.stack_samples(row.trial, row.step)? {
            found.push((row.clone(), content));
        }
    }
    if found.is_empty() {
        return Err(no_samples(store));
    }
    let slowed = slowed(store, &profiled)?;
    let trials = parallel::map(found, |(row, content)| {
        let sampled = Sampled::decode(&content);
        let sampled = sampled.map_err(|problem| damaged(analysis.plan, &row, problem));
        sampled.and_then(|sampled| {
            let slowed = slowed.get(&(row.step, row.planned.target)).copied();
            let trial = of_trial(analysis, components, &row, &sampled)?;
            Ok(TrialCosts { slowed, ..trial })
        })
    });
    trials.into_iter().collect()
}

fn of_trial(
    analysis: &Analysis<'_>,
    components: &Components,
    row: &OutcomeRow,
    sampled: &Sampled,
) -> Result<TrialCosts, ReportError> {
    let target = row.planned.target;
    let unusable = |reason: String| ReportError::Samples {
        target: analysis.plan.targets[target].name.clone(),
        step: analysis.plan.steps[row.step].name.clone(),
        reason,
    };
    let taking = sampled.taking;
    let lost = lost_share(&taking);
    if lost > LOST_MOST {
        return Err(unusable(format!(
            "{:.0} % of the samples got lost, because the machine was too busy",
            lost * 100.0
        )));
    }
    let cell = analysis.costs.cell(row.step, target);
    let metric = if taking.with_kernel {
        Metric::ServerCpu
    } else {
        Metric::ServerUser
    };
    let figure = cell.figures.get(&metric);
    let figure = figure.ok_or_else(|| {
        unusable("no timed trial tells the processor time of an operation".to_owned())
    })?;
    let summary = &figure.summary;
    let relative_error = relative_error(analysis, row.step, metric, summary.n);
    let cost = cell.per_operation(summary.mean) * NS;
    Ok(TrialCosts {
        step: row.step,
        target,
        operations: row.operations,
        costs: sampled
            .profile
            .costs_of_samples(components, cost, relative_error),
        taking: Some(taking),
        slowed: None,
    })
}

/// The standard error of a mean of `n` blocks as a share of it, widened so that 1.96 of it are the 95 % interval.
///
/// The variation from block to block is that of all targets of the step together (pooled), because two or three
/// blocks of one tell little. It is 0 where each has one block, and nothing is known of it.
fn relative_error(analysis: &Analysis<'_>, step: usize, metric: Metric, n: usize) -> f64 {
    let (mut squares, mut degrees) = (0.0, 0_u32);
    for target in 0..analysis.plan.targets.len() {
        let figure = analysis.costs.cell(step, target).figures.get(&metric);
        let summary = figure.map(|figure| &figure.summary);
        if let Some((variation, n)) = summary.and_then(|it| Some((it.variation?, it.n))) {
            squares += variation * variation * (n - 1) as f64;
            degrees += u32::try_from(n - 1).unwrap_or(u32::MAX);
        }
    }
    let quantile = prony_stats::t_quantile(0.975, degrees);
    quantile.map_or(0.0, |quantile| {
        (squares / f64::from(degrees) / n as f64).sqrt() * quantile / NORMAL
    })
}

/// The share of samples that the kernel could not deliver, among those of all programs.
pub(super) fn lost_share(taking: &prony_profile::Taking) -> f64 {
    let all = taking.whole + taking.cut + taking.lost;
    taking.lost as f64 / all.max(1) as f64
}

/// Throughput of the profiling trials ÷ that of the timed ones, by step and target.
fn slowed(
    store: &Store,
    profiled: &[OutcomeRow],
) -> Result<BTreeMap<(usize, usize), f64>, ReportError> {
    let rates = |rows: &[OutcomeRow]| {
        let mut of_cells: BTreeMap<(usize, usize), (f64, f64)> = BTreeMap::new();
        for row in rows.iter().filter(|row| row.group == 0 && row.busy_ns > 0) {
            let place = (row.step, row.planned.target);
            let (sum, trials) = of_cells.entry(place).or_default();
            *sum += row.operations as f64 / row.busy_ns as f64;
            *trials += 1.0;
        }
        of_cells
    };
    let timed = rates(&store.outcomes()?);
    let ratios = rates(profiled).into_iter().filter_map(|(place, rate)| {
        let timed = timed.get(&place)?;
        Some((place, rate.0 / rate.1 / (timed.0 / timed.1)))
    });
    Ok(ratios.collect())
}

/// The reason that there are no samples.
fn no_samples(store: &Store) -> ReportError {
    let plan = store.plan();
    ReportError::NoSamples {
        reason: match (&plan.profiling_note, plan.profiling) {
            (Some(note), _) => note.clone(),
            (None, Some(_)) => "no profiling trial of what was asked for is done".to_owned(),
            (None, None) => "the experiment asks for none".to_owned(),
        },
    }
}
