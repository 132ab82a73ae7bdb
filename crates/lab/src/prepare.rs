//! Making targets ready: builds are fetched, and every target gets the image that its trials
//! start from.

use std::time::Duration;

use prony_client::{ClientError, Connection};
use prony_load::{FillTask, Message, Task};
use prony_model::{Dataset, Plan, Target};
use prony_servers::{
    Catalogue, Depot, Image, Images, Instance, InstanceError, Rendered, Running, ServerBuild,
    Wanted,
};

use crate::drive::{LOG_LINES, drive};
use crate::error::LabError;
use crate::event::{Activity, Event, Events};
use crate::fault::Fault;
use crate::lab::Lab;

/// How long a server may take to stop: it writes back what is dirty.
pub(crate) const STOP_TIMEOUT: Duration = Duration::from_mins(5);
/// How long a control statement may take. Refreshing statistics reads whole tables.
const CONTROL_TIMEOUT: Duration = Duration::from_mins(10);

/// A target whose build is here and whose configuration is rendered.
pub(crate) struct Fetched {
    pub(crate) build: ServerBuild,
    pub(crate) rendered: Rendered,
}

/// Renders the configuration of every target, so that what a version can't honour is known before
/// anything is fetched or started.
///
/// # Errors
/// The first target whose build is unknown or whose configuration can't be rendered.
pub fn check(plan: &Plan, catalogue: &Catalogue) -> Result<(), LabError> {
    plan.targets
        .iter()
        .try_for_each(|target| render(plan, target, catalogue).map(drop))
}

/// Fetches the builds of all targets, each once.
pub(crate) fn fetch_all(
    lab: &Lab<'_>,
    plan: &Plan,
    events: &mut Events<'_>,
) -> Result<Vec<Fetched>, LabError> {
    let depot = Depot::new(lab.roots, lab.catalogue, lab.launcher);
    let mut all = Vec::new();
    for target in &plan.targets {
        let rendered = render(plan, target, lab.catalogue)?;
        let id = &target.build.id;
        let build = depot
            .fetch(id, lab.stop, &mut |event| {
                events(Event::Fetch {
                    build: id,
                    event: &event,
                });
            })
            .map_err(|source| LabError::Fetch {
                build: id.clone(),
                source,
            })?;
        all.push(Fetched { build, rendered });
    }
    Ok(all)
}

fn render(plan: &Plan, target: &Target, catalogue: &Catalogue) -> Result<Rendered, LabError> {
    let entry = catalogue
        .get(&target.build.id)
        .ok_or_else(|| LabError::UnknownBuild {
            target: target.name.clone(),
            build: target.build.id.clone(),
        })?;
    let clients_max = plan
        .steps
        .iter()
        .map(|step| step.clients)
        .max()
        .unwrap_or(1);
    catalogue
        .render(
            &entry.facts(),
            Wanted {
                engine: target.engine,
                config: &target.config,
                transport: target.transport,
                clients_max,
            },
        )
        .map_err(|source| LabError::Render {
            target: target.name.clone(),
            source,
        })
}

/// Finds the image of a target, or makes it: bootstrap, load, refresh statistics, clean stop.
pub(crate) fn image(
    lab: &Lab<'_>,
    plan: &Plan,
    target: &Target,
    fetched: &Fetched,
    events: &mut Events<'_>,
) -> Result<Image, Fault> {
    let images = Images::new(lab.roots);
    let key = images.key(
        &fetched.build,
        &fetched.rendered,
        target.engine,
        &plan.dataset,
    );
    let mut say = |activity| {
        events(Event::Prepare {
            target: &target.name,
            activity,
        });
    };
    if let Some(image) = images.find(&key) {
        say(Activity::ImageFound);
        return Ok(image);
    }
    say(Activity::Bootstrap);
    let mut instance = Instance::create(lab.roots, lab.launcher, &fetched.build, &fetched.rendered)
        .map_err(|error| server_fault(lab, &error))?;
    instance
        .bootstrap(lab.stop)
        .map_err(|error| server_fault(lab, &error))?;
    let mut server = instance
        .start(lab.stop)
        .map_err(|error| server_fault(lab, &error))?;
    if target.engine.persistent() {
        fill(lab, &mut server, &plan.dataset, target, &mut say)?;
    }
    say(Activity::Publish);
    let instance = stop(server)?;
    images
        .publish(instance, &key)
        .map_err(|error| Fault::failed(format!("failed to keep the data image: {error}")))
}

/// Loads the dataset into a running server and refreshes the statistics of its tables.
pub(crate) fn fill(
    lab: &Lab<'_>,
    server: &mut Running,
    dataset: &Dataset,
    target: &Target,
    say: &mut dyn FnMut(Activity),
) -> Result<(), Fault> {
    let task = Task::Fill(FillTask {
        dataset: *dataset,
        engine: target.engine,
        connections: lab.cpus.clamp(1, 8),
    });
    drive(lab, server, task, &mut |message| match message {
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
        Message::Filled { .. } => Ok(Some(())),
        _ => Ok(None),
    })?;
    for table in 0..dataset.tables {
        let sql = format!("ANALYZE TABLE prony.{}", Dataset::table_name(table));
        control(server, &sql)?;
    }
    Ok(())
}

/// Runs one control statement as administrator.
pub(crate) fn control(server: &Running, sql: &str) -> Result<prony_client::Answer, Fault> {
    let ask = || -> Result<_, ClientError> {
        Connection::connect(
            &server.admin_address(),
            &server.admin_login(),
            CONTROL_TIMEOUT,
        )?
        .query(sql)
    };
    ask().map_err(|error| {
        Fault::failed_with_log(
            format!("failed to {error} (in `{sql}`)"),
            server.log_tail(LOG_LINES),
        )
    })
}

/// Stops a server cleanly.
pub(crate) fn stop(server: Running) -> Result<Instance, Fault> {
    server
        .stop(STOP_TIMEOUT)
        .map_err(|error| Fault::failed_with_log(error.to_string(), error.log_tail().to_owned()))
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
