//! The ratio of throughput over several steps together.

use std::collections::{BTreeMap, BTreeSet};

use prony_model::{Metric, Pace, Plan, RatioDisplay};
use prony_stats::row_means;

use crate::analysis::cell;
use crate::analysis::cells::Cells;
use crate::analysis::estimate::{Estimate, PlannedLooks};
use crate::analysis::group::GroupId;
use crate::analysis::measurement::Measurement;
use crate::analysis::pairing::InBlock as _;
use crate::analysis::replicates::means;
use crate::analysis::sections::Section;

/// The ratios of throughput over some steps.
#[derive(Debug)]
pub(crate) struct Overall {
    /// Title of the section; `None` for all steps.
    pub(crate) title: Option<String>,
    /// Indices of these steps.
    pub(crate) steps: Vec<usize>,
    /// By contender, in the order of the plan.
    pub(crate) targets: Vec<(usize, OverallRatio)>,
}

/// The ratio of throughput of a target over some steps.
#[derive(Debug)]
pub(crate) struct OverallRatio {
    /// Number of steps with a ratio.
    pub(crate) steps: usize,
    /// Geometric mean over these steps, paired in the blocks that have all of them. `None` without
    /// such a block.
    pub(crate) estimate: Option<Estimate>,
    /// The same of the times of an operation.
    pub(crate) time: Option<Estimate>,
}

impl OverallRatio {
    /// The ratio as it is shown.
    pub(crate) fn shown(&self, display: RatioDisplay) -> Option<&Estimate> {
        match display {
            RatioDisplay::Throughput => self.estimate.as_ref(),
            RatioDisplay::Time => self.time.as_ref(),
        }
    }
}

/// The ratios of all steps, then of each section if there are several. Steps whose operations arrive
/// at a rate are left out: servers that keep up are all alike there.
pub(crate) fn of(
    plan: &Plan,
    sections: &[Section],
    cells: &Cells,
    looks: &PlannedLooks,
) -> Vec<Overall> {
    let of_steps = |title: Option<&String>, steps: Vec<usize>| {
        if steps.is_empty() {
            return None;
        }
        let of_target = |target| (target, ratio(plan, &steps, target, cells, looks));
        Some(Overall {
            title: title.cloned(),
            targets: plan.contenders().map(of_target).collect(),
            steps,
        })
    };
    let steps = |section: &Section| self::steps(plan, std::slice::from_ref(section));
    let all = of_steps(None, self::steps(plan, sections));
    let several = sections.iter().filter(|_| sections.len() > 1);
    let parts = several.filter_map(|section| of_steps(section.title.as_ref(), steps(section)));
    all.into_iter().chain(parts).collect()
}

/// The steps of sections that say something of the servers, in the order in which they are shown.
pub(crate) fn steps(plan: &Plan, sections: &[Section]) -> Vec<usize> {
    let steps = sections.iter().flat_map(|section| &section.steps).copied();
    let says = |&step: &usize| counts(plan, GroupId::own(step));
    steps.filter(says).collect()
}

/// The ratio of a contender to the base over the steps' own clients.
pub(crate) fn ratio(
    plan: &Plan,
    steps: &[usize],
    target: usize,
    cells: &Cells,
    looks: &PlannedLooks,
) -> OverallRatio {
    let groups: Vec<GroupId> = steps.iter().map(|&step| GroupId::own(step)).collect();
    match plan.base_of(target) {
        Some(base) => over_groups(&groups, target, base, cells, looks),
        None => OverallRatio {
            steps: 0,
            estimate: None,
            time: None,
        },
    }
}

/// Returns `true` if the throughput of a group says something of its server: its operations do not arrive
/// at a rate.
pub(crate) fn counts(plan: &Plan, group: GroupId) -> bool {
    !matches!(group.of(plan).pace, Pace::Open { .. })
}

/// The quotients of two cells by block.
type Quotients = for<'a> fn(&'a [Measurement], &'a [Measurement]) -> Vec<(&'a Measurement, f64)>;

/// The ratio of a target to any other over groups of clients.
pub(crate) fn over_groups(
    groups: &[GroupId],
    target: usize,
    base: usize,
    cells: &Cells,
    looks: &PlannedLooks,
) -> OverallRatio {
    let quotients = |of: Quotients| {
        let ratios = groups.iter().map(|&group| {
            let of_target = |target| &cells.at(group, target).measurements[..];
            let quotients = of(of_target(target), of_target(base)).into_iter();
            let logs = quotients.map(|(mine, quotient)| (mine.replicate(), quotient.ln()));
            means(logs).into_iter().collect::<BTreeMap<_, _>>()
        });
        let ratios = ratios.filter(|of_step| !of_step.is_empty());
        ratios.collect::<Vec<_>>()
    };
    let rates = quotients(|mine, other| cell::quotients(Metric::Operations, mine, other));
    OverallRatio {
        steps: rates.len(),
        estimate: mean(&rates, looks),
        time: mean(&quotients(cell::time_quotients), looks),
    }
}

/// Logarithms of ratios by replicate.
type Logs = BTreeMap<Option<u32>, f64>;

/// The geometric mean over steps. `None` if no replicate has all steps.
fn mean(of_steps: &[Logs], looks: &PlannedLooks) -> Option<Estimate> {
    let replicates: BTreeSet<_> = of_steps.iter().flat_map(BTreeMap::keys).collect();
    let rows = replicates.iter().map(|replicate| {
        let logs = of_steps
            .iter()
            .map(|of_step| of_step.get(replicate).copied());
        logs.collect()
    });
    // Quotients of measured rates are positive and finite, so that there is no error to lose.
    let means = row_means(&rows.collect::<Vec<Vec<Option<f64>>>>()).unwrap_or_default();
    looks.of_logs(&means)
}
