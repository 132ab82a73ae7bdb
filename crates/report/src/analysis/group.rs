//! Groups of clients that have figures of their own: a step's own clients, and those beside them.

use std::collections::BTreeMap;

use prony_model::{Display, Pace, Plan, Workload};

/// A group of clients of the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GroupId {
    /// Index of the step.
    pub(crate) step: usize,
    /// 0 for the step's own clients, else the group's position, from 1.
    pub(crate) position: usize,
}

/// The work of a group.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Work<'a> {
    /// The group's name; `None` for a step's own clients.
    pub(crate) group: Option<&'a str>,
    pub(crate) workload: &'a Workload,
    pub(crate) parameters: &'a BTreeMap<String, i64>,
    pub(crate) clients: u32,
    pub(crate) pace: Pace,
    pub(crate) reconnect_every: Option<u64>,
}

impl GroupId {
    /// The step's own clients.
    pub(crate) const fn own(step: usize) -> Self {
        Self { step, position: 0 }
    }

    /// The step's own clients, then the groups beside them.
    pub(crate) fn of_step(plan: &Plan, step: usize) -> impl Iterator<Item = Self> + use<> {
        (0..=plan.steps[step].beside.len()).map(move |position| Self { step, position })
    }

    /// All groups of a plan.
    pub(crate) fn all(plan: &Plan) -> impl Iterator<Item = Self> {
        (0..plan.steps.len()).flat_map(|step| Self::of_step(plan, step))
    }

    /// Whether these are the step's own clients.
    pub(crate) const fn is_own(self) -> bool {
        self.position == 0
    }

    /// The group's work.
    pub(crate) fn work(self, plan: &Plan) -> Work<'_> {
        let step = &plan.steps[self.step];
        match self.position.checked_sub(1) {
            None => Work {
                group: None,
                workload: &step.workload,
                parameters: &step.parameters,
                clients: step.clients,
                pace: step.pace,
                reconnect_every: step.reconnect_every,
            },
            Some(index) => {
                let group = &step.beside[index];
                Work {
                    group: Some(&group.name),
                    workload: &group.workload,
                    parameters: &group.parameters,
                    clients: group.clients,
                    pace: group.pace,
                    reconnect_every: group.reconnect_every,
                }
            }
        }
    }

    /// The form in which the group's rate is shown.
    pub(crate) fn display(self, plan: &Plan) -> Display {
        self.work(plan).workload.display
    }

    /// `step`, which is the step's name in one form or another, with the group that is meant.
    pub(crate) fn named(self, plan: &Plan, step: &str) -> String {
        match self.work(plan).group {
            None => step.to_owned(),
            Some(group) => format!("{step}, beside: {group}"),
        }
    }
}
