//! The figures of the threads, added up.

use prony_model::{ClientGroup, GroupOutcome, Length, Pace, ThreadUse, Timing};

use crate::client::Client;
use crate::connection::Link;
use crate::drive::{Run, ns};
use crate::program::Program;
use crate::recorder::{Recorder, serialise};
use crate::worker::Worker;
use crate::{DriveTask, LoadError};

/// The figures of one or several threads, also of one that ended early because another failed.
pub(super) struct Totals {
    groups: Vec<GroupTotals>,
    pub(super) thread_use: Vec<ThreadUse>,
    /// The connections, open until they are released.
    links: Vec<Link>,
}

/// The figures of a group.
struct GroupTotals {
    recorder: Recorder,
    busy_ns: u64,
    last_ns: u64,
}

impl Totals {
    pub(super) fn new(records: Vec<Recorder>, worker: Worker<'_>, used: ThreadUse) -> Self {
        let groups = records.into_iter().enumerate().map(|(group, recorder)| {
            let clients = || worker.clients(group);
            GroupTotals {
                recorder,
                busy_ns: clients().map(Client::busy_ns).sum(),
                last_ns: clients().map(Client::last_ns).max().unwrap_or(0),
            }
        });
        Self {
            groups: groups.collect(),
            thread_use: vec![used],
            links: worker.links,
        }
    }

    /// The clients leave the server.
    pub(super) fn say_goodbye(&mut self) {
        self.links.clear();
    }

    /// Only now it is over.
    pub(super) fn end_at(&mut self, now_ns: u64) {
        for group in &mut self.groups {
            group.last_ns = now_ns;
        }
    }

    /// The task's own clients' record.
    pub(super) fn own(&mut self) -> &mut Recorder {
        &mut self.groups[0].recorder
    }

    /// Ends the last periods of the other groups.
    pub(super) fn end_periods(&mut self) -> Result<(), LoadError> {
        for group in self.groups.iter_mut().skip(1) {
            group.recorder.end_period()?;
        }
        Ok(())
    }

    pub(super) fn add(&mut self, other: Self) -> Result<(), LoadError> {
        for (sum, part) in self.groups.iter_mut().zip(&other.groups) {
            sum.busy_ns += part.busy_ns;
            sum.last_ns = sum.last_ns.max(part.last_ns);
            sum.recorder.merge(&part.recorder)?;
        }
        self.thread_use.extend(other.thread_use);
        self.links.extend(other.links);
        Ok(())
    }

    /// The time when the last operation of any group ended; 0 when there was none.
    pub(super) fn last_ns(&self) -> u64 {
        let ends = self.groups.iter().map(|group| group.last_ns);
        ends.max().unwrap_or(0)
    }

    /// The outcomes of all groups. The measured time is from `start_ns` to `end_ns`.
    pub(super) fn outcomes(
        &self,
        run: &Run<'_>,
        start_ns: u64,
        end_ns: u64,
    ) -> Result<Vec<GroupOutcome>, LoadError> {
        let groups = self.groups.iter().zip(&run.task.groups).zip(run.programs);
        groups
            .map(|((totals, group), program)| {
                let clients = u64::from(group.clients);
                let is_open = matches!(group.pace, Pace::Open { .. });
                let busy_ns = if run.task.timing == Timing::WholeRun {
                    clients * (end_ns - start_ns)
                } else if is_open || group.pace.is_scheduled() && is_timed(run.task) {
                    clients * totals.whole_ns(run.task, start_ns)
                } else {
                    totals.busy_ns
                };
                totals.outcome(group, busy_ns, program)
            })
            .collect()
    }
}

impl GroupTotals {
    /// How long a group ran whose clients wait for their time: for the whole measured time, and
    /// longer where the last operations ended after it.
    fn whole_ns(&self, task: &DriveTask, start_ns: u64) -> u64 {
        let ran_ns = self.last_ns.saturating_sub(start_ns);
        match task.length {
            Length::Time { ms } => ran_ns.max(ns(ms)),
            Length::Count { .. } => ran_ns,
        }
    }

    fn outcome(
        &self,
        group: &ClientGroup,
        busy_ns: u64,
        program: &Program,
    ) -> Result<GroupOutcome, LoadError> {
        let recorder = &self.recorder;
        let operations = recorder.operations().len();
        Ok(GroupOutcome {
            name: group.name.clone(),
            clients: group.clients,
            operations,
            queries: operations * program.queries_per_operation,
            busy_ns,
            histogram: serialise(recorder.operations())?,
            statements: recorder.statements(program.kinds(group.reconnect_every.is_some()))?,
            errors: recorder.errors(),
            schedule: recorder.schedule()?,
        })
    }
}

/// Returns `true` if time ends the task, and not a number of operations.
const fn is_timed(task: &DriveTask) -> bool {
    matches!(task.length, Length::Time { .. })
}
