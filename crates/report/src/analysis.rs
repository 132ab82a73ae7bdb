//! What a run amounts to, before anybody decides how to show it.

use prony_model::{Plan, PlannedTrial, Target, TrialState};
use prony_store::{BuildRow, HostRow, RunRow, Store, TrialCounts, TrialId, TrialRow, WarningRow};

use crate::cell::{Cell, Measurement};
use crate::debt;
use crate::effective::Effective;
use crate::explain::{self, ExplainedStatement};
use crate::loads::{self, Load};
use crate::notes;
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
    /// By step, then by target, in the order of the plan.
    cells: Vec<Vec<Cell>>,
}

impl<'a> Analysis<'a> {
    /// Reads the run and derives its figures.
    pub(crate) fn of(store: &'a Store) -> Result<Self, ReportError> {
        let plan = store.plan();
        let mut analysis = Self {
            plan,
            run: store.run()?,
            hosts: store.hosts()?,
            builds: store.builds()?,
            trials: store.trials()?,
            counts: store.trial_counts()?,
            missing: store.missing_trials()?,
            warnings: store.warnings()?,
            effective: Effective::of_run(store, &columns(plan))?,
            statements: explain::read(store)?,
            loads: Vec::new(),
            cells: vec![vec![Cell::default(); plan.targets.len()]; plan.steps.len()],
        };
        for row in store.outcomes()? {
            analysis.cells[row.step][row.planned.target].push(row);
        }
        for cells in &mut analysis.cells {
            cells.iter_mut().for_each(Cell::summarise);
        }
        debt::attach(&mut analysis, store)?;
        analysis.compare();
        analysis.loads = loads::read(&analysis, store)?;
        notes::add(&mut analysis, store)?;
        Ok(analysis)
    }

    /// Derives what relates targets to the base, of all steps that do not only warm up.
    fn compare(&mut self) {
        let base = self.plan.base;
        for (step, cells) in self.plan.steps.iter().zip(&mut self.cells) {
            if step.warm_only {
                continue;
            }
            let of_base = cells[base].clone();
            for (target, cell) in cells.iter_mut().enumerate() {
                if target != base {
                    cell.ratio = cell.ratio_to(&of_base);
                    cell.unequal = debt::unequal(cell, &of_base);
                }
            }
        }
    }

    pub(crate) fn cell(&self, step: usize, target: usize) -> &Cell {
        &self.cells[step][target]
    }

    /// What this trial measured of a step. `None` where it has no outcome.
    pub(crate) fn measurement_mut(
        &mut self,
        trial: TrialId,
        step: usize,
    ) -> Option<&mut Measurement> {
        let target = self.trial(trial)?.planned.target;
        let measurements = &mut self.cells[step][target].measurements;
        measurements.iter_mut().find(|m| m.row().trial == trial)
    }

    pub(crate) fn cell_mut(&mut self, step: usize, target: usize) -> &mut Cell {
        &mut self.cells[step][target]
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
        self.cells.iter().flatten().any(|cell| cell.ratio.is_some())
    }

    /// Numbers of clients in the plan, ascending.
    pub(crate) fn client_counts(&self) -> Vec<u32> {
        let mut counts: Vec<u32> = self.plan.steps.iter().map(|step| step.clients).collect();
        counts.sort_unstable();
        counts.dedup();
        counts
    }

    /// Number of blocks in which every target is done.
    pub(crate) fn blocks_complete(&self) -> usize {
        (0..self.plan.blocks())
            .filter(|&block| {
                let done = |trial: &&TrialRow| {
                    trial.planned.block == block && trial.state == TrialState::Done
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

/// Indices of the targets, the base first.
fn columns(plan: &Plan) -> Vec<usize> {
    let others = (0..plan.targets.len()).filter(|&target| target != plan.base);
    std::iter::once(plan.base).chain(others).collect()
}
