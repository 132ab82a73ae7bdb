//! The work of the groups beside a step's own clients, as far as the costs of the step depend on it.
//!
//! Counters of a server can't be divided between clients. Where every group did its work at its rate,
//! targets did the same of it in the same time, and the costs of the step with it can be compared.

use std::collections::BTreeMap;

use prony_model::{Beside, Pace, Plan};
use prony_store::ScheduleRow;

use crate::analysis::group::GroupId;
use crate::analysis::promises::Planned;
use crate::analysis::trials::Trials;
use crate::words::{listed, share};

/// Share of the planned operations that a group must do in every block, so that its work counts as the
/// same at all targets.
const SAME_FROM: f64 = 0.95;

/// Difference of the own clients' rates from which on the work beside weighs differently in an operation
/// of theirs.
const APART: f64 = 0.05;

/// The least share of its planned operations that a group did in any block.
#[derive(Debug, Clone, Copy)]
struct Least {
    share: f64,
    /// From 1.
    block: u32,
}

/// The work of the groups beside the steps, in all done timed trials.
#[derive(Debug)]
pub(crate) struct WorkBeside(BTreeMap<(GroupId, usize), Least>);

impl WorkBeside {
    /// By the schedules of the run.
    pub(crate) fn of<'a>(
        trials: &Trials,
        schedules: impl Iterator<Item = &'a ScheduleRow>,
    ) -> Self {
        let mut least: BTreeMap<(GroupId, usize), Least> = BTreeMap::new();
        for row in schedules {
            let Some(trial) = trials.get(row.trial) else {
                continue;
            };
            let group = GroupId {
                step: row.step,
                position: row.group,
            };
            let done = Least {
                share: Planned::of(&row.schedule).share_begun(),
                block: trial.planned.block + 1,
            };
            let known = least.entry((group, trial.planned.target)).or_insert(done);
            if done.share < known.share {
                *known = done;
            }
        }
        Self(least)
    }

    /// The groups beside a step at a target.
    pub(crate) fn at(&self, plan: &Plan, step: usize, target: usize) -> Beside {
        match beside(plan, step).next() {
            None => Beside::Nobody,
            Some(_) if self.reason(plan, step, target).is_some() => Beside::Uneven,
            Some(_) => Beside::Even,
        }
    }

    /// The reason why a step has no costs at a target, or what these include. `None` without groups.
    pub(crate) fn remark(&self, plan: &Plan, step: usize, target: usize) -> Option<String> {
        let names: Vec<String> = beside(plan, step)
            .filter_map(|group| group.of(plan).name.clone())
            .collect();
        if names.is_empty() {
            return None;
        }
        Some(match self.reason(plan, step, target) {
            Some(reason) => format!("no costs of an operation: {reason}"),
            None => format!(
                "the costs include the work of the clients beside the step ({}), which kept their \
                 rates; they are divided by the operations of the step's own clients",
                listed(&names)
            ),
        })
    }

    /// The reason why the groups' work need not be that of other targets.
    fn reason(&self, plan: &Plan, step: usize, target: usize) -> Option<String> {
        beside(plan, step).find_map(|group| {
            let clients = group.of(plan);
            let name = clients.name.as_deref().unwrap_or_default();
            if !matches!(clients.pace, Pace::Open { .. }) {
                return Some(format!(
                    "{name}, beside the step, have no rate, so that each target does another amount \
                     of their work"
                ));
            }
            let least = self.0.get(&(group, target))?;
            (least.share < SAME_FROM).then(|| {
                format!(
                    "{name}, beside the step, did {} of their planned operations in block {}, and \
                     {} is needed for their work to be the same at all targets",
                    share(least.share),
                    least.block,
                    share(SAME_FROM)
                )
            })
        })
    }
}

/// The condition that the own clients of a target did `ratio` times as many operations in the same time
/// as those of its base, so that the work beside weighs less, or more, in each. `None` where that is too
/// little to matter.
pub(crate) fn weighs_differently(ratio: f64) -> Option<String> {
    ((ratio - 1.0).abs() > APART).then(|| {
        format!(
            "the own clients did {ratio:.2} times as many operations in the same time as those of the \
             base, so that the work of the clients beside weighs {} in the costs of each",
            if ratio > 1.0 { "less" } else { "more" }
        )
    })
}

/// The groups beside a step's own clients.
fn beside(plan: &Plan, step: usize) -> impl Iterator<Item = GroupId> {
    GroupId::of_step(plan, step).filter(|group| !group.is_own())
}
