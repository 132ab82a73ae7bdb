//! The figures of the threads, added up.

use std::time::Duration;

use prony_model::{ClientGroup, GroupOutcome, Length, Pace, ThreadUse, Timing};

use crate::client::Client;
use crate::connection::{Link, flush_statistics};
use crate::drive::turns::Turn;
use crate::drive::{Run, ns};
use crate::program::Program;
use crate::recorder::{Period, Recorder, serialise};
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
    spent: Spent,
}

/// The time of a group's clients.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Spent {
    /// From the first operation of each turn to its last, summed over clients and turns.
    busy_ns: u64,
    /// When the last operation ended, less all pauses; 0 when there was none.
    last_ns: u64,
}

impl Spent {
    /// Adds a turn of some clients. Returns when their last operation ended; 0 when there was none.
    pub(super) fn add<'c>(&mut self, clients: impl Iterator<Item = &'c Client>, turn: Turn) -> u64 {
        let mut last_ns = 0;
        for client in clients {
            self.busy_ns += client.busy_ns();
            last_ns = last_ns.max(client.last_ns());
        }
        self.last_ns = self.last_ns.max(turn.without_pauses(last_ns));
        last_ns
    }
}

impl Totals {
    pub(super) fn new(
        records: Vec<Recorder>,
        spent: Vec<Spent>,
        links: Vec<Link>,
        used: Option<ThreadUse>,
    ) -> Self {
        let groups = records.into_iter().zip(spent);
        Self {
            groups: groups
                .map(|(recorder, spent)| GroupTotals { recorder, spent })
                .collect(),
            thread_use: used.into_iter().collect(),
            links,
        }
    }

    /// Makes the sessions publish what they have counted. Returns how many did.
    pub(super) fn flush_statistics(&mut self, timeout: Duration) -> Result<u32, LoadError> {
        flush_statistics(&mut self.links, |link| link.ask_nothing(timeout))
    }

    /// The clients leave the server.
    pub(super) fn say_goodbye(&mut self) {
        self.links.clear();
    }

    /// Only now it is over.
    pub(super) fn end_at(&mut self, now_ns: u64) {
        for group in &mut self.groups {
            group.spent.last_ns = now_ns;
        }
    }

    /// Ends the last period of each group.
    pub(super) fn end_periods(&mut self) -> Result<Vec<Period>, LoadError> {
        let groups = self.groups.iter_mut();
        groups.map(|group| group.recorder.end_period()).collect()
    }

    pub(super) fn add(&mut self, other: Self) -> Result<(), LoadError> {
        for (sum, part) in self.groups.iter_mut().zip(&other.groups) {
            sum.spent.busy_ns += part.spent.busy_ns;
            sum.spent.last_ns = sum.spent.last_ns.max(part.spent.last_ns);
            sum.recorder.merge(&part.recorder)?;
        }
        self.thread_use.extend(other.thread_use);
        self.links.extend(other.links);
        Ok(())
    }

    /// The time when the last operation of any group ended; 0 when there was none.
    pub(super) fn last_ns(&self) -> u64 {
        let ends = self.groups.iter().map(|group| group.spent.last_ns);
        ends.max().unwrap_or(0)
    }

    /// How long a group was measured: until its last operation ended, or that of the task's own clients,
    /// beside whom it could have done more; and for the whole time where clients wait for their time,
    /// or did nothing.
    pub(super) fn measured_ns(&self, group: usize, task: &DriveTask, start_ns: u64) -> u64 {
        let last_ns = |group: usize| self.groups[group].spent.last_ns;
        let ran_ns = last_ns(group).max(last_ns(0)).saturating_sub(start_ns);
        match task.length {
            Length::Time { ms } if ran_ns == 0 || task.groups[group].pace.is_scheduled() => {
                ran_ns.max(ns(ms))
            }
            _ => ran_ns,
        }
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
                    totals.spent.busy_ns
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
        let ran_ns = self.spent.last_ns.saturating_sub(start_ns);
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
            // Those of all threads together are not known here.
            intervals: Vec::new(),
        })
    }
}

/// Returns `true` if time ends the task, and not a number of operations.
const fn is_timed(task: &DriveTask) -> bool {
    matches!(task.length, Length::Time { .. })
}
