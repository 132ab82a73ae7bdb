//! The way from fetched builds to targets that are ready for their trials: settings are compared,
//! images are made.

use std::collections::BTreeSet;

use prony_equality::{UnequalTargets, VariableTable, unlike_intents};
use prony_model::{Plan, Target};
use prony_servers::{Image, Images};

use super::image::ImageMaker;
use super::supply::Supply;
use super::survey::{Surveyed, prepare_failed, subject, survey_all};
use crate::error::LabError;
use crate::event::Events;
use crate::fault::{Failure, Fault, Stop, contain};
use crate::lab::Lab;
use crate::server::Variables;

/// A target that is ready for its trials.
pub(crate) struct Ready {
    /// The variables that its server reported.
    pub(crate) variables: Variables,
    /// The origin of its data; `None` for an external server, and for a target without missing
    /// trials.
    pub(crate) image: Option<Image>,
    /// The image was there before.
    reused: bool,
}

impl Ready {
    fn report_image(&self, index: usize, on_image: &mut OnImage<'_>) -> Result<(), LabError> {
        self.image
            .iter()
            .try_for_each(|image| on_image(index, image, self.reused))
    }
}

/// The targets of a plan on their way to their trials.
pub(crate) struct Preparation<'a> {
    pub(crate) lab: &'a Lab<'a>,
    pub(crate) plan: &'a Plan,
    pub(crate) supplies: &'a [Supply],
    pub(crate) table: &'a VariableTable,
    /// The targets, by index, that trials are wanted of.
    pub(crate) wanted: &'a BTreeSet<usize>,
}

/// A warning about the whole run: its code and its words.
pub(crate) type RunWarning = (&'static str, String);

/// The receiver of a target's image, and of whether it was there before.
pub(crate) type OnImage<'a> = dyn FnMut(usize, &Image, bool) -> Result<(), LabError> + 'a;

impl Preparation<'_> {
    /// Reads the variables of all servers, compares them, and makes the images that are missing,
    /// before the first trial, so that no trial runs right after a load.
    ///
    /// # Errors
    /// When an external server can't be entered, or when the servers differ in what is known to
    /// matter and is not allowed. A failure of one target ends its trials only. `on_image` gets
    /// every image as soon as it is there.
    pub(crate) fn make_ready(
        &self,
        warnings: &mut Vec<RunWarning>,
        on_image: &mut OnImage<'_>,
        events: &mut Events<'_>,
    ) -> Result<Vec<Result<Ready, Failure>>, Stop> {
        let keeps_empty = |index| self.lacks_image(index);
        let surveyed = survey_all(self.lab, self.plan, self.supplies, &keeps_empty, events)?;
        self.check_equality(&surveyed, warnings)?;
        self.warn_of_external_servers(warnings);
        self.make_room()?;
        let mut all = Vec::new();
        for (index, surveyed) in surveyed.into_iter().enumerate() {
            all.push(match surveyed {
                Ok(surveyed) => {
                    let ready = contain(self.lab.stop, self.ready(index, surveyed, events))?;
                    match &ready {
                        Ok(ready) => ready.report_image(index, on_image)?,
                        Err(failure) => prepare_failed(&self.plan.targets[index], failure, events),
                    }
                    ready
                }
                // The survey has shown it.
                Err(failure) => Err(failure),
            });
        }
        Ok(all)
    }

    /// Stops where the servers differ in what is known to matter and nobody allowed it. Servers
    /// that could not be asked are left out: their trials fail anyway.
    fn check_equality(
        &self,
        surveyed: &[Result<Surveyed, Failure>],
        warnings: &mut Vec<RunWarning>,
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
            warnings.push(("allow-unknown", text));
        }
        // Variables of different families say nothing about each other.
        let targets: Vec<&Target> = self.plan.targets.iter().collect();
        let unlike = unlike_intents(&targets, &self.lab.catalogue.intent_facts());
        if !unlike.is_empty() {
            let unlike: Vec<String> = unlike.iter().map(ToString::to_string).collect();
            let text = format!("settings are not alike: {}", unlike.join("; "));
            warnings.push(("families", text));
        }
        Ok(())
    }

    /// Says what can't be known or done of servers that others run.
    fn warn_of_external_servers(&self, warnings: &mut Vec<RunWarning>) {
        let external = |target: &&Target| target.external.is_some();
        for target in self.plan.targets.iter().filter(external) {
            let name = &target.name;
            let text = format!(
                "{name} is a server that Prony did not start: it is not restarted for each trial, \
                 Prony does not configure it, and its processor time is not read"
            );
            warnings.push(("external", text));
        }
    }

    /// Makes sure that there is room for the images that are still to be made, and for the largest
    /// of all as a trial restores it and maybe loads it, or for all where trials run together. Images that no trial of this run needs make way as far as
    /// the limit of all images wants it.
    pub(crate) fn make_room(&self) -> Result<(), LabError> {
        let images = Images::new(self.lab.roots);
        let mut keep = Vec::new();
        let (mut missing, mut in_use) = (0, Vec::new());
        for index in self.wanted {
            // The twin starts from the image of its base.
            let is_twin = self.plan.twin == Some(*index) && self.wanted.contains(&self.plan.base);
            let Some(maker) = self.maker(*index).filter(|_| !is_twin) else {
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
            in_use.push(bytes.saturating_add(maker.growth_estimate()));
            if self.plan.base == *index && self.plan.twin.is_some() {
                in_use.extend(in_use.last().copied());
            }
        }
        let trim = |limit| {
            let trimmed = images.trim(limit, &keep);
            trimmed.map_err(|source| LabError::Images { source })
        };
        trim(self.lab.images_limit.saturating_sub(missing))?;
        let in_use: u64 = match self.plan.turn_ms {
            // All of a block are there together.
            Some(_) => in_use.iter().sum(),
            None => in_use.into_iter().max().unwrap_or(0),
        };
        let needed = missing + in_use;
        if images.check_room(needed).is_err() {
            // Whatever this run does not need is made again when it is wanted.
            trim(0)?;
        }
        Ok(images.check_room(needed)?)
    }

    /// Tells whether trials of a target are wanted and its image is still to be made.
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
