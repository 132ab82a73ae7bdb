//! Groups of clients that have figures of their own: a step's own clients, and those beside them.

use prony_model::{ClientGroup, Display, Plan};

/// A group of clients of the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GroupId {
    /// Index of the step.
    pub(crate) step: usize,
    /// 0 for the step's own clients, else the group's position, from 1.
    pub(crate) position: usize,
}

impl GroupId {
    /// The step's own clients.
    pub(crate) const fn own(step: usize) -> Self {
        Self { step, position: 0 }
    }

    /// The step's own clients, then the groups beside them.
    pub(crate) fn of_step(plan: &Plan, step: usize) -> impl Iterator<Item = Self> + use<> {
        (0..plan.steps[step].groups.len()).map(move |position| Self { step, position })
    }

    /// All groups of a plan.
    pub(crate) fn all(plan: &Plan) -> impl Iterator<Item = Self> {
        (0..plan.steps.len()).flat_map(|step| Self::of_step(plan, step))
    }

    /// Returns `true` if these are the step's own clients.
    pub(crate) const fn is_own(self) -> bool {
        self.position == 0
    }

    /// The clients, with their work.
    pub(crate) fn of(self, plan: &Plan) -> &ClientGroup {
        &plan.steps[self.step].groups[self.position]
    }

    /// The form in which the group's rate is shown.
    pub(crate) fn display(self, plan: &Plan) -> Display {
        self.of(plan).workload.display
    }

    /// `step`, which is the step's name in one form or another, with the group that is meant.
    pub(crate) fn named(self, plan: &Plan, step: &str) -> String {
        match &self.of(plan).name {
            None => step.to_owned(),
            Some(group) => format!("{step}, beside: {group}"),
        }
    }
}
