//! Pace of clients' operations, the backend of their connections, and the scheduling policy of the
//! threads that drive them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::words::words;
use crate::{Thousandths, Workload};

/// Pace of the operations of a group's clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pace {
    /// Closed loop: a client begins its next operation when the last has been answered.
    Closed {
        /// Its wait before that.
        think: Option<Think>,
    },
    /// Open loop: operations arrive by a schedule that no answer changes. One that finds no client
    /// idle waits for the first that will be; none is dropped.
    Open {
        /// Operations per second over all clients of the group, above 0.
        rate: Thousandths,
        /// Distribution of the gaps between arrivals.
        spacing: Spacing,
    },
}

impl Default for Pace {
    fn default() -> Self {
        Self::Closed { think: None }
    }
}

impl Pace {
    /// True where operations have an intended start of their own, so that response time is another
    /// thing than service time.
    pub const fn is_scheduled(self) -> bool {
        !matches!(self, Self::Closed { think: None })
    }
}

/// The wait of a client between the end of an operation and the start of its next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Think {
    /// Microseconds on average, at least 1.
    pub mean_us: u64,
    /// True where it is always the same.
    pub spacing: Spacing,
}

words! {
    /// The spread of lengths of time around their mean.
    #[derive(Default)]
    pub enum Spacing {
        /// Exponentially, as gaps between independent events are.
        #[default]
        Poisson = "poisson",
        /// All equal.
        Regular = "regular",
    }
}

/// Clients that do the same work at the same pace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientGroup {
    /// Unique in its step; `None` for the step's own clients, which come first.
    #[serde(default)]
    pub name: Option<String>,
    /// The work that each client does again and again.
    pub workload: Workload,
    /// The workload's parameters as the step sets them, defaults included.
    pub parameters: BTreeMap<String, i64>,
    /// Connections, at least 1.
    pub clients: u32,
    /// Pace of their operations.
    pub pace: Pace,
    /// Number of operations after which a client reconnects, at least 1; `None` for never.
    pub reconnect_every: Option<u64>,
    /// Percent of the operations planned by its rate that must be done, or else no figure of the step is
    /// compared; `None` for no such promise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sla_percent: Option<Thousandths>,
}

words! {
    /// The kernel's interface that carries the bytes of many connections at once.
    pub enum Backend {
        /// Readiness by `epoll(7)`; a single client waits in the call that receives.
        Epoll = "epoll",
        /// Completions by `io_uring(7)`.
        IoUring = "io-uring",
    }
}

words! {
    /// Scheduling policy of the load generator's threads, `sched(7)`.
    #[derive(Default)]
    pub enum Scheduling {
        /// A thread that wakes up may preempt the running one (`SCHED_OTHER`).
        #[default]
        Normal = "normal",
        /// A thread that wakes up waits until the running one blocks or its time slice ends
        /// (`SCHED_BATCH`).
        Batch = "batch",
        /// Real time or idle: the policy that the user gave to this process, which stays.
        Other = "other",
    }
}
