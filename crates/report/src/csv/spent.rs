//! Columns of costs.

use prony_model::{Counter, Metric};

use crate::analysis::Analysis;
use crate::costs::{self, Spent};
use crate::figures::rounded;
use crate::periods::Period;
use crate::place::Place;

/// The columns beside those of metrics and of the server's counters.
const BESIDE: [&str; 6] = [
    "cost_unit",
    "period_end_s",
    "period_server_cpu_us",
    "period_read_kb",
    "period_written_kb",
    "period_resident_kb",
];

/// The columns of costs of a run.
pub(crate) struct Columns<'a> {
    /// Metrics, unless nothing was ever sampled.
    metrics: Vec<Metric>,
    /// The server's own counters that grew anywhere.
    counters: Vec<&'a Counter>,
}

impl<'a> Columns<'a> {
    /// Those that have something in this run: metrics all or none, counters where they grew.
    pub(crate) fn of(analysis: &'a Analysis<'_>) -> Self {
        let sampled = analysis.costs.sampled;
        Self {
            metrics: Metric::all().filter(|_| sampled).collect(),
            counters: analysis.costs.counters().into_iter().collect(),
        }
    }

    /// Their names.
    pub(crate) fn header(&self) -> Vec<String> {
        let beside = BESIDE.iter().filter(|_| !self.metrics.is_empty());
        let metrics = self.metrics.iter().map(|metric| metric.facts().id);
        metrics
            .chain(beside.copied())
            .map(str::to_owned)
            .chain(self.counters.iter().map(ToString::to_string))
            .collect()
    }

    /// What they hold for these clients of a target in a block. All are empty for groups beside a
    /// step: what the server spent on it as a whole is not theirs.
    pub(crate) fn fields(
        &self,
        analysis: &Analysis<'_>,
        place: Place,
        target: usize,
        block: u32,
    ) -> Vec<String> {
        let cell = analysis.costs.cell(place.step, target);
        let spent = cell.timed.iter().find(|spent| spent.block == block);
        let Some(spent) = spent.filter(|_| place.is_own() && !self.metrics.is_empty()) else {
            return vec![String::new(); self.header().len()];
        };
        let metrics = self.metrics.iter().map(|&metric| {
            let mut values = cell.values(metric);
            let value = values.find(|(spent, _)| spent.block == block);
            text(value.map(|(_, value)| value.amount))
        });
        let growth = |counter: &&Counter| {
            let growth = spent.status.get(*counter);
            growth.map_or_else(String::new, u64::to_string)
        };
        let unit = costs::unit(analysis.plan, place.step).name();
        metrics
            .chain([unit.to_owned()])
            .chain(series(spent))
            .chain(self.counters.iter().map(growth))
            .collect()
    }
}

/// One list for each column of the periods.
fn series(spent: &Spent) -> [String; 5] {
    let list = |of: fn(&Period) -> Option<f64>| {
        let items = spent.periods.iter().map(|period| text(of(period)));
        items.collect::<Vec<String>>().join(";")
    };
    [
        list(|period| Some(period.end_s)),
        list(|period| period.server_cpu_us),
        list(|period| period.read_kb),
        list(|period| period.written_kb),
        list(|period| period.resident_kb),
    ]
}

/// A figure without digits that say nothing; empty where there is none.
fn text(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| rounded(value, 6).to_string())
}
