//! The price of operations for the server: the metrics of every cell, their summaries and ratios.

use std::collections::{BTreeMap, BTreeSet};

use prony_model::{Beside, CostUnit, Counter, Effect, Formula, Gap, Metric, Plan, Source, Step};
use prony_stats::{Pairs, Summary};
use prony_store::{Store, StoreError, TrialId};

use crate::analysis::beside::{self, WorkBeside};
use crate::analysis::cell_trials::{Amount, CellTrials};
use crate::analysis::cells::Cells;
use crate::analysis::cost_warnings;
use crate::analysis::figure::Figure;
use crate::analysis::group::GroupId;
use crate::analysis::measured::CostsOfTrials;
use crate::analysis::readings::CounterTable;
use crate::analysis::trial_costs::TrialCosts;
use crate::parallel;

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
    /// Of loads in trials, by target, per row.
    loads: Vec<CellCosts>,
    counters: CounterTable,
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
    /// The same for each query; empty where every operation of the step is one query.
    pub(crate) per_query: BTreeMap<Metric, Figure>,
    /// The server's own counters that grew, per operation or row, by their places.
    status: Vec<(usize, Summary)>,
    /// What is to be said of the groups beside the step's own clients, a fragment without final period;
    /// `None` without groups, and without samples.
    pub(crate) beside: Option<String>,
    /// Conditions to be shown beside the figures, each a fragment without final period.
    pub(crate) warnings: Vec<String>,
    /// The metrics that they are about.
    doubtful: BTreeSet<Metric>,
    /// The metrics that come from a whole device in any timed trial.
    of_device: BTreeSet<Metric>,
}

impl Costs {
    /// Derives the costs of timed and counting trials.
    pub(crate) fn of(
        store: &Store,
        plan: &Plan,
        measured: CostsOfTrials,
        cells: &Cells,
    ) -> Result<Self, StoreError> {
        let rows = |step: &Step| step.own().workload.scanned_rows(plan.dataset.rows);
        let none = |step| vec![CellTrials::of_rows(rows(step).unwrap_or(1)); plan.targets.len()];
        let mut trials: Vec<Vec<CellTrials>> = plan.steps.iter().map(none).collect();
        for (step, target, costs) in measured.timed {
            trials[step][target].timed.push(costs);
        }
        for (step, target, costs) in measured.counted {
            trials[step][target].counted.push(costs);
        }
        let mut loads = vec![CellTrials::of_rows(1); plan.targets.len()];
        for (target, costs) in measured.loads.timed {
            loads[target].timed.push(costs);
        }
        for (target, costs) in measured.loads.counted {
            loads[target].counted.push(costs);
        }
        let sampled = trials.iter().flatten().any(CellTrials::are_sampled);
        let trials = trials.into_iter().enumerate().collect();
        Ok(Self {
            loads: of_loads(plan, loads),
            cells: parallel::map(trials, |(step, trials)| {
                of_step(plan, step, trials, (cells, &measured.beside), sampled)
            }),
            sampled,
            counters: measured.counters,
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

    /// The costs of loads in trials, by target.
    pub(crate) fn loads(&self) -> &[CellCosts] {
        &self.loads
    }

    /// All cells.
    pub(crate) fn cells(&self) -> impl Iterator<Item = &CellCosts> {
        self.cells.iter().flatten()
    }

    /// Returns `true` if a metric comes from a whole device anywhere.
    pub(crate) fn is_of_device(&self, metric: Metric) -> bool {
        self.cells().any(|cell| cell.of_device.contains(&metric))
    }

    /// The server's own counters that grew anywhere, ascending.
    pub(crate) fn counters(&self) -> Vec<&Counter> {
        let trials = self.cells().flat_map(|cell| &cell.trials.timed);
        let growths = trials.flat_map(|trial| trial.status.grown());
        let places: BTreeSet<usize> = growths.map(|(place, _)| *place).collect();
        let all = self.counters.counters.all();
        places.into_iter().map(|place| &all[place]).collect()
    }

    /// By how much one of the server's own counters grew in a trial. `None` if it is not known.
    pub(crate) fn growth(&self, trial: &TrialCosts, counter: &Counter) -> Option<u64> {
        trial.status.get(self.counters.place(counter)?)
    }

    /// The size that a counter showed at the end of a trial, in bytes.
    pub(crate) fn size(&self, trial: &TrialCosts, counter: &Counter) -> Option<u64> {
        let place = self.counters.place(counter)?;
        let mut sizes = trial.sizes.iter();
        sizes
            .find(|(known, _)| *known == place)
            .map(|(_, size)| *size)
    }

    /// The growth of one of the server's own counters in a cell, per operation or row. `None` if it is
    /// not known.
    pub(crate) fn status(&self, step: usize, target: usize, counter: &Counter) -> Option<Summary> {
        let place = self.counters.place(counter)?;
        let cell = self.cell(step, target);
        match cell.grown(place) {
            Some(summary) => Some(*summary),
            // It stood still, or it was not read.
            None if self.sampled => cell.trials.growth(place),
            None => None,
        }
    }

    /// The same, 0 of a counter that stood still or was not read.
    pub(crate) fn mean_growth(&self, step: usize, target: usize, counter: &Counter) -> f64 {
        let place = self.counters.place(counter);
        let grown = place.and_then(|place| self.cell(step, target).grown(place));
        grown.map_or(0.0, |summary| summary.mean)
    }

    /// The server's own counters that grew in a cell, per operation or row, ascending.
    pub(crate) fn grown<'c>(
        &'c self,
        cell: &'c CellCosts,
    ) -> impl Iterator<Item = (&'c Counter, &'c Summary)> {
        let all = self.counters.counters.all();
        let status = cell.status.iter();
        status.map(|(place, summary)| (&all[*place], summary))
    }
}

/// The costs of the cells of one step.
fn of_step(
    plan: &Plan,
    step: usize,
    trials: Vec<CellTrials>,
    (cells, beside): (&Cells, &WorkBeside),
    sampled: bool,
) -> Vec<CellCosts> {
    let several = trials.iter().any(CellTrials::have_several_queries);
    let has_queries = several && unit(plan, step) == CostUnit::Operation;
    let bases = (0..trials.len()).filter_map(|target| plan.base_of(target));
    let bases: BTreeSet<usize> = bases.collect();
    let bases = bases.into_iter().map(|base| (base, trials[base].clone()));
    let bases: BTreeMap<usize, CellTrials> = bases.collect();
    let cell = |(target, trials): (usize, CellTrials)| {
        if !sampled {
            return CellCosts::without_samples(trials);
        }
        let planned = &plan.steps[step];
        let base = plan.other_base_of(target).map(|base| &bases[&base]);
        let kept = [Some(target), plan.other_base_of(target)]
            .into_iter()
            .flatten();
        let are_kept = kept.into_iter().all(|target| cells.kept(step, target));
        let base = base.filter(|_| !planned.warm_only && are_kept);
        let mut cell = CellCosts::of(trials, base, has_queries);
        if planned.own().workload.effect != Effect::None {
            cell.doubt_simulated("a step that writes");
        }
        let own = cells.at(GroupId::own(step), target);
        if own.has_warnings() {
            cell.doubtful.extend(OF_TIME);
        }
        cell.beside = beside.remark(plan, step, target);
        if beside.at(plan, step, target) == Beside::Even {
            cell.doubt_shares(own.ratio());
        }
        cell
    };
    trials.into_iter().enumerate().map(cell).collect()
}

/// The costs of the loads of all targets.
fn of_loads(plan: &Plan, trials: Vec<CellTrials>) -> Vec<CellCosts> {
    let all = trials.clone();
    let of_target = |(target, trials): (usize, CellTrials)| {
        if !trials.are_sampled() {
            return CellCosts::without_samples(trials);
        }
        let base = plan.other_base_of(target).map(|base| &all[base]);
        let mut cell = CellCosts::of(trials, base, false);
        cell.doubt_simulated("a load");
        cell
    };
    trials.into_iter().enumerate().map(of_target).collect()
}

impl CellCosts {
    /// The costs of `trials`, relative to those of the `base` where that is wanted.
    fn of(trials: CellTrials, base: Option<&CellTrials>, has_queries: bool) -> Self {
        let figures = |amount: Amount| -> BTreeMap<Metric, Figure> {
            let figure = |metric| {
                let figure = Figure {
                    summary: trials.summary_of(metric, amount)?,
                    ratio: base.and_then(|base| trials.ratio_of(base, metric, amount)),
                    taken: trials.of(metric).0,
                };
                Some((metric, figure))
            };
            Metric::costs().filter_map(figure).collect()
        };
        Self {
            per_query: if has_queries {
                figures(TrialCosts::amount_per_query)
            } else {
                BTreeMap::new()
            },
            status: trials.status(),
            beside: None,
            warnings: cost_warnings::of(&trials),
            doubtful: cost_warnings::metrics(&trials),
            of_device: trials.from(Source::Device),
            figures: figures(TrialCosts::amount),
            trials,
        }
    }

    /// Adds the warning about instructions of writes that valgrind counted, of `what`.
    fn doubt_simulated(&mut self, what: &str) {
        let simulated = cost_warnings::simulated_writes(&self.trials, what);
        self.doubtful
            .extend(simulated.as_ref().map(|(metric, _)| *metric));
        self.warnings.extend(simulated.map(|(_, text)| text));
    }

    /// Adds the warning that the work beside weighs differently here and at the base, as the own clients'
    /// operations per second have this `ratio`.
    fn doubt_shares(&mut self, ratio: Option<&Pairs>) {
        let differently = ratio.and_then(|pairs| beside::weighs_differently(pairs.ratio().ratio));
        let is_shared = |metric: &Metric| {
            let per_unit = matches!(metric.facts().how, Formula::PerUnit { .. });
            per_unit || *metric == Metric::PerCpuSecond
        };
        let compared = self.figures.iter();
        let mut compared = compared.filter(|(metric, of)| is_shared(metric) && of.ratio.is_some());
        if let Some(text) = differently.filter(|_| compared.next().is_some()) {
            self.doubtful.extend(Metric::costs().filter(is_shared));
            self.warnings.push(text);
        }
    }

    /// A cell of a run without samples: it has no figures.
    fn without_samples(trials: CellTrials) -> Self {
        Self {
            trials,
            figures: BTreeMap::new(),
            per_query: BTreeMap::new(),
            status: Vec::new(),
            beside: None,
            warnings: Vec::new(),
            doubtful: BTreeSet::new(),
            of_device: BTreeSet::new(),
        }
    }

    /// The growth of the counter at a place. `None` if it did not grow.
    fn grown(&self, place: usize) -> Option<&Summary> {
        let index = self
            .status
            .binary_search_by_key(&place, |(known, _)| *known);
        index.ok().map(|index| &self.status[index].1)
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
