//! Costs of operations, for programs.

use std::collections::{BTreeMap, BTreeSet};

use prony_model::{CostUnit, Counter, Metric, TrialKind};
use prony_stats::Summary;
use serde::Serialize;

use super::{object, ratio, summary};
use crate::analysis::Analysis;
use crate::analysis::costs::{self, CellCosts};
use crate::analysis::figure::Figure;
use crate::analysis::periods::Period;
use crate::analysis::trial_costs::TrialCosts;
use crate::figures::{rounded, thousandths};

/// Digits after the point: shares of instructions and of requests are small numbers.
const DECIMALS: i32 = 6;

/// The metrics that have values.
pub(crate) fn metrics(analysis: &Analysis<'_>) -> Vec<impl Serialize + use<>> {
    let has = |metric: &Metric| {
        let mut cells = analysis.costs.cells().chain(analysis.costs.loads());
        cells.any(|cell| cell.figures.contains_key(metric))
    };
    let metrics = Metric::costs().filter(has).map(Metric::facts);
    metrics
        .map(|facts| {
            object! {
                id: facts.id,
                name: facts.name,
                unit: facts.unit,
                better: facts.better,
                formula: facts.formula,
            }
        })
        .collect()
}

/// The sources that trials are without, and why.
pub(crate) fn absences(analysis: &Analysis<'_>) -> Vec<impl Serialize> {
    let absences = analysis.costs.absences.iter();
    absences
        .map(|(trial, gap)| {
            let planned = trial.and_then(|id| Some(analysis.trials.get(id)?.planned));
            object! {
                target: planned.map(|p| &analysis.plan.targets[p.target].name),
                block: planned.map(|p| p.block + 1),
                trials: planned.map(|p| p.kind),
                source: gap.source,
                reason: &gap.reason,
            }
        })
        .collect()
}

/// The costs of a cell. `None` where nothing was ever sampled.
pub(crate) fn costs(analysis: &Analysis<'_>, step: usize, target: usize) -> Option<impl Serialize> {
    let cell = analysis.costs.cell(step, target);
    let unit = costs::unit(analysis.plan, step);
    analysis
        .costs
        .sampled
        .then(|| of_cell(analysis, cell, unit))
}

/// The costs of the loads of a target. `None` where nothing was sampled.
pub(crate) fn of_loads<'a>(
    analysis: &'a Analysis<'_>,
    target: usize,
) -> Option<impl Serialize + use<'a>> {
    let cell = &analysis.costs.loads()[target];
    let sampled = cell.trials.are_sampled();
    sampled.then(|| of_cell(analysis, cell, CostUnit::Row))
}

fn of_cell<'a>(
    analysis: &'a Analysis<'_>,
    cell: &'a CellCosts,
    unit: CostUnit,
) -> impl Serialize + use<'a> {
    let status = analysis.costs.grown(cell);
    let status = status.filter(|(_, figure)| figure.max > 0.0);
    let status = status.map(|(counter, figure)| (counter.to_string(), summary(figure)));
    object! {
        per: unit.name(),
        metrics: figures(analysis, cell, &cell.figures),
        #[serde(flatten)]
        per_query: per_query(analysis, cell),
        status: status.collect::<BTreeMap<_, _>>(),
        counted: cell.trials.counted.iter().map(counted).collect::<Vec<_>>(),
        notes: cell.warnings.iter().chain(&cell.beside).collect::<Vec<_>>(),
    }
}

/// The costs for each query, where an operation has several.
fn per_query(analysis: &Analysis<'_>, cell: &CellCosts) -> Option<impl Serialize> {
    let of_trial = |trial: &TrialCosts| {
        let queries = trial.queries as f64 / trial.operations as f64;
        queries.is_finite().then_some(queries)
    };
    let queries = cell.trials.timed.iter().filter_map(of_trial);
    let queries = Summary::of(&queries.collect::<Vec<f64>>()).ok();
    (!cell.per_query.is_empty()).then(|| {
        object! {
            per_query: object! {
                queries_per_operation: queries.as_ref().map(summary),
                metrics: figures(analysis, cell, &cell.per_query),
            },
        }
    })
}

fn figures(
    analysis: &Analysis<'_>,
    cell: &CellCosts,
    figures: &BTreeMap<Metric, Figure>,
) -> BTreeMap<&'static str, impl Serialize + use<>> {
    let counters = |metric| -> BTreeSet<String> {
        let used = cell.trials.values(metric).flat_map(|(_, value)| value.from);
        used.map(Counter::to_string).collect()
    };
    figures
        .iter()
        .map(|(metric, figure)| {
            let entry = object! {
                over_blocks: summary(&figure.summary),
                ratio: figure.ratio.as_ref().map(|pairs| ratio(analysis, pairs)),
                trials: figure.taken,
                counters: counters(*metric),
            };
            (metric.facts().id, entry)
        })
        .collect()
}

/// One trial that only counts.
fn counted(trial: &TrialCosts) -> impl Serialize {
    let counts = |metric: &Metric| metric.facts().taken == TrialKind::Counting;
    let mut metrics = values(trial);
    metrics.retain(|id, _| Metric::costs().any(|m| m.facts().id == *id && counts(&m)));
    object! {
        block: trial.block,
        operations: trial.operations,
        metrics: metrics,
    }
}

fn values(trial: &TrialCosts) -> BTreeMap<&'static str, f64> {
    let values = trial.values.iter();
    values
        .map(|(metric, value)| (metric.facts().id, rounded(value.amount, DECIMALS)))
        .collect()
}

/// The costs of a trial at a step. `None` where nothing was ever sampled.
pub(crate) fn of_trial(
    analysis: &Analysis<'_>,
    step: usize,
    target: usize,
    block: u32,
) -> Option<impl Serialize> {
    let mut trials = analysis.costs.cell(step, target).trials.timed.iter();
    let trial = trials.find(|trial| trial.block == block)?;
    analysis.costs.sampled.then(|| {
        object! {
            metrics: values(trial),
            gaps: gaps(trial),
            periods: trial.periods.iter().map(period).collect::<Vec<_>>(),
        }
    })
}

/// The costs of the load of a trial. `None` where nothing was sampled.
pub(crate) fn of_load(
    analysis: &Analysis<'_>,
    target: usize,
    block: u32,
) -> Option<impl Serialize> {
    let mut trials = analysis.costs.loads()[target].trials.timed.iter();
    let trial = trials.find(|trial| trial.block == block)?;
    Some(object! {
        metrics: values(trial),
        gaps: gaps(trial),
    })
}

fn gaps(trial: &TrialCosts) -> Vec<impl Serialize + use<'_>> {
    let gaps = trial.gaps.iter().map(|(moment, gap)| {
        object! {
            moment: *moment,
            source: gap.source,
            reason: &gap.reason,
        }
    });
    gaps.collect()
}

/// A period, with the digits that a sampler's clock deserves.
fn period(period: &Period) -> impl Serialize {
    object! {
        end_s: rounded(period.end_s, 6),
        server_cpu_us: period.server_cpu_us.map(thousandths),
        read_kb: period.read_kb.map(thousandths),
        written_kb: period.written_kb.map(thousandths),
        resident_kb: period.resident_kb.map(thousandths),
    }
}
