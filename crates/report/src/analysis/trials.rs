//! The trials of a run, and their states.

use prony_model::{Plan, PlannedTrial, TrialKind, TrialState};
use prony_store::{Store, StoreError, TrialCounts, TrialId, TrialRow};

use crate::analysis::replicates::Replicates;

/// All trials of a run.
#[derive(Debug)]
pub(crate) struct Trials {
    rows: Vec<TrialRow>,
    pub(crate) counts: TrialCounts,
    /// Those that are not done.
    pub(crate) missing: Vec<PlannedTrial>,
    pub(crate) replicates: Replicates,
}

impl Trials {
    pub(crate) fn read(store: &Store) -> Result<Self, StoreError> {
        let rows = store.trials()?;
        Ok(Self {
            replicates: Replicates::of(&rows, &store.hosts()?),
            rows,
            counts: store.trial_counts()?,
            missing: store.missing_trials()?,
        })
    }

    /// The trial with this id. `None` only for ids of another file.
    pub(crate) fn get(&self, id: TrialId) -> Option<&TrialRow> {
        self.rows.iter().find(|trial| trial.id == id)
    }

    /// Every attempt, in the order in which they began.
    pub(crate) fn all(&self) -> impl Iterator<Item = &TrialRow> {
        self.rows.iter()
    }

    /// The trials in one state.
    pub(crate) fn in_state(&self, state: TrialState) -> impl Iterator<Item = &TrialRow> {
        self.rows.iter().filter(move |trial| trial.state == state)
    }

    /// Returns `true` if a trial of `target` failed.
    pub(crate) fn failed(&self, target: usize) -> bool {
        let mut failed = self.in_state(TrialState::Failed);
        failed.any(|trial| trial.planned.target == target)
    }

    /// Number of timed trials that are done.
    pub(crate) fn timed_done(&self) -> u64 {
        let done = self.in_state(TrialState::Done);
        let timed = done.filter(|trial| trial.planned.kind == TrialKind::Timed);
        timed.count() as u64
    }

    /// Number of blocks in which every target is measured.
    pub(crate) fn blocks_complete(&self, plan: &Plan) -> usize {
        let timed = |trial: &&TrialRow| trial.planned.kind == TrialKind::Timed;
        let done = || self.in_state(TrialState::Done).filter(timed);
        let of_block = |block: u32| done().filter(move |trial| trial.planned.block == block);
        let is_complete = |block: &u32| of_block(*block).count() == plan.targets.len();
        (0..plan.blocks()).filter(is_complete).count()
    }
}
