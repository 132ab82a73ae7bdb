//! Metrics of cells block by block, as tools for benchmarks want them.

use std::collections::BTreeMap;

use prony_report::tidy::{Measurement, Tables};

/// A group of clients of a step, on one target.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CellSeries {
    pub(crate) target: String,
    pub(crate) step: String,
    pub(crate) clients: u64,
    /// Name of the group beside the step's own clients.
    pub(crate) beside: Option<String>,
    /// By id of the metric.
    pub(crate) metrics: BTreeMap<String, Series>,
}

/// The values of one metric.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    pub(crate) unit: String,
    /// Divisor of the values, if any.
    pub(crate) per: Option<String>,
    /// `higher`, `lower` or `neither`.
    pub(crate) better: String,
    /// Kind of all trials behind the values.
    kind: String,
    /// By block, from 1; never empty.
    pub(crate) values: BTreeMap<u64, f64>,
}

/// All cells with any value, without those of steps that only warm up, by target.
///
/// A metric of which counting trials have any value has the values of counting trials only.
pub(crate) fn of(tables: &Tables<'_>) -> Vec<CellSeries> {
    let warm = tables.steps().filter(|step| step.warm_only);
    let warm: Vec<(String, u64)> = warm
        .map(|step| (step.step.into_owned(), step.clients))
        .collect();
    let mut cells: Vec<CellSeries> = Vec::new();
    for row in tables.measurements() {
        if warm.contains(&(row.step.to_string(), row.clients)) {
            continue;
        }
        if !cells.last().is_some_and(|cell| cell.is_of(&row)) {
            cells.push(CellSeries {
                target: row.target.to_string(),
                step: row.step.to_string(),
                clients: row.clients,
                beside: row.beside.as_deref().map(str::to_owned),
                metrics: BTreeMap::new(),
            });
        }
        if let Some(cell) = cells.last_mut() {
            cell.add(&row);
        }
    }
    cells.retain(|cell| !cell.metrics.is_empty());
    cells
}

impl CellSeries {
    fn is_of(&self, row: &Measurement<'_>) -> bool {
        self.target == row.target
            && self.step == row.step
            && self.clients == row.clients
            && self.beside.as_deref() == row.beside.as_deref()
    }

    fn add(&mut self, row: &Measurement<'_>) {
        let Some(value) = row.value else {
            return;
        };
        let text = |text: &Option<_>| text.as_ref().map(ToString::to_string);
        let series = Series {
            unit: text(&row.unit).unwrap_or_default(),
            per: text(&row.per),
            better: row.better.to_string(),
            kind: row.trial_kind.to_string(),
            values: BTreeMap::new(),
        };
        let metrics = &mut self.metrics;
        if metrics
            .get(row.metric.as_ref())
            .is_none_or(|known| known.kind != series.kind)
        {
            metrics.insert(row.metric.to_string(), series);
        }
        if let Some(series) = metrics.get_mut(row.metric.as_ref()) {
            series.values.insert(row.block, value);
        }
    }

    /// `step/clients=N`, with the group beside, if it is one.
    pub(crate) fn path(&self) -> String {
        let beside = self.beside.iter().map(|name| format!("/beside={name}"));
        let beside: String = beside.collect();
        format!("{}{beside}/clients={}", self.step, self.clients)
    }
}

impl Series {
    /// Geometric mean with its interval of 95 %, from two positive values on: exp(*m* ± *t* *s* ÷ √*n*)
    /// of the logarithms. The plain mean if a value is 0. The interval is `None` with one block and
    /// without logarithms.
    pub(crate) fn centre(&self) -> (f64, Option<prony_stats::Interval>) {
        let logs: Vec<f64> = self.values.values().map(|value| value.ln()).collect();
        if let Ok(log) = prony_stats::LogRatio::of(&logs) {
            return (log.ratio(), log.interval(0.95));
        }
        let sum: f64 = self.values.values().sum();
        (sum / self.values.len() as f64, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(values: &[f64]) -> Series {
        Series {
            unit: "µs".into(),
            per: None,
            better: "lower".into(),
            kind: "timed".into(),
            values: (1..).zip(values.iter().copied()).collect(),
        }
    }

    #[test]
    fn centres_are_geometric_means_with_their_interval() {
        let (centre, interval) = series(&[1.0, 4.0]).centre();
        assert!((centre - 2.0).abs() < 1e-12);
        let interval = interval.unwrap();
        assert!(interval.low < 1.0 && 4.0 < interval.high);
        assert!((interval.low * interval.high - 4.0).abs() < 1e-9);
    }

    #[test]
    fn nothing_and_single_blocks_have_no_interval() {
        let (centre, interval) = series(&[0.0, 3.0]).centre();
        assert!((centre - 1.5).abs() < 1e-12 && interval.is_none());
        assert_eq!(series(&[7.0]).centre().1, None);
    }
}
