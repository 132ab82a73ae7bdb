//! The attempts at one planned trial: each runs between two canaries, and is repeated where these
//! exclude it.

use std::time::Instant;

use jiff::Timestamp;
use prony_model::{
    CanaryChange, CanaryMoment, CanaryReading, CanaryRule, PlannedTrial, TrialKind, TrialState,
};
use prony_store::{Store, StoreError, TrialId};

use crate::event::{Event, Events};
use crate::fault::{Failure, Stop};
use crate::warnings::warn_once;

/// Runs a canary, or gives the reason why it can't.
pub(crate) type Canary<'a> = dyn FnMut() -> Result<CanaryReading, String> + 'a;

/// One planned trial.
pub(crate) struct Attempts<'a> {
    pub(crate) planned: PlannedTrial,
    /// Name of its target.
    pub(crate) target: &'a str,
    /// Number of trials that run together with it, itself included.
    pub(crate) sharing: u32,
    pub(crate) rule: CanaryRule,
}

/// An attempt that has begun.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Begun {
    pub(crate) id: TrialId,
    at: Instant,
}

impl Begun {
    /// The user wants to stop: the attempt is as if it had not been.
    pub(crate) fn interrupt(self, store: &mut Store) -> Result<(), StoreError> {
        store.discard_trial(self.id, "interrupted by the user", Timestamp::now())
    }
}

/// The consequence of an attempt that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// The next planned trial.
    Trial,
    /// The same one again.
    Again,
}

/// The canary that excludes a trial.
struct Excess {
    moment: CanaryMoment,
    change: CanaryChange,
    /// Number of canaries behind the median.
    earlier: usize,
}

impl Attempts<'_> {
    /// Begins an attempt, with a canary if there is one.
    pub(crate) fn begin(
        &self,
        store: &mut Store,
        canary: Option<&mut Canary<'_>>,
    ) -> Result<Begun, Stop> {
        let at = Instant::now();
        let id = store.begin_trial(self.planned, Timestamp::now())?;
        if let Some(canary) = canary {
            record(store, id, CanaryMoment::Before, canary)?;
        }
        Ok(Begun { id, at })
    }

    /// Stores how an attempt ended, with a canary if there is one. No server of it is left.
    pub(crate) fn end(
        &self,
        store: &mut Store,
        events: &mut Events<'_>,
        canary: Option<&mut Canary<'_>>,
        (begun, ended): (Begun, Result<(), Failure>),
    ) -> Result<Next, Stop> {
        let Begun { id, at } = begun;
        if let Some(canary) = canary {
            record(store, id, CanaryMoment::After, canary)?;
        }
        match ended {
            Ok(()) => self.judge(store, events, id, at),
            Err(failure) => self.fail(store, events, id, &failure),
        }
    }

    /// Ends an attempt that ran to its end. Nothing but canaries decides if it counts.
    fn judge(
        &self,
        store: &mut Store,
        events: &mut Events<'_>,
        id: TrialId,
        begin: Instant,
    ) -> Result<Next, Stop> {
        let Some(excess) = self.excess(store, id)? else {
            store.finish_trial(id, Timestamp::now())?;
            events(Event::TrialDone {
                target: self.target,
                took: begin.elapsed() / self.sharing.max(1),
            });
            return Ok(Next::Trial);
        };
        let reason = self.reason(&excess);
        let before = self.excluded(store)?;
        if before >= CanaryRule::REPEATS_MAX {
            let reason = format!("excluded {} times by its canaries: {reason}", before + 1);
            let failure = Failure {
                reason,
                log_tail: String::new(),
            };
            return self.fail(store, events, id, &failure);
        }
        store.exclude_trial(id, &reason, Timestamp::now())?;
        events(Event::TrialExcluded {
            target: self.target,
            block: self.planned.block + 1,
            reason: &reason,
        });
        Ok(Next::Again)
    }

    fn fail(
        &self,
        store: &mut Store,
        events: &mut Events<'_>,
        id: TrialId,
        failure: &Failure,
    ) -> Result<Next, Stop> {
        let Failure { reason, log_tail } = failure;
        store.fail_trial(id, reason, log_tail, Timestamp::now())?;
        events(Event::TrialFailed {
            target: self.target,
            block: self.planned.block + 1,
            reason,
        });
        Ok(Next::Trial)
    }

    /// The canary of an attempt that excludes it, where the experiment declared that rule. Canaries
    /// of all earlier attempts on this host count for the median, whatever became of the attempts,
    /// so that a host that changes for good does not exclude the rest of the run.
    fn excess(&self, store: &Store, id: TrialId) -> Result<Option<Excess>, StoreError> {
        // Times of counting trials are never used.
        if !self.rule.exclude || self.planned.kind != TrialKind::Timed {
            return Ok(None);
        }
        let canaries = store.canaries()?;
        let own = canaries.iter().filter(|row| row.trial == id);
        let Some(host) = own.clone().map(|row| row.host).next() else {
            return Ok(None);
        };
        let earlier: Vec<CanaryReading> = canaries
            .iter()
            .filter(|row| row.trial != id && row.host == host)
            .map(|row| row.times)
            .collect();
        if earlier.len() < CanaryRule::CANARIES_MIN {
            return Ok(None);
        }
        let Some(median) = CanaryReading::median(&earlier) else {
            return Ok(None);
        };
        let changes = own.flat_map(|row| {
            let changes = row.times.changes(&median);
            changes.map(|change| Excess {
                moment: row.moment,
                change,
                earlier: earlier.len(),
            })
        });
        let excess = |excess: &Excess| self.rule.excess(&excess.change);
        let exceeding = changes.filter(|found| excess(found) > 1.0);
        Ok(exceeding.max_by(|a, b| excess(a).total_cmp(&excess(b))))
    }

    fn reason(&self, excess: &Excess) -> String {
        format!(
            "in the canary {} it, {} than the median of the {} canaries before; the bound is {} %",
            excess.moment,
            excess.change,
            excess.earlier,
            self.rule.bound_percent_of(excess.change.part)
        )
    }

    /// Number of excluded attempts at the trial.
    fn excluded(&self, store: &Store) -> Result<u32, StoreError> {
        let trials = store.trials()?;
        let excluded = trials
            .iter()
            .filter(|trial| trial.planned == self.planned && trial.state == TrialState::Excluded);
        Ok(excluded.map(|_| 1).sum())
    }
}

/// Runs a canary and keeps its times. Without them the trial still counts, and the run warns.
fn record(
    store: &mut Store,
    id: TrialId,
    moment: CanaryMoment,
    canary: &mut Canary<'_>,
) -> Result<(), StoreError> {
    match canary() {
        Ok(reading) => store.record_canary(id, moment, &reading),
        Err(reason) => warn_once(
            store,
            "canary",
            &format!("trials lack canaries, and can't be excluded by them: failed to {reason}"),
        ),
    }
}

#[cfg(test)]
mod tests;
