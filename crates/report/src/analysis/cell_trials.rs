//! The trials behind the costs of one cell, and the figures over them.

use std::collections::BTreeSet;

use prony_model::{Metric, Source, TrialKind, Value};
use prony_stats::{Pairs, Summary};

use crate::analysis::pairing;
use crate::analysis::trial_costs::TrialCosts;

/// The amount of a metric in a trial: of each operation, or of each query.
pub(crate) type Amount = fn(&TrialCosts, Metric) -> Option<f64>;

/// The trials behind the costs of one cell.
#[derive(Debug, Clone)]
pub(crate) struct CellTrials {
    /// Those that measure, in the order of the blocks.
    pub(crate) timed: Vec<TrialCosts>,
    /// Those that count.
    pub(crate) counted: Vec<TrialCosts>,
    /// Rows that an operation goes through in steps that scan, else 1.
    pub(crate) rows: f64,
}

impl CellTrials {
    /// No trials, of operations that go through so many `rows` each.
    pub(crate) const fn of_rows(rows: u64) -> Self {
        Self {
            timed: Vec::new(),
            counted: Vec::new(),
            rows: rows as f64,
        }
    }

    /// The trials that a metric is taken from.
    pub(crate) fn of(&self, metric: Metric) -> (TrialKind, &[TrialCosts]) {
        let has = |trial: &TrialCosts| trial.values.get(metric).is_some();
        if metric.facts().taken == TrialKind::Counting && self.counted.iter().any(has) {
            (TrialKind::Counting, &self.counted)
        } else {
            (TrialKind::Timed, &self.timed)
        }
    }

    /// Its values, with the trials that they are from.
    pub(crate) fn values(&self, metric: Metric) -> impl Iterator<Item = (&TrialCosts, &Value)> {
        let (_, trials) = self.of(metric);
        trials
            .iter()
            .filter_map(move |trial| Some((trial, trial.values.get(metric)?)))
    }

    /// The metrics that come from a source in any timed trial.
    pub(crate) fn from(&self, source: Source) -> BTreeSet<Metric> {
        let values = self.timed.iter().flat_map(|trial| trial.values.iter());
        let from = values.filter(|(_, value)| {
            let mut counters = value.from.iter();
            counters.any(|counter| counter.source == source)
        });
        from.map(|(metric, _)| metric).collect()
    }

    /// Whether any trial has samples.
    pub(crate) fn are_sampled(&self) -> bool {
        let mut trials = self.timed.iter().chain(&self.counted);
        trials.any(|trial| trial.is_sampled)
    }

    /// Returns `true` if operations of any trial have several statements.
    pub(crate) fn have_several_queries(&self) -> bool {
        let mut trials = self.timed.iter().chain(&self.counted);
        trials.any(TrialCosts::has_several_queries)
    }

    /// A metric over the blocks.
    pub(crate) fn summary(&self, metric: Metric) -> Option<Summary> {
        self.summary_of(metric, TrialCosts::amount)
    }

    /// These amounts of a metric over the blocks.
    pub(crate) fn summary_of(&self, metric: Metric, amount: Amount) -> Option<Summary> {
        let (_, trials) = self.of(metric);
        let values = trials.iter().filter_map(|trial| amount(trial, metric));
        Summary::of_amounts(&values.collect::<Vec<f64>>()).ok()
    }

    /// A metric ÷ that of `base`, from the blocks in which both were measured alike. `None` also
    /// where one of both is too little to be compared.
    pub(crate) fn ratio_to(&self, base: &Self, metric: Metric) -> Option<Pairs> {
        self.ratio_of(base, metric, TrialCosts::amount)
    }

    /// The same of these amounts.
    pub(crate) fn ratio_of(&self, base: &Self, metric: Metric, amount: Amount) -> Option<Pairs> {
        let ((kind, mine), (base_kind, others)) = (self.of(metric), base.of(metric));
        if kind != base_kind || self.is_rare(metric) || base.is_rare(metric) {
            return None;
        }
        pairing::ratio(mine, others, |mine, other| {
            let amounts = || Some((amount(mine, metric)?, amount(other, metric)?));
            mine.compares_with(other, metric).then(amounts).flatten()
        })
    }

    /// Whether so few operations have any of it that a ratio would be noise.
    pub(crate) fn is_rare(&self, metric: Metric) -> bool {
        let mean = self.summary(metric).map_or(0.0, |summary| summary.mean);
        mean * self.rows < metric.facts().least
    }

    /// Growth of the server's own counters that grew in any block, per operation or row, by the places
    /// of the counters.
    pub(crate) fn status(&self) -> Vec<(usize, Summary)> {
        let grown = self.timed.iter().flat_map(|trial| trial.status.grown());
        let mut places: Vec<usize> = grown.map(|(place, _)| *place).collect();
        places.sort_unstable();
        places.dedup();
        let summary = |place| Some((place, self.growth(place)?));
        places.into_iter().filter_map(summary).collect()
    }

    /// Growth of one of the server's own counters, per operation or row. `None` if it is not known.
    pub(crate) fn growth(&self, place: usize) -> Option<Summary> {
        let trials = self.timed.iter().filter(|trial| trial.units > 0.0);
        let amounts: Vec<f64> = trials
            .filter_map(|trial| Some(trial.status.get(place)? as f64 / trial.units))
            .collect();
        Summary::of_amounts(&amounts).ok()
    }
}
