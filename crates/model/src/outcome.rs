//! Outcomes of steps: raw counts and histograms. Rates are derived when read.

use serde::{Deserialize, Serialize};

use crate::metric::per_second;
use crate::{Backend, ErrorClass, ErrorCode, Groups, Scheduling, Timing};

/// The outcome of one step of one trial, as the load generator measured it.
///
/// An operation belongs to the step when it *starts* inside the measured time; it is waited for
/// and counted whole. Each client is **busy** from the start of its first to the end of its last
/// such operation, so that operations longer than the step bias nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepOutcome {
    /// The outcomes of the groups of clients, in the order of
    /// [`Step::groups`](crate::Step::groups).
    pub groups: Groups<GroupOutcome>,
    /// Threads of the generator that drove the clients of all groups.
    pub threads: u32,
    /// Processor time of the generator in user space over the measured time, in nanoseconds.
    pub client_user_ns: u64,
    /// The same in the kernel.
    pub client_system_ns: u64,
    /// The time that counts in `busy_ns`.
    #[serde(default)]
    pub timing: Timing,
    /// Start of the measured time on the monotonic clock of the generator's host, in nanoseconds.
    pub start_ns: u64,
    /// End of the last operation on the same clock.
    pub end_ns: u64,
    /// The backend that carried the connections.
    pub backend: Backend,
    /// The scheduling policy of the generator's threads, as the kernel reports it.
    #[serde(default)]
    pub scheduling: Scheduling,
    /// Use and waits of the generator's threads over the measured time.
    #[serde(default)]
    pub thread_use: Vec<ThreadUse>,
}

/// The outcome of one group of clients of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupOutcome {
    /// The group's name; `None` for the step's own clients.
    #[serde(default)]
    pub name: Option<String>,
    /// Connections used.
    pub clients: u32,
    /// Operations completed without a final error.
    pub operations: u64,
    /// Statements answered inside those operations, `BEGIN` and `COMMIT` included: the "queries"
    /// of queries per second.
    pub queries: u64,
    /// Sum over the clients of their busy time, in nanoseconds.
    pub busy_ns: u64,
    /// Service time of whole operations, retries included: HDR histogram V2, deflated, in
    /// nanoseconds.
    #[serde(with = "crate::hex")]
    pub histogram: Vec<u8>,
    /// Per statement of the workload, in its order; then `begin` and `commit` where used, and
    /// `connect` where clients connect anew.
    pub statements: Vec<StatementOutcome>,
    /// Server errors by code.
    pub errors: Vec<ErrorCount>,
    /// Adherence to the arrival schedule or think times; `None` where each operation begins when
    /// the last has ended, and response time is service time.
    #[serde(default)]
    pub schedule: Option<Schedule>,
    /// Periods of about a second of measured time, in order; the same for all groups of the step, but
    /// the last ends when neither the group nor the step's own clients had anything left to do.
    #[serde(default)]
    pub intervals: Vec<Interval>,
}

/// Adherence of operations to their intended starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    /// Operations planned within the measured time.
    pub planned: u64,
    /// Those of them that were due at its end and had not begun: the backlog. They are carried out
    /// all the same, and counted.
    pub backlog: u64,
    /// Those of them that were never started, because the backlog was not worked off within the time
    /// allowed for that.
    pub left: u64,
    /// Response time of whole operations, intended start to last byte: HDR histogram V2, deflated,
    /// in nanoseconds.
    #[serde(with = "crate::hex")]
    pub response: Vec<u8>,
    /// Send minus intended start of the operations for which a client was idle in time: the
    /// generator's own error. Encoded likewise.
    #[serde(with = "crate::hex")]
    pub error: Vec<u8>,
}

/// Use and waits of one thread of the generator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadUse {
    /// Time for which it drove its clients, in nanoseconds; the other two are shares of it.
    pub wall_ns: u64,
    /// Processor time, in nanoseconds.
    pub cpu_ns: u64,
    /// Time that it was ready to run and had no processor, in nanoseconds; `None` where the system
    /// does not say.
    pub run_queue_ns: Option<u64>,
}

impl ThreadUse {
    /// With that of another time of the same thread.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let run_queue_ns = self.run_queue_ns.zip(other.run_queue_ns);
        Self {
            wall_ns: self.wall_ns + other.wall_ns,
            cpu_ns: self.cpu_ns + other.cpu_ns,
            run_queue_ns: run_queue_ns.map(|(own, other)| own + other),
        }
    }
}

/// Counts of one kind of statement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatementOutcome {
    /// The statement's name in the workload, or `begin`, `commit`.
    pub name: String,
    /// Times answered without error.
    pub count: u64,
    /// Rows returned.
    pub rows: u64,
    /// Rows changed, as the server reports them.
    pub affected: u64,
    /// Answers whose counts are not what the workload expects.
    pub unexpected: u64,
    /// Service time (send to last byte): HDR histogram V2, deflated, in nanoseconds.
    #[serde(with = "crate::hex")]
    pub histogram: Vec<u8>,
}

/// Errors with one code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorCount {
    /// The server's error code.
    pub code: ErrorCode,
    /// Its meaning for the operation.
    pub class: ErrorClass,
    /// Number of occurrences.
    pub count: u64,
    /// The message of the first.
    pub message: String,
}

/// Statistics of one reporting period of a group of clients.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interval {
    /// Start, in nanoseconds after the start of the measured time.
    pub start_ns: u64,
    /// End, on the same scale.
    pub end_ns: u64,
    /// Operations that ended in it.
    pub operations: u64,
    /// Statements answered in it.
    pub queries: u64,
    /// Errors of all classes in it.
    pub errors: u64,
    /// 99th percentile of the operations' latency in it, in nanoseconds; 0 when none ended.
    pub latency_ns_p99: u64,
    /// Longest operation that ended in it, in nanoseconds; 0 when none ended.
    pub latency_ns_max: u64,
    /// 99th percentile of their response time, where operations have an intended start; else 0.
    #[serde(default)]
    pub response_ns_p99: u64,
    /// Operations due and not begun at its end.
    #[serde(default)]
    pub backlog: u64,
}

impl GroupOutcome {
    /// Seconds that a client was busy, on average. 0 when nothing was done.
    pub fn busy_seconds(&self) -> f64 {
        if self.clients == 0 {
            return 0.0;
        }
        self.busy_ns as f64 / 1e9 / f64::from(self.clients)
    }

    /// Queries per second over all clients: queries ÷ mean busy time. `None` when nothing was
    /// done.
    pub fn queries_per_second(&self) -> Option<f64> {
        per_second(self.queries, self.busy_ns, self.clients)
    }

    /// Operations per second over all clients. `None` when nothing was done.
    pub fn operations_per_second(&self) -> Option<f64> {
        per_second(self.operations, self.busy_ns, self.clients)
    }
}

/// The outcome of loading a dataset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadOutcome {
    /// Rows of all tables together.
    pub rows: u64,
    /// From before the first table was created until the last row was in, in nanoseconds, the time
    /// for indexes and checks excluded.
    pub rows_ns: u64,
    /// Time for building the secondary indexes, in nanoseconds.
    pub index_ns: u64,
    /// The way in which the rows were loaded, in a few words, such as `LOAD DATA, 2 connections`.
    pub method: String,
}

impl LoadOutcome {
    /// Rows per second, index included. `None` when nothing was loaded.
    pub fn rows_per_second(&self) -> Option<f64> {
        rate(self.rows, (self.rows_ns + self.index_ns) as f64 / 1e9)
    }
}

fn rate(count: u64, seconds: f64) -> Option<f64> {
    (count > 0 && seconds > 0.0).then(|| count as f64 / seconds)
}
