//! A run: every missing trial of a plan, in the plan's order.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use prony_check::HostCheck;
use prony_equality::VariableTable;
use prony_load::{BackendError, Hello};
use prony_model::{Backend, CountedBy, CounterSet, Plan, PlannedTrial, Target, TrialKind};
use prony_probe::{HostFacts, hardware_counters};
use prony_servers::Image;
use prony_store::{LoadRecord, Store, TrialId};

use crate::attempts::{Attempts, Begun, Canary, Next};
use crate::ceiling;
use crate::drive::{GeneratorSetup, generator_host};
use crate::error::{ClientHostError, LabError};
use crate::event::{Event, Events};
use crate::fault::{Failure, Stop, unless_interrupted};
use crate::lab::Lab;
use crate::placement::{HostProcessors, Placements, check_processors, default_placement};
use crate::prepare::{Fetched, Preparation, Ready, Supply, supply_all};
use crate::together;
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
    check_memory(lab, &plan)?;
    let host = HostProcessors::find(&lab.proc).map_err(|source| LabError::Processors { source })?;
    check_processors(&plan, &host)?;
    // Before anything of this run keeps the host busy.
    store.record_findings(&HostCheck::quick(&lab.proc, &lab.roots.cache))?;
    let hello = generator_host(lab)?;
    let far = client_host(lab, &plan, store, events)?;
    let backend = decide_backend(store, [Some(&hello), far.as_ref()])?;
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
        far_setup: far.map_or(setup, |far| GeneratorSetup::new(&far, backend)),
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
        for group in missing.chunk_by(|one, next| plan.run_together(*one, *next)) {
            if lab.stop.requested() {
                return Err(Stop::Interrupted);
            }
            trials.run(group, &ready, store, events)?;
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

/// Checks that the servers that take turns can be there together. A host that does not tell its
/// memory is trusted.
fn check_memory(lab: &Lab<'_>, plan: &Plan) -> Result<(), LabError> {
    if plan.turn_ms.is_none() {
        return Ok(());
    }
    let of_target = |target: &Target| lab.catalogue.memory(target.build.family, &target.config);
    let needed = plan.targets.iter().map(of_target).sum::<u64>();
    match HostFacts::read(&lab.proc).memory_bytes {
        Some(present) if present < needed => Err(LabError::Memory {
            needed: bytes(needed),
            present: bytes(present),
        }),
        _ => Ok(()),
    }
}

/// Bytes in words.
fn bytes(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}

/// Connects to the client host, if targets are loaded from there, and keeps what it is. Returns what load
/// generators there have.
fn client_host(
    lab: &Lab<'_>,
    plan: &Plan,
    store: &mut Store,
    events: &mut Events<'_>,
) -> Result<Option<Hello>, Stop> {
    let Some(target) = plan.targets.iter().find(|target| target.is_far()) else {
        return Ok(None);
    };
    let Some(client_host) = lab.client_host else {
        let target = target.name.clone();
        return Err(LabError::NoClientHost { target }.into());
    };
    events(Event::Connecting {
        client: &client_host.setup().name,
    });
    let lost = |error: ClientHostError| Stop::after(LabError::from(error), lab.stop);
    let facts = client_host.survey().map_err(lost)?;
    store.record_client_host(&facts, Timestamp::now())?;
    events(Event::Connected { facts: &facts });
    client_host.generator().map(Some).map_err(lost)
}

/// Decides the backend of the run's load: the one on record, or the experiment's, or the best one.
/// It is the same for all targets, so that their figures can be compared.
fn decide_backend(store: &mut Store, hosts: [Option<&Hello>; 2]) -> Result<Backend, LabError> {
    let encrypted = store.plan().targets.iter().any(Target::is_encrypted);
    let choose = |wish| {
        // The one that cannot do without decides: there are two, and every host has one of them.
        let chosen = hosts.into_iter().flatten();
        let chosen = chosen.map(|host| host.choose_backend(wish, encrypted));
        let chosen: Vec<Backend> = chosen.collect::<Result<_, _>>()?;
        let is_common = chosen.iter().all(|backend| *backend == chosen[0]);
        Ok::<_, BackendError>(if is_common { chosen[0] } else { Backend::Epoll })
    };
    let backend = match store.run()?.backend {
        Some(backend) => {
            choose(Some(backend)).map_err(|source| LabError::BackendLost { backend, source })?
        }
        None => choose(store.plan().backend)?,
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
    /// That of the client host.
    far_setup: GeneratorSetup,
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

    /// Runs planned trials together, again where their canaries exclude them, and stores how they
    /// ended.
    fn run(
        &self,
        group: &[PlannedTrial],
        ready: &[Result<Ready, Failure>],
        store: &mut Store,
        events: &mut Events<'_>,
    ) -> Result<(), Stop> {
        let mut left = group.to_vec();
        loop {
            left = self.attempt(&left, ready, store, events)?;
            if left.is_empty() {
                return Ok(());
            }
            if self.lab.stop.requested() {
                return Err(Stop::Interrupted);
            }
        }
    }

    /// Runs an attempt at each of the trials, together. Returns those that are to be run again.
    fn attempt(
        &self,
        group: &[PlannedTrial],
        ready: &[Result<Ready, Failure>],
        store: &mut Store,
        events: &mut Events<'_>,
    ) -> Result<Vec<PlannedTrial>, Stop> {
        let mut canary = || prony_check::canary().map_err(|error| error.to_string());
        let has_canary = |attempt: &Attempts<'_>| {
            self.plan.has_canaries() && ready[attempt.planned.target].is_ok()
        };
        let attempts: Vec<Attempts<'_>> = group.iter().map(|it| self.attempts(*it)).collect();
        let mut begun = Vec::new();
        for attempt in &attempts {
            self.announce(attempt.planned, attempt.target, events);
            let canary: Option<&mut Canary<'_>> = has_canary(attempt).then_some(&mut canary);
            begun.push(attempt.begin(store, canary)?);
        }
        let ended = self.run_ready(group, &begun, ready, store, events);
        if let Err(Stop::Interrupted) = ended {
            for attempt in &begun {
                attempt.interrupt(store)?;
            }
        }
        let mut again = Vec::new();
        for ((attempt, begun), ended) in attempts.iter().zip(begun).zip(ended?) {
            let canary: Option<&mut Canary<'_>> = has_canary(attempt).then_some(&mut canary);
            if attempt.end(store, events, canary, (begun, ended))? == Next::Again {
                again.push(attempt.planned);
            }
        }
        Ok(again)
    }

    /// Runs those of the trials whose targets are ready. Returns how each ended.
    fn run_ready(
        &self,
        group: &[PlannedTrial],
        begun: &[Begun],
        ready: &[Result<Ready, Failure>],
        store: &mut Store,
        events: &mut Events<'_>,
    ) -> Result<Vec<Result<(), Failure>>, Stop> {
        let mut trials = Vec::new();
        for (planned, begun) in group.iter().zip(begun) {
            if let Ok(ready) = &ready[planned.target] {
                trials.push(self.trial(*planned, begun.id, ready));
            }
        }
        let mut ran = together::run(&trials, self.lab.stop, store, events)?.into_iter();
        let ended = group.iter().map(|planned| match &ready[planned.target] {
            Ok(_) => ran.next().unwrap_or(Ok(())),
            Err(failure) => Err(failure.clone()),
        });
        Ok(ended.collect())
    }

    fn attempts(&self, planned: PlannedTrial) -> Attempts<'_> {
        Attempts {
            planned,
            target: &self.plan.targets[planned.target].name,
            sharing: self.plan.sharing(planned),
            rule: self.plan.canary,
        }
    }

    fn trial<'t>(&'t self, planned: PlannedTrial, id: TrialId, ready: &'t Ready) -> Trial<'t> {
        Trial {
            lab: self.lab,
            plan: &self.plan,
            planned,
            id,
            supply: &self.supplies[planned.target],
            image: ready.image.as_ref(),
            surveyed: &ready.variables,
            table: self.table,
            setup: if self.plan.targets[planned.target].is_far() {
                self.far_setup
            } else {
                self.setup
            },
            placements: self.placements,
            riding: self.riding,
            takes_turns: self.plan.takes_turns(planned),
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
