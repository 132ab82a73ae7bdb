//! The large changes over an ordered list of versions, for programs.

use prony_model::Metric;
use prony_stats::{Change, Interval};
use serde::Serialize;

use super::{FORMAT, object, pretty};
use crate::analysis::Analysis;
use crate::analysis::lineage::{self, MetricLineage, StepLineage};
use crate::error::ReportError;
use crate::figures::rounded;
use crate::page::lineage::{LEVEL, effect, reason};

/// Writes the lineage as one indented JSON object.
pub(crate) fn write(analysis: &Analysis<'_>) -> Result<String, ReportError> {
    let all = lineage::of(analysis);
    pretty(&object! {
        format: FORMAT,
        experiment: &analysis.plan.name,
        run: &analysis.run.id,
        lineage: names(analysis, &lineage::targets(analysis.plan)),
        metrics: all.iter().map(|of_metric| metric(analysis, of_metric)).collect::<Vec<_>>(),
    })
}

fn names<'a>(analysis: &Analysis<'a>, targets: &[usize]) -> Vec<&'a String> {
    let names = targets.iter();
    names
        .map(|&target| &analysis.plan.targets[target].name)
        .collect()
}

fn metric(analysis: &Analysis<'_>, of_metric: &MetricLineage) -> impl Serialize {
    let facts = of_metric.metric.facts();
    let steps = of_metric.steps.iter();
    object! {
        metric: facts.id,
        unit: facts.unit,
        better: facts.better,
        steps: steps
            .map(|of_step| step(analysis, of_metric.metric, of_step))
            .collect::<Vec<_>>(),
    }
}

fn step(analysis: &Analysis<'_>, metric: Metric, of_step: &StepLineage) -> impl Serialize {
    let step = &analysis.plan.steps[of_step.step];
    let targets = lineage::targets(analysis.plan);
    let values = targets.into_iter().filter_map(|target| {
        let figure = lineage::figure(analysis, of_step.step, target, metric)?;
        Some(object! {
            target: &analysis.plan.targets[target].name,
            mean: rounded(figure.summary.mean, 6),
            n: figure.summary.n,
        })
    });
    let left_out = of_step.left_out.iter().map(|&(target, blocks)| {
        object! { target: &analysis.plan.targets[target].name, blocks: blocks }
    });
    let segments = of_step.segments.as_ref();
    object! {
        step: &step.name,
        clients: step.own().clients,
        trials: of_step.taken,
        doubtful: of_step.is_doubtful,
        blocks: of_step.blocks,
        compared: names(analysis, &of_step.targets),
        left_out: left_out.collect::<Vec<_>>(),
        margin: rounded(step.margin(), 6),
        values: values.collect::<Vec<_>>(),
        resolution: segments.map(|segments| rounded(segments.resolution, 6)),
        reason: segments.is_none().then(|| reason(of_step)),
        changes: segments.map(|segments| {
            let changes = segments.changes.iter();
            let entry = |change| one_change(analysis, metric, of_step, change);
            changes.map(entry).collect::<Vec<_>>()
        }),
        total: segments.and_then(|segments| {
            let interval = segments.total.interval(LEVEL)?;
            Some(size(segments.total.ratio(), interval, metric))
        }),
    }
}

fn one_change(
    analysis: &Analysis<'_>,
    metric: Metric,
    of_step: &StepLineage,
    change: &Change,
) -> impl Serialize {
    let name = |position: usize| &analysis.plan.targets[of_step.targets[position]].name;
    object! {
        before: name(change.at - 1),
        after: name(change.at),
        large: change.is_large(analysis.plan.steps[of_step.step].margin()),
        #[serde(flatten)]
        size: size(change.ratio, change.interval, metric),
    }
}

fn size(ratio: f64, interval: Interval, metric: Metric) -> impl Serialize + use<> {
    object! {
        ratio: rounded(ratio, 6),
        low: rounded(interval.low, 6),
        high: rounded(interval.high, 6),
        effect: effect(ratio, interval, metric),
    }
}
