//! The placements of all steps, as they were asked for and as the kernel named them.

use std::collections::{BTreeMap, BTreeSet};

use prony_model::{CpuSet, DefaultPlacement, PlacementReading, PlacementRule, ThreadsOn};
use prony_store::{PlacementRow, Store, StoreError, TrialId};

use crate::analysis::trials::Trials;

/// The placements of a run.
#[derive(Debug)]
pub(crate) struct Placements {
    /// The rule for steps whose placement the experiment leaves open; `None` before it is decided.
    pub(crate) default: Option<DefaultPlacement>,
    /// The rules of counting trials.
    pub(crate) counted: BTreeSet<PlacementRule>,
    /// Of timed trials.
    readings: BTreeMap<(TrialId, usize), PlacementReading>,
    /// By host, all processors that any thread of a trial could use.
    usable: BTreeMap<usize, CpuSet>,
}

impl Placements {
    pub(crate) fn read(store: &Store, trials: &Trials) -> Result<Self, StoreError> {
        let timed = store.placements()?;
        let counted = store.counted_placements()?;
        let mut usable = BTreeMap::new();
        for row in timed.iter().chain(&counted) {
            let host = trials.get(row.trial).map(|trial| trial.host);
            let own = all_of(&row.reading);
            if let (Some(host), Some(own)) = (host, own) {
                usable
                    .entry(host)
                    .and_modify(|known: &mut CpuSet| *known = known.union(&own))
                    .or_insert(own);
            }
        }
        let reading = |row: PlacementRow| ((row.trial, row.step), row.reading);
        Ok(Self {
            default: store.default_placement()?,
            counted: counted
                .iter()
                .map(|row| row.reading.placement.rule)
                .collect(),
            readings: timed.into_iter().map(reading).collect(),
            usable,
        })
    }

    /// The reading of a step of a timed trial; `None` if there is none.
    pub(crate) fn of(&self, trial: TrialId, step: usize) -> Option<&PlacementReading> {
        self.readings.get(&(trial, step))
    }

    /// The processors that Prony may use on a host, as far as any trial shows them.
    pub(crate) fn usable(&self, host: usize) -> Option<&CpuSet> {
        self.usable.get(&host)
    }
}

/// All processors that the threads of a reading could use.
fn all_of(reading: &PlacementReading) -> Option<CpuSet> {
    let threads = [&reading.sessions, &reading.background, &reading.generator];
    let sets = threads.into_iter().flatten().map(|on: &ThreadsOn| &on.cpus);
    sets.fold(None, |all: Option<CpuSet>, cpus| match all {
        Some(all) => Some(all.union(cpus)),
        None => Some(cpus.clone()),
    })
}
