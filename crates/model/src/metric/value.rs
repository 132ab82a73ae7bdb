//! The formulas of the catalogue, applied.

use crate::metric::{Alternatives, Formula, Metric};
use crate::words::words;
use crate::{Counter, Moment, NoDifference, Pace, Source, StepReadings};

/// Facts of a step of a trial from the load generator and the plan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepCounts {
    /// Operations completed within the measured time.
    pub operations: u64,
    /// Rows that an operation reads by going through whole tables: then costs are per row.
    pub scanned_rows: Option<u64>,
    /// Clients, at least 1.
    pub clients: u32,
    /// Sum over the clients of their busy time, in nanoseconds.
    pub busy_ns: u64,
    /// Processor time of the load generator, in nanoseconds.
    pub client_cpu_ns: u64,
    /// Time for which the load generator's only thread was ready to run and had no processor, in
    /// nanoseconds; `None` where that is not known, and where it has several.
    pub client_wait_ns: Option<u64>,
    /// Processors of the host that Prony may use; `None` where that is not known.
    pub processors: Option<u32>,
    /// True where connections are made within the busy time.
    pub connects: bool,
    /// Rows that the server reports as changed.
    pub changed_rows: u64,
    /// Bytes of the values of a row.
    pub row_bytes: u64,
    /// Rows in all tables together; `None` where writes have made that uncertain.
    pub table_rows: Option<u64>,
    /// Pace of the operations.
    pub pace: Pace,
    /// Other clients that used the server at the same time.
    pub beside: Beside,
}

/// Other clients that used the server at the same time as those of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    /// None.
    Nobody,
    /// Clients whose work in the same time is the same for all servers: costs include it.
    Even,
    /// Clients whose work may differ: costs can't be attributed.
    Uneven,
}

words! {
    /// The divisor of costs.
    pub enum CostUnit {
        /// Operations.
        Operation = "operation",
        /// Rows that a scan goes through.
        Row = "row",
    }
}

/// A value, and what it was computed from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Value {
    /// In the unit of the metric; finite, and not negative but for what the server alone takes.
    pub amount: f64,
    /// The counters that were used, the best that there were; empty where the load generator's own
    /// counts suffice.
    pub from: &'static [Counter],
    /// Share of the time that the counters ran, in (0, 1]: below 1, they took turns on the
    /// processor and were scaled up.
    pub running: f64,
}

/// The reason why a metric has no value in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum NoValue {
    /// Its counters have no difference.
    #[error(transparent)]
    Unread(#[from] NoDifference),
    /// The step has no operation to divide by.
    #[error("no operation completed")]
    NothingDone,
    /// The load generator's clients did different work at the same time.
    #[error("other clients used the server at the same time")]
    Accompanied,
    /// Clients also wait for other things than answers, or for each other.
    #[error("computed only for one client that sends one operation after the other")]
    NotAlone,
    /// The counter was opened and never had its turn on the processor.
    #[error("the counter never ran")]
    NeverRan,
    /// The divisor did not grow.
    #[error("the divisor is 0")]
    NothingToDivideBy,
    /// Too few operations lie beyond the percentile.
    #[error("too few operations for this percentile")]
    TooFew,
    /// Operations begin when the last one has been answered.
    #[error("operations have no intended start")]
    NotScheduled,
    /// No row was changed.
    #[error("no row was changed")]
    NothingChanged,
    /// The number of the host's processors was not recorded, or the trial only counts.
    #[error("the number of processors is unknown")]
    ProcessorsUnknown,
    /// Rows were added or deleted before, warm-up included.
    #[error("the number of rows is unknown")]
    RowsUnknown,
}

impl StepCounts {
    /// The divisor of costs.
    pub const fn unit(&self) -> CostUnit {
        match self.scanned_rows {
            Some(_) => CostUnit::Row,
            None => CostUnit::Operation,
        }
    }

    /// Number of operations or rows. An error below one, and where others did uneven work too.
    pub(super) fn units(&self) -> Result<f64, NoValue> {
        if self.beside == Beside::Uneven {
            return Err(NoValue::Accompanied);
        }
        let units = self.operations as f64 * self.scanned_rows.unwrap_or(1) as f64;
        if units > 0.0 {
            Ok(units)
        } else {
            Err(NoValue::NothingDone)
        }
    }

    /// Fails where other clients have a part in what is divided that is not the server's.
    fn alone(&self) -> Result<(), NoValue> {
        match self.beside {
            Beside::Nobody => Ok(()),
            Beside::Even | Beside::Uneven => Err(NoValue::Accompanied),
        }
    }

    fn is_closed(&self) -> bool {
        self.pace == Pace::Closed { think: None }
    }
}

impl Value {
    /// A value from counts of the load generator alone.
    pub(super) const fn counted(amount: f64) -> Self {
        Self {
            amount,
            from: &[],
            running: 1.0,
        }
    }

    fn map(self, change: impl FnOnce(f64) -> f64) -> Self {
        Self {
            amount: change(self.amount),
            ..self
        }
    }
}

/// Applies a formula.
pub(super) fn compute(
    formula: &Formula,
    counts: &StepCounts,
    samples: &dyn StepReadings,
) -> Result<Value, NoValue> {
    match *formula {
        Formula::PerUnit { counters, divisor } => {
            let units = counts.units()?;
            Ok(growth(counters, samples)?.map(|total| total / divisor / units))
        }
        Formula::PerSecond { counters, divisor } => {
            let seconds = seconds(samples)?;
            Ok(growth(counters, samples)?.map(|total| total / divisor / seconds))
        }
        Formula::Quotient { counters, by } => {
            let divided = growth(counters, samples)?;
            let by = growth(by, samples)?;
            let value = divide(divided, by.amount)?;
            let running = value.running.min(by.running);
            Ok(Value { running, ..value })
        }
        Formula::AtEnd { counters, divisor } => {
            let level = level(counters, samples, Moment::End)?;
            Ok(level.map(|level| level / divisor))
        }
        Formula::Derived { by, .. } => by(counts, samples),
        Formula::Figure { .. } => Err(NoValue::Unread(NoDifference::NotRead)),
    }
}

/// By how much the best set of counters grew that has differences.
pub(super) fn growth(counters: Alternatives, samples: &dyn StepReadings) -> Result<Value, NoValue> {
    best(counters, |counter| scaled(samples, counter))
}

/// The best set of counters of which each has an amount; else the most telling reason: that one was
/// lost says more than that others were not read.
fn best(
    counters: Alternatives,
    amount: impl Fn(&Counter) -> Result<(f64, f64), NoValue>,
) -> Result<Value, NoValue> {
    let unread = NoValue::Unread(NoDifference::NotRead);
    let mut reason = unread;
    for &set in counters {
        let sum = set
            .iter()
            .try_fold((0.0, 1.0_f64), |(sum, least), counter| {
                amount(counter).map(|(amount, running)| (sum + amount, least.min(running)))
            });
        match sum {
            Ok((amount, running)) => {
                return Ok(Value {
                    amount,
                    from: set,
                    running,
                });
            }
            Err(why) if reason == unread => reason = why,
            Err(_) => {}
        }
    }
    Err(reason)
}

/// The growth of a counter and the share of the time that it ran. Counters of the processor that
/// took turns are scaled to the whole time: growth × enabled ÷ running, as perf-stat(1) does.
fn scaled(samples: &dyn StepReadings, counter: &Counter) -> Result<(f64, f64), NoValue> {
    let growth = samples.difference(counter)? as f64;
    if counter.source != Source::Perf {
        return Ok((growth, 1.0));
    }
    let time = |part: &str| {
        let name = format!("{}_{part}_ns", counter.name);
        let counter = Counter {
            source: Source::Perf,
            name: name.into(),
        };
        samples.difference(&counter)
    };
    let (Ok(enabled), Ok(running)) = (time("enabled"), time("running")) else {
        return Ok((growth, 1.0));
    };
    if running == 0 && enabled > 0 {
        return Err(NoValue::NeverRan);
    }
    if running >= enabled {
        return Ok((growth, 1.0));
    }
    let share = running as f64 / enabled as f64;
    Ok((growth / share, share))
}

fn level(
    counters: Alternatives,
    samples: &dyn StepReadings,
    moment: Moment,
) -> Result<Value, NoValue> {
    let unread = NoValue::Unread(NoDifference::NotRead);
    best(counters, |counter| {
        let value = samples.value_at(moment, counter);
        value.map(|value| (value as f64, 1.0)).ok_or(unread)
    })
}

/// Seconds from the start sample to the end sample.
fn seconds(samples: &dyn StepReadings) -> Result<f64, NoValue> {
    let (Some(start), Some(end)) = (samples.at_ns(Moment::Start), samples.at_ns(Moment::End))
    else {
        return Err(NoValue::Unread(NoDifference::NotRead));
    };
    match end.checked_sub(start) {
        Some(ns) if ns > 0 => Ok(ns as f64 / 1e9),
        _ => Err(NoValue::NothingToDivideBy),
    }
}

fn divide(value: Value, by: f64) -> Result<Value, NoValue> {
    if by > 0.0 {
        Ok(value.map(|amount| amount / by))
    } else {
        Err(NoValue::NothingToDivideBy)
    }
}

/// Microseconds of the load generator's processor time.
pub(super) fn client_cpu(counts: &StepCounts, _: &dyn StepReadings) -> Result<Value, NoValue> {
    counts.alone()?;
    let units = counts.units()?;
    Ok(Value::counted(counts.client_cpu_ns as f64 / 1e3 / units))
}

/// Microseconds that a client was busy with an operation.
pub(super) fn round_trip(counts: &StepCounts, _: &dyn StepReadings) -> Result<Value, NoValue> {
    let units = counts.units()?;
    if counts.is_closed() && !counts.connects {
        Ok(Value::counted(counts.busy_ns as f64 / 1e3 / units))
    } else {
        Err(NoValue::NotAlone)
    }
}

/// The round trip without the client's part, and without what the client waited for a processor
/// when the answer was there. What the generator does for one client can't happen while the client
/// waits for the server, but for the end of sending.
pub(super) fn server_only(
    counts: &StepCounts,
    samples: &dyn StepReadings,
) -> Result<Value, NoValue> {
    if counts.clients != 1 {
        return Err(NoValue::NotAlone);
    }
    let whole = round_trip(counts, samples)?.amount;
    let client = client_cpu(counts, samples)?.amount;
    let waited_ns = counts.client_wait_ns.unwrap_or(0);
    let waited = waited_ns as f64 / 1e3 / counts.units()?;
    Ok(Value::counted(whole - client - waited))
}

/// The time of the server only ÷ the round trip.
pub(super) fn server_share(
    counts: &StepCounts,
    samples: &dyn StepReadings,
) -> Result<Value, NoValue> {
    let whole = round_trip(counts, samples)?.amount;
    divide(server_only(counts, samples)?, whole)
}

/// Operations or rows per second, as reports show them.
pub(super) fn rate(counts: &StepCounts, _: &dyn StepReadings) -> Result<Value, NoValue> {
    let seconds = counts.busy_ns as f64 / 1e9 / f64::from(counts.clients.max(1));
    divide(Value::counted(counts.units()?), seconds)
}

/// Operations or rows per second of the server's processor time.
pub(super) fn per_cpu_second(
    counts: &StepCounts,
    samples: &dyn StepReadings,
) -> Result<Value, NoValue> {
    let used = Metric::ServerCpu.value(counts, samples)?;
    divide(used.map(|_| 1e6), used.amount)
}

/// Processor time of server and load generator ÷ that of all processors.
pub(super) fn host_utilisation(
    counts: &StepCounts,
    samples: &dyn StepReadings,
) -> Result<Value, NoValue> {
    counts.units()?;
    let server = growth(Metric::HostUtilisation.facts().how.counters(), samples)?;
    let processors = counts.processors.ok_or(NoValue::ProcessorsUnknown)?;
    let used = server.map(|server_ns| server_ns + counts.client_cpu_ns as f64);
    divide(used, f64::from(processors) * seconds(samples)? * 1e9)
}

/// Bytes written to storage ÷ bytes of the rows that were changed.
pub(super) fn write_amplification(
    counts: &StepCounts,
    samples: &dyn StepReadings,
) -> Result<Value, NoValue> {
    counts.alone()?;
    counts.units()?;
    let written = growth(Metric::WrittenKb.facts().how.counters(), samples)?;
    let changed = counts.changed_rows as f64 * counts.row_bytes as f64;
    divide(written, changed).map_err(|_| NoValue::NothingChanged)
}

/// Bytes of the data directory that are no log ÷ rows in the tables, before the measured time.
pub(super) fn disk_per_row(
    counts: &StepCounts,
    samples: &dyn StepReadings,
) -> Result<Value, NoValue> {
    let counters = Metric::DiskPerRow.facts().how.counters();
    let data = level(counters, samples, Moment::Start)?;
    let rows = counts.table_rows.ok_or(NoValue::RowsUnknown)?;
    divide(data, rows as f64)
}
