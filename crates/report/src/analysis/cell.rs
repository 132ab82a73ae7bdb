//! Figures of one cell: a target at a step, for one group of its clients.

use std::collections::BTreeMap;

use prony_model::{Display, Metric, Placement, TrialKind};
use prony_stats::{Pairs, Summary};

use crate::analysis::debt::{self, Unequal};
use crate::analysis::estimate::{Estimate, PlannedLooks};
use crate::analysis::figure::Figure;
use crate::analysis::measurement::Measurement;
use crate::analysis::pairing;

/// All measurements of a cell with the figures that follow from them.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    /// In the order of the blocks.
    pub(crate) measurements: Vec<Measurement>,
    /// Throughput, service times and response times over the blocks.
    pub(crate) figures: BTreeMap<Metric, Figure>,
    /// Milliseconds per operation over the blocks.
    pub(crate) milliseconds: Option<Summary>,
    /// Conditions to be shown beside the figures, each a fragment without final period.
    pub(crate) warnings: Vec<String>,
    /// Work left over that is not what the base had. Is shown in a section of its own.
    pub(crate) unequal: Vec<Unequal>,
}

impl Cell {
    /// The figures of `measurements`, relative to those of the `base` where that is wanted.
    pub(crate) fn of(
        measurements: Vec<Measurement>,
        base: Option<&[Measurement]>,
        warnings: Vec<String>,
    ) -> Self {
        let summary = |value: &dyn Fn(&Measurement) -> Option<f64>| {
            let values: Vec<f64> = measurements.iter().filter_map(value).collect();
            Summary::of(&values).ok()
        };
        let figure = |metric| {
            let figure = Figure {
                summary: summary(&|measurement| measurement.value(metric))?,
                ratio: base.and_then(|base| ratio(metric, &measurements, base)),
                taken: TrialKind::Timed,
            };
            Some((metric, figure))
        };
        Self {
            figures: Metric::figures().filter_map(figure).collect(),
            milliseconds: summary(&Measurement::milliseconds),
            unequal: base.map_or_else(Vec::new, |base| debt::unequal(&measurements, base)),
            measurements,
            warnings,
        }
    }

    /// Whether something must be shown beside its figures.
    pub(crate) fn has_warnings(&self) -> bool {
        !self.warnings.is_empty() || !self.unequal.is_empty()
    }

    /// The placement of all blocks; `None` if they differ in it, or if it was not read.
    pub(crate) fn placement(&self) -> Option<&Placement> {
        let mut placements = self.measurements.iter().map(Measurement::placement);
        let first = placements.next()??;
        placements
            .all(|other| other == Some(first))
            .then_some(first)
    }

    /// A metric over the blocks.
    pub(crate) fn summary(&self, metric: Metric) -> Option<&Summary> {
        self.figures.get(&metric).map(|figure| &figure.summary)
    }

    /// Operations per second ÷ those of the base. `None` for the base.
    pub(crate) fn ratio(&self) -> Option<&Pairs> {
        self.figures.get(&Metric::Operations)?.ratio.as_ref()
    }

    /// Mean time of an operation ÷ that of the base: response time where operations have an intended
    /// start, else the inverse of the ratio of throughput. `None` for the base.
    pub(crate) fn time_ratio(&self, looks: &PlannedLooks) -> Option<Estimate> {
        if is_scheduled(&self.measurements) {
            let response = self.figures.get(&Metric::ResponseMean)?;
            return Some(looks.of_pairs(response.ratio.as_ref()?));
        }
        Some(looks.of_pairs(self.ratio()?).inverted())
    }

    /// The summary that people are shown.
    pub(crate) fn shown(&self, display: Display) -> Option<&Summary> {
        match display {
            Display::Rate => self.summary(Metric::Queries),
            Display::Transactions => self.summary(Metric::Operations),
            Display::Milliseconds => self.milliseconds.as_ref(),
        }
    }
}

/// A metric ÷ that of `base`, from the blocks in which both were measured over the same backend, as what
/// carries the connections moves cost between client and server. `None` where one broke a promised rate.
pub(crate) fn ratio(
    metric: Metric,
    measurements: &[Measurement],
    base: &[Measurement],
) -> Option<Pairs> {
    pairing::ratio(measurements, base, |mine, other| {
        figures(metric, mine, other)
    })
}

/// The same of each block.
pub(crate) fn quotients<'a>(
    metric: Metric,
    measurements: &'a [Measurement],
    base: &'a [Measurement],
) -> Vec<(&'a Measurement, f64)> {
    let pairs = pairing::in_blocks(measurements, base);
    pairs
        .filter_map(|(mine, other)| {
            let (figure, of_base) = figures(metric, mine, other)?;
            Some((mine, figure / of_base))
        })
        .collect()
}

/// Mean time of an operation ÷ that of the base in each block, as of [`Cell::time_ratio`].
pub(crate) fn time_quotients<'a>(
    measurements: &'a [Measurement],
    base: &'a [Measurement],
) -> Vec<(&'a Measurement, f64)> {
    if is_scheduled(measurements) {
        return quotients(Metric::ResponseMean, measurements, base);
    }
    let rates = quotients(Metric::Operations, measurements, base).into_iter();
    rates.map(|(mine, ratio)| (mine, 1.0 / ratio)).collect()
}

fn is_scheduled(measurements: &[Measurement]) -> bool {
    let mut measurements = measurements.iter();
    measurements.any(|measurement| measurement.pace.is_scheduled())
}

fn figures(metric: Metric, mine: &Measurement, other: &Measurement) -> Option<(f64, f64)> {
    let alike = mine.row().backend == other.row().backend && mine.kept && other.kept;
    let values = || Some((mine.value(metric)?, other.value(metric)?));
    alike.then(values).flatten()
}
