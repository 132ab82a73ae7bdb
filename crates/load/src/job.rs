//! The load generator's job: one line of JSON.

pub(crate) mod error;

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use prony_client::{Address, Connection, Login};
use prony_model::{
    Backend, ClientGroup, Dataset, Engine, Family, Groups, Length, LoadMethod, Pace, Protocol,
    Scheduling, Step, Timing, Tls, Workload,
};
use serde::{Deserialize, Serialize};

use crate::values::random::scatter;
use crate::{JobError, LoadError};

/// Time that a connection for anything but driving may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// A job: where to connect and what to do there. The password is in no debug output.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Family of the server, which decides protocol and SQL.
    pub family: Family,
    /// Address of the server.
    pub address: Address,
    /// The account's name.
    pub user: String,
    /// Its password; empty for none.
    pub password: String,
    /// Encryption.
    pub tls: Tls,
    /// The database that holds the dataset; it exists.
    pub database: String,
    /// The work to do.
    pub task: Task,
}

/// The work of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Task {
    /// Create and fill the tables of a dataset.
    Fill(FillTask),
    /// Run a workload and measure it.
    Drive(Box<DriveTask>),
    /// Run a workload a few times and look at its answers and at the tables.
    Check(Box<CheckTask>),
}

/// Creates the tables of a dataset, dropping old ones, fills them, builds the secondary index and
/// checks every row against the dataset's definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FillTask {
    /// Dataset to create.
    pub dataset: Dataset,
    /// The engine of its tables.
    pub engine: Engine,
    /// Connections that insert and check at the same time, at least 1. By inserts, one connection
    /// loads, whatever the number.
    pub connections: u32,
    /// `true` if the server is Prony's own and has no other users: then its global variables are
    /// changed for the time of the fill, where the job's account may do so. By inserts none is.
    pub own_server: bool,
    /// `true` if the load waits for the controlling process, as [`DriveTask::hold`] does: the
    /// generator is connected and says [`Ready`](crate::Message::Ready) before the first table is
    /// made, and [`MeasureEnd`](crate::Message::MeasureEnd) after the last index, before the rows
    /// are checked. After each it goes on when a line has come on its input.
    pub hold: bool,
    /// As [`DriveTask::flush_statistics`], at the end.
    #[serde(default)]
    pub flush_statistics: bool,
}

/// Runs groups of clients over a dataset, every client with its own connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a choice of its own, written by name in JSON"
)]
pub struct DriveTask {
    /// The clients, with what they do. The first group is the step's own; the others run beside it,
    /// on the same threads, until it ends.
    pub groups: Groups<ClientGroup>,
    /// The dataset that was filled.
    pub dataset: Dataset,
    /// `true` if the engine has transactions. Without them a workload's `BEGIN` and `COMMIT` are
    /// left out.
    pub transactional: bool,
    /// Protocol of statements, unless the workload insists on text.
    pub protocol: Protocol,
    /// Threads at most, at least 1.
    pub threads_max: u32,
    /// The processor of each thread; empty where all may use those of the process. Otherwise there
    /// are as many threads, whatever `threads_max` says, and no more than clients. Clients then
    /// connect thread by thread, and before those of each the generator says
    /// [`Connecting`](crate::Message::Connecting).
    #[serde(default)]
    pub thread_cpus: Vec<u16>,
    /// Decides, with the group and the number of the client, every drawn value.
    pub seed: u64,
    /// Milliseconds of load before measuring begins. Operations under way are waited for.
    pub warmup_ms: u64,
    /// Instead of a time: operations of each client, of all groups, before measuring begins, each
    /// as soon as the last is done, whatever the pace. They bring every client to the same place in
    /// its stream of values, however fast the server is. 0 for none; refused beside `warmup_ms` or
    /// `ramp_ms`.
    pub warmup_operations: u64,
    /// Length of the measured time.
    pub length: Length,
    /// Milliseconds of measured time between two interval lines, at least 1.
    pub interval_ms: u64,
    /// Milliseconds of silence after which the server counts as hung, at least 1. Also the
    /// longest time that an operation may spend on being retried.
    pub stall_ms: u64,
    /// The time that counts. Where it is the whole run there is no warm-up.
    pub timing: Timing,
    /// Milliseconds over which load sets in, within the warm-up or prolonging it.
    pub ramp_ms: u64,
    /// Milliseconds, after the measured time, within which a backlog of an open loop is worked off.
    pub drain_ms: u64,
    /// Kernel interface for the connections.
    pub backend: Backend,
    /// Scheduling policy of the threads; `None` for the usual one. Where the kernel refuses it, and
    /// where the process has a real-time or idle policy, the policy stays as it is; the outcome has
    /// the one in force.
    #[serde(default)]
    pub scheduling: Option<Scheduling>,
    /// Milliseconds of measured time after which it pauses; `None` where it has no pauses. All
    /// clients then rest, the generator says [`TurnEnd`](crate::Message::TurnEnd), and goes on when
    /// a line has come on its input. Times of the outcome and of its intervals count measured time
    /// alone, as if there were no pauses. A turn ends with the operations that were begun in it; a
    /// last one of less than a tenth is left out. Only where the job [holds](Self::hold), time ends
    /// the task, operations alone are timed, and there is one group, whose clients begin an
    /// operation as soon as the last is done.
    #[serde(default)]
    pub turn_ms: Option<u64>,
    /// `true` if interval messages carry their histogram.
    pub interval_histograms: bool,
    /// Whether the measured time waits for the controlling process: when all clients rest after the
    /// warm-up, or before the first connection is made where the whole run is timed, the generator
    /// says [`Ready`](crate::Message::Ready), and goes on when a line has come on its input. What
    /// is read in between belongs to no statement. At the end it says
    /// [`MeasureEnd`](crate::Message::MeasureEnd) and leaves the connections as they are until a
    /// second line has come, or the input has ended. Where threads have
    /// [processors](Self::thread_cpus) of their own, each `Connecting` waits for a line too, and
    /// so does `Connected`.
    pub hold: bool,
    /// `true` if sessions are made to publish the counters that they keep, which those of PostgreSQL do
    /// late: before `Ready`, and, where the job holds, after the line that answers `MeasureEnd`. The
    /// generator then says [`StatisticsFlushed`](crate::Message::StatisticsFlushed), and waits for one
    /// line more. It takes a second and is in no figure of the generator's.
    #[serde(default)]
    pub flush_statistics: bool,
}

/// Runs a workload with one client, statement after statement as text, decodes every answer, and
/// sums up the tables before and after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckTask {
    /// The workload, with its expected answers.
    pub workload: Workload,
    /// Values of the workload's parameters; those not named keep the workload's own.
    pub parameters: BTreeMap<String, i64>,
    /// The dataset that was filled.
    pub dataset: Dataset,
    /// `true` if the engine has transactions. Without them a workload's `BEGIN` and `COMMIT` are
    /// left out.
    pub transactional: bool,
    /// Operations, at least 1.
    pub operations: u64,
    /// Decides every drawn value.
    pub seed: u64,
}

impl Job {
    /// The account to connect with.
    pub(crate) fn login(&self) -> Login {
        Login {
            family: self.family,
            user: self.user.clone(),
            password: self.password.clone(),
            database: Some(self.database.clone()),
            tls: self.tls.clone(),
        }
    }
}

impl Job {
    /// Opens one of several connections (`index` counts from 0) whose statements may take any time.
    pub(crate) fn connect(&self, index: u32, connections: u32) -> Result<Connection, LoadError> {
        Connection::connect(&self.address, &self.login(), CONNECT_TIMEOUT)
            .and_then(|mut connection| connection.set_timeout(None).map(|()| connection))
            .map_err(|source| LoadError::Connect {
                client: index + 1,
                clients: connections,
                source,
            })
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job")
            .field("address", &self.address)
            .field("user", &self.user)
            .field("database", &self.database)
            .field("task", &self.task)
            .finish_non_exhaustive()
    }
}

impl FillTask {
    /// Connections that load.
    pub(crate) const fn loaders(&self) -> u32 {
        match self.dataset.load {
            LoadMethod::Bulk | LoadMethod::None => self.connections,
            LoadMethod::Inserts => 1,
        }
    }

    /// Checks what types can't.
    pub(crate) fn check(&self) -> Result<(), JobError> {
        check_dataset(&self.dataset)?;
        check_positive("connections", self.connections.into())
    }
}

impl DriveTask {
    /// The work of a step, with prepared statements and transactions: without waiting for the
    /// controlling process, on at most two threads, with a line of figures each second, and half a
    /// minute of silence before the server counts as hung.
    pub fn of(step: &Step, dataset: Dataset, backend: Backend) -> Self {
        Self {
            warmup_ms: step.warmup_ms,
            timing: step.timing,
            ramp_ms: step.ramp_ms,
            drain_ms: step.drain_ms(),
            ..Self::new(step.groups.clone(), dataset, step.length, backend)
        }
    }

    /// The work of clients that run a workload in a closed loop, with its own parameters; otherwise
    /// as [`of`](Self::of) a step without warm-up.
    pub fn closed_loop(
        workload: Workload,
        clients: u32,
        dataset: Dataset,
        length: Length,
        backend: Backend,
    ) -> Self {
        let own = ClientGroup {
            name: None,
            workload,
            parameters: BTreeMap::new(),
            clients,
            pace: Pace::default(),
            reconnect_every: None,
            sla_percent: None,
        };
        Self::new(Groups::new(own), dataset, length, backend)
    }

    fn new(
        groups: Groups<ClientGroup>,
        dataset: Dataset,
        length: Length,
        backend: Backend,
    ) -> Self {
        Self {
            groups,
            dataset,
            transactional: true,
            protocol: Protocol::Prepared,
            threads_max: 2,
            thread_cpus: Vec::new(),
            seed: 1,
            warmup_ms: 0,
            warmup_operations: 0,
            length,
            interval_ms: 1_000,
            stall_ms: 30_000,
            timing: Timing::default(),
            ramp_ms: 0,
            drain_ms: 0,
            backend,
            scheduling: None,
            turn_ms: None,
            interval_histograms: false,
            hold: false,
            flush_statistics: false,
        }
    }

    /// Connections of all groups.
    pub(crate) fn connections(&self) -> u32 {
        let clients = self.groups.iter().map(|group| group.clients);
        clients.fold(0, u32::saturating_add)
    }

    /// Threads that drive the connections.
    pub(crate) fn threads(&self) -> u32 {
        let threads = match u32::try_from(self.thread_cpus.len()) {
            Ok(0) => self.threads_max,
            bound => bound.unwrap_or(u32::MAX),
        };
        self.connections().min(threads)
    }

    /// The seed of a group: it decides, with the number of the client in its group, every drawn
    /// value.
    pub(crate) const fn seed_of(&self, group: usize) -> u64 {
        match group {
            0 => self.seed,
            _ => scatter(self.seed.wrapping_add(group as u64)),
        }
    }

    /// Checks what types can't.
    pub(crate) fn check(&self) -> Result<(), JobError> {
        check_dataset(&self.dataset)?;
        let length = match self.length {
            Length::Time { ms } => ms,
            Length::Count { operations } => operations,
        };
        for (field, value) in [
            ("threads_max", self.threads_max.into()),
            ("interval_ms", self.interval_ms),
            ("stall_ms", self.stall_ms),
            ("length", length),
        ] {
            check_positive(field, value)?;
        }
        if self.warmup_operations > 0 && self.warmup_ms.max(self.ramp_ms) > 0 {
            return Err(JobError::TwoWarmups);
        }
        for group in &self.groups {
            check_positive("clients", group.clients.into())?;
            if let Pace::Open { rate, .. } = group.pace {
                check_positive("rate", rate.0.into())?;
            }
            if let Some(operations) = group.reconnect_every {
                check_positive("reconnect_every", operations)?;
            }
            check_workload(&group.workload, &group.parameters)?;
        }
        self.check_turns()
    }

    /// Checks that work which takes turns can pause.
    fn check_turns(&self) -> Result<(), JobError> {
        let Some(turn_ms) = self.turn_ms else {
            return Ok(());
        };
        check_positive("turn_ms", turn_ms)?;
        let can_pause = self.hold
            && self.timing == Timing::Operations
            && matches!(self.length, Length::Time { .. })
            && self.groups.len() == 1
            && !self.groups.own().pace.is_scheduled();
        if can_pause {
            Ok(())
        } else {
            Err(JobError::Turns)
        }
    }
}

impl CheckTask {
    /// Checks what types can't.
    pub(crate) fn check(&self) -> Result<(), JobError> {
        check_dataset(&self.dataset)?;
        check_positive("operations", self.operations)?;
        check_workload(&self.workload, &self.parameters)
    }
}

fn check_workload(workload: &Workload, parameters: &BTreeMap<String, i64>) -> Result<(), JobError> {
    check_positive("workload.statements", workload.statements.len() as u64)?;
    check_parameters(workload, parameters)
}

/// Refuses values for parameters that the workload does not have.
pub(crate) fn check_parameters(
    workload: &Workload,
    parameters: &BTreeMap<String, i64>,
) -> Result<(), JobError> {
    let unknown = parameters
        .keys()
        .find(|name| !workload.parameters.contains_key(*name));
    match unknown {
        None => Ok(()),
        Some(name) => Err(JobError::UnknownParameter {
            name: name.clone(),
            workload: workload.name.clone(),
        }),
    }
}

pub(crate) fn check_dataset(dataset: &Dataset) -> Result<(), JobError> {
    check_positive("dataset.tables", dataset.tables.into())?;
    check_positive("dataset.rows", dataset.rows)?;
    Ok(dataset.check()?)
}

fn check_positive(field: &'static str, value: u64) -> Result<(), JobError> {
    (value > 0).then_some(()).ok_or(JobError::Zero { field })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> Job {
        Job {
            family: Family::Mysql,
            address: Address::Unix("/tmp/s".into()),
            user: "prony".into(),
            password: "secret".into(),
            tls: Tls::Off,
            database: "prony".into(),
            task: Task::Fill(FillTask {
                dataset: Dataset::sbtest(1, 10, u64::MAX),
                engine: Engine::Innodb,
                connections: 2,
                own_server: true,
                hold: false,
                flush_statistics: false,
            }),
        }
    }

    #[test]
    fn travels_as_json_and_hides_the_password() {
        let json = serde_json::to_string(&job()).unwrap();
        assert_eq!(serde_json::from_str::<Job>(&json).unwrap(), job());
        assert!(!format!("{:?}", job()).contains("secret"));
    }

    #[test]
    fn zeros_are_refused() {
        let Task::Fill(mut task) = job().task else {
            panic!("a fill task");
        };
        assert_eq!(task.check(), Ok(()));
        task.dataset.rows = 0;
        assert_eq!(
            task.check(),
            Err(JobError::Zero {
                field: "dataset.rows"
            })
        );
    }
}
