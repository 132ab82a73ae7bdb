//! The groups of clients of a task: its own and those beside them, seen alike.

use std::collections::BTreeMap;

use prony_model::{Pace, Workload};

use crate::DriveTask;
use crate::values::random::scatter;

/// A group of clients of a task.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<'a> {
    /// `None` for the task's own clients.
    pub(crate) name: Option<&'a str>,
    pub(crate) workload: &'a Workload,
    pub(crate) parameters: &'a BTreeMap<String, i64>,
    pub(crate) clients: u32,
    pub(crate) pace: Pace,
    pub(crate) reconnect_every: Option<u64>,
    /// Decides, with the number of the client in its group, every drawn value.
    pub(crate) seed: u64,
}

impl Part<'_> {
    /// Whether operations arrive by a schedule.
    pub(crate) const fn is_open(&self) -> bool {
        matches!(self.pace, Pace::Open { .. })
    }
}

/// The groups of a task, its own clients first.
pub(crate) fn parts(task: &DriveTask) -> Vec<Part<'_>> {
    let own = Part {
        name: None,
        workload: &task.workload,
        parameters: &task.parameters,
        clients: task.clients,
        pace: task.pace,
        reconnect_every: task.reconnect_every,
        seed: task.seed,
    };
    let beside = (1..).zip(&task.beside).map(|(index, group)| Part {
        name: Some(&group.name),
        workload: &group.workload,
        parameters: &group.parameters,
        clients: group.clients,
        pace: group.pace,
        reconnect_every: group.reconnect_every,
        seed: scatter(task.seed.wrapping_add(index)),
    });
    std::iter::once(own).chain(beside).collect()
}

/// Connections of all groups of a task.
pub(crate) fn connections(task: &DriveTask) -> u32 {
    parts(task)
        .iter()
        .fold(0, |sum: u32, part| sum.saturating_add(part.clients))
}
