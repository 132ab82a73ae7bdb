//! Figures of one cell: a target at a step.

use std::collections::BTreeMap;

use prony_model::{DebtKind, Display, Pace, SettleOutcome, ThreadUse};
use prony_stats::{PairedRatio, Summary};
use prony_store::OutcomeRow;

use crate::debt::Unequal;
use crate::paced::{Connects, Kept};

/// What one trial measured of a cell, with the rates that follow from its counts.
#[derive(Debug, Clone)]
pub(crate) struct Measurement {
    row: OutcomeRow,
    /// What the engine still had to do when the step began, as far as it says.
    pub(crate) debt: BTreeMap<DebtKind, u64>,
    /// How settling before the step went, where that was asked for.
    pub(crate) settle: Option<SettleOutcome>,
    /// How intended starts were kept to, where operations have one.
    pub(crate) kept: Option<Kept>,
    /// What connecting anew cost, where clients do so.
    pub(crate) connects: Option<Connects>,
    /// When the operations began.
    pace: Pace,
    /// What the generator's threads did, for all clients of the step.
    pub(crate) threads: Vec<ThreadUse>,
    /// Whether other clients shared the generator with these.
    pub(crate) accompanied: bool,
}

/// All measurements of a cell and what they amount to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cell {
    /// In the order of the blocks.
    pub(crate) measurements: Vec<Measurement>,
    /// Queries per second over the blocks.
    pub(crate) queries_per_second: Option<Summary>,
    /// Operations per second.
    pub(crate) operations_per_second: Option<Summary>,
    /// Milliseconds per operation over the blocks.
    pub(crate) milliseconds: Option<Summary>,
    /// Operations per second ÷ those of the base, paired within blocks. `None` for the base.
    pub(crate) ratio: Option<PairedRatio>,
    /// Conditions to be shown beside the figures, each a fragment without final period.
    pub(crate) notes: Vec<String>,
    /// Work left over that is not what the base had. Is shown in a section of its own.
    pub(crate) unequal: Vec<Unequal>,
}

impl Measurement {
    pub(crate) fn row(&self) -> &OutcomeRow {
        &self.row
    }

    /// Counted from 1, as people do.
    pub(crate) fn block(&self) -> u32 {
        self.row.planned.block + 1
    }

    /// Over all clients. `None` when nothing was done.
    pub(crate) fn queries_per_second(&self) -> Option<f64> {
        self.rate(self.row.queries)
    }

    /// Over all clients. `None` when nothing was done.
    pub(crate) fn operations_per_second(&self) -> Option<f64> {
        self.rate(self.row.operations)
    }

    /// Mean time that a client spent on an operation: service time where operations have an intended
    /// start, so that clients also wait for the next. `None` when nothing was done, and where the
    /// service time is not known.
    pub(crate) fn milliseconds(&self) -> Option<f64> {
        if self.pace.is_scheduled() {
            let service = self.kept.and_then(|kept| kept.service);
            return service.map(|latency| latency.mean / 1e3);
        }
        self.operations_per_second()
            .map(|rate| f64::from(self.row.clients) * 1e3 / rate)
    }

    /// Processor time of the load generator. `None` when nothing was done, and where clients of
    /// several groups shared it.
    pub(crate) fn client_cpu_us_per_operation(&self) -> Option<f64> {
        if self.accompanied {
            return None;
        }
        let cpu_ns = self.row.client_user_ns + self.row.client_system_ns;
        (self.row.operations > 0).then(|| cpu_ns as f64 / 1e3 / self.row.operations as f64)
    }

    fn rate(&self, count: u64) -> Option<f64> {
        let seconds = self.row.busy_ns as f64 / 1e9 / f64::from(self.row.clients);
        (count > 0 && seconds > 0.0 && seconds.is_finite()).then(|| count as f64 / seconds)
    }
}

impl Cell {
    /// Takes in the next block's outcome, of clients that were `accompanied` by others or alone.
    pub(crate) fn push(&mut self, row: OutcomeRow, pace: Pace, accompanied: bool) {
        self.measurements.push(Measurement {
            row,
            debt: BTreeMap::new(),
            settle: None,
            kept: None,
            connects: None,
            pace,
            threads: Vec::new(),
            accompanied,
        });
    }

    /// Derives the summaries, once all outcomes, and what is known of their paces, are in.
    pub(crate) fn summarise(&mut self) {
        self.queries_per_second = self.summary(Measurement::queries_per_second);
        self.operations_per_second = self.summary(Measurement::operations_per_second);
        self.milliseconds = self.summary(Measurement::milliseconds);
    }

    /// Operations per second ÷ those of `base`, from the blocks in which both were measured over
    /// the same backend: what carries the connections moves cost between client and server.
    pub(crate) fn ratio_to(&self, base: &Self) -> Option<PairedRatio> {
        let pairs: Vec<(f64, f64)> = self
            .paired(base)
            .filter(|(mine, other)| mine.row.backend == other.row.backend)
            .filter_map(|(mine, other)| {
                Some((
                    mine.operations_per_second()?,
                    other.operations_per_second()?,
                ))
            })
            .collect();
        // Without pairs there is no ratio; and rates are positive and finite by construction.
        PairedRatio::of(&pairs).ok()
    }

    /// The measurements of this cell with those of `base` in the same block.
    pub(crate) fn paired<'a>(
        &'a self,
        base: &'a Self,
    ) -> impl Iterator<Item = (&'a Measurement, &'a Measurement)> {
        self.measurements.iter().filter_map(|mine| {
            let mut others = base.measurements.iter();
            let other = others.find(|other| other.block() == mine.block())?;
            Some((mine, other))
        })
    }

    /// Whether something must be said beside its figures.
    pub(crate) fn is_noted(&self) -> bool {
        !self.notes.is_empty() || !self.unequal.is_empty()
    }

    /// The summary that people are shown.
    pub(crate) fn shown(&self, display: Display) -> Option<&Summary> {
        match display {
            Display::Rate => self.queries_per_second.as_ref(),
            Display::Transactions => self.operations_per_second.as_ref(),
            Display::Milliseconds => self.milliseconds.as_ref(),
        }
    }

    fn summary(&self, metric: impl Fn(&Measurement) -> Option<f64>) -> Option<Summary> {
        let values: Vec<f64> = self.measurements.iter().filter_map(metric).collect();
        Summary::of(&values).ok()
    }
}
