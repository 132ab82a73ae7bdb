//! The canaries of a run: how steady the host was, and the trials that they cast doubt on.

use std::collections::{BTreeMap, BTreeSet};

use prony_model::{CanaryChange, CanaryPart, CanaryReading, CanaryRule, TrialKind, TrialState};
use prony_store::{CanaryRow, Store, StoreError, Subject, TrialRow, WarningRow};

use crate::analysis::trials::Trials;
use crate::words::listed;

/// All canaries of a run.
#[derive(Debug)]
pub(crate) struct Canaries {
    pub(crate) rule: CanaryRule,
    /// The targets of a block took turns: what hit the host hit all of them alike.
    shared: bool,
    /// In the order in which they ran, of trials in any state.
    pub(crate) all: Vec<Canary>,
}

/// A canary, and its change relative to the median of those of the same host.
#[derive(Debug)]
pub(crate) struct Canary {
    pub(crate) row: CanaryRow,
    pub(crate) changes: Vec<CanaryChange>,
}

impl Canaries {
    pub(crate) fn read(store: &Store) -> Result<Self, StoreError> {
        let rows = store.canaries()?;
        let mut of_host: BTreeMap<usize, Vec<CanaryReading>> = BTreeMap::new();
        for row in &rows {
            of_host.entry(row.host).or_default().push(row.times);
        }
        let medians: BTreeMap<usize, CanaryReading> = of_host
            .into_iter()
            .filter_map(|(host, readings)| Some((host, CanaryReading::median(&readings)?)))
            .collect();
        let changes = |row: &CanaryRow| {
            let median = medians.get(&row.host);
            median.map_or_else(Vec::new, |median| row.times.changes(median).collect())
        };
        Ok(Self {
            rule: store.plan().canary,
            shared: store.plan().turn_ms.is_some(),
            all: rows
                .into_iter()
                .map(|row| Canary {
                    changes: changes(&row),
                    row,
                })
                .collect(),
        })
    }

    /// The lowest and the highest change of a part. `None` if no canary has it.
    pub(crate) fn range(&self, part: CanaryPart) -> Option<[CanaryChange; 2]> {
        let changes = || {
            let all = self.all.iter().flat_map(|canary| &canary.changes);
            all.filter(|change| change.part == part)
        };
        let by_share = |a: &&CanaryChange, b: &&CanaryChange| a.share.total_cmp(&b.share);
        Some([*changes().min_by(by_share)?, *changes().max_by(by_share)?])
    }

    /// The trials whose figures count and whose canaries exceed the bound, and by what. Times of
    /// counting trials are never used.
    fn off<'t>(&self, trials: &'t Trials) -> impl Iterator<Item = (&'t TrialRow, String)> {
        let done = trials.in_state(TrialState::Done);
        let timed = done.filter(|trial| trial.planned.kind == TrialKind::Timed);
        timed.filter_map(|trial| Some((trial, self.excess(trial)?)))
    }

    /// Number of trials whose figures count and whose canaries exceed the bound.
    pub(crate) fn off_count(&self, trials: &Trials) -> u64 {
        self.off(trials).map(|_| 1).sum()
    }

    /// A warning for each trial whose figures count and whose canaries exceed the bound. Where targets
    /// took turns it is one for each block, and of the whole run: ratios share the state of the host.
    pub(crate) fn warnings(&self, trials: &Trials) -> Vec<WarningRow> {
        let mut blocks = BTreeSet::new();
        let warning = |(trial, excess): (&TrialRow, String)| {
            let relative = "relative to the run's median: the host was not as in other";
            let (subject, text) = if self.shared {
                let block = trial.planned.block;
                let first = blocks.insert(block).then_some(block + 1)?;
                let shared = "for all targets alike, which took turns";
                let text = format!("block {first}: {excess}, {relative} blocks, {shared}");
                (Subject::Run, text)
            } else {
                let text = format!("{excess}, {relative} trials");
                (Subject::Trial(trial.id), text)
            };
            Some(WarningRow {
                subject,
                code: "canary".to_owned(),
                text,
            })
        };
        self.off(trials).filter_map(warning).collect()
    }

    /// The changes of a trial's canaries that exceed the bound, in words.
    fn excess(&self, trial: &TrialRow) -> Option<String> {
        let own = self
            .all
            .iter()
            .filter(|canary| canary.row.trial == trial.id);
        let moments = own.filter_map(|canary| {
            let exceeding = canary.changes.iter();
            let words: Vec<String> = exceeding
                .filter(|change| self.rule.is_exceeded_by(change))
                .map(ToString::to_string)
                .collect();
            let moment = canary.row.moment;
            (!words.is_empty()).then(|| format!("in the canary {moment} it, {}", listed(&words)))
        });
        let moments: Vec<String> = moments.collect();
        (!moments.is_empty()).then(|| moments.join("; "))
    }
}

impl Trials {
    /// The targets of which attempts were excluded, with their numbers.
    pub(crate) fn excluded(&self) -> BTreeMap<usize, u64> {
        let mut counts = BTreeMap::new();
        for trial in self.in_state(TrialState::Excluded) {
            *counts.entry(trial.planned.target).or_default() += 1;
        }
        counts
    }
}
