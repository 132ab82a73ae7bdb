//! Versions in their order: the places where a metric changes from one to the next.

use prony_model::{Backend, Metric, Plan, Source, TrialKind};
use prony_stats::Segments;

use crate::analysis::Analysis;
use crate::analysis::figure::Figure;

/// Least number of blocks with which a change is called.
pub(crate) const BLOCKS_MIN: usize = 5;

/// The metrics in which changes are searched.
const METRICS: [Metric; 3] = [Metric::Operations, Metric::Instructions, Metric::ServerCpu];

/// The changes of one metric over the versions, at every step that has it.
#[derive(Debug)]
pub(crate) struct MetricLineage {
    pub(crate) metric: Metric,
    /// In the order in which steps are shown; never empty.
    pub(crate) steps: Vec<StepLineage>,
}

/// One metric at one step over the versions.
#[derive(Debug)]
pub(crate) struct StepLineage {
    /// Index of the step.
    pub(crate) step: usize,
    /// Indices of the targets that are compared, in their order.
    pub(crate) targets: Vec<usize>,
    /// Those that are not, each with the number of blocks that it has.
    pub(crate) left_out: Vec<(usize, usize)>,
    /// Blocks in which all compared targets were measured alike.
    pub(crate) blocks: usize,
    /// The kind of the trials behind the values.
    pub(crate) taken: TrialKind,
    /// `None` with fewer than [`BLOCKS_MIN`] blocks or two targets.
    pub(crate) segments: Option<Segments>,
    /// A warning concerns the metric of a compared target here.
    pub(crate) is_doubtful: bool,
}

/// The value of one block.
#[derive(Debug, Clone, Copy)]
struct Point {
    block: u32,
    log: f64,
    means: Means,
}

/// The means of measuring, which must be the same for values that are compared.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Means {
    backend: Backend,
    kind: TrialKind,
    simulated: bool,
}

/// The values of a target by block.
#[derive(Debug)]
struct Series {
    target: usize,
    points: Vec<Point>,
}

/// The targets in the order of the experiment file, without the base's twin: it is the base.
pub(crate) fn targets(plan: &Plan) -> Vec<usize> {
    let all = 0..plan.targets.len();
    all.filter(|&target| Some(target) != plan.twin).collect()
}

/// The changes of all metrics that any step has.
pub(crate) fn of(analysis: &Analysis<'_>) -> Vec<MetricLineage> {
    let steps = || analysis.sections.iter().flat_map(|section| &section.steps);
    let of_metric = |metric| MetricLineage {
        metric,
        steps: steps()
            .filter_map(|&step| of_step(analysis, step, metric))
            .collect(),
    };
    let all = METRICS.into_iter().map(of_metric);
    all.filter(|lineage| !lineage.steps.is_empty()).collect()
}

/// A metric of a target at a step over the blocks.
pub(crate) fn figure<'a>(
    analysis: &'a Analysis<'_>,
    step: usize,
    target: usize,
    metric: Metric,
) -> Option<&'a Figure> {
    match metric {
        Metric::Operations => analysis.cell(step, target).figures.get(&metric),
        _ => analysis.costs.cell(step, target).figures.get(&metric),
    }
}

/// Returns `true` if a warning concerns a metric of a target at a step.
pub(crate) fn is_doubtful(
    analysis: &Analysis<'_>,
    step: usize,
    target: usize,
    metric: Metric,
) -> bool {
    match metric {
        Metric::Operations => analysis.cell(step, target).has_warnings(),
        _ => analysis.costs.cell(step, target).is_doubtful(metric),
    }
}

/// A metric at a step over the versions. `None` if no target has the metric.
pub(crate) fn of_step(analysis: &Analysis<'_>, step: usize, metric: Metric) -> Option<StepLineage> {
    let all: Vec<Series> = targets(analysis.plan)
        .into_iter()
        .map(|target| Series {
            target,
            points: points(analysis, step, target, metric),
        })
        .collect();
    let first = all.iter().find_map(|series| series.points.first())?;
    let compared = compared(&all);
    let is_compared = |target| compared.iter().any(|series| series.target == target);
    let left_out = all.iter().filter(|series| !is_compared(series.target));
    let rows = rows(&compared);
    let enough = rows.len() >= BLOCKS_MIN;
    let targets = compared.iter().map(|series| series.target);
    Some(StepLineage {
        step,
        left_out: left_out
            .map(|series| (series.target, series.points.len()))
            .collect(),
        blocks: rows.len(),
        taken: first.means.kind,
        segments: enough.then(|| Segments::of(&rows).ok()).flatten(),
        is_doubtful: targets
            .clone()
            .any(|target| is_doubtful(analysis, step, target, metric)),
        targets: targets.collect(),
    })
}

/// The values of a target, as logarithms; what has none is left out.
fn points(analysis: &Analysis<'_>, step: usize, target: usize, metric: Metric) -> Vec<Point> {
    let point = |block, amount: f64, means| {
        let log = amount.ln();
        log.is_finite().then_some(Point { block, log, means })
    };
    if metric == Metric::Operations {
        let measurements = analysis.cell(step, target).measurements.iter();
        let of_block = measurements.filter_map(|measurement| {
            let means = Means {
                backend: measurement.row().backend,
                kind: TrialKind::Timed,
                simulated: false,
            };
            point(
                measurement.block_number(),
                measurement.value(metric)?,
                means,
            )
        });
        return of_block.collect();
    }
    let trials = &analysis.costs.cell(step, target).trials;
    let (kind, _) = trials.of(metric);
    let of_block = trials.values(metric).filter_map(|(trial, value)| {
        let means = Means {
            backend: trial.backend(),
            kind,
            simulated: trial.is_from(metric, Source::Valgrind),
        };
        point(trial.block, value.amount, means)
    });
    of_block.collect()
}

/// The targets that are compared. A target without values is left out. One whose missing blocks leave
/// fewer than [`BLOCKS_MIN`] complete ones is left out if that gives enough, those with the fewest
/// first.
fn compared(all: &[Series]) -> Vec<&Series> {
    let measured: Vec<&Series> = all.iter().filter(|s| !s.points.is_empty()).collect();
    let mut kept = measured.clone();
    while rows(&kept).len() < BLOCKS_MIN {
        let lengths = || kept.iter().map(|series| series.points.len());
        let fewest = lengths().min();
        if kept.len() <= 2 || fewest == lengths().max() {
            return measured;
        }
        kept.retain(|series| Some(series.points.len()) != fewest);
    }
    if kept.len() < 2 { measured } else { kept }
}

/// The logarithms of the blocks that have all `series`, measured by the same means.
fn rows(series: &[&Series]) -> Vec<Vec<Option<f64>>> {
    let Some((first, others)) = series.split_first() else {
        return Vec::new();
    };
    let row = |point: &Point| {
        let same = |other: &&Point| other.block == point.block && other.means == point.means;
        let log = |other: &&Series| other.points.iter().find(same).map(|other| Some(other.log));
        let others = others.iter().map(log).collect::<Option<Vec<_>>>()?;
        Some(std::iter::once(Some(point.log)).chain(others).collect())
    };
    first.points.iter().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(target: usize, blocks: impl IntoIterator<Item = u32>) -> Series {
        let means = Means {
            backend: Backend::Epoll,
            kind: TrialKind::Timed,
            simulated: false,
        };
        let point = |block| Point {
            block,
            log: 0.0,
            means,
        };
        Series {
            target,
            points: blocks.into_iter().map(point).collect(),
        }
    }

    fn kept(all: &[Series]) -> Vec<usize> {
        compared(all).iter().map(|series| series.target).collect()
    }

    #[test]
    fn targets_with_few_blocks_are_left_out() {
        let failed = [series(0, 1..=6), series(1, 1..=2), series(2, 1..=6)];
        assert_eq!(kept(&failed), [0, 2]);
        let absent = [series(0, 1..=6), series(1, []), series(2, 1..=6)];
        assert_eq!(kept(&absent), [0, 2]);
        let one_missing = [series(0, 1..=6), series(1, 2..=6), series(2, 1..=6)];
        assert_eq!(kept(&one_missing), [0, 1, 2]);
    }

    #[test]
    fn unfinished_runs_keep_their_targets() {
        let begun = [series(0, 1..=4), series(1, 1..=3), series(2, 1..=4)];
        assert_eq!(kept(&begun), [0, 1, 2]);
        assert_eq!(rows(&compared(&begun)).len(), 3);
    }

    #[test]
    fn blocks_of_different_means_are_not_compared() {
        let mut other = series(1, 1..=6);
        other.points[0].means.backend = Backend::IoUring;
        let one = series(0, 1..=6);
        assert_eq!(rows(&[&one, &other]).len(), 5);
    }
}
