//! The figures that views show of a cell.

use prony_model::{Display, Metric};
use prony_stats::{Pairs, Summary, t_quantile};

use crate::analysis::Analysis;
use crate::analysis::cell;
use crate::analysis::estimate::{Estimate, LEVEL};
use crate::figures;
use crate::page::cost::{RARE, is_doubtful, is_next_to_nothing};
use crate::views::base::Base;
use crate::views::cell::CellId;

/// A quantity of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    /// Throughput as the workload asks for it.
    Throughput,
    /// Operations per second.
    Operations,
    /// Operations per second ÷ those of the base.
    Ratio,
    /// Mean time of an operation ÷ that of the base.
    TimeRatio,
    /// A cost of an operation.
    Cost(Metric),
    /// The same ÷ that of the base.
    CostRatio(Metric),
}

/// A figure of a cell over its blocks.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figure {
    /// With its spread or interval, to the digits that these support.
    pub(crate) text: String,
    /// The same without spread or interval.
    pub(crate) plain: String,
    pub(crate) value: f64,
    /// The 95 % interval of the value; `None` of one block.
    pub(crate) interval: Option<(f64, f64)>,
    /// Number of blocks.
    pub(crate) n: usize,
    /// Empty for ratios.
    pub(crate) unit: &'static str,
    /// `true` if a warning concerns it.
    pub(crate) is_doubtful: bool,
}

/// Returns `true` if any of `measures` is relative to a base.
pub(crate) fn is_of_bases(measures: &[Measure]) -> bool {
    measures.iter().any(|measure| measure.is_relative())
}

impl Measure {
    /// Returns `true` if it is relative to a base.
    pub(crate) const fn is_relative(self) -> bool {
        matches!(self, Self::Ratio | Self::TimeRatio | Self::CostRatio(_))
    }

    /// The heading of its column beside others.
    pub(crate) fn heading(self) -> String {
        match self {
            Self::Throughput => "QPS".to_owned(),
            Self::Operations => "operations/s".to_owned(),
            Self::Ratio => "QPS ratio".to_owned(),
            Self::TimeRatio => "time ratio".to_owned(),
            Self::Cost(metric) => metric.facts().heading.to_owned(),
            Self::CostRatio(metric) => format!("{} ratio", metric.facts().heading),
        }
    }

    /// The figure of a cell. `None` if nothing is known of it.
    pub(crate) fn figure(self, analysis: &Analysis<'_>, id: CellId, base: &Base) -> Option<Figure> {
        let base = || base.of(id.target);
        match self {
            Self::Throughput => throughput(analysis, id, id.group.display(analysis.plan)),
            Self::Operations => throughput(analysis, id, Display::Transactions),
            Self::Ratio => ratio(analysis, id, base()?, Metric::Operations),
            Self::TimeRatio => time_ratio(analysis, id, base()?),
            Self::Cost(metric) => cost(analysis, id, metric),
            Self::CostRatio(metric) => cost_ratio(analysis, id, base()?, metric),
        }
    }
}

/// The unit of a rate.
pub(crate) const fn unit(display: Display) -> &'static str {
    match display {
        Display::Rate => "queries/s",
        Display::Transactions => "transactions/s",
        Display::Milliseconds => "ms/op",
    }
}

fn throughput(analysis: &Analysis<'_>, id: CellId, display: Display) -> Option<Figure> {
    let cell = analysis.cells.at(id.group, id.target);
    let summary = cell.shown(display)?;
    Some(Figure {
        text: figures::mean(summary),
        unit: unit(display),
        is_doubtful: cell.has_warnings(),
        ..of_summary(summary)
    })
}

fn of_summary(summary: &Summary) -> Figure {
    Figure {
        text: figures::amount(summary),
        plain: figures::plain(summary),
        value: summary.mean,
        interval: interval(summary),
        n: summary.n,
        unit: "",
        is_doubtful: false,
    }
}

/// The interval of a mean: mean ± *t* *s* ÷ √*n*, with the quantile *t* of Student's distribution and
/// the standard deviation *s* of the *n* blocks; not below 0.
fn interval(summary: &Summary) -> Option<(f64, f64)> {
    let degrees = u32::try_from(summary.n.checked_sub(1)?).ok()?;
    let t = t_quantile(f64::midpoint(1.0, LEVEL), degrees)?;
    let half = t * summary.variation? * summary.mean / (summary.n as f64).sqrt();
    Some(((summary.mean - half).max(0.0), summary.mean + half))
}

fn ratio(analysis: &Analysis<'_>, id: CellId, base: usize, metric: Metric) -> Option<Figure> {
    if id.target == base {
        return itself(analysis, id);
    }
    let cell = |target| analysis.cells.at(id.group, target);
    let (mine, other) = (cell(id.target), cell(base));
    let pairs = cell::ratio(metric, &mine.measurements, &other.measurements)?;
    Some(Figure {
        is_doubtful: mine.has_warnings() || other.has_warnings(),
        ..of_pairs(analysis, &pairs)
    })
}

/// The mean time of an operation ÷ that of the base: response time where operations have an intended
/// start, else the time that clients of a closed loop spend on each, which is the inverse of the rate.
fn time_ratio(analysis: &Analysis<'_>, id: CellId, base: usize) -> Option<Figure> {
    if id.group.of(analysis.plan).pace.is_scheduled() {
        return ratio(analysis, id, base, Metric::ResponseMean);
    }
    // The base's rate ÷ its own, block by block, and not the inverse of a ratio's bounds.
    let exchanged = CellId { target: base, ..id };
    ratio(analysis, exchanged, id.target, Metric::Operations)
}

fn cost(analysis: &Analysis<'_>, id: CellId, metric: Metric) -> Option<Figure> {
    if !id.group.is_own() {
        return None;
    }
    let cell = analysis.costs.cell(id.group.step, id.target);
    let figure = cell.figures.get(&metric)?;
    let known = of_summary(&figure.summary);
    let (text, plain) = if is_next_to_nothing(cell, metric, figure) {
        (RARE.to_owned(), RARE.to_owned())
    } else {
        (known.text.clone(), known.plain.clone())
    };
    Some(Figure {
        text,
        plain,
        unit: metric.facts().unit,
        is_doubtful: is_doubtful(cell, None, metric),
        ..known
    })
}

fn cost_ratio(analysis: &Analysis<'_>, id: CellId, base: usize, metric: Metric) -> Option<Figure> {
    if !id.group.is_own() {
        return None;
    }
    let cell = |target| analysis.costs.cell(id.group.step, target);
    let (mine, other) = (cell(id.target), cell(base));
    let pairs = mine.trials.ratio_to(&other.trials, metric)?;
    if id.target == base {
        return itself(analysis, id);
    }
    Some(Figure {
        is_doubtful: is_doubtful(mine, Some(other), metric),
        ..of_pairs(analysis, &pairs)
    })
}

fn of_pairs(analysis: &Analysis<'_>, pairs: &Pairs) -> Figure {
    of_estimate(&analysis.verdicts.looks.of_pairs(pairs))
}

/// The figure of a ratio.
pub(crate) fn of_estimate(estimate: &Estimate) -> Figure {
    Figure {
        text: figures::ratio(estimate),
        plain: figures::plain_ratio(estimate),
        value: estimate.ratio(),
        interval: estimate
            .interval
            .map(|interval| (interval.low, interval.high)),
        n: estimate.n(),
        unit: "",
        is_doubtful: false,
    }
}

/// The ratio of a base to itself, if it has figures.
fn itself(analysis: &Analysis<'_>, id: CellId) -> Option<Figure> {
    let cell = analysis.cells.at(id.group, id.target);
    let summary = cell.summary(Metric::Operations)?;
    Some(Figure {
        text: "1".to_owned(),
        plain: "1".to_owned(),
        value: 1.0,
        interval: None,
        n: summary.n,
        unit: "",
        is_doubtful: cell.has_warnings(),
    })
}
