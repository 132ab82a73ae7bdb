//! How every measured server begins: from its image, with its rows in place and in memory.

use prony_model::{Dataset, Schema, Target};
use prony_servers::{Image, Images, Instance};

use crate::collectors::{self, Wanted, Watched};
use crate::fault::Fault;
use crate::lab::Lab;
use crate::prepare::{Fetched, Loaded, Supply, fill, server_fault, start};
use crate::server::Server;

/// What a target's server begins with.
#[derive(Clone, Copy)]
pub(crate) struct Start<'a> {
    pub(crate) lab: &'a Lab<'a>,
    pub(crate) dataset: &'a Dataset,
    pub(crate) target: &'a Target,
    pub(crate) supply: &'a Supply,
    /// What the server comes from; `None` for an external one.
    pub(crate) image: Option<&'a Image>,
}

impl Start<'_> {
    /// Starts the server from its image, or goes to the one that runs already.
    pub(crate) fn server(&self) -> Result<Server, Fault> {
        match (self.supply, self.image) {
            (Supply::External(access), _) => access.enter(),
            (Supply::Own(fetched), Some(image)) => start(self.lab, self.restore(fetched, image)?),
            (Supply::Own(_), None) => Err(Fault::failed("there is no data image to start from")),
        }
    }

    /// The same, with what reads its cost.
    pub(crate) fn watched(&self, wanted: Wanted) -> Result<Watched, Fault> {
        match (self.supply, self.image) {
            (Supply::Own(fetched), Some(image)) => {
                collectors::start(self.lab, self.restore(fetched, image)?, wanted)
            }
            _ => Ok(collectors::attend(self.lab, self.server()?, wanted)),
        }
    }

    fn restore(&self, fetched: &Fetched, image: &Image) -> Result<Instance, Fault> {
        let Fetched { build, rendered } = fetched;
        let instance = Instance::create(self.lab.roots, self.lab.launcher, build, rendered)
            .map_err(|error| server_fault(self.lab, &error))?;
        Images::new(self.lab.roots)
            .restore(image, &instance)
            .map_err(|error| Fault::failed(format!("failed to restore the data image: {error}")))?;
        Ok(instance)
    }

    /// Loads the dataset where it does not come with an image: the engine forgets it at every
    /// stop, or the server is external. `None` where an image brought it.
    pub(crate) fn fill(&self, server: &mut Server) -> Result<Option<Loaded>, Fault> {
        if self.image.is_some() && self.target.engine.persistent() {
            return Ok(None);
        }
        fill(self.lab, server, self.dataset, self.target, &mut |_| ()).map(Some)
    }

    /// Reads both indexes of every table once, so that the first step that needs one does not pay
    /// for bringing it into memory.
    pub(crate) fn warm(&self, server: &Server) -> Result<(), Fault> {
        for table in 0..self.dataset.tables {
            let name = self.dataset.table_name(table);
            let [key, secondary] = self.dataset.indexes(table).map(|index| index.name);
            // A column that is in no index makes the server read whole rows.
            let other = match self.dataset.schema {
                Schema::Sbtest => "LENGTH(pad)",
                Schema::Foo => "l",
            };
            server.control(&format!(
                "SELECT COUNT(*) FROM {name} FORCE INDEX ({key}) WHERE {other} < 0"
            ))?;
            server.control(&format!(
                "SELECT SUM(k) FROM {name} FORCE INDEX ({secondary}) WHERE k >= 0"
            ))?;
        }
        Ok(())
    }
}
