//! The outcome of one trial for one group of clients, with the rates that follow from its counts.

use std::collections::BTreeMap;

use prony_model::{
    DebtKind, Metric, NoDifference, NoValue, Pace, Placement, PlacementReading, SettleOutcome,
    ThreadUse,
};
use prony_store::{ErrorRow, OutcomeRow, StatementRow, Stretch};
use serde::Serialize;

use crate::analysis::pairing::InBlock;
use crate::analysis::times::Times;
use crate::error::HistogramError;

/// Everything that one trial measured of a group of clients.
#[derive(Debug, Clone)]
pub(crate) struct Measurement {
    pub(super) row: OutcomeRow,
    /// What its block repeats: see [`Replicates::at`](crate::analysis::replicates::Replicates::at).
    pub(super) replicate: u32,
    /// Throughput, service times and response times.
    pub(super) values: BTreeMap<Metric, Result<f64, NoValue>>,
    /// Work that the engine had left when the step began, as far as it is known.
    pub(crate) debt: BTreeMap<DebtKind, u64>,
    /// The settling before the step, where that was asked for.
    pub(crate) settle: Option<SettleOutcome>,
    /// The schedule, if operations have intended starts.
    pub(crate) schedule: Option<ScheduleTimes>,
    /// The price of connecting, if clients connect anew.
    pub(crate) connects: Option<Connects>,
    /// Counts of the statements of the workload.
    pub(crate) statements: Vec<StatementRow>,
    /// Errors of the server, by code.
    pub(crate) errors: Vec<ErrorRow>,
    /// Texts of the warnings about these clients, stored ones and derived ones.
    pub(crate) warnings: Vec<String>,
    /// Use of the generator's threads, for all clients of the step.
    pub(crate) threads: Vec<ThreadUse>,
    /// The placement of the step; `None` where it was not read.
    pub(crate) placed: Option<PlacementReading>,
    pub(super) service: Result<Option<Times>, HistogramError>,
    pub(super) pace: Pace,
    /// `true` if other clients shared the generator with these.
    pub(super) accompanied: bool,
    /// All promised rates of the step were kept in all blocks: else nothing of it is compared.
    pub(super) kept: bool,
    /// Operations within the measured time; empty where they were not asked for, and for groups
    /// beside in older files.
    pub(crate) stretches: Vec<Stretch>,
}

/// The schedule of one block as it was kept.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct ScheduleTimes {
    /// Operations planned within the measured time.
    pub(crate) planned: u64,
    /// Those that had not begun at its end.
    pub(crate) backlog: u64,
    /// Those that never began.
    pub(crate) left: u64,
    /// From send to last byte.
    #[serde(skip)]
    pub(crate) service: Option<Times>,
    /// From intended start to last byte.
    #[serde(rename = "response_us")]
    pub(crate) response: Option<Times>,
    /// The generator's own lateness.
    #[serde(rename = "error_us")]
    pub(crate) error: Option<Times>,
}

/// The price of connecting anew in one block.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Connects {
    pub(crate) count: u64,
    #[serde(rename = "latency_us")]
    pub(crate) times: Option<Times>,
}

impl InBlock for Measurement {
    fn block(&self) -> Option<u32> {
        Some(self.block_number())
    }

    fn replicate(&self) -> Option<u32> {
        Some(self.replicate)
    }
}

impl Measurement {
    pub(crate) fn row(&self) -> &OutcomeRow {
        &self.row
    }

    /// The block, from 1.
    pub(crate) fn block_number(&self) -> u32 {
        self.row.planned.block + 1
    }

    /// The placement that was asked for; `None` where it was not read.
    pub(crate) fn placement(&self) -> Option<&Placement> {
        self.placed.as_ref().map(|reading| &reading.placement)
    }

    /// Throughput, or a service time. `None` when nothing was done, or too little.
    pub(crate) fn value(&self, metric: Metric) -> Option<f64> {
        self.reading(metric).ok()
    }

    /// The same, or the reason why there is no value.
    pub(crate) fn reading(&self, metric: Metric) -> Result<f64, NoValue> {
        let unread = NoValue::Unread(NoDifference::NotRead);
        self.values.get(&metric).copied().unwrap_or(Err(unread))
    }

    /// Mean time that a client spent on an operation: service time where operations have an
    /// intended start, so that clients also wait for the next. `None` when nothing was done, and
    /// where the service time is not known.
    pub(crate) fn milliseconds(&self) -> Option<f64> {
        if self.pace.is_scheduled() {
            return Some(self.schedule?.service?.mean / 1e3);
        }
        let rate = self.value(Metric::Operations)?;
        Some(f64::from(self.row.clients) * 1e3 / rate)
    }

    /// Processor time of the load generator. `None` when nothing was done, and where clients of
    /// several groups shared it.
    pub(crate) fn client_cpu_us_per_operation(&self) -> Option<f64> {
        if self.accompanied {
            return None;
        }
        let cpu_ns = self.row.client_user_ns + self.row.client_system_ns;
        (self.row.operations > 0).then(|| cpu_ns as f64 / 1e3 / self.row.operations as f64)
    }

    /// Times of whole operations from send to last byte; `None` without operations.
    ///
    /// # Errors
    /// When the histogram in the result file is damaged.
    pub(crate) fn service(&self) -> Result<Option<Times>, HistogramError> {
        self.service.clone()
    }
}
