//! Columns of the ratios of time, and of those of a section: the same in all rows of a target and step.

use prony_model::RatioDisplay;

use super::Row;
use crate::analysis::Analysis;
use crate::analysis::estimate::Estimate;
use crate::analysis::section_summaries::{SectionSummary, StepRatio, TargetSummary};
use crate::figures::rounded;

/// A column: its heading, and the field below it.
pub(super) struct RatioColumn {
    pub(super) name: &'static str,
    of: Of,
}

#[derive(Clone, Copy)]
enum Of {
    /// A part of the ratio of time.
    Time(fn(&Estimate) -> Option<f64>),
    /// A figure of the section.
    Section(fn(&TargetSummary) -> Option<f64>),
    /// The step of the section with the lowest (0) or highest (1) ratio of throughput.
    Step(usize),
}

const COLUMNS: [RatioColumn; 13] = [
    time("time_ratio", |estimate| Some(estimate.ratio())),
    time("time_low", |estimate| Some(estimate.interval?.low)),
    time("time_high", |estimate| Some(estimate.interval?.high)),
    section("section_ratio", |of| {
        Some(of.overall.estimate.as_ref()?.ratio())
    }),
    section("section_low", |of| {
        Some(of.overall.estimate.as_ref()?.interval?.low)
    }),
    section("section_high", |of| {
        Some(of.overall.estimate.as_ref()?.interval?.high)
    }),
    step("section_lowest", 0),
    section("section_lowest_ratio", |of| {
        Some(extreme(of, 0)?.estimate.ratio())
    }),
    step("section_highest", 1),
    section("section_highest_ratio", |of| {
        Some(extreme(of, 1)?.estimate.ratio())
    }),
    section("section_time_ratio", |of| {
        Some(of.overall.time.as_ref()?.ratio())
    }),
    section("section_time_low", |of| {
        Some(of.overall.time.as_ref()?.interval?.low)
    }),
    section("section_time_high", |of| {
        Some(of.overall.time.as_ref()?.interval?.high)
    }),
];

const fn time(name: &'static str, of: fn(&Estimate) -> Option<f64>) -> RatioColumn {
    let of = Of::Time(of);
    RatioColumn { name, of }
}

const fn section(name: &'static str, of: fn(&TargetSummary) -> Option<f64>) -> RatioColumn {
    let of = Of::Section(of);
    RatioColumn { name, of }
}

const fn step(name: &'static str, place: usize) -> RatioColumn {
    let of = Of::Step(place);
    RatioColumn { name, of }
}

fn extreme(of: &TargetSummary, place: usize) -> Option<&StepRatio> {
    Some(of.extremes(RatioDisplay::Throughput)?[place])
}

/// The columns of a run that compares targets.
pub(super) fn columns(analysis: &Analysis<'_>) -> &'static [RatioColumn] {
    if analysis.compares() { &COLUMNS } else { &[] }
}

impl RatioColumn {
    /// The field of a row. Empty for the base and for loads; those of sections also for groups beside a
    /// step.
    pub(super) fn field(&self, row: &Row<'_>) -> Option<String> {
        let group = row.group()?;
        let analysis = row.analysis;
        let text = |value: f64| rounded(value, 6).to_string();
        let of_section = || {
            let holds = |summary: &&SectionSummary| summary.steps.contains(&group.step);
            let summary = analysis.summaries.iter().find(holds)?;
            let mut targets = summary.targets.iter().filter(|_| group.is_own());
            let found = targets.find(|(target, _)| *target == row.target)?;
            Some(&found.1)
        };
        match self.of {
            Of::Time(of) => {
                let cell = analysis.cells.at(group, row.target);
                of(&cell.time_ratio(&analysis.verdicts.looks)?).map(text)
            }
            Of::Section(of) => of(of_section()?).map(text),
            Of::Step(place) => {
                let found = extreme(of_section()?, place)?;
                Some(analysis.plan.steps[found.step].name.clone())
            }
        }
    }
}
