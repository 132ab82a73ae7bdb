//! The ratio of throughput over several steps together.

use std::collections::{BTreeMap, BTreeSet};

use prony_model::{Metric, Pace, Plan};
use prony_stats::row_means;

use crate::analysis::cell;
use crate::analysis::cells::Cells;
use crate::analysis::estimate::{Estimate, PlannedLooks};
use crate::analysis::group::GroupId;
use crate::analysis::sections::Section;

/// The ratios of throughput over some steps.
#[derive(Debug)]
pub(crate) struct Overall {
    /// Title of the section; `None` for all steps.
    pub(crate) title: Option<String>,
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
}

/// The ratios of all steps, then of each section if there are several. Steps whose operations arrive
/// at a rate are left out: servers that keep up are all alike there.
pub(crate) fn of(
    plan: &Plan,
    sections: &[Section],
    cells: &Cells,
    looks: &PlannedLooks,
) -> Vec<Overall> {
    let decides = |&step: &usize| counts(plan, GroupId::own(step));
    let of_steps = |title: Option<&String>, steps: Vec<usize>| {
        let of_target = |target| (target, ratio(plan, &steps, target, cells, looks));
        (!steps.is_empty()).then(|| Overall {
            title: title.cloned(),
            targets: plan.contenders().map(of_target).collect(),
        })
    };
    let steps = |section: &Section| -> Vec<usize> {
        let steps = section.steps.iter().copied();
        steps.filter(decides).collect()
    };
    let all = of_steps(None, sections.iter().flat_map(steps).collect());
    let several = sections.iter().filter(|_| sections.len() > 1);
    let parts = several.filter_map(|section| of_steps(section.title.as_ref(), steps(section)));
    all.into_iter().chain(parts).collect()
}

fn ratio(
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
        },
    }
}

/// Returns `true` if the throughput of a group says something of its server: its operations do not arrive
/// at a rate.
pub(crate) fn counts(plan: &Plan, group: GroupId) -> bool {
    !matches!(group.of(plan).pace, Pace::Open { .. })
}

/// The ratio of a target to any other over groups of clients.
pub(crate) fn over_groups(
    groups: &[GroupId],
    target: usize,
    base: usize,
    cells: &Cells,
    looks: &PlannedLooks,
) -> OverallRatio {
    let ratios = groups.iter().map(|&group| {
        let of_target = |target| &cells.at(group, target).measurements[..];
        cell::quotients(Metric::Operations, of_target(target), of_target(base))
    });
    let ratios: Vec<BTreeMap<u32, f64>> = ratios.filter(|of_step| !of_step.is_empty()).collect();
    let blocks: BTreeSet<u32> = ratios.iter().flat_map(BTreeMap::keys).copied().collect();
    let rows = blocks.iter().map(|block| {
        let logs = ratios
            .iter()
            .map(|of_step| of_step.get(block).copied().map(f64::ln));
        logs.collect()
    });
    // Quotients of measured rates are positive and finite, so that there is no error to lose.
    let means = row_means(&rows.collect::<Vec<Vec<Option<f64>>>>()).unwrap_or_default();
    OverallRatio {
        steps: ratios.len(),
        estimate: looks.of_logs(&means),
    }
}
