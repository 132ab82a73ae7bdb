//! Costs of operations, for programs.

use std::collections::{BTreeMap, BTreeSet};

use prony_model::{Better, Counter, Metric, Moment, Source, TrialKind};
use serde::Serialize;

use super::{RatioEntry, SummaryEntry, ratio, summary};
use crate::analysis::Analysis;
use crate::analysis::costs::{self, CellCosts};
use crate::analysis::periods::Period;
use crate::analysis::trial_costs::TrialCosts;
use crate::figures::{rounded, thousandths};

/// Digits after the point: shares of instructions and of requests are small numbers.
const DECIMALS: i32 = 6;

/// A metric that has values somewhere in the run.
#[derive(Serialize)]
pub(crate) struct MetricEntry {
    id: &'static str,
    name: &'static str,
    unit: &'static str,
    better: Better,
    formula: &'static str,
}

/// A source that a trial, or the whole run, is without.
#[derive(Serialize)]
pub(crate) struct AbsenceEntry<'a> {
    target: Option<&'a str>,
    block: Option<u32>,
    trials: Option<TrialKind>,
    source: Source,
    reason: &'a str,
}

/// The costs of an operation, or a row, of a cell.
#[derive(Serialize)]
pub(crate) struct CostsEntry<'a> {
    per: &'static str,
    metrics: BTreeMap<&'static str, CostEntry>,
    status: BTreeMap<String, SummaryEntry>,
    counted: Vec<CountedEntry>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct CostEntry {
    over_blocks: SummaryEntry,
    ratio: Option<RatioEntry>,
    trials: TrialKind,
    counters: BTreeSet<String>,
}

/// One trial that only counts.
#[derive(Serialize)]
struct CountedEntry {
    block: u32,
    operations: u64,
    metrics: BTreeMap<&'static str, f64>,
}

/// One trial that measures.
#[derive(Serialize)]
pub(crate) struct TrialCostsEntry<'a> {
    metrics: BTreeMap<&'static str, f64>,
    gaps: Vec<GapEntry<'a>>,
    periods: Vec<PeriodEntry>,
}

#[derive(Serialize)]
struct GapEntry<'a> {
    moment: Moment,
    source: Source,
    reason: &'a str,
}

/// A period, with the digits that a sampler's clock deserves.
#[derive(Serialize)]
struct PeriodEntry {
    end_s: f64,
    server_cpu_us: Option<f64>,
    read_kb: Option<f64>,
    written_kb: Option<f64>,
    resident_kb: Option<f64>,
}

impl PeriodEntry {
    fn of(period: &Period) -> Self {
        Self {
            end_s: rounded(period.end_s, 6),
            server_cpu_us: period.server_cpu_us.map(thousandths),
            read_kb: period.read_kb.map(thousandths),
            written_kb: period.written_kb.map(thousandths),
            resident_kb: period.resident_kb.map(thousandths),
        }
    }
}

/// The metrics that have values.
pub(crate) fn metrics(analysis: &Analysis<'_>) -> Vec<MetricEntry> {
    let has = |metric: &Metric| {
        let mut cells = analysis.costs.cells();
        cells.any(|cell| cell.figures.contains_key(metric))
    };
    Metric::costs()
        .filter(has)
        .map(|metric| {
            let facts = metric.facts();
            MetricEntry {
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
pub(crate) fn absences<'a>(analysis: &'a Analysis<'_>) -> Vec<AbsenceEntry<'a>> {
    let absences = analysis.costs.absences.iter();
    absences
        .map(|(trial, gap)| {
            let planned = trial.and_then(|id| Some(analysis.trials.get(id)?.planned));
            AbsenceEntry {
                target: planned.map(|p| analysis.plan.targets[p.target].name.as_str()),
                block: planned.map(|p| p.block + 1),
                trials: planned.map(|p| p.kind),
                source: gap.source,
                reason: &gap.reason,
            }
        })
        .collect()
}

/// The costs of a cell. `None` where nothing was ever sampled.
pub(crate) fn costs<'a>(
    analysis: &'a Analysis<'_>,
    step: usize,
    target: usize,
) -> Option<CostsEntry<'a>> {
    let cell = analysis.costs.cell(step, target);
    analysis.costs.sampled.then(|| CostsEntry {
        per: costs::unit(analysis.plan, step).name(),
        metrics: figures(cell),
        status: cell
            .status
            .iter()
            .filter(|(_, figure)| figure.max > 0.0)
            .map(|(counter, figure)| (counter.to_string(), summary(figure)))
            .collect(),
        counted: cell.trials.counted.iter().map(counted).collect(),
        notes: &cell.warnings,
    })
}

fn figures(cell: &CellCosts) -> BTreeMap<&'static str, CostEntry> {
    let counters = |metric| -> BTreeSet<String> {
        let used = cell.trials.values(metric).flat_map(|(_, value)| value.from);
        used.map(Counter::to_string).collect()
    };
    cell.figures
        .iter()
        .map(|(metric, figure)| {
            let entry = CostEntry {
                over_blocks: summary(&figure.summary),
                ratio: figure.ratio.as_ref().map(ratio),
                trials: figure.taken,
                counters: counters(*metric),
            };
            (metric.facts().id, entry)
        })
        .collect()
}

fn counted(trial: &TrialCosts) -> CountedEntry {
    let counts = |metric: &Metric| metric.facts().taken == TrialKind::Counting;
    let mut metrics = values(trial);
    metrics.retain(|id, _| Metric::costs().any(|m| m.facts().id == *id && counts(&m)));
    CountedEntry {
        block: trial.block,
        operations: trial.operations,
        metrics,
    }
}

fn values(trial: &TrialCosts) -> BTreeMap<&'static str, f64> {
    let values = trial.values.iter();
    values
        .map(|(metric, value)| (metric.facts().id, rounded(value.amount, DECIMALS)))
        .collect()
}

/// The costs of a trial at a step. `None` where nothing was ever sampled.
pub(crate) fn of_trial<'a>(
    analysis: &'a Analysis<'_>,
    step: usize,
    target: usize,
    block: u32,
) -> Option<TrialCostsEntry<'a>> {
    let mut trials = analysis.costs.cell(step, target).trials.timed.iter();
    let trial = trials.find(|trial| trial.block == block)?;
    let gaps = trial.gaps.iter().map(|(moment, gap)| GapEntry {
        moment: *moment,
        source: gap.source,
        reason: &gap.reason,
    });
    analysis.costs.sampled.then(|| TrialCostsEntry {
        metrics: values(trial),
        gaps: gaps.collect(),
        periods: trial.periods.iter().map(PeriodEntry::of).collect(),
    })
}
