//! Whose figures are shown: those of a step's own clients, or of a group beside them.

use std::collections::BTreeMap;

use prony_model::{Display, Pace, Plan, Workload};

/// Clients of the plan that have figures of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// Index of the step.
    pub(crate) step: usize,
    /// 0 for the step's own clients, else the place of the group, from 1.
    pub(crate) group: usize,
}

/// What these clients do.
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

impl Place {
    /// The step's own clients.
    pub(crate) const fn own(step: usize) -> Self {
        Self { step, group: 0 }
    }

    /// The step's own clients, then the groups beside them.
    pub(crate) fn of_step(plan: &Plan, step: usize) -> impl Iterator<Item = Self> + use<> {
        (0..=plan.steps[step].beside.len()).map(move |group| Self { step, group })
    }

    /// Whether these are the step's own clients.
    pub(crate) const fn is_own(self) -> bool {
        self.group == 0
    }

    /// What they do.
    pub(crate) fn work(self, plan: &Plan) -> Work<'_> {
        let step = &plan.steps[self.step];
        match self.group.checked_sub(1) {
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

    /// How their rate is shown.
    pub(crate) fn display(self, plan: &Plan) -> Display {
        self.work(plan).workload.display
    }

    /// `name`, which is the step's in one form or another, with the group that is meant.
    pub(crate) fn named(self, plan: &Plan, name: &str) -> String {
        match self.work(plan).group {
            None => name.to_owned(),
            Some(group) => format!("{name}, beside: {group}"),
        }
    }
}
