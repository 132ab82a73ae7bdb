//! The loads of the data into the servers, and their speed.

use prony_model::{LoadOutcome, Plan};
use prony_stats::{Pairs, Summary};
use prony_store::{LoadRow, Store, StoreError};

use crate::analysis::pairing::{self, InBlock};
use crate::analysis::trials::Trials;

/// The loads of one target.
#[derive(Debug, Clone)]
pub(crate) struct Loads {
    /// Of its image, or of each of its done trials.
    pub(crate) done: Vec<DoneLoad>,
    /// Rows per second, index included.
    pub(crate) rows_per_second: Option<Summary>,
    /// Rows per second ÷ those of the base. `None` for the base.
    pub(crate) ratio: Option<Pairs>,
}

/// One load.
#[derive(Debug, Clone)]
pub(crate) struct DoneLoad {
    pub(crate) row: LoadRow,
    /// The block of its trial, from 1; `None` for an image.
    pub(crate) block: Option<u32>,
    /// What that repeats: see [`Trials::replicates`].
    replicate: Option<u32>,
}

impl InBlock for DoneLoad {
    fn block(&self) -> Option<u32> {
        self.block
    }

    fn replicate(&self) -> Option<u32> {
        self.replicate
    }
}

impl DoneLoad {
    pub(crate) fn rows_per_second(&self) -> Option<f64> {
        self.row.outcome.as_ref()?.rows_per_second()
    }
}

impl Loads {
    /// The figures of loads. Those of trials are paired within their blocks, and images with images.
    fn of(done: Vec<DoneLoad>, base: Option<&[DoneLoad]>) -> Self {
        let rates = |mine: &DoneLoad, other: &DoneLoad| {
            Some((mine.rows_per_second()?, other.rows_per_second()?))
        };
        Self {
            rows_per_second: summary(&done, LoadOutcome::rows_per_second),
            ratio: base.and_then(|base| pairing::ratio(&done, base, rates)),
            done,
        }
    }
}

/// A figure of loads over the blocks.
pub(crate) fn summary(
    loads: &[DoneLoad],
    figure: impl Fn(&LoadOutcome) -> Option<f64>,
) -> Option<Summary> {
    let outcomes = loads.iter().filter_map(|load| load.row.outcome.as_ref());
    let values: Vec<f64> = outcomes.filter_map(figure).collect();
    Summary::of(&values).ok()
}

/// The loads of all targets, in the order of the plan.
pub(crate) fn read(store: &Store, plan: &Plan, trials: &Trials) -> Result<Vec<Loads>, StoreError> {
    let mut done: Vec<Vec<DoneLoad>> = vec![Vec::new(); plan.targets.len()];
    for row in store.loads()? {
        let trial = row.trial.and_then(|id| trials.get(id));
        let block = trial.map(|trial| trial.planned.block + 1);
        let of_target = &mut done[row.target];
        if block.is_none() {
            // An image that was made again takes the place of the one before.
            of_target.retain(|load| load.block.is_some());
        }
        let replicate = trial.map(|trial| trials.replicates.at(trial.planned.block));
        of_target.push(DoneLoad {
            row,
            block,
            replicate,
        });
    }
    let all = done.clone();
    let base = |target| plan.other_base_of(target).map(|base| &all[base][..]);
    let of_target = |(target, done)| Loads::of(done, base(target));
    Ok(done.into_iter().enumerate().map(of_target).collect())
}
