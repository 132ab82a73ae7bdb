//! Costs of operations, for programs.

use std::collections::{BTreeMap, BTreeSet};

use prony_model::{Better, Counter, Metric, Moment, Source, TrialKind};
use serde::Serialize;

use crate::analysis::Analysis;
use crate::costs::{self, CellCosts, Spent};
use crate::figures::rounded;
use crate::json::{RatioEntry, SummaryEntry, ratio, summary};
use crate::periods::Period;

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

/// What a trial, or the whole run, is without.
#[derive(Serialize)]
pub(crate) struct AbsenceEntry<'a> {
    target: Option<&'a str>,
    block: Option<u32>,
    trials: Option<TrialKind>,
    source: Source,
    reason: &'a str,
}

/// What an operation, or a row, of a cell costs.
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

/// What one trial that only counts found.
#[derive(Serialize)]
struct CountedEntry {
    block: u32,
    operations: u64,
    metrics: BTreeMap<&'static str, f64>,
}

/// What one trial that measures found.
#[derive(Serialize)]
pub(crate) struct SpentEntry<'a> {
    metrics: BTreeMap<&'static str, f64>,
    gaps: Vec<GapEntry<'a>>,
    periods: Vec<Period>,
}

#[derive(Serialize)]
struct GapEntry<'a> {
    moment: Moment,
    source: Source,
    reason: &'a str,
}

/// The metrics that have values.
pub(crate) fn metrics(analysis: &Analysis<'_>) -> Vec<MetricEntry> {
    let has = |metric: &Metric| {
        let mut cells = analysis.costs.cells();
        cells.any(|cell| cell.figures.contains_key(metric))
    };
    Metric::all()
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

/// What trials are without, and why.
pub(crate) fn absences<'a>(analysis: &'a Analysis<'_>) -> Vec<AbsenceEntry<'a>> {
    let absences = analysis.costs.absences.iter();
    absences
        .map(|(trial, gap)| {
            let planned = trial.and_then(|id| Some(analysis.trial(id)?.planned));
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
        counted: cell.counted.iter().map(counted).collect(),
        notes: &cell.notes,
    })
}

fn figures(cell: &CellCosts) -> BTreeMap<&'static str, CostEntry> {
    let counters = |metric| -> BTreeSet<String> {
        let used = cell.values(metric).flat_map(|(_, value)| value.from);
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

fn counted(spent: &Spent) -> CountedEntry {
    let counts = |metric: &Metric| metric.facts().taken == TrialKind::Counting;
    let mut metrics = values(spent);
    metrics.retain(|id, _| Metric::all().any(|m| m.facts().id == *id && counts(&m)));
    CountedEntry {
        block: spent.block,
        operations: spent.operations,
        metrics,
    }
}

fn values(spent: &Spent) -> BTreeMap<&'static str, f64> {
    let values = spent.values.iter();
    values
        .map(|(metric, value)| (metric.facts().id, rounded(value.amount, DECIMALS)))
        .collect()
}

/// What a trial spent on a step. `None` where nothing was ever sampled.
pub(crate) fn spent<'a>(
    analysis: &'a Analysis<'_>,
    step: usize,
    target: usize,
    block: u32,
) -> Option<SpentEntry<'a>> {
    let mut trials = analysis.costs.cell(step, target).timed.iter();
    let spent = trials.find(|spent| spent.block == block)?;
    let gaps = spent.gaps.iter().map(|(moment, gap)| GapEntry {
        moment: *moment,
        source: gap.source,
        reason: &gap.reason,
    });
    analysis.costs.sampled.then(|| SpentEntry {
        metrics: values(spent),
        gaps: gaps.collect(),
        periods: spent.periods.iter().map(Period::rounded).collect(),
    })
}
