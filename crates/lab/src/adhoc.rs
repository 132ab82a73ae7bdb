//! Load without an experiment: one server, one workload, driven once, nothing stored.
//!
//! A server that Prony starts comes from a data image, as in a trial, so that the same load with
//! other clients a minute later need not fill its tables again.

use std::collections::BTreeSet;

use prony_equality::VariableTable;
use prony_load::{DriveTask, Message, Task};
use prony_model::{
    Backend, CanaryRule, Dataset, PlacementReading, Plan, RatioDisplay, Sample, SchedulingGroups,
    Step, StepOutcome, Target,
};
use prony_servers::{Image, admin};

use crate::calibrate::Calibrator;
use crate::drive::{GeneratorSetup, drive_task, generator_host};
use crate::error::LabError;
use crate::event::{Events, activities};
use crate::fault::{Failure, Fault, Stop, contain, unless_interrupted};
use crate::lab::Lab;
use crate::measure::measure;
use crate::placement::{Binding, HostProcessors, Placements, check_processors, default_placement};
use crate::prepare::{ImageMaker, Preparation, Start, Supply, supply_all};
use crate::server::Server;
use crate::watch::{self, Wanted, Watched, server_cpu_ns};

/// The load to be driven, and its server.
#[derive(Debug, Clone)]
pub struct AdHoc {
    /// The server.
    pub target: Target,
    /// Its tables.
    pub dataset: Dataset,
    /// Their origin on a server that Prony does not start. On one that it starts they are
    /// filled always.
    pub tables: Tables,
    /// The work.
    pub step: Step,
    /// Decides every drawn value.
    pub seed: u64,
    /// Threads of the load generator at most, at least 1; `None` for what is usual.
    pub threads_max: Option<u32>,
    /// The backend of the load; `None` for the best one of the host.
    pub backend: Option<Backend>,
    /// Milliseconds of measured time between two interval messages, at least 1.
    pub interval_ms: u64,
}

/// The origin of the tables of an external server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tables {
    /// They are there.
    Found,
    /// They are dropped, made and filled.
    Filled,
}

/// The end of an ad-hoc load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdHocEnd {
    /// The server's version as it reports it; empty when the user stopped before that.
    pub server_version: String,
    /// The outcome; `None` when the user stopped before the end.
    pub outcome: Option<StepOutcome>,
    /// Scheduling groups of an external server and of the load generator; `None` for a server that
    /// Prony started, which is in that of the generator.
    pub scheduling_groups: Option<SchedulingGroups>,
    /// Processor time of the server over the measured time, in nanoseconds; `None` where it is not
    /// known, as of servers that Prony did not start.
    pub server_cpu_ns: Option<u64>,
    /// The placement and the processors of every thread; `None` where `outcome` is.
    pub placement: Option<PlacementReading>,
    /// The samples of the measured time, from its start to its end; empty where `outcome` is
    /// `None`.
    pub samples: Vec<Sample>,
}

/// The reason why nothing could be driven.
#[derive(Debug, thiserror::Error)]
pub enum AdHocError {
    /// The server could not be supplied.
    #[error("failed to {0}")]
    Lab(#[from] LabError),
    /// The server or the load failed.
    #[error("{reason}")]
    Failed {
        /// The reason.
        reason: String,
        /// The end of the server's own log; empty where there is none.
        log_tail: String,
    },
}

/// Makes the server ready, drives the load, and ends a server that Prony started. `events` report
/// how it is made ready, `messages` are those of the load generator as they come.
///
/// # Errors
/// When the server is unavailable or can't be entered, or the load fails. Interruption is not an
/// error.
pub fn adhoc(
    lab: &Lab<'_>,
    work: &AdHoc,
    events: &mut Events<'_>,
    messages: &mut dyn FnMut(&Message),
) -> Result<AdHocEnd, AdHocError> {
    let mut end = AdHocEnd {
        server_version: String::new(),
        scheduling_groups: None,
        outcome: None,
        server_cpu_ns: None,
        placement: None,
        samples: Vec::new(),
    };
    let driven = unless_interrupted(drive_once(lab, work, &mut end, events, messages))?;
    match driven {
        None | Some(Ok(())) => Ok(end),
        Some(Err(Failure { reason, log_tail })) => Err(AdHocError::Failed { reason, log_tail }),
    }
}

fn drive_once(
    lab: &Lab<'_>,
    work: &AdHoc,
    end: &mut AdHocEnd,
    events: &mut Events<'_>,
    messages: &mut dyn FnMut(&Message),
) -> Result<Result<(), Failure>, Stop> {
    let hello = generator_host(lab)?;
    let backend = hello
        .choose_backend(work.backend, work.target.is_encrypted())
        .map_err(LabError::from)?;
    let usual = GeneratorSetup::new(&hello, backend);
    let plan = plan_of(work);
    let host = HostProcessors::find(&lab.proc).map_err(|source| LabError::Processors { source })?;
    check_processors(&plan, &host)?;
    let supplies = supply_all(lab, &plan, events)?;
    let setup = GeneratorSetup {
        threads_max: work.threads_max.unwrap_or(usual.threads_max),
        ..usual
    };
    let wake_ups = Calibrator::of(lab)
        .recall()
        .and_then(|known| known.wake_ups);
    let price = wake_ups.and_then(|known| known.across_by_same());
    let load = Load {
        lab,
        work,
        setup,
        placements: Placements {
            default: default_placement(&plan, price, &host).rule,
            host,
            threads_max: setup.threads_max,
            threads_asked: work.threads_max.is_some(),
        },
        plan: &plan,
        supply: &supplies[0],
    };
    load.make_room(&supplies)?;
    contain(lab.stop, load.run(end, events, messages))
}

/// The plan with this target and this step and no trials.
fn plan_of(work: &AdHoc) -> Plan {
    Plan {
        name: "load".to_owned(),
        question: String::new(),
        base: 0,
        bases: None,
        seed: work.seed,
        dataset: work.dataset,
        targets: vec![work.target.clone()],
        steps: vec![work.step.clone()],
        sections: Vec::new(),
        display: RatioDisplay::default(),
        preset: None,
        profile: None,
        allow: Vec::new(),
        counting: None,
        counting_note: None,
        profiling: None,
        profiling_note: None,
        canary: CanaryRule::default(),
        backend: work.backend,
        placement: None,
        twin: None,
        turn_ms: None,
        campaign: None,
        without: Vec::new(),
        confirms: None,
        left_out: Vec::new(),
        trials: Vec::new(),
    }
}

struct Load<'a> {
    lab: &'a Lab<'a>,
    work: &'a AdHoc,
    setup: GeneratorSetup,
    placements: Placements,
    plan: &'a Plan,
    supply: &'a Supply,
}

impl Load<'_> {
    /// Makes sure that there is room for the data image and for its copy.
    fn make_room(&self, supplies: &[Supply]) -> Result<(), LabError> {
        let preparation = Preparation {
            lab: self.lab,
            plan: self.plan,
            supplies,
            table: &VariableTable::embedded()?,
            wanted: &BTreeSet::from([0]),
        };
        preparation.make_room()
    }

    /// Does everything. A server that Prony started is gone when this returns.
    fn run(
        &self,
        end: &mut AdHocEnd,
        events: &mut Events<'_>,
        messages: &mut dyn FnMut(&Message),
    ) -> Result<(), Fault> {
        let image = match self.supply.own() {
            None => None,
            Some(fetched) => Some(
                ImageMaker {
                    lab: self.lab,
                    dataset: &self.work.dataset,
                    target: &self.work.target,
                    fetched,
                }
                .image(None, events)?,
            ),
        };
        let (mut watched, mut binding) = self.server(image.as_ref(), events)?;
        end.server_version = watched.server.version()?;
        if let Supply::External(access) = self.supply {
            end.scheduling_groups = Some(access.scheduling_groups()?);
        }
        self.drive(&mut watched, &mut binding, end, messages)?;
        // A server of Prony's own is no longer needed, and need not write back dirty pages.
        drop(watched);
        Ok(())
    }

    /// The server with its tables, its threads told if they are to be bound.
    fn server(
        &self,
        image: Option<&Image>,
        events: &mut Events<'_>,
    ) -> Result<(Watched, Binding), Fault> {
        let binds = self.placements.bind_server(self.plan, &self.work.target);
        if let (Supply::External(access), Tables::Found) = (self.supply, self.work.tables) {
            let server = access.as_found()?;
            self.check_tables(&server)?;
            let binding = Binding::new(&server, binds)?;
            return Ok((watch::attend(self.lab, server, Wanted::little()), binding));
        }
        let start = Start {
            lab: self.lab,
            dataset: &self.work.dataset,
            target: &self.work.target,
            supply: self.supply,
            image,
        };
        let mut watched = start.watched(Wanted::little())?;
        // Before other connections: each makes a session.
        let binding = Binding::new(&watched.server, binds)?;
        let mut say = activities(&self.work.target, events);
        start.fill(&mut watched.server, None, &mut say)?;
        start.warm(&watched.server)?;
        Ok((watched, binding))
    }

    /// Reads the first and the last table, so that missing ones are reported in one line.
    fn check_tables(&self, server: &Server) -> Result<(), Fault> {
        let dataset = &self.work.dataset;
        for table in BTreeSet::from([0, dataset.tables.saturating_sub(1)]) {
            let unreadable = |source| {
                Stop::Error(LabError::Tables {
                    table: dataset.table_name(table),
                    database: server.database().to_owned(),
                    source,
                })
            };
            let mut connection = server.connect().map_err(unreadable)?;
            admin::check_table(&mut connection, dataset, table)
                .map_err(|error| unreadable(error.source))?;
        }
        Ok(())
    }

    fn drive(
        &self,
        watched: &mut Watched,
        binding: &mut Binding,
        end: &mut AdHocEnd,
        messages: &mut dyn FnMut(&Message),
    ) -> Result<(), Fault> {
        let work = self.work;
        let placement = self.placements.of(self.plan, &work.target, &work.step);
        binding.begin(&work.step, placement)?;
        let task = drive_task(self.plan, &work.target, &work.step, work.seed, self.setup);
        let task = DriveTask {
            interval_ms: work.interval_ms,
            interval_histograms: true,
            thread_cpus: binding.thread_cpus(),
            ..task
        };
        let task = Task::Drive(Box::new(task));
        let measured = measure(self.lab, watched, binding, task, messages)?;
        if let [start, .., stop] = measured.samples.as_slice() {
            end.server_cpu_ns = server_cpu_ns(start, stop);
        }
        end.samples = measured.samples;
        end.placement = measured.placement;
        end.outcome = Some(*measured.outcome);
        Ok(())
    }
}
