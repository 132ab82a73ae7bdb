//! The attempts at one planned trial: each runs between two canaries, and is repeated where these
//! exclude it.

use std::time::Instant;

use jiff::Timestamp;
use prony_model::{
    CanaryChange, CanaryMoment, CanaryReading, CanaryRule, PlannedTrial, StopFlag, TrialKind,
    TrialState,
};
use prony_store::{Store, StoreError, TrialId};

use crate::event::{Event, Events};
use crate::fault::{Failure, Fault, Stop, contain};
use crate::warnings::warn_once;

/// Runs a canary, or gives the reason why it can't.
pub(crate) type Canary<'a> = dyn FnMut() -> Result<CanaryReading, String> + 'a;

/// Runs a trial between its canaries. No server of Prony is left when it returns.
pub(crate) type Work<'a> =
    dyn FnMut(TrialId, &mut Store, &mut Events<'_>) -> Result<(), Fault> + 'a;

/// One planned trial.
pub(crate) struct Attempts<'a> {
    pub(crate) planned: PlannedTrial,
    /// Name of its target.
    pub(crate) target: &'a str,
    pub(crate) rule: CanaryRule,
    pub(crate) stop: &'a StopFlag,
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
    /// Runs one attempt, with canaries where there are any, and stores how it ended.
    pub(crate) fn run(
        &self,
        store: &mut Store,
        events: &mut Events<'_>,
        mut canary: Option<&mut Canary<'_>>,
        work: &mut Work<'_>,
    ) -> Result<Next, Stop> {
        let begin = Instant::now();
        let id = store.begin_trial(self.planned, Timestamp::now())?;
        if let Some(canary) = canary.as_deref_mut() {
            record(store, id, CanaryMoment::Before, canary)?;
        }
        match contain(self.stop, work(id, store, events)) {
            Ok(end) => {
                if let Some(canary) = canary {
                    record(store, id, CanaryMoment::After, canary)?;
                }
                match end {
                    Ok(()) => self.judge(store, events, id, begin),
                    Err(failure) => self.fail(store, events, id, &failure),
                }
            }
            Err(Stop::Interrupted) => {
                store.discard_trial(id, "interrupted by the user", Timestamp::now())?;
                Err(Stop::Interrupted)
            }
            Err(error) => Err(error),
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
                took: begin.elapsed(),
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
