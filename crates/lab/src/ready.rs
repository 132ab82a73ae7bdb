//! From a plan to targets that are ready for their trials: builds fetched, settings compared,
//! images made.

use std::collections::BTreeSet;

use prony_equality::{UnequalTargets, VariableTable};
use prony_model::{Plan, Target};
use prony_servers::{Image, Images};

use crate::error::LabError;
use crate::event::Events;
use crate::fault::{Failure, Fault};
use crate::lab::Lab;
use crate::prepare::{ImageMaker, Supply, supply_all};
use crate::run::kept;
use crate::survey::{Surveyed, Variables, subject, survey_all};

/// A target that is ready for its trials.
pub(crate) struct Ready {
    /// What its server said of its variables.
    pub(crate) variables: Variables,
    /// What its server starts from; `None` for an external server, and for a target that no trial
    /// is missing of.
    pub(crate) image: Option<Image>,
    /// Whether the image was there before.
    reused: bool,
}

/// A plan's targets, with what is known of them.
pub(crate) struct Preparation<'a> {
    pub(crate) lab: &'a Lab<'a>,
    pub(crate) plan: &'a Plan,
    pub(crate) supplies: &'a [Supply],
    pub(crate) table: &'a VariableTable,
    /// The targets, by index, that trials are wanted of.
    pub(crate) wanted: &'a BTreeSet<usize>,
}

/// Something to be said beside the results: its code and its words.
pub(crate) type Remark = (&'static str, String);

/// Who is told of a target's image, and whether it was there before.
pub(crate) type OnImage<'a> = dyn FnMut(usize, &Image, bool) -> Result<(), LabError> + 'a;

/// Fetches what the targets need. `None` when the user stopped it.
pub(crate) fn supplies(
    lab: &Lab<'_>,
    plan: &Plan,
    events: &mut Events<'_>,
) -> Result<Option<Vec<Supply>>, LabError> {
    match supply_all(lab, plan, events) {
        Err(_) if lab.stop.requested() => Ok(None),
        other => other.map(Some),
    }
}

impl Preparation<'_> {
    /// Reads the variables of all servers, compares them, and makes the images that are missing,
    /// before the first trial, so that no trial runs right after a load. `None` when the user
    /// stopped it.
    ///
    /// # Errors
    /// When an external server can't be entered, or when the servers differ in what is known to
    /// matter and nobody allowed it. What ends only the trials of one target is kept with it.
    /// `on_image` is told of every image as soon as it is there, and whether it was before.
    pub(crate) fn make_ready(
        &self,
        remarks: &mut Vec<Remark>,
        on_image: &mut OnImage<'_>,
        events: &mut Events<'_>,
    ) -> Result<Option<Vec<Result<Ready, Failure>>>, LabError> {
        let keeps_empty = |index| self.lacks_image(index);
        let surveyed = survey_all(self.lab, self.plan, self.supplies, &keeps_empty, events)?;
        let Some(surveyed) = surveyed else {
            return Ok(None);
        };
        self.check_equality(&surveyed, remarks)?;
        self.remark_on_external_servers(remarks);
        self.make_room()?;
        let mut all = Vec::new();
        for (index, surveyed) in surveyed.into_iter().enumerate() {
            let ready = match surveyed {
                Ok(surveyed) => self.ready(index, surveyed, events),
                Err(failure) => Err(Fault::Failed(failure)),
            };
            let Some(ready) = kept(&self.plan.targets[index], ready, events)? else {
                return Ok(None);
            };
            if let Ok(Ready {
                image: Some(image),
                reused,
                ..
            }) = &ready
            {
                on_image(index, image, *reused)?;
            }
            all.push(ready);
        }
        Ok(Some(all))
    }

    /// Stops where the servers differ in what is known to matter and nobody allowed it. Servers
    /// that could not be asked are left out: their trials fail anyway.
    fn check_equality(
        &self,
        surveyed: &[Result<Surveyed, Failure>],
        remarks: &mut Vec<Remark>,
    ) -> Result<(), LabError> {
        let targets = self.plan.targets.iter().zip(self.supplies);
        let subjects: Vec<_> = targets
            .zip(surveyed)
            .filter_map(|((target, supply), surveyed)| {
                let options = supply.own().map(|own| own.rendered.options.as_slice());
                let variables = &surveyed.as_ref().ok()?.variables;
                Some(subject(target, options.unwrap_or_default(), variables))
            })
            .collect();
        let differences = self.table.compare(&subjects, &self.plan.allow);
        if let Some(unequal) = UnequalTargets::of(&subjects, &differences) {
            return Err(unequal.into());
        }
        for name in self.table.unknown_allowed(&subjects, &self.plan.allow) {
            let text = format!("`allow` names `{name}`, which no server of this run has");
            remarks.push(("allow-unknown", text));
        }
        Ok(())
    }

    /// Says what can't be known or done of servers that others run.
    fn remark_on_external_servers(&self, remarks: &mut Vec<Remark>) {
        let external = |target: &&Target| target.external.is_some();
        for target in self.plan.targets.iter().filter(external) {
            let name = &target.name;
            let text = format!(
                "{name} is a server that Prony did not start: it is not started afresh for each \
                 trial, its settings are its own, and its processor time is not read"
            );
            remarks.push(("external", text));
        }
    }

    /// Makes sure that there is room for the images that are still to be made, and for the largest
    /// of all as a trial restores it. Images that no trial of this run needs make way as far as
    /// the limit of all images wants it.
    pub(crate) fn make_room(&self) -> Result<(), LabError> {
        let images = Images::new(self.lab.roots);
        let mut keep = Vec::new();
        let (mut missing, mut largest) = (0, 0);
        for index in self.wanted {
            let Some(maker) = self.maker(*index) else {
                continue;
            };
            let bytes = if let Some(image) = maker.found() {
                keep.push(image.key().clone());
                image.bytes()
            } else {
                let bytes = maker.size_estimate();
                missing += bytes;
                bytes
            };
            largest = largest.max(bytes);
        }
        let trim = |limit| {
            let trimmed = images.trim(limit, &keep);
            trimmed.map_err(|source| LabError::Images { source })
        };
        trim(self.lab.images_limit.saturating_sub(missing))?;
        let needed = missing + largest;
        if images.check_room(needed).is_err() {
            // Whatever this run does not need is made again when it is wanted.
            trim(0)?;
        }
        Ok(images.check_room(needed)?)
    }

    /// Whether trials of a target are wanted and its image is still to be made.
    fn lacks_image(&self, index: usize) -> bool {
        self.wanted.contains(&index)
            && self
                .maker(index)
                .is_some_and(|maker| maker.found().is_none())
    }

    fn maker(&self, index: usize) -> Option<ImageMaker<'_>> {
        Some(ImageMaker {
            lab: self.lab,
            dataset: &self.plan.dataset,
            target: &self.plan.targets[index],
            fetched: self.supplies[index].own()?,
        })
    }

    fn ready(
        &self,
        index: usize,
        surveyed: Surveyed,
        events: &mut Events<'_>,
    ) -> Result<Ready, Fault> {
        let Surveyed { variables, empty } = surveyed;
        let reused = !self.lacks_image(index);
        let wanted = self.wanted.contains(&index);
        let image = match self.maker(index).filter(|_| wanted) {
            Some(maker) => Some(maker.image(empty, events)?),
            None => None,
        };
        Ok(Ready {
            variables,
            image,
            reused,
        })
    }
}
