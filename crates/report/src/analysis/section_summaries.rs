//! The ratios of a section at one number of clients: their geometric mean, the lowest and the highest.

use prony_model::{Plan, RatioDisplay};

use crate::analysis::cells::Cells;
use crate::analysis::estimate::{Estimate, PlannedLooks};
use crate::analysis::group::GroupId;
use crate::analysis::overall::{self, OverallRatio};
use crate::analysis::sections::Section;

/// The ratios of a section at one number of clients.
#[derive(Debug)]
pub(crate) struct SectionSummary {
    /// Title of the section; `None` if all steps are in one without title.
    pub(crate) title: Option<String>,
    pub(crate) clients: u32,
    /// Indices of the steps that count: at least two.
    pub(crate) steps: Vec<usize>,
    /// By contender, in the order of the plan.
    pub(crate) targets: Vec<(usize, TargetSummary)>,
}

/// The ratios of a target over the steps of a section.
#[derive(Debug)]
pub(crate) struct TargetSummary {
    /// The geometric mean.
    pub(crate) overall: OverallRatio,
    /// Ratios of throughput, ascending.
    rates: Vec<StepRatio>,
    /// Ratios of the time of an operation, ascending.
    times: Vec<StepRatio>,
}

/// The ratio of a step's own clients.
#[derive(Debug)]
pub(crate) struct StepRatio {
    pub(crate) step: usize,
    pub(crate) estimate: Estimate,
}

impl TargetSummary {
    /// The steps with the lowest and the highest ratio. `None` if no step has one.
    pub(crate) fn extremes(&self, display: RatioDisplay) -> Option<[&StepRatio; 2]> {
        let ratios = match display {
            RatioDisplay::Throughput => &self.rates,
            RatioDisplay::Time => &self.times,
        };
        Some([ratios.first()?, ratios.last()?])
    }
}

/// The summaries of each section, by number of clients. Steps whose operations arrive at a rate do not
/// count; there is no summary of a single step.
pub(crate) fn of(
    plan: &Plan,
    sections: &[Section],
    cells: &Cells,
    looks: &PlannedLooks,
) -> Vec<SectionSummary> {
    let mut summaries = Vec::new();
    for section in sections {
        let steps = section.steps.iter().copied();
        let counted = steps.filter(|&step| overall::counts(plan, GroupId::own(step)));
        let counted: Vec<usize> = counted.collect();
        let clients = |step: usize| plan.steps[step].own().clients;
        let mut counts: Vec<u32> = counted.iter().map(|&step| clients(step)).collect();
        counts.sort_unstable();
        counts.dedup();
        for count in counts {
            let of_count = counted.iter().copied();
            let steps: Vec<usize> = of_count.filter(|&step| clients(step) == count).collect();
            if steps.len() < 2 {
                continue;
            }
            let of_target = |target| (target, summary(plan, &steps, target, cells, looks));
            summaries.push(SectionSummary {
                title: section.title.clone(),
                clients: count,
                targets: plan.contenders().map(of_target).collect(),
                steps,
            });
        }
    }
    summaries
}

fn summary(
    plan: &Plan,
    steps: &[usize],
    target: usize,
    cells: &Cells,
    looks: &PlannedLooks,
) -> TargetSummary {
    let ascending = |ratio: &dyn Fn(usize) -> Option<Estimate>| {
        let ratios = steps.iter().filter_map(|&step| {
            let estimate = ratio(step)?;
            Some(StepRatio { step, estimate })
        });
        let mut ratios: Vec<StepRatio> = ratios.collect();
        ratios.sort_by(|a, b| a.estimate.ratio().total_cmp(&b.estimate.ratio()));
        ratios
    };
    let cell = |step| cells.at(GroupId::own(step), target);
    TargetSummary {
        overall: overall::ratio(plan, steps, target, cells, looks),
        rates: ascending(&|step| Some(looks.of_pairs(cell(step).ratio()?))),
        times: ascending(&|step| cell(step).time_ratio(looks)),
    }
}
