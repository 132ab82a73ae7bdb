//! The catalogue of metrics: throughput and times of clients, and costs of an operation on the
//! server, each with its unit, its formula and its counters.
//!
//! Raw counters are stored and metrics are derived when a run is read, so that a better formula is
//! also one for old runs. A metric that has no value says why; none is ever guessed.

mod agreement;
mod figures;
mod table;
#[cfg(test)]
mod tests;
mod value;

pub use agreement::{CpuDisagreement, cpu_disagreement};
pub use figures::{GroupFigures, ServiceTimes, per_second};
pub use value::{Beside, CostUnit, NoValue, StepCounts, Value};

use serde::{Deserialize, Serialize};

use crate::words::words;
use crate::{Counter, NoDifference, StepReadings, TrialKind};

/// A figure that is derived of a step of a trial. `docs/metrics.md` has the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Processor time of the server.
    ServerCpu,
    /// The part of it in user space.
    ServerUser,
    /// The part of it in the kernel.
    ServerSystem,
    /// Time that its threads were ready to run and had no processor.
    RunQueue,
    /// Context switches of its threads.
    ContextSwitches,
    /// Moves of its threads to another processor.
    Migrations,
    /// Page faults.
    PageFaults,
    /// Instructions in user space.
    Instructions,
    /// Instructions in the kernel.
    KernelInstructions,
    /// Processor cycles in user space.
    Cycles,
    /// Processor cycles in the kernel.
    KernelCycles,
    /// Instructions per cycle in user space.
    InstructionsPerCycle,
    /// Misses of the last cache.
    CacheMisses,
    /// Mispredicted branches.
    BranchMisses,
    /// Reads from storage.
    Reads,
    /// Amount read from storage.
    ReadKb,
    /// Writes to storage.
    Writes,
    /// Amount written to storage.
    WrittenKb,
    /// Amount written to storage for each byte of rows changed.
    WriteAmplification,
    /// Bytes on disk for each row.
    DiskPerRow,
    /// Resident memory of the server.
    Memory,
    /// Processor time of the load generator.
    ClientCpu,
    /// Mean time from before an operation until its answer is in.
    RoundTrip,
    /// The part of it that is not the client's.
    ServerOnly,
    /// The same as a share of it.
    ServerShare,
    /// Operations or rows per second.
    Rate,
    /// Operations or rows per second of the server's processor time.
    PerCpuSecond,
    /// Share of the host's processor time that server and load generator use.
    HostUtilisation,
    /// Processor time of the sampling thread.
    Sampling,
    /// Processor time of Prony itself, sampling included.
    Lab,
    /// Operations per second.
    Operations,
    /// Queries per second.
    Queries,
    /// Mean service time.
    ServiceMean,
    /// Median of the service times.
    ServiceP50,
    /// 95th percentile of the service times.
    ServiceP95,
    /// 99th percentile of the service times.
    ServiceP99,
    /// Longest service time.
    ServiceMax,
    /// Mean response time.
    ResponseMean,
    /// Median of the response times.
    ResponseP50,
    /// 95th percentile of the response times.
    ResponseP95,
    /// 99th percentile of the response times.
    ResponseP99,
}

words! {
    /// The good direction of a metric.
    pub enum Better {
        /// Less is better.
        Lower = "lower",
        /// More is better.
        Higher = "higher",
        /// It explains, and is neither good nor bad.
        Neither = "neither",
    }
}

/// Sets of counters that measure the same thing, the best first. The counters of a set are added.
pub type Alternatives = &'static [&'static [Counter]];

/// The computation of a value.
#[derive(Debug, Clone, Copy)]
pub enum Formula {
    /// Growth of counters over the measured time ÷ `divisor` ÷ operations, or rows of scans.
    PerUnit {
        /// The counters.
        counters: Alternatives,
        /// From the counters' unit to that of the metric.
        divisor: f64,
    },
    /// Growth of counters over the measured time ÷ `divisor` ÷ seconds between the samples.
    PerSecond {
        /// The counters.
        counters: Alternatives,
        /// From the counters' unit to that of the metric.
        divisor: f64,
    },
    /// Growth of one set of counters ÷ growth of another.
    Quotient {
        /// The dividend.
        counters: Alternatives,
        /// The divisor.
        by: Alternatives,
    },
    /// A level at the end of the measured time ÷ `divisor`.
    AtEnd {
        /// The counters.
        counters: Alternatives,
        /// From the counters' unit to that of the metric.
        divisor: f64,
    },
    /// A figure of a group of clients, from what the load generator counted and timed.
    Figure {
        /// The computation.
        by: fn(&GroupFigures) -> Result<Value, NoValue>,
    },
    /// The formula in the words of the table, from counts of the load generator and maybe counters.
    Derived {
        /// Counters that it takes, if any.
        counters: Alternatives,
        /// The computation.
        by: fn(&StepCounts, &dyn StepReadings) -> Result<Value, NoValue>,
    },
}

impl Formula {
    /// The counters that it begins with.
    pub const fn counters(&self) -> Alternatives {
        match self {
            Self::PerUnit { counters, .. }
            | Self::PerSecond { counters, .. }
            | Self::Quotient { counters, .. }
            | Self::AtEnd { counters, .. }
            | Self::Derived { counters, .. } => counters,
            Self::Figure { .. } => &[],
        }
    }
}

/// A row of the catalogue.
#[derive(Debug, Clone, Copy)]
pub struct MetricFacts {
    /// Of which metric.
    pub metric: Metric,
    /// Its name in CSV and JSON, the unit last.
    pub id: &'static str,
    /// Heading of its column, with `o` for an operation, or for a row in steps that scan.
    pub heading: &'static str,
    /// Its name in prose.
    pub name: &'static str,
    /// The unit of its values, without "per operation".
    pub unit: &'static str,
    /// The good direction.
    pub better: Better,
    /// In which trials it is taken: counting trials where these have it, else timed ones; or timed
    /// ones only, because counting changes it.
    pub taken: TrialKind,
    /// The least amount of which ratios are made: below it, a ratio would be noise.
    pub least: f64,
    /// The formula in words.
    pub formula: &'static str,
    /// Its meaning and its limits.
    pub meaning: &'static str,
    /// The formula.
    pub how: Formula,
}

impl Metric {
    /// Every metric, in the order of the documentation.
    pub fn all() -> impl Iterator<Item = Self> {
        table::FACTS.iter().map(|facts| facts.metric)
    }

    /// The metrics of groups of clients: throughput, service times and response times.
    pub fn figures() -> impl Iterator<Item = Self> {
        Self::all().filter(|metric| metric.is_figure())
    }

    /// The metrics of steps: costs, and what explains them.
    pub fn costs() -> impl Iterator<Item = Self> {
        Self::all().filter(|metric| !metric.is_figure())
    }

    fn is_figure(self) -> bool {
        matches!(self.facts().how, Formula::Figure { .. })
    }

    /// Its row of the catalogue.
    pub fn facts(self) -> &'static MetricFacts {
        // The table has every metric, in the order of their declaration; a test holds it to that.
        &table::FACTS[self as usize]
    }

    /// Its value for a group of clients in a step of a trial.
    ///
    /// # Errors
    /// When it has none: nothing or too little was done, or it is no metric of groups.
    pub fn figure(self, figures: &GroupFigures) -> Result<Value, NoValue> {
        match self.facts().how {
            Formula::Figure { by } => by(figures),
            _ => Err(NoValue::Unread(NoDifference::NotRead)),
        }
    }

    /// Its value in a step of a trial.
    ///
    /// # Errors
    /// When it has none: what it takes was not read, was lost, or does not apply to the step, or it
    /// is a metric of groups of clients.
    pub fn value(self, counts: &StepCounts, samples: &dyn StepReadings) -> Result<Value, NoValue> {
        value::compute(&self.facts().how, counts, samples)
    }
}
