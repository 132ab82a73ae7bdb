//! A run: every missing trial of a plan, in the plan's order.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use jiff::Timestamp;
use prony_equality::{UnequalTargets, VariableTable};
use prony_model::{Plan, PlannedTrial, Target};
use prony_servers::Image;
use prony_store::Store;

use crate::error::LabError;
use crate::event::{Event, Events};
use crate::fault::{Failure, Fault};
use crate::lab::Lab;
use crate::prepare::{Fetched, ImageMaker, Supply, supply_all};
use crate::survey::{Surveyed, Variables, subject, survey_all};
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
    let missing = store.missing_trials()?;
    if missing.is_empty() {
        return complete(store);
    }
    let supplies = match supply_all(lab, &plan, events) {
        Err(_) if lab.stop.requested() => return Ok(RunEnd::Interrupted),
        other => other?,
    };
    let table = VariableTable::embedded()?;
    let session = Session {
        lab,
        plan: &plan,
        supplies: &supplies,
        table: &table,
    };
    session.write_configurations(artefacts)?;
    session.record_options(store)?;
    let keeps_empty = |index| session.lacks_image(index, &missing);
    let Some(surveyed) = survey_all(lab, &plan, &supplies, &keeps_empty, events)? else {
        return Ok(RunEnd::Interrupted);
    };
    session.check_equality(&surveyed, store)?;
    session.warn_of_external_servers(store)?;
    let Some(ready) = session.make_ready(&missing, surveyed, events)? else {
        return Ok(RunEnd::Interrupted);
    };
    for planned in missing {
        if lab.stop.requested() {
            return Ok(RunEnd::Interrupted);
        }
        let end = session.trial(planned, &ready[planned.target], store, events)?;
        if end == TrialEnd::Interrupted {
            return Ok(RunEnd::Interrupted);
        }
    }
    complete(store)
}

fn complete(store: &mut Store) -> Result<RunEnd, LabError> {
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

/// A target that is ready for its trials.
struct Ready {
    /// What its server said of its variables.
    variables: Variables,
    /// What its server starts from; `None` for an external server.
    image: Option<Image>,
}

struct Session<'a> {
    lab: &'a Lab<'a>,
    plan: &'a Plan,
    supplies: &'a [Supply],
    table: &'a VariableTable,
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
        self.own().try_for_each(|(index, fetched)| {
            let name = &self.plan.targets[index].name;
            write(
                artefacts.join(format!("{name}.cnf")),
                fetched.rendered.text(),
            )
        })
    }

    /// The targets whose servers Prony starts, by index.
    fn own(&self) -> impl Iterator<Item = (usize, &Fetched)> {
        let supplies = self.supplies.iter().enumerate();
        supplies.filter_map(|(index, supply)| Some((index, supply.own()?)))
    }

    /// Keeps what every server is told.
    fn record_options(&self, store: &mut Store) -> Result<(), LabError> {
        self.own().try_for_each(|(index, fetched)| {
            Ok(store.record_options(index, &fetched.rendered.options)?)
        })
    }

    /// Stops the run where the servers differ in what is known to matter and nobody allowed it.
    /// Servers that could not be asked are left out: their trials fail anyway.
    fn check_equality(
        &self,
        surveyed: &[Result<Surveyed, Failure>],
        store: &mut Store,
    ) -> Result<(), LabError> {
        let subjects: Vec<_> = self
            .plan
            .targets
            .iter()
            .zip(self.supplies)
            .zip(surveyed)
            .filter_map(|((target, supply), surveyed)| {
                let options = supply.own().map(|own| own.rendered.options.as_slice());
                let variables = &surveyed.as_ref().ok()?.variables;
                Some(subject(target, options.unwrap_or_default(), variables))
            })
            .collect();
        let differences = self.table.compare(&subjects, &self.plan.allow);
        if let Some(unequal) = UnequalTargets::of(&subjects, &differences) {
            return Err(unequal.into());
        }
        for name in self.table.unknown_allowed(&subjects, &self.plan.allow) {
            let text = format!("`allow` names `{name}`, which no server of this run has");
            warn_once(store, "allow-unknown", &text)?;
        }
        Ok(())
    }

    /// Says beside the results what can't be known or done of servers that others run.
    fn warn_of_external_servers(&self, store: &mut Store) -> Result<(), LabError> {
        let external = |target: &Target| target.external.is_some();
        for target in self.plan.targets.iter().filter(|target| external(target)) {
            let name = &target.name;
            let text = format!(
                "{name} is a server that Prony did not start: it is not started afresh for each \
                 trial, its settings are its own, and its processor time is not read"
            );
            warn_once(store, "external", &text)?;
        }
        Ok(())
    }

    /// Whether trials of a target are missing and its image is still to be made.
    fn lacks_image(&self, index: usize, missing: &[PlannedTrial]) -> bool {
        let wanted = missing.iter().any(|planned| planned.target == index);
        wanted
            && self
                .maker(index)
                .is_some_and(|maker| maker.found().is_none())
    }

    fn maker(&self, index: usize) -> Option<ImageMaker<'_>> {
        Some(ImageMaker {
            lab: self.lab,
            dataset: &self.plan.dataset,
            target: &self.plan.targets[index],
            fetched: self.supplies[index].own()?,
        })
    }

    /// Makes the images of all targets that trials are missing of, before the first of these
    /// trials, so that no trial runs right after a load. `None` when the user stopped it.
    fn make_ready(
        &self,
        missing: &[PlannedTrial],
        surveyed: Vec<Result<Surveyed, Failure>>,
        events: &mut Events<'_>,
    ) -> Result<Option<Vec<Result<Ready, Failure>>>, LabError> {
        let mut all = Vec::new();
        for (index, surveyed) in surveyed.into_iter().enumerate() {
            let wanted = missing.iter().any(|planned| planned.target == index);
            let ready = match surveyed {
                Ok(surveyed) => self.ready(index, wanted, surveyed, events),
                Err(failure) => Err(Fault::Failed(failure)),
            };
            let Some(ready) = kept(&self.plan.targets[index], ready, events)? else {
                return Ok(None);
            };
            all.push(ready);
        }
        Ok(Some(all))
    }

    fn ready(
        &self,
        index: usize,
        wanted: bool,
        surveyed: Surveyed,
        events: &mut Events<'_>,
    ) -> Result<Ready, Fault> {
        let Surveyed { variables, empty } = surveyed;
        let image = match self.maker(index).filter(|_| wanted) {
            Some(maker) => Some(maker.image(empty, events)?),
            None => None,
        };
        Ok(Ready { variables, image })
    }

    /// Runs one planned trial and stores how it ended.
    fn trial(
        &self,
        planned: PlannedTrial,
        ready: &Result<Ready, Failure>,
        store: &mut Store,
        events: &mut Events<'_>,
    ) -> Result<TrialEnd, LabError> {
        let target = &self.plan.targets[planned.target].name;
        self.announce(planned, target, events);
        let begin = Instant::now();
        let id = store.begin_trial(planned, Timestamp::now())?;
        let end = match ready {
            Ok(Ready { variables, image }) => Trial {
                lab: self.lab,
                plan: self.plan,
                planned,
                id,
                supply: &self.supplies[planned.target],
                image: image.as_ref(),
                surveyed: variables,
                table: self.table,
                store,
            }
            .run(events),
            Err(failure) => Err(Fault::Failed(failure.clone())),
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

/// Splits off what ends the run; `None` when the user stopped it. What ends only the trials of
/// the target is shown and kept.
pub(crate) fn kept<T>(
    target: &Target,
    result: Result<T, Fault>,
    events: &mut Events<'_>,
) -> Result<Option<Result<T, Failure>>, LabError> {
    match result {
        Ok(value) => Ok(Some(Ok(value))),
        Err(Fault::Interrupted) => Ok(None),
        Err(Fault::Store(error)) => Err(error.into()),
        Err(Fault::Failed(failure)) => {
            events(Event::PrepareFailed {
                target: &target.name,
                reason: &failure.reason,
            });
            Ok(Some(Err(failure)))
        }
    }
}

/// Records a warning about the whole run, unless an earlier part of the run did.
fn warn_once(store: &mut Store, code: &str, text: &str) -> Result<(), LabError> {
    let before = store.warnings()?;
    if before.iter().all(|warning| warning.text != text) {
        store.record_warning(None, None, code, text)?;
    }
    Ok(())
}
