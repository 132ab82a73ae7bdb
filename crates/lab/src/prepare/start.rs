//! The beginning of every measured server: started from its image, with its rows in place and in
//! memory.

use prony_load::{FillTask, Message, Task};
use prony_model::{Dataset, LoadOutcome, Sample, SettleOutcome, Target, Transport};
use prony_servers::admin;
use prony_servers::{Image, Images, Instance, InstanceError};

use super::supply::{Fetched, Supply};
use crate::drive::{drive, lost};
use crate::event::Activity;
use crate::far::ClientHost;
use crate::fault::Fault;
use crate::lab::Lab;
use crate::server::{AFTER_LOAD, Server, server_fault, settle};
use crate::watch::{self, Readers, Wanted, Watched};

/// The start of a target's server.
#[derive(Clone, Copy)]
pub(crate) struct Start<'a> {
    pub(crate) lab: &'a Lab<'a>,
    pub(crate) dataset: &'a Dataset,
    pub(crate) target: &'a Target,
    pub(crate) supply: &'a Supply,
    /// The origin of its data; `None` for an external server.
    pub(crate) image: Option<&'a Image>,
}

impl Start<'_> {
    /// Starts the server from its image, or goes to the one that runs already.
    pub(crate) fn server(&self) -> Result<Server, Fault> {
        match (self.supply, self.image) {
            (Supply::External(access), _) => access.enter(),
            (Supply::Own(fetched), Some(image)) => {
                let server = start(self.lab, self.restore(fetched, image)?)?;
                self.admit(&server)?;
                Ok(server)
            }
            (Supply::Own(_), None) => Err(Fault::failed("there is no data image to start from")),
        }
    }

    /// The same, with what reads its cost.
    pub(crate) fn watched(&self, wanted: Wanted) -> Result<Watched, Fault> {
        match (self.supply, self.image) {
            (Supply::Own(fetched), Some(image)) => {
                let watched = watch::start(self.lab, self.restore(fetched, image)?, wanted)?;
                self.admit(&watched.server)?;
                Ok(watched)
            }
            _ => Ok(watch::attend(self.lab, self.server()?, wanted)),
        }
    }

    fn restore(&self, fetched: &Fetched, image: &Image) -> Result<Instance, Fault> {
        let Fetched { build, rendered } = fetched;
        let mut instance = Instance::create(self.lab.roots, self.lab.launcher, build, rendered)
            .map_err(|error| server_fault(&error))?
            .preloading(&self.target.preload)
            .map_err(|error| Fault::failed(format!("failed to {error}")))?;
        if let Some(client_host) = self.client_host() {
            instance = instance
                .listening_on(self.lab.roots, client_host.setup().listen)
                .map_err(|error| server_fault(&error))?;
        }
        Images::new(self.lab.roots)
            .restore(image, &instance)
            .map_err(|error| Fault::failed(format!("failed to restore the data image: {error}")))?;
        Ok(instance)
    }

    /// The client host, where the load comes from there.
    fn client_host(&self) -> Option<&ClientHost> {
        let is_far = self.target.transport == Transport::Network;
        self.lab.client_host.filter(|_| is_far)
    }

    /// Lets the client host log in. Its account is made at each start, so that no image has it.
    fn admit(&self, server: &Server) -> Result<(), Fault> {
        let (Some(client_host), Server::Own(server)) = (self.client_host(), server) else {
            return Ok(());
        };
        let address = client_host
            .address()
            .map_err(|error| lost(self.lab, error))?;
        server.admit(address).map_err(|error| server_fault(&error))
    }

    /// Loads the dataset where it does not come with an image: the engine forgets it at every
    /// stop, the load is measured, or the server is external. `None` where an image brought it.
    pub(crate) fn fill(
        &self,
        server: &mut Server,
        readers: Option<&mut Readers>,
        say: &mut dyn FnMut(Activity),
    ) -> Result<Option<Loaded>, Fault> {
        if self.image.is_some() && self.dataset.is_in_image(self.target.engine) {
            return Ok(None);
        }
        fill(self.lab, server, (self.dataset, self.target), readers, say).map(Some)
    }

    /// Reads both indexes of every table once, so that the first step that needs one does not pay
    /// for bringing it into memory.
    pub(crate) fn warm(&self, server: &Server) -> Result<(), Fault> {
        server.control(|connection| admin::warm(connection, self.dataset))
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
    make().map_err(|error| server_fault(&error))
}

/// Starts an instance that has a data directory.
pub(crate) fn start(lab: &Lab<'_>, instance: Instance) -> Result<Server, Fault> {
    instance
        .start(lab.stop)
        .map(|server| Server::Own(Box::new(server)))
        .map_err(|error| server_fault(&error))
}

/// The outcome of loading a dataset.
#[derive(Debug, Clone)]
pub(crate) struct Loaded {
    pub(crate) load: LoadOutcome,
    /// The settling after it.
    pub(crate) settle: SettleOutcome,
    /// Those from before the first table was made until the last index was; empty without readers.
    pub(crate) samples: Vec<Sample>,
}

/// Loads the dataset into a running server, whose cost `readers` read meanwhile, refreshes the
/// statistics of its tables and brings the engine to a quiet state.
pub(crate) fn fill(
    lab: &Lab<'_>,
    server: &mut Server,
    (dataset, target): (&Dataset, &Target),
    mut readers: Option<&mut Readers>,
    say: &mut dyn FnMut(Activity),
) -> Result<Loaded, Fault> {
    let mut flush_statistics = false;
    if let Some(readers) = &mut readers {
        readers.prepare(server);
        flush_statistics = readers.needs_flush(server);
    }
    let mut samples = Vec::new();
    let task = Task::Fill(FillTask {
        dataset: *dataset,
        engine: target.engine,
        connections: lab.cpus.clamp(1, 8),
        own_server: target.external.is_none(),
        hold: readers.is_some(),
        flush_statistics,
    });
    let load = drive(lab, server, task, &mut |message| {
        match (message, &mut readers) {
            (
                Message::Filling {
                    rows_done,
                    rows_total,
                    ..
                },
                _,
            ) => say(Activity::Load {
                rows_done,
                rows_total,
            }),
            (Message::Ready, Some(readers)) => samples.push(readers.begin()),
            (Message::MeasureEnd { .. }, Some(readers)) => {
                samples.extend(readers.end());
                if !flush_statistics {
                    readers.end_status(&mut samples, 0);
                }
            }
            (Message::StatisticsFlushed { sessions }, Some(readers)) => {
                readers.end_status(&mut samples, sessions);
            }
            (Message::Filled { outcome }, _) => return Some(outcome),
            _ => {}
        }
        None
    })?;
    say(Activity::Settle);
    let settle = settle(lab, server, target.engine, dataset, AFTER_LOAD)?;
    Ok(Loaded {
        load,
        settle,
        samples,
    })
}
