//! The origin of each target's server: a build that is fetched and configured, or an external server.

use prony_model::{Allocator, Plan, Step, Target};
use prony_servers::{Catalogue, Depot, Rendered, ServerBuild, Wanted, check_libraries};

use crate::error::LabError;
use crate::event::{Event, Events};
use crate::fault::Stop;
use crate::lab::Lab;
use crate::server::ExternalAccess;

/// The origin of a target's server.
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

/// Finds the passwords of external servers and the libraries to preload, then fetches the builds of all targets, each once.
pub(crate) fn supply_all(
    lab: &Lab<'_>,
    plan: &Plan,
    events: &mut Events<'_>,
) -> Result<Vec<Supply>, Stop> {
    // A missing password should not be noticed after minutes of fetching.
    let accesses = plan.targets.iter().map(|target| {
        let external = target.external.as_ref();
        external
            .map(|external| ExternalAccess::find(target, external))
            .transpose()
    });
    let accesses = accesses.collect::<Result<Vec<_>, _>>()?;
    plan.targets.iter().try_for_each(check_preload)?;
    plan.targets
        .iter()
        .zip(accesses)
        .map(|(target, access)| match access {
            Some(access) => Ok(Supply::External(access)),
            None => fetch(lab, plan, target, events).map(|fetched| Supply::Own(Box::new(fetched))),
        })
        .collect::<Result<_, _>>()
        .map_err(|error| Stop::after(error, lab.stop))
}

/// Checks the libraries of a target: a run that is resumed may find others than it began with.
fn check_preload(target: &Target) -> Result<(), LabError> {
    check_libraries(&target.preload).map_err(|source| LabError::Preload {
        target: target.name.clone(),
        source,
    })
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
        tables: plan.dataset.tables_total(),
        allow: &plan.allow,
    };
    catalogue
        .render(&entry.facts(), wanted)
        .map_err(|source| LabError::Render {
            target: target.name.clone(),
            source,
        })
}
