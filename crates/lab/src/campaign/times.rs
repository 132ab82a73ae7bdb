//! The time that the next blocks of a run take, from its trials so far.

use std::collections::BTreeMap;

use prony_model::{Plan, Step, TrialKind, TrialState};
use prony_store::{Store, StoreError, TrialRow};

/// Times of a run's timed trials and of their steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockTimes {
    /// Milliseconds of all attempts so far, of any state.
    spent_ms: u64,
    /// Trials of a block.
    trials: u64,
    /// Mean milliseconds of a trial without its steps.
    fixed_ms: u64,
    /// Mean milliseconds of each step.
    step_ms: Vec<u64>,
}

impl BlockTimes {
    /// The times of a stored run. Trials of other hosts count as well: they are better than
    /// nothing.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn of(store: &Store) -> Result<Self, StoreError> {
        let plan = store.plan();
        let attempts = store.trials()?;
        let is_whole = |trial: &&TrialRow| {
            trial.planned.kind == TrialKind::Timed && trial.state == TrialState::Done
        };
        let whole: BTreeMap<_, _> = attempts
            .iter()
            .filter(is_whole)
            .map(|trial| (trial.id, trial))
            .collect();
        let mut of_steps = vec![Vec::new(); plan.steps.len()];
        for row in store.outcomes()? {
            let clients = u64::from(row.clients).max(1);
            let step = plan.steps.get(row.step).filter(|_| row.group == 0);
            if let Some(step) = step {
                of_steps[row.step].push(around_ms(step) + row.busy_ns / clients / 1_000_000);
            }
        }
        let step_ms: Vec<u64> = of_steps.iter().map(|times| mean(times)).collect();
        let fixed = whole.values().map(|trial| {
            let steps = (0..plan.steps.len()).filter(|step| plan.runs(trial.planned, *step));
            let in_steps: u64 = steps.map(|step| step_ms[step]).sum();
            took_ms(plan, trial).saturating_sub(in_steps)
        });
        Ok(Self {
            spent_ms: attempts.iter().map(|trial| took_ms(plan, trial)).sum(),
            trials: plan.targets.len() as u64,
            fixed_ms: mean(&fixed.collect::<Vec<_>>()),
            step_ms,
        })
    }

    /// Milliseconds of all trials so far.
    pub fn spent_ms(&self) -> u64 {
        self.spent_ms
    }

    /// Milliseconds that a block takes whose trials run these steps.
    pub fn block_ms(&self, steps: &[usize]) -> u64 {
        let times = steps.iter().filter_map(|step| self.step_ms.get(*step));
        let trial = times.fold(self.fixed_ms, |sum, ms| sum.saturating_add(*ms));
        trial.saturating_mul(self.trials)
    }

    /// Times for tests: every trial takes `fixed_ms` and `step_ms` for each step.
    #[cfg(test)]
    pub(super) fn constant(
        plan: &prony_model::Plan,
        spent_ms: u64,
        fixed_ms: u64,
        step_ms: u64,
    ) -> Self {
        Self {
            spent_ms,
            trials: plan.targets.len() as u64,
            fixed_ms,
            step_ms: vec![step_ms; plan.steps.len()],
        }
    }
}

/// Milliseconds that a step takes besides its measured time, as planned.
fn around_ms(step: &Step) -> u64 {
    let settle_ms = step.settle.map_or(0, |settle| settle.idle_ms);
    step.warmup_ms.max(step.ramp_ms) + settle_ms
}

/// Milliseconds from the begin of an attempt to its end, its share where trials run together; 0
/// while that is not known.
pub(crate) fn took_ms(plan: &Plan, trial: &TrialRow) -> u64 {
    let end = trial.ended_at.unwrap_or(trial.began_at);
    let took = end.as_millisecond() - trial.began_at.as_millisecond();
    u64::try_from(took).unwrap_or(0) / u64::from(plan.sharing(trial.planned)).max(1)
}

/// The mean of times; 0 of none.
fn mean(times: &[u64]) -> u64 {
    times.iter().sum::<u64>() / (times.len() as u64).max(1)
}
