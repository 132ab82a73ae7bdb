//! The form in which ratios are shown: of throughput, or of the time of an operation.

use prony_model::{Metric, RatioDisplay};

use crate::analysis::Analysis;
use crate::analysis::estimate::Estimate;
use crate::analysis::group::GroupId;
use crate::analysis::verdicts::Judged;

impl Analysis<'_> {
    /// The form of a step's ratios: that which the reader asks for, else the plan's.
    pub(crate) fn ratio_display(&self, step: usize) -> RatioDisplay {
        let planned = || self.plan.ratio_display(&self.plan.steps[step]);
        self.asked_display.unwrap_or_else(planned)
    }

    /// Returns `true` if the ratios of a step are of time.
    pub(crate) fn shows_time(&self, step: usize) -> bool {
        self.ratio_display(step) == RatioDisplay::Time
    }

    /// The form of the ratios of all steps; `None` if they differ.
    pub(crate) fn common_display(&self) -> Option<RatioDisplay> {
        let mut displays = self.shown_steps().map(|step| self.ratio_display(step));
        let first = displays.next().unwrap_or_default();
        displays.all(|other| other == first).then_some(first)
    }

    /// The form of the ratio of several steps together: time if all of them show time.
    pub(crate) fn display_of(&self, steps: &[usize]) -> RatioDisplay {
        if steps.iter().all(|&step| self.shows_time(step)) {
            RatioDisplay::Time
        } else {
            RatioDisplay::Throughput
        }
    }

    /// Words after the name of a step, or of several, whose ratios are of time; empty if all ratios of the
    /// run have one form.
    pub(crate) fn display_words(&self, steps: &[usize]) -> &'static str {
        if self.common_display().is_none() && self.display_of(steps) == RatioDisplay::Time {
            ": time"
        } else {
            ""
        }
    }

    /// The ratio of a group as it is shown. `None` for the base.
    pub(crate) fn shown_ratio(&self, group: GroupId, target: usize) -> Option<Estimate> {
        let (cell, looks) = (self.cells.at(group, target), &self.verdicts.looks);
        match self.ratio_display(group.step) {
            RatioDisplay::Throughput => Some(looks.of_pairs(cell.ratio()?)),
            RatioDisplay::Time => cell.time_ratio(looks),
        }
    }

    /// The verdict on the ratio that is shown of a group: that on throughput also where the ratio is its
    /// inverse.
    pub(crate) fn shown_verdict(&self, group: GroupId, target: usize) -> Option<&Judged> {
        let is_of_response = group.of(self.plan).pace.is_scheduled();
        let metric = match self.ratio_display(group.step) {
            RatioDisplay::Time if is_of_response => Metric::ResponseMean,
            _ => Metric::Operations,
        };
        self.verdicts.get(group, target, metric)
    }

    /// The verdict that decides how a step counts, or where times are shown that on these.
    pub(crate) fn shown_headline(&self, group: GroupId, target: usize) -> Option<&Judged> {
        if self.shows_time(group.step) {
            return self.shown_verdict(group, target);
        }
        self.verdicts.headline(self.plan, group, target)
    }

    /// Returns `true` if the ratio of a verdict is one of throughput and is shown as one of time.
    pub(crate) fn is_shown_as_time(&self, judged: &Judged) -> bool {
        let is_scheduled = judged.group.of(self.plan).pace.is_scheduled();
        judged.metric == Metric::Operations && !is_scheduled && self.shows_time(judged.group.step)
    }

    /// The ratio of a verdict as it is shown.
    pub(crate) fn as_shown(&self, judged: &Judged) -> Estimate {
        if self.is_shown_as_time(judged) {
            judged.estimate.inverted()
        } else {
            judged.estimate.clone()
        }
    }
}
