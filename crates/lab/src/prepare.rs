//! Making targets ready: builds are fetched, and every target gets the image that its trials
//! start from.

use std::time::Duration;

use prony_load::{FillTask, Message, Task};
use prony_model::{Allocator, Dataset, LoadOutcome, Plan, SettleOutcome, Step, Target};
use prony_servers::{
    Catalogue, Depot, Image, ImageKey, ImageRecord, Images, Instance, InstanceError, Rendered,
    ServerBuild, Wanted, image_size_estimate,
};

use crate::drive::drive;
use crate::error::LabError;
use crate::event::{Activity, Event, Events};
use crate::fault::Fault;
use crate::lab::Lab;
use crate::server::{ExternalAccess, Server};
use crate::settle::{AFTER_LOAD, settle};

/// How long a server may take to stop: it writes back what is dirty.
pub(crate) const STOP_TIMEOUT: Duration = Duration::from_mins(5);

/// What a target's server comes from.
#[derive(Debug)]
pub(crate) enum Supply {
    /// A build, which Prony starts.
    Own(Box<Fetched>),
    /// A server that runs already.
    External(ExternalAccess),
}

/// A build that is here, and the configuration rendered for it.
#[derive(Debug)]
pub(crate) struct Fetched {
    pub(crate) build: ServerBuild,
    pub(crate) rendered: Rendered,
}

impl Supply {
    /// The build and its configuration, where Prony starts the server.
    pub(crate) fn own(&self) -> Option<&Fetched> {
        match self {
            Self::Own(fetched) => Some(fetched),
            Self::External(_) => None,
        }
    }
}

/// Renders the configuration of every target, so that what a version can't honour is known before
/// anything is fetched or started.
///
/// # Errors
/// The first target whose build is unknown or whose configuration can't be rendered.
pub fn check(plan: &Plan, catalogue: &Catalogue) -> Result<(), LabError> {
    plan.targets
        .iter()
        .filter(|target| target.external.is_none())
        .try_for_each(|target| render(plan, target, catalogue).map(drop))
}

/// Finds the passwords of external servers, then fetches the builds of all targets, each once.
pub(crate) fn supply_all(
    lab: &Lab<'_>,
    plan: &Plan,
    events: &mut Events<'_>,
) -> Result<Vec<Supply>, LabError> {
    // What is missing here should not be noticed after minutes of fetching.
    let accesses = plan.targets.iter().map(|target| {
        let external = target.external.as_ref();
        external
            .map(|external| ExternalAccess::find(&target.name, external))
            .transpose()
    });
    let accesses = accesses.collect::<Result<Vec<_>, _>>()?;
    plan.targets
        .iter()
        .zip(accesses)
        .map(|(target, access)| match access {
            Some(access) => Ok(Supply::External(access)),
            None => fetch(lab, plan, target, events).map(|fetched| Supply::Own(Box::new(fetched))),
        })
        .collect()
}

fn fetch(
    lab: &Lab<'_>,
    plan: &Plan,
    target: &Target,
    events: &mut Events<'_>,
) -> Result<Fetched, LabError> {
    let rendered = render(plan, target, lab.catalogue)?;
    let depot = Depot::new(lab.roots, lab.catalogue, lab.launcher);
    let id = &target.build.id;
    let mut say = |event| {
        events(Event::Fetch {
            build: id,
            event: &event,
        });
    };
    let mut build = depot.fetch(id, lab.stop, &mut say);
    if rendered.process.allocator != Allocator::Built {
        build = build.and_then(|build| {
            depot.with_allocator(build, rendered.process.allocator, lab.stop, &mut say)
        });
    }
    let build = build.map_err(|source| LabError::Fetch {
        build: id.clone(),
        source,
    })?;
    Ok(Fetched { build, rendered })
}

fn render(plan: &Plan, target: &Target, catalogue: &Catalogue) -> Result<Rendered, LabError> {
    let entry = catalogue
        .get(&target.build.id)
        .ok_or_else(|| LabError::UnknownBuild {
            target: target.name.clone(),
            build: target.build.id.clone(),
        })?;
    let clients = plan.steps.iter().map(Step::connections_max);
    let clients_max = clients.max().unwrap_or(1);
    let wanted = Wanted {
        engine: target.engine,
        config: &target.config,
        transport: target.transport,
        clients_max,
        tables: plan.dataset.tables,
        allow: &plan.allow,
    };
    catalogue
        .render(&entry.facts(), wanted)
        .map_err(|source| LabError::Render {
            target: target.name.clone(),
            source,
        })
}

/// What the image of a target is made from, or that it is there already.
pub(crate) struct ImageMaker<'a> {
    pub(crate) lab: &'a Lab<'a>,
    pub(crate) dataset: &'a Dataset,
    pub(crate) target: &'a Target,
    pub(crate) fetched: &'a Fetched,
}

impl ImageMaker<'_> {
    /// The image, if it has been made before.
    pub(crate) fn found(&self) -> Option<Image> {
        Images::new(self.lab.roots).find(&self.key())
    }

    fn key(&self) -> ImageKey {
        let Fetched { build, rendered } = self.fetched;
        let images = Images::new(self.lab.roots);
        images.key(build, rendered, self.target.engine, self.dataset)
    }

    /// Bytes that it takes at most, estimated.
    pub(crate) fn size_estimate(&self) -> u64 {
        let rendered = &self.fetched.rendered;
        image_size_estimate(self.target.engine, self.dataset, rendered)
    }

    /// Finds the image of a target, or makes it: bootstrap, load, refresh statistics, clean stop.
    /// `empty` is a bootstrapped instance that may be used up.
    pub(crate) fn image(
        &self,
        empty: Option<Instance>,
        events: &mut Events<'_>,
    ) -> Result<Image, Fault> {
        let mut say = |activity| {
            events(Event::Prepare {
                target: &self.target.name,
                activity,
            });
        };
        if let Some(image) = self.found() {
            say(Activity::ImageFound);
            return Ok(image);
        }
        let instance = match empty {
            Some(instance) => instance,
            None => bootstrapped(self.lab, self.fetched, &mut say)?,
        };
        let mut server = start(self.lab, instance)?;
        let loaded = if self.target.engine.persistent() {
            let loaded = fill(self.lab, &mut server, self.dataset, self.target, &mut say)?;
            Some((loaded.load, loaded.settle))
        } else {
            None
        };
        let (load, settle) = loaded.unzip();
        say(Activity::Publish);
        let Some(instance) = server.stop()? else {
            return Err(Fault::failed("an external server has no image"));
        };
        let record = ImageRecord {
            engine: self.target.engine,
            dataset: *self.dataset,
            load,
            settle,
        };
        Images::new(self.lab.roots)
            .publish(instance, &self.key(), record)
            .map_err(|error| Fault::failed(format!("failed to keep the data image: {error}")))
    }
}

/// A new instance with its system tables.
pub(crate) fn bootstrapped(
    lab: &Lab<'_>,
    fetched: &Fetched,
    say: &mut dyn FnMut(Activity),
) -> Result<Instance, Fault> {
    say(Activity::Bootstrap);
    let make = || -> Result<Instance, InstanceError> {
        let Fetched { build, rendered } = fetched;
        let mut instance = Instance::create(lab.roots, lab.launcher, build, rendered)?;
        instance.bootstrap(lab.stop)?;
        Ok(instance)
    };
    make().map_err(|error| server_fault(lab, &error))
}

/// Starts an instance that has a data directory.
pub(crate) fn start(lab: &Lab<'_>, instance: Instance) -> Result<Server, Fault> {
    instance
        .start(lab.stop)
        .map(|server| Server::Own(Box::new(server)))
        .map_err(|error| server_fault(lab, &error))
}

/// How a dataset was loaded.
#[derive(Debug, Clone)]
pub(crate) struct Loaded {
    pub(crate) load: LoadOutcome,
    /// What came after it.
    pub(crate) settle: SettleOutcome,
}

/// Loads the dataset into a running server, refreshes the statistics of its tables and brings the
/// engine to a quiet state.
pub(crate) fn fill(
    lab: &Lab<'_>,
    server: &mut Server,
    dataset: &Dataset,
    target: &Target,
    say: &mut dyn FnMut(Activity),
) -> Result<Loaded, Fault> {
    let task = Task::Fill(FillTask {
        dataset: *dataset,
        engine: target.engine,
        connections: lab.cpus.clamp(1, 8),
        own_server: target.external.is_none(),
    });
    let load = drive(lab, server, None, task, &mut |message| match message {
        Message::Filling {
            rows_done,
            rows_total,
            ..
        } => {
            say(Activity::Load {
                rows_done,
                rows_total,
            });
            Ok(None)
        }
        Message::Filled { outcome } => Ok(Some(outcome)),
        _ => Ok(None),
    })?;
    say(Activity::Settle);
    let settle = settle(lab, server, target.engine, dataset, AFTER_LOAD)?;
    Ok(Loaded { load, settle })
}

/// What a server that can't be made or started means: nothing, if the user asked to stop.
pub(crate) fn server_fault(lab: &Lab<'_>, error: &InstanceError) -> Fault {
    if lab.stop.requested() {
        return Fault::Interrupted;
    }
    Fault::failed_with_log(
        format!("failed to {error}"),
        error.log_tail().unwrap_or_default().to_owned(),
    )
}
