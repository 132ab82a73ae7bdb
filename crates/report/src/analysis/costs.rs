//! The price of operations for the server: the metrics of every cell, their summaries and ratios.

use std::collections::{BTreeMap, BTreeSet};

use prony_model::{CostUnit, Counter, Effect, Gap, Metric, Plan, Source, Step};
use prony_stats::Summary;
use prony_store::{Store, StoreError, TrialId};

use crate::analysis::cell_trials::CellTrials;
use crate::analysis::cells::Cells;
use crate::analysis::cost_warnings;
use crate::analysis::figure::Figure;
use crate::analysis::group::GroupId;
use crate::analysis::measured::Measured;
use crate::analysis::trial_costs::{TrialCosts, counts};

/// Metrics that follow from the time of operations, and share the warnings about it.
const OF_TIME: [Metric; 4] = [
    Metric::RoundTrip,
    Metric::ServerOnly,
    Metric::ServerShare,
    Metric::Rate,
];

/// The costs of all cells.
#[derive(Debug)]
pub(crate) struct Costs {
    /// By step, then by target, in the order of the plan.
    cells: Vec<Vec<CellCosts>>,
    /// Whether anything was ever sampled.
    pub(crate) sampled: bool,
    /// Sources that trials, or the whole run, are without, and the reasons.
    pub(crate) absences: Vec<(Option<TrialId>, Gap)>,
}

/// The costs of one cell.
#[derive(Debug)]
pub(crate) struct CellCosts {
    pub(crate) trials: CellTrials,
    /// The metrics over the blocks.
    pub(crate) figures: BTreeMap<Metric, Figure>,
    /// The server's own counters, per operation or row.
    pub(crate) status: BTreeMap<Counter, Summary>,
    /// Conditions to be shown beside the figures, each a fragment without final period.
    pub(crate) warnings: Vec<String>,
    /// The metrics that they are about.
    doubtful: BTreeSet<Metric>,
}

impl Costs {
    /// Reads the counting trials too, and derives the costs.
    pub(crate) fn read(store: &Store, all: &[Measured], cells: &Cells) -> Result<Self, StoreError> {
        let plan = store.plan();
        let rows = |step: &Step| step.own().workload.scanned_rows(plan.dataset.rows);
        let none = |step| vec![CellTrials::of_rows(rows(step).unwrap_or(1)); plan.targets.len()];
        let mut trials: Vec<Vec<CellTrials>> = plan.steps.iter().map(none).collect();
        for measured in all {
            let target = measured.measurement.row().planned.target;
            let cell = &mut trials[measured.group.step][target];
            cell.timed.extend(measured.costs.clone());
        }
        for row in store.counted()?.into_iter().filter(|row| row.group == 0) {
            let statements = store.statements(row.trial, row.step, row.group)?;
            let counts = counts(plan, &row, &[], &statements);
            let samples = store.samples(row.trial, row.step)?;
            let costs = TrialCosts::of(&row, &counts, &samples);
            trials[row.step][row.planned.target].counted.push(costs);
        }
        let sampled = trials.iter().flatten().any(CellTrials::are_sampled);
        let trials = trials.into_iter().enumerate();
        Ok(Self {
            cells: trials
                .map(|(step, trials)| of_step(plan, step, trials, cells, sampled))
                .collect(),
            sampled,
            absences: store.absences()?,
        })
    }

    pub(crate) fn cell(&self, step: usize, target: usize) -> &CellCosts {
        &self.cells[step][target]
    }

    /// The costs of a step, by target.
    pub(crate) fn step(&self, step: usize) -> &[CellCosts] {
        &self.cells[step]
    }

    /// All cells.
    pub(crate) fn cells(&self) -> impl Iterator<Item = &CellCosts> {
        self.cells.iter().flatten()
    }

    /// Returns `true` if a metric comes from a source anywhere.
    pub(crate) fn has_from(&self, metric: Metric, source: Source) -> bool {
        let mut trials = self.cells().flat_map(|cell| &cell.trials.timed);
        trials.any(|trial| trial.is_from(metric, source))
    }

    /// The server's own counters that grew anywhere.
    pub(crate) fn counters(&self) -> BTreeSet<&Counter> {
        let trials = self.cells().flat_map(|cell| &cell.trials.timed);
        let growths = trials.flat_map(|trial| &trial.status);
        let grown = growths.filter(|(_, growth)| **growth > 0);
        grown.map(|(counter, _)| counter).collect()
    }
}

/// The costs of the cells of one step.
fn of_step(
    plan: &Plan,
    step: usize,
    trials: Vec<CellTrials>,
    cells: &Cells,
    sampled: bool,
) -> Vec<CellCosts> {
    let base = trials[plan.base].clone();
    let cell = |(target, trials): (usize, CellTrials)| {
        if !sampled {
            return CellCosts::without_samples(trials);
        }
        let planned = &plan.steps[step];
        let is_compared = target != plan.base && !planned.warm_only;
        let mut cell = CellCosts::of(trials, is_compared.then_some(&base));
        if planned.own().workload.effect != Effect::None {
            let simulated = cost_warnings::simulated_writes(&cell.trials);
            cell.doubtful
                .extend(simulated.as_ref().map(|(metric, _)| *metric));
            cell.warnings.extend(simulated.map(|(_, text)| text));
        }
        if cells.at(GroupId::own(step), target).has_warnings() {
            cell.doubtful.extend(OF_TIME);
        }
        cell
    };
    trials.into_iter().enumerate().map(cell).collect()
}

impl CellCosts {
    /// The costs of `trials`, relative to those of the `base` where that is wanted.
    fn of(trials: CellTrials, base: Option<&CellTrials>) -> Self {
        let figure = |metric| {
            let figure = Figure {
                summary: trials.summary(metric)?,
                ratio: base.and_then(|base| trials.ratio_to(base, metric)),
                taken: trials.of(metric).0,
            };
            Some((metric, figure))
        };
        Self {
            status: trials.status(),
            warnings: cost_warnings::of(&trials),
            doubtful: cost_warnings::metrics(&trials),
            figures: Metric::costs().filter_map(figure).collect(),
            trials,
        }
    }

    /// A cell of a run without samples: it has no figures.
    fn without_samples(trials: CellTrials) -> Self {
        Self {
            trials,
            figures: BTreeMap::new(),
            status: BTreeMap::new(),
            warnings: Vec::new(),
            doubtful: BTreeSet::new(),
        }
    }

    /// Whether so few operations have any of a metric that its digits would be noise.
    pub(crate) fn is_rare(&self, metric: Metric) -> bool {
        self.trials.is_rare(metric)
    }

    /// A cost per operation, from one per row or operation.
    pub(crate) fn per_operation(&self, cost: f64) -> f64 {
        cost * self.trials.rows
    }

    /// Whether a warning concerns a metric here.
    pub(crate) fn is_doubtful(&self, metric: Metric) -> bool {
        self.doubtful.contains(&metric)
    }
}

/// The unit that costs of a step are divided by.
pub(crate) fn unit(plan: &Plan, step: usize) -> CostUnit {
    let workload = &plan.steps[step].own().workload;
    match workload.scanned_rows(plan.dataset.rows) {
        Some(_) => CostUnit::Row,
        None => CostUnit::Operation,
    }
}
