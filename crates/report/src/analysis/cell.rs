//! Figures of one cell: a target at a step, for one group of its clients.

use prony_model::Display;
use prony_stats::{Pairs, Summary};

use crate::analysis::debt::{self, Unequal};
use crate::analysis::measurement::Measurement;
use crate::analysis::pairing;

/// All measurements of a cell with the figures that follow from them.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    /// In the order of the blocks.
    pub(crate) measurements: Vec<Measurement>,
    /// Queries per second over the blocks.
    pub(crate) queries_per_second: Option<Summary>,
    /// Operations per second.
    pub(crate) operations_per_second: Option<Summary>,
    /// Milliseconds per operation over the blocks.
    pub(crate) milliseconds: Option<Summary>,
    /// Operations per second ÷ those of the base. `None` for the base.
    pub(crate) ratio: Option<Pairs>,
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
        let summary = |metric: fn(&Measurement) -> Option<f64>| {
            let values: Vec<f64> = measurements.iter().filter_map(metric).collect();
            Summary::of(&values).ok()
        };
        Self {
            queries_per_second: summary(Measurement::queries_per_second),
            operations_per_second: summary(Measurement::operations_per_second),
            milliseconds: summary(Measurement::milliseconds),
            ratio: base.and_then(|base| ratio(&measurements, base)),
            unequal: base.map_or_else(Vec::new, |base| debt::unequal(&measurements, base)),
            measurements,
            warnings,
        }
    }

    /// Whether something must be shown beside its figures.
    pub(crate) fn has_warnings(&self) -> bool {
        !self.warnings.is_empty() || !self.unequal.is_empty()
    }

    /// The summary that people are shown.
    pub(crate) fn shown(&self, display: Display) -> Option<&Summary> {
        match display {
            Display::Rate => self.queries_per_second.as_ref(),
            Display::Transactions => self.operations_per_second.as_ref(),
            Display::Milliseconds => self.milliseconds.as_ref(),
        }
    }
}

/// Operations per second ÷ those of `base`, from the blocks in which both were measured over the
/// same backend: what carries the connections moves cost between client and server.
pub(crate) fn ratio(measurements: &[Measurement], base: &[Measurement]) -> Option<Pairs> {
    pairing::ratio(measurements, base, |mine, other| {
        let alike = mine.row().backend == other.row().backend;
        let rates = || {
            Some((
                mine.operations_per_second()?,
                other.operations_per_second()?,
            ))
        };
        alike.then(rates).flatten()
    })
}
