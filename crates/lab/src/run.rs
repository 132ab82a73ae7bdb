//! A run: every missing trial of a plan, in the plan's order.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use prony_check::HostCheck;
use prony_equality::VariableTable;
use prony_load::Hello;
use prony_model::{Backend, CountedBy, CounterSet, Plan, PlannedTrial, Target, TrialKind};
use prony_probe::hardware_counters;
use prony_servers::Image;
use prony_store::{LoadRecord, Store, TrialId};

use crate::attempts::{Attempts, Canary, Next};
use crate::ceiling;
use crate::drive::{GeneratorSetup, generator_host};
use crate::error::LabError;
use crate::event::{Event, Events};
use crate::fault::{Failure, Fault, Stop, unless_interrupted};
use crate::lab::Lab;
use crate::placement::{HostProcessors, Placements, check_processors, default_placement};
use crate::prepare::{Fetched, Preparation, Ready, Supply, supply_all};
use crate::trial::Trial;
use crate::warnings::warn_once;

/// The end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunEnd {
    /// Nothing is missing that this host can run.
    Complete {
        /// Trials that failed, now or before the run was resumed.
        failed: u64,
    },
    /// The user asked to stop; what is missing can be run by resuming.
    Interrupted,
}

/// Adds trials to the plan of a run that misses none, and returns `true` if it did.
pub type More<'e> = dyn FnMut(&mut Store) -> bool + 'e;

/// Runs every trial that the result file still misses, and then those that `more` adds, until it
/// adds none. `artefacts` is the folder beside it for configurations and the logs of failed trials.
///
/// A block that was begun on another host stays as it is: its trials would be no pairs.
///
/// # Errors
/// When a build can't be fetched, a configuration can't be rendered, or the result file can't be
/// written. Failing trials are not errors.
pub fn run(
    lab: &Lab<'_>,
    store: &mut Store,
    artefacts: &Path,
    events: &mut Events<'_>,
    more: &mut More<'_>,
) -> Result<RunEnd, LabError> {
    let end = unless_interrupted(run_missing(lab, store, artefacts, events, more))?;
    ceiling::strike(lab, store)?;
    if end.is_none() {
        return Ok(RunEnd::Interrupted);
    }
    store.set_run_ended(Timestamp::now())?;
    Ok(RunEnd::Complete {
        failed: store.trial_counts()?.failed,
    })
}

fn run_missing(
    lab: &Lab<'_>,
    store: &mut Store,
    artefacts: &Path,
    events: &mut Events<'_>,
    more: &mut More<'_>,
) -> Result<(), Stop> {
    store.abandon_running("Prony ended while the trial was running")?;
    let mut missing = missing_here(store, events)?;
    if missing.is_empty() && more(store) {
        missing = missing_here(store, events)?;
    }
    if missing.is_empty() {
        return Ok(());
    }
    let plan = store.plan().clone();
    check_counting(&plan, &missing)?;
    let host = HostProcessors::find(&lab.proc).map_err(|source| LabError::Processors { source })?;
    check_processors(&plan, &host)?;
    // Before anything of this run keeps the host busy.
    store.record_findings(&HostCheck::quick(&lab.proc, &lab.roots.cache))?;
    let hello = generator_host(lab)?;
    let backend = decide_backend(store, &hello)?;
    let supplies = supply_all(lab, &plan, events)?;
    // Before images are made, which leaves the machine busy with writing them.
    if let Some(unknown) = ceiling::record(lab, store, backend, events)? {
        warn_once(store, "calibration", &unknown)?;
    }
    let table = VariableTable::embedded().map_err(LabError::from)?;
    let setup = GeneratorSetup::new(&hello, backend);
    let placements = place(&plan, store, host, setup.threads_max)?;
    let mut trials = Trials {
        lab,
        plan: plan.clone(),
        supplies: &supplies,
        table: &table,
        setup,
        placements: &placements,
        riding: ceiling::riding(store)?,
    };
    trials.write_configurations(artefacts)?;
    trials.record_options(store)?;
    let wanted: BTreeSet<usize> = match plan.campaign {
        // Later blocks have every target.
        Some(_) => (0..plan.targets.len()).collect(),
        None => missing.iter().map(|planned| planned.target).collect(),
    };
    let preparation = Preparation {
        lab,
        plan: &plan,
        supplies: &supplies,
        table: &table,
        wanted: &wanted,
    };
    let mut warnings = Vec::new();
    // Each at once: a run that ends before the last image is made knows what it has made.
    let mut on_image =
        |target: usize, image: &Image, reused| record_load(store, target, image, reused);
    let ready = preparation.make_ready(&mut warnings, &mut on_image, events);
    for (code, text) in warnings {
        warn_once(store, code, &text)?;
    }
    let ready = ready?;
    loop {
        for planned in missing {
            if lab.stop.requested() {
                return Err(Stop::Interrupted);
            }
            trials.run(planned, &ready[planned.target], store, events)?;
        }
        if !more(store) {
            return Ok(());
        }
        trials.plan = store.plan().clone();
        missing = missing_here(store, events)?;
    }
}

/// The missing trials that this host can run: those of blocks that were not begun elsewhere.
fn missing_here(store: &Store, events: &mut Events<'_>) -> Result<Vec<PlannedTrial>, LabError> {
    let missing = store.missing_here()?;
    let elsewhere = store.missing_trials()?.into_iter();
    let elsewhere = elsewhere.filter(|trial| !missing.contains(trial));
    let left: BTreeSet<u32> = elsewhere.map(|trial| trial.block + 1).collect();
    if !left.is_empty() {
        events(Event::BegunElsewhere { blocks: &left });
    }
    Ok(missing)
}

/// The placements of a run: the rule on record, or the one that this host suggests.
fn place(
    plan: &Plan,
    store: &mut Store,
    host: HostProcessors,
    threads_max: u32,
) -> Result<Placements, LabError> {
    let wake_ups = store.calibration()?.and_then(|known| known.wake_ups);
    let price = wake_ups.and_then(|known| known.across_by_same());
    let default = default_placement(plan, price, &host);
    Ok(Placements {
        host,
        default: store.record_default_placement(default)?.rule,
        threads_max,
        threads_asked: false,
    })
}

/// Checks that the host can count what is still to be counted: a run may be resumed on another
/// host.
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

/// Decides the backend of the run's load: the one on record, or the experiment's, or the best one.
/// It is the same for all targets, so that their figures can be compared.
fn decide_backend(store: &mut Store, hello: &Hello) -> Result<Backend, LabError> {
    let encrypted = store.plan().targets.iter().any(Target::is_encrypted);
    let backend = match store.run()?.backend {
        Some(backend) => hello
            .choose_backend(Some(backend), encrypted)
            .map_err(|source| LabError::BackendLost { backend, source })?,
        None => hello.choose_backend(store.plan().backend, encrypted)?,
    };
    store.record_backend(backend)?;
    Ok(backend)
}

/// The trials of a run, and what they share.
struct Trials<'a> {
    lab: &'a Lab<'a>,
    plan: Plan,
    supplies: &'a [Supply],
    table: &'a VariableTable,
    setup: GeneratorSetup,
    placements: &'a Placements,
    /// Counters that ride along in timed trials.
    riding: Option<CounterSet>,
}

impl Trials<'_> {
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

    /// Keeps the options of every server.
    fn record_options(&self, store: &mut Store) -> Result<(), LabError> {
        self.own().try_for_each(|(index, fetched)| {
            Ok(store.record_options(index, &fetched.rendered.options)?)
        })
    }

    /// Runs one planned trial, again where its canaries exclude it, and stores how it ended.
    fn run(
        &self,
        planned: PlannedTrial,
        ready: &Result<Ready, Failure>,
        store: &mut Store,
        events: &mut Events<'_>,
    ) -> Result<(), Stop> {
        let target = &self.plan.targets[planned.target].name;
        let attempts = Attempts {
            planned,
            target,
            rule: self.plan.canary,
            stop: self.lab.stop,
        };
        let has_canaries = self.plan.has_canaries() && ready.is_ok();
        let mut canary = || prony_check::canary().map_err(|error| error.to_string());
        loop {
            self.announce(planned, target, events);
            let canary: Option<&mut Canary<'_>> = has_canaries.then_some(&mut canary);
            let next = attempts.run(
                store,
                events,
                canary,
                &mut |id, store, events| match ready {
                    Ok(ready) => self.trial(planned, id, ready, store).run(events),
                    Err(failure) => Err(Fault::Failed(failure.clone())),
                },
            )?;
            match next {
                Next::Trial => return Ok(()),
                Next::Again if self.lab.stop.requested() => return Err(Stop::Interrupted),
                Next::Again => {}
            }
        }
    }

    fn trial<'t>(
        &'t self,
        planned: PlannedTrial,
        id: TrialId,
        ready: &'t Ready,
        store: &'t mut Store,
    ) -> Trial<'t> {
        Trial {
            lab: self.lab,
            plan: &self.plan,
            planned,
            id,
            supply: &self.supplies[planned.target],
            image: ready.image.as_ref(),
            surveyed: &ready.variables,
            table: self.table,
            setup: self.setup,
            placements: self.placements,
            riding: self.riding,
            store,
        }
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

/// Keeps the load and the settling of an image's data.
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
