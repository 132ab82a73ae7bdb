//! A run: every missing trial of a plan, in the plan's order.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use jiff::Timestamp;
use prony_equality::VariableTable;
use prony_load::choose_backend;
use prony_model::{
    Backend, Calibration, CountedBy, CounterSet, LookingPrice, Plan, PlannedTrial, Target,
    TrialKind,
};
use prony_probe::hardware_counters;
use prony_servers::Image;
use prony_store::{LoadRecord, Store};

use crate::calibrate::CalibrationPoints;
use crate::error::LabError;
use crate::event::{Event, Events};
use crate::fault::{Failure, Fault};
use crate::lab::Lab;
use crate::prepare::{Fetched, Supply};
use crate::ready::{Preparation, Ready, supplies};
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
    check_counting(&plan, &missing)?;
    let backend = decide_backend(store)?;
    let Some(supplies) = supplies(lab, &plan, events)? else {
        return Ok(RunEnd::Interrupted);
    };
    // Before images are made, which leaves the machine busy with writing them.
    let Some(()) = record_calibration(lab, store, backend, events)? else {
        return Ok(RunEnd::Interrupted);
    };
    let table = VariableTable::embedded()?;
    let session = Session {
        lab,
        plan: &plan,
        supplies: &supplies,
        table: &table,
        backend,
        riding: riding(store)?,
    };
    session.write_configurations(artefacts)?;
    session.record_options(store)?;
    let wanted: BTreeSet<usize> = missing.iter().map(|planned| planned.target).collect();
    let preparation = Preparation {
        lab,
        plan: &plan,
        supplies: &supplies,
        table: &table,
        wanted: &wanted,
    };
    let mut remarks = Vec::new();
    // Each at once: a run that ends before the last image is made knows what it has made.
    let mut on_image =
        |target: usize, image: &Image, reused| record_load(store, target, image, reused);
    let ready = preparation.make_ready(&mut remarks, &mut on_image, events);
    for (code, text) in remarks {
        warn_once(store, code, &text)?;
    }
    let Some(ready) = ready? else {
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

/// Checks that what is still to be counted can be: a run may go on on another host than that on which
/// it began.
fn check_counting(plan: &Plan, missing: &[PlannedTrial]) -> Result<(), LabError> {
    let counts = |planned: &PlannedTrial| planned.kind == TrialKind::Counting;
    let by_hardware = plan
        .counting
        .is_some_and(|counting| counting.by == CountedBy::Hardware);
    if !by_hardware || !missing.iter().any(counts) {
        return Ok(());
    }
    hardware_counters().map_err(|error| LabError::Counting {
        reason: error.to_string(),
    })
}

/// What carries the connections of the run's load: what carried them before it was resumed, or what
/// the experiment wants, or what does it best. The same for all targets, so that their figures can be
/// compared.
fn decide_backend(store: &mut Store) -> Result<Backend, LabError> {
    let encrypted = store.plan().targets.iter().any(Target::is_encrypted);
    let backend = match store.run()?.backend {
        Some(backend) => choose_backend(Some(backend), encrypted)
            .map_err(|source| LabError::BackendLost { backend, source })?,
        None => choose_backend(store.plan().backend, encrypted)?,
    };
    store.record_backend(backend)?;
    Ok(backend)
}

/// Keeps the generator's ceiling on this host with the run, and measures it first where nobody has.
/// `None` when the user stopped it. A run can do without: then it is said.
fn record_calibration(
    lab: &Lab<'_>,
    store: &mut Store,
    backend: Backend,
    events: &mut Events<'_>,
) -> Result<Option<()>, LabError> {
    let calibrator = lab.calibrator();
    let known = calibrator.recall();
    let is_priced = |known: &Calibration| {
        let priced = |price: &LookingPrice| price.counters == CounterSet::Hardware;
        hardware_counters().is_err() || known.looking.iter().any(priced)
    };
    let known = known.filter(|known| known.covers(backend) && is_priced(known));
    let measured = if let Some(known) = known {
        Ok(Some(known))
    } else {
        events(Event::Calibrating);
        let points = CalibrationPoints::usual(CalibrationPoints::SHORT_MS);
        calibrator.calibrate(&points, &mut |_| {})
    };
    match measured {
        Ok(Some(calibration)) => store.record_calibration(&calibration, Timestamp::now())?,
        Ok(None) => return Ok(None),
        Err(error) => {
            let text = format!("the ceiling of the load generator is not known: failed to {error}");
            warn_once(store, "calibration", &text)?;
        }
    }
    Ok(Some(()))
}

/// The counters that ride along in timed trials where the experiment leaves it to the host: those of
/// the processor, where what they cost was measured when the run began and is next to nothing. All
/// trials of a run have the same.
fn riding(store: &Store) -> Result<Option<CounterSet>, LabError> {
    let calibration = store.first_calibration()?;
    let may = calibration.is_some_and(|known| known.may_ride(CounterSet::Hardware));
    if !may {
        return Ok(None);
    }
    hardware_counters().map_err(|error| LabError::Counting {
        reason: error.to_string(),
    })?;
    Ok(Some(CounterSet::Hardware))
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

struct Session<'a> {
    lab: &'a Lab<'a>,
    plan: &'a Plan,
    supplies: &'a [Supply],
    table: &'a VariableTable,
    backend: Backend,
    /// Counters that ride along in timed trials.
    riding: Option<CounterSet>,
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
            Ok(Ready {
                variables, image, ..
            }) => Trial {
                lab: self.lab,
                plan: self.plan,
                planned,
                id,
                supply: &self.supplies[planned.target],
                image: image.as_ref(),
                surveyed: variables,
                table: self.table,
                backend: self.backend,
                riding: self.riding,
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
            kind: planned.kind,
        });
    }
}

/// Keeps how the data of an image came into it.
fn record_load(
    store: &mut Store,
    target: usize,
    image: &Image,
    reused: bool,
) -> Result<(), LabError> {
    let record = image.record();
    let load = LoadRecord {
        outcome: record.load.as_ref(),
        settle: record.settle.as_ref(),
        image: image.key().as_str(),
        reused,
    };
    Ok(store.record_load(target, &load)?)
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
