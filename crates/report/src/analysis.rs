//! What a run amounts to, before anybody decides how to show it.

use std::collections::BTreeMap;

use prony_model::{
    Backend, CalibratedHost, Calibration, Plan, PlannedTrial, Target, TrialKind, TrialState,
};
use prony_store::{
    BuildRow, GroupRow, HostRow, OutcomeRow, RunRow, Store, TrialCounts, TrialId, TrialRow,
    WarningRow,
};

use crate::cell::{Cell, Measurement};
use crate::costs::Costs;
use crate::debt;
use crate::effective::Effective;
use crate::explain::{self, ExplainedStatement};
use crate::loads::{self, Load};
use crate::notes;
use crate::paced;
use crate::place::Place;
use crate::render::ReportError;

/// A run with its figures.
#[derive(Debug)]
pub(crate) struct Analysis<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) run: RunRow,
    pub(crate) hosts: Vec<HostRow>,
    pub(crate) builds: Vec<Option<BuildRow>>,
    pub(crate) trials: Vec<TrialRow>,
    pub(crate) counts: TrialCounts,
    pub(crate) missing: Vec<PlannedTrial>,
    pub(crate) warnings: Vec<WarningRow>,
    pub(crate) effective: Effective,
    pub(crate) statements: Vec<ExplainedStatement>,
    /// Of each target, in the order of the plan.
    pub(crate) loads: Vec<Load>,
    pub(crate) costs: Costs,
    /// What the load generator reaches on the host that the run was last on, where that is known.
    pub(crate) calibration: Option<Calibration>,
    /// By step, then the step's own clients and the groups beside them, then by target, in the
    /// order of the plan.
    cells: Vec<Vec<Vec<Cell>>>,
}

impl<'a> Analysis<'a> {
    /// Reads the run and derives its figures.
    pub(crate) fn of(store: &'a Store) -> Result<Self, ReportError> {
        let plan = store.plan();
        let hosts = store.hosts()?;
        let calibration = store.calibration()?;
        let calibration = calibration.filter(|calibration| is_of_last(calibration, &hosts));
        let mut analysis = Self {
            plan,
            run: store.run()?,
            hosts,
            builds: store.builds()?,
            trials: store.trials()?,
            counts: store.trial_counts()?,
            missing: store.missing_trials()?,
            warnings: store.warnings()?,
            effective: Effective::of_run(store, &columns(plan))?,
            statements: explain::read(store)?,
            loads: Vec::new(),
            costs: Costs::read(store)?,
            calibration,
            cells: plan
                .steps
                .iter()
                .map(|step| vec![vec![Cell::default(); plan.targets.len()]; 1 + step.beside.len()])
                .collect(),
        };
        analysis.take(store)?;
        debt::attach(&mut analysis, store)?;
        paced::attach(&mut analysis, store)?;
        let cells = analysis.cells.iter_mut().flatten().flatten();
        cells.for_each(Cell::summarise);
        analysis.compare();
        analysis.loads = loads::read(&analysis, store)?;
        notes::add(&mut analysis, store)?;
        analysis.doubt_costs();
        Ok(analysis)
    }

    /// Takes in what was counted.
    fn take(&mut self, store: &Store) -> Result<(), ReportError> {
        let mut backends: BTreeMap<(TrialId, usize), Backend> = BTreeMap::new();
        for row in store.outcomes()? {
            backends.insert((row.trial, row.step), row.backend);
            let step = &self.plan.steps[row.step];
            let cell = &mut self.cells[row.step][0][row.planned.target];
            cell.push(row, step.pace, !step.beside.is_empty());
        }
        for row in store.groups()? {
            let Some(backend) = backends.get(&(row.trial, row.step)) else {
                continue;
            };
            let place = Place {
                step: row.step,
                group: row.position,
            };
            let outcome = as_outcome(&row, *backend);
            let work = place.work(self.plan);
            let cell = self.cell_mut(place, row.planned.target);
            cell.push(outcome, work.pace, true);
        }
        Ok(())
    }

    /// Marks costs that follow from times of which something is said.
    fn doubt_costs(&mut self) {
        for step in 0..self.plan.steps.len() {
            for target in 0..self.plan.targets.len() {
                if self.cell(step, target).is_noted() {
                    self.costs.doubt_times(step, target);
                }
            }
        }
    }

    /// Derives what relates targets to the base, of all steps that do not only warm up.
    fn compare(&mut self) {
        let base = self.plan.base;
        for (step, groups) in self.plan.steps.iter().zip(&mut self.cells) {
            if step.warm_only {
                continue;
            }
            for cells in groups {
                let of_base = cells[base].clone();
                for (target, cell) in cells.iter_mut().enumerate() {
                    if target != base {
                        cell.ratio = cell.ratio_to(&of_base);
                        cell.unequal = debt::unequal(cell, &of_base);
                    }
                }
            }
        }
    }

    /// The figures of a step's own clients.
    pub(crate) fn cell(&self, step: usize, target: usize) -> &Cell {
        self.cell_at(Place::own(step), target)
    }

    pub(crate) fn cell_at(&self, place: Place, target: usize) -> &Cell {
        &self.cells[place.step][place.group][target]
    }

    /// All clients of the plan that have figures of their own.
    pub(crate) fn places(&self) -> impl Iterator<Item = Place> + use<'a> {
        let plan = self.plan;
        (0..plan.steps.len()).flat_map(|step| Place::of_step(plan, step))
    }

    /// Whatever was measured.
    pub(crate) fn measurements(&self) -> impl Iterator<Item = &Measurement> {
        let cells = self.cells.iter().flatten().flatten();
        cells.flat_map(|cell| &cell.measurements)
    }

    /// What this trial measured at a place. `None` where it has no outcome.
    pub(crate) fn measurement_mut(
        &mut self,
        trial: TrialId,
        place: Place,
    ) -> Option<&mut Measurement> {
        let target = self.trial(trial)?.planned.target;
        let cell = self.cells.get_mut(place.step)?.get_mut(place.group)?;
        let measurements = &mut cell[target].measurements;
        measurements.iter_mut().find(|m| m.row().trial == trial)
    }

    pub(crate) fn cell_mut(&mut self, place: Place, target: usize) -> &mut Cell {
        &mut self.cells[place.step][place.group][target]
    }

    pub(crate) fn base(&self) -> &Target {
        &self.plan.targets[self.plan.base]
    }

    /// Indices of the targets, the base first.
    pub(crate) fn columns(&self) -> Vec<usize> {
        columns(self.plan)
    }

    /// Indices of the targets but the base.
    pub(crate) fn contenders(&self) -> impl Iterator<Item = usize> + use<> {
        let base = self.plan.base;
        (0..self.plan.targets.len()).filter(move |&target| target != base)
    }

    /// Whether there is any ratio.
    pub(crate) fn compares(&self) -> bool {
        let mut cells = self.cells.iter().flatten().flatten();
        cells.any(|cell| cell.ratio.is_some())
    }

    /// Numbers of clients in the plan, ascending.
    pub(crate) fn client_counts(&self) -> Vec<u32> {
        let mut counts: Vec<u32> = self.plan.steps.iter().map(|step| step.clients).collect();
        counts.sort_unstable();
        counts.dedup();
        counts
    }

    /// Number of blocks in which every target is measured.
    pub(crate) fn blocks_complete(&self) -> usize {
        (0..self.plan.blocks())
            .filter(|&block| {
                let done = |trial: &&TrialRow| {
                    trial.planned.block == block
                        && trial.planned.kind == TrialKind::Timed
                        && trial.state == TrialState::Done
                };
                self.trials.iter().filter(done).count() == self.plan.targets.len()
            })
            .count()
    }

    /// The trial with this id. `None` only for ids of another file.
    pub(crate) fn trial(&self, id: TrialId) -> Option<&TrialRow> {
        self.trials.iter().find(|trial| trial.id == id)
    }

    /// Whether a trial of `target` failed.
    pub(crate) fn failed(&self, target: usize) -> bool {
        self.trials
            .iter()
            .any(|trial| trial.planned.target == target && trial.state == TrialState::Failed)
    }
}

/// Whether a calibration is of the host that the run was last on: what an earlier one reached says
/// nothing after the run was resumed elsewhere.
fn is_of_last(calibration: &Calibration, hosts: &[HostRow]) -> bool {
    hosts.last().is_some_and(|host| {
        let facts = serde_json::from_str::<CalibratedHost>(&host.facts_json);
        facts.is_ok_and(|facts| facts == calibration.host)
    })
}

/// The counts of a group in the form of a step's. The generator's processor time is not its own.
fn as_outcome(row: &GroupRow, backend: Backend) -> OutcomeRow {
    OutcomeRow {
        trial: row.trial,
        planned: row.planned,
        step: row.step,
        backend,
        clients: row.clients,
        threads: 0,
        operations: row.operations,
        queries: row.queries,
        busy_ns: row.busy_ns,
        client_user_ns: 0,
        client_system_ns: 0,
        errors: row.errors,
        unexpected: row.unexpected,
    }
}

/// Indices of the targets, the base first.
fn columns(plan: &Plan) -> Vec<usize> {
    let others = (0..plan.targets.len()).filter(|&target| target != plan.base);
    std::iter::once(plan.base).chain(others).collect()
}
