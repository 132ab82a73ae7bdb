//! Making the image that the trials of a target start from.

use prony_model::{Dataset, Target};
use prony_servers::{
    Image, ImageKey, ImageRecord, Images, Instance, image_size_estimate, load_growth_estimate,
};

use super::start::{bootstrapped, fill, start};
use super::supply::Fetched;
use crate::event::{Activity, Events, activities};
use crate::fault::Fault;
use crate::lab::Lab;

/// The data image of a target: found, or made from its build and its dataset.
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

    /// Bytes by which a load in a trial makes its copy larger at most, estimated.
    pub(crate) fn growth_estimate(&self) -> u64 {
        let rendered = &self.fetched.rendered;
        load_growth_estimate(self.target.engine, self.dataset, rendered)
    }

    /// Finds the image of a target, or makes it: bootstrap, load, refresh statistics, clean stop.
    /// `empty` is a bootstrapped instance that may be used up.
    pub(crate) fn image(
        &self,
        empty: Option<Instance>,
        events: &mut Events<'_>,
    ) -> Result<Image, Fault> {
        let mut say = activities(self.target, events);
        if let Some(image) = self.found() {
            say(Activity::ImageFound);
            return Ok(image);
        }
        let instance = match empty {
            Some(instance) => instance,
            None => bootstrapped(self.lab, self.fetched, &mut say)?,
        };
        let mut server = start(self.lab, instance)?;
        let loaded = if self.dataset.is_in_image(self.target.engine) {
            let what = (self.dataset, self.target);
            let loaded = fill(self.lab, &mut server, what, None, &mut say)?;
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
            .map_err(|error| Fault::failed(format!("failed to store the data image: {error}")))
    }
}
