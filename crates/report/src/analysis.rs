//! What a run amounts to, before anybody decides how to show it.

use prony_model::{Plan, PlannedTrial, Target, TrialState};
use prony_store::{BuildRow, HostRow, RunRow, Store, TrialCounts, TrialId, TrialRow, WarningRow};

use crate::cell::Cell;
use crate::effective::Effective;
use crate::explain::{self, ExplainedStatement};
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
            cells: vec![vec![Cell::default(); plan.targets.len()]; plan.steps.len()],
        };
        for row in store.outcomes()? {
            analysis.cells[row.step][row.planned.target].push(row);
        }
        for cells in &mut analysis.cells {
            cells.iter_mut().for_each(Cell::summarise);
            let base = cells[plan.base].clone();
            for (target, cell) in cells.iter_mut().enumerate() {
                if target != plan.base {
                    cell.compare(&base);
                }
            }
        }
        notes::add(&mut analysis, store)?;
        Ok(analysis)
    }

    pub(crate) fn cell(&self, step: usize, target: usize) -> &Cell {
        &self.cells[step][target]
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
