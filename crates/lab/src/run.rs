//! A run: every missing trial of a plan, in the plan's order.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use jiff::Timestamp;
use prony_model::{Plan, PlannedTrial};
use prony_servers::Image;
use prony_store::Store;

use crate::error::LabError;
use crate::event::{Event, Events};
use crate::fault::{Failure, Fault};
use crate::lab::Lab;
use crate::prepare::{Fetched, fetch_all, image};
use crate::trial::Trial;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunEnd {
    /// Nothing is missing any more.
    Complete {
        /// Trials that failed, now or before the run was resumed.
        failed: u64,
    },
    /// The user asked to stop; what is missing can be run by resuming.
    Interrupted,
}

/// Runs every trial that the result file still misses. `artefacts` is the folder beside it for
/// configurations and the logs of failed trials.
///
/// # Errors
/// When a build can't be fetched, a configuration can't be rendered, or the result file can't be
/// written. Failing trials are not errors.
pub fn run(
    lab: &Lab<'_>,
    store: &mut Store,
    artefacts: &Path,
    events: &mut Events<'_>,
) -> Result<RunEnd, LabError> {
    let plan = store.plan().clone();
    store.abandon_running("Prony ended while the trial was running")?;
    let fetched = match fetch_all(lab, &plan, events) {
        Err(_) if lab.stop.requested() => return Ok(RunEnd::Interrupted),
        other => other?,
    };
    let session = Session {
        lab,
        plan: &plan,
        fetched: &fetched,
    };
    session.write_configurations(artefacts)?;
    let missing = store.missing_trials()?;
    let Some(images) = session.images(&missing, events)? else {
        return Ok(RunEnd::Interrupted);
    };
    for planned in missing {
        if lab.stop.requested() {
            return Ok(RunEnd::Interrupted);
        }
        let end = session.trial(planned, images[planned.target].as_ref(), store, events)?;
        if end == TrialEnd::Interrupted {
            return Ok(RunEnd::Interrupted);
        }
    }
    store.set_run_ended(Timestamp::now())?;
    Ok(RunEnd::Complete {
        failed: store.trial_counts()?.failed,
    })
}

/// How one trial ended, for the loop over all of them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TrialEnd {
    Stored,
    Interrupted,
}

/// The image of a target, or why there is none; `None` for a target that nothing is missing of.
type ImageOrFailure = Option<Result<Image, Failure>>;

struct Session<'a> {
    lab: &'a Lab<'a>,
    plan: &'a Plan,
    fetched: &'a [Fetched],
}

impl Session<'_> {
    /// Writes the configuration of every target beside the result file.
    fn write_configurations(&self, artefacts: &Path) -> Result<(), LabError> {
        let write = |path: PathBuf, text: String| {
            fs::write(&path, text).map_err(|source| LabError::Artefact { path, source })
        };
        fs::create_dir_all(artefacts).map_err(|source| LabError::Artefact {
            path: artefacts.to_owned(),
            source,
        })?;
        self.plan
            .targets
            .iter()
            .zip(self.fetched)
            .try_for_each(|(target, fetched)| {
                write(
                    artefacts.join(format!("{}.cnf", target.name)),
                    fetched.rendered.text(),
                )
            })
    }

    /// Makes the images of all targets that trials are missing of, before the first of these
    /// trials, so that no trial runs right after a load. `None` when the user stopped it.
    fn images(
        &self,
        missing: &[PlannedTrial],
        events: &mut Events<'_>,
    ) -> Result<Option<Vec<ImageOrFailure>>, LabError> {
        let mut images = Vec::new();
        for (index, target) in self.plan.targets.iter().enumerate() {
            if !missing.iter().any(|planned| planned.target == index) {
                images.push(None);
                continue;
            }
            images.push(
                match image(self.lab, self.plan, target, &self.fetched[index], events) {
                    Ok(image) => Some(Ok(image)),
                    Err(Fault::Interrupted) => return Ok(None),
                    Err(Fault::Store(error)) => return Err(error.into()),
                    Err(Fault::Failed(failure)) => {
                        let reason = &failure.reason;
                        events(Event::PrepareFailed {
                            target: &target.name,
                            reason,
                        });
                        Some(Err(failure))
                    }
                },
            );
        }
        Ok(Some(images))
    }

    /// Runs one planned trial and stores how it ended.
    fn trial(
        &self,
        planned: PlannedTrial,
        image: Option<&Result<Image, Failure>>,
        store: &mut Store,
        events: &mut Events<'_>,
    ) -> Result<TrialEnd, LabError> {
        let target = &self.plan.targets[planned.target].name;
        self.announce(planned, target, events);
        let begin = Instant::now();
        let id = store.begin_trial(planned, Timestamp::now())?;
        let end = match image {
            Some(Ok(image)) => {
                let fetched = &self.fetched[planned.target];
                let (lab, plan) = (self.lab, self.plan);
                Trial {
                    lab,
                    plan,
                    planned,
                    id,
                    fetched,
                    image,
                    store,
                }
                .run(events)
            }
            Some(Err(failure)) => Err(Fault::Failed(failure.clone())),
            None => Err(Fault::failed("the target was not made ready")),
        };
        match end {
            Ok(()) => {
                store.finish_trial(id, Timestamp::now())?;
                events(Event::TrialDone {
                    target,
                    took: begin.elapsed(),
                });
            }
            Err(Fault::Interrupted) => {
                store.discard_trial(id, "interrupted by the user", Timestamp::now())?;
                return Ok(TrialEnd::Interrupted);
            }
            Err(Fault::Store(error)) => return Err(error.into()),
            Err(Fault::Failed(Failure { reason, log_tail })) => {
                store.fail_trial(id, &reason, &log_tail, Timestamp::now())?;
                events(Event::TrialFailed {
                    target,
                    block: planned.block + 1,
                    reason: &reason,
                });
            }
        }
        Ok(TrialEnd::Stored)
    }

    fn announce(&self, planned: PlannedTrial, target: &str, events: &mut Events<'_>) {
        let place = self.plan.trials.iter().position(|trial| *trial == planned);
        events(Event::TrialStarted {
            number: place.map_or(0, |place| place + 1),
            total: self.plan.trials.len(),
            block: planned.block + 1,
            blocks: self.plan.blocks(),
            target,
        });
    }
}
