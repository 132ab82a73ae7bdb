//! Columns of costs.

use prony_model::{CostUnit, Counter, Metric};

use super::Row;
use crate::analysis::Analysis;
use crate::analysis::costs::{self, CellCosts};
use crate::analysis::periods::Period;
use crate::figures::rounded;

/// A column of costs.
pub(super) enum CostColumn<'a> {
    /// The value of a metric.
    Metric(Metric),
    /// The same for each query.
    PerQuery(Metric),
    /// The unit that costs are divided by.
    Unit,
    /// A list with a figure for each period.
    Periods(&'static str, fn(&Period) -> Option<f64>),
    /// The growth of one of the server's own counters.
    Counter(&'a Counter),
}

/// The columns of a run: metrics all or none, those per query where they differ, counters where they grew.
pub(super) fn columns<'a>(analysis: &'a Analysis<'_>) -> Vec<CostColumn<'a>> {
    let counters = analysis.costs.counters().into_iter();
    let counters = counters.map(CostColumn::Counter);
    if !analysis.costs.sampled {
        return counters.collect();
    }
    let beside = [
        CostColumn::Unit,
        CostColumn::Periods("period_end_s", |period| Some(period.end_s)),
        CostColumn::Periods("period_server_cpu_us", |period| period.server_cpu_us),
        CostColumn::Periods("period_read_kb", |period| period.read_kb),
        CostColumn::Periods("period_written_kb", |period| period.written_kb),
        CostColumn::Periods("period_resident_kb", |period| period.resident_kb),
    ];
    let metrics = Metric::costs().map(CostColumn::Metric);
    let has_query = |metric: &Metric| {
        let mut cells = analysis.costs.cells();
        cells.any(|cell| cell.per_query.contains_key(metric))
    };
    let per_query = Metric::costs().filter(has_query).map(CostColumn::PerQuery);
    let figures = metrics.chain(beside).chain(per_query);
    figures.chain(counters).collect()
}

impl CostColumn<'_> {
    pub(super) fn name(&self) -> String {
        match self {
            Self::Metric(metric) => metric.facts().id.to_owned(),
            Self::PerQuery(metric) => format!("per_query.{}", metric.facts().id),
            Self::Unit => "cost_unit".to_owned(),
            Self::Periods(name, _) => (*name).to_owned(),
            Self::Counter(counter) => counter.to_string(),
        }
    }

    /// The field of a row. All are empty for groups beside a step: the server's costs of it as a
    /// whole are not theirs.
    pub(super) fn field(&self, row: &Row<'_>) -> Option<String> {
        let costs = &row.analysis.costs;
        let (cell, block, unit): (&CellCosts, _, _) = if let Some(load) = row.load {
            (&costs.loads()[row.target], load.block?, CostUnit::Row)
        } else {
            let group = row.group().filter(|group| group.is_own())?;
            (
                costs.cell(group.step, row.target),
                row.measurement()?.block_number(),
                costs::unit(row.analysis.plan, group.step),
            )
        };
        let mut trials = cell.trials.timed.iter();
        let trial = trials.find(|trial| trial.block == block)?;
        match self {
            Self::Metric(metric) => {
                let mut values = cell.trials.values(*metric);
                let (_, value) = values.find(|(trial, _)| trial.block == block)?;
                Some(text(value.amount))
            }
            Self::PerQuery(metric) => {
                cell.per_query.get(metric)?;
                let (_, trials) = cell.trials.of(*metric);
                let trial = trials.iter().find(|trial| trial.block == block)?;
                trial.amount_per_query(*metric).map(text)
            }
            Self::Unit => Some(unit.name().to_owned()),
            Self::Periods(_, figure) => {
                let figures = trial.periods.iter().map(figure);
                let items: Vec<String> =
                    figures.map(|f| f.map_or_else(String::new, text)).collect();
                Some(items.join(";"))
            }
            Self::Counter(counter) => {
                let growth = costs.growth(trial, counter);
                growth.map(|growth| growth.to_string())
            }
        }
    }
}

/// A figure without meaningless digits.
fn text(value: f64) -> String {
    rounded(value, 6).to_string()
}
