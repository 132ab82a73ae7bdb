//! Differences between identical servers: the first base and its twin.

use std::collections::BTreeMap;

use prony_model::{Metric, Plan};

use crate::analysis::estimate::Estimate;
use crate::analysis::group::GroupId;

/// All comparisons of the base with its twin; none where the plan has no twin.
#[derive(Debug)]
pub(crate) struct Identical {
    /// By group, then as the metrics are judged.
    pub(crate) all: Vec<Comparison>,
    /// Difference by group and metric, as a share.
    differences: BTreeMap<(GroupId, Metric), f64>,
}

/// A metric of the twin relative to the base.
#[derive(Debug)]
pub(crate) struct Comparison {
    pub(crate) group: GroupId,
    pub(crate) metric: Metric,
    pub(crate) estimate: Estimate,
}

impl Identical {
    /// Compares these metrics; `estimate` is that of the twin.
    pub(crate) fn of(
        plan: &Plan,
        metrics: &[Metric],
        estimate: impl Fn(GroupId, Metric) -> Option<Estimate>,
    ) -> Self {
        let estimate = &estimate;
        let of_group = |group| {
            metrics.iter().filter_map(move |&metric| {
                Some(Comparison {
                    group,
                    metric,
                    estimate: estimate(group, metric)?,
                })
            })
        };
        let all: Vec<Comparison> = GroupId::all(plan).flat_map(of_group).collect();
        let difference = |one: &Comparison| ((one.group, one.metric), one.estimate.difference());
        Self {
            differences: all.iter().map(difference).collect(),
            all,
        }
    }

    /// The difference of identical servers as a share, if it is greater than a margin.
    pub(crate) fn beyond(&self, group: GroupId, metric: Metric, margin: f64) -> Option<f64> {
        let difference = self.differences.get(&(group, metric)).copied();
        difference.filter(|&difference| difference > margin)
    }

    /// The comparison with the greatest difference. `None` without any.
    pub(crate) fn largest(&self) -> Option<&Comparison> {
        let difference = |one: &&Comparison| one.estimate.difference();
        // Reversed, so that the first of equal ones is taken.
        let all = self.all.iter().rev();
        all.max_by(|a, b| difference(a).total_cmp(&difference(b)))
    }

    /// Number of comparisons that have an interval, and of those whose interval does not hold 1.
    pub(crate) fn alarms(&self) -> (usize, usize) {
        let judged = self
            .all
            .iter()
            .filter_map(|one| one.estimate.excludes_one());
        judged.fold((0, 0), |(all, alarms), alarm| {
            (all + 1, alarms + usize::from(alarm))
        })
    }
}
