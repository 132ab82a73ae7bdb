//! Throughput and service times of a group of clients.

use crate::metric::{NoValue, Value};

/// Operations beyond a percentile that it takes at least, so that single ones do not decide it.
const BEYOND_MIN: u64 = 100;

/// Counts and times of a group of clients in a step of a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GroupFigures {
    /// Clients of the group.
    pub clients: u32,
    /// Operations completed within the measured time.
    pub operations: u64,
    /// Statements answered inside those operations.
    pub queries: u64,
    /// Sum over the clients of their busy time, in nanoseconds.
    pub busy_ns: u64,
    /// Service times of whole operations; `None` where none was recorded.
    pub service: Option<ServiceTimes>,
    /// Response times of whole operations; `None` where they have no intended start.
    pub response: Option<ServiceTimes>,
}

/// Times of operations up to the last byte of the answer: from send, or from intended start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ServiceTimes {
    /// Number of operations timed.
    pub count: u64,
    /// Mean, in nanoseconds.
    pub mean_ns: f64,
    /// Median, in nanoseconds.
    pub p50_ns: u64,
    /// 95th percentile, in nanoseconds.
    pub p95_ns: u64,
    /// 99th percentile, in nanoseconds.
    pub p99_ns: u64,
    /// The longest, in nanoseconds.
    pub max_ns: u64,
}

impl ServiceTimes {
    /// True if this many operations are enough for a percentile: 100 ÷ (1 − p). The percentile is
    /// in thousandths, so that 999 is the 99.9th.
    pub const fn supports(count: u64, per_mille: u16) -> bool {
        count.saturating_mul(1000_u64.saturating_sub(per_mille as u64)) >= 1000 * BEYOND_MIN
    }
}

/// A rate over all clients of a group: a count ÷ the mean busy time of a client, in seconds. `None`
/// when nothing was done.
pub fn per_second(count: u64, busy_ns: u64, clients: u32) -> Option<f64> {
    let seconds = busy_ns as f64 / 1e9 / f64::from(clients);
    (count > 0 && seconds > 0.0).then(|| count as f64 / seconds)
}

/// Operations per second over all clients of the group.
pub(super) fn operations(of: &GroupFigures) -> Result<Value, NoValue> {
    let rate = per_second(of.operations, of.busy_ns, of.clients);
    rate.map(Value::counted).ok_or(NoValue::NothingDone)
}

/// Queries per second over all clients of the group.
pub(super) fn queries(of: &GroupFigures) -> Result<Value, NoValue> {
    let rate = per_second(of.queries, of.busy_ns, of.clients);
    rate.map(Value::counted).ok_or(NoValue::NothingDone)
}

/// Mean service time in microseconds.
pub(super) fn mean(of: &GroupFigures) -> Result<Value, NoValue> {
    Ok(microseconds(served(of)?.mean_ns))
}

/// Median service time in microseconds.
pub(super) fn p50(of: &GroupFigures) -> Result<Value, NoValue> {
    percentile(served(of)?, 500, |times| times.p50_ns)
}

/// 95th percentile of the service times in microseconds.
pub(super) fn p95(of: &GroupFigures) -> Result<Value, NoValue> {
    percentile(served(of)?, 950, |times| times.p95_ns)
}

/// 99th percentile of the service times in microseconds.
pub(super) fn p99(of: &GroupFigures) -> Result<Value, NoValue> {
    percentile(served(of)?, 990, |times| times.p99_ns)
}

/// Longest service time in microseconds.
pub(super) fn max(of: &GroupFigures) -> Result<Value, NoValue> {
    Ok(microseconds(served(of)?.max_ns as f64))
}

/// Mean response time in microseconds.
pub(super) fn response_mean(of: &GroupFigures) -> Result<Value, NoValue> {
    Ok(microseconds(responded(of)?.mean_ns))
}

/// Median response time in microseconds.
pub(super) fn response_p50(of: &GroupFigures) -> Result<Value, NoValue> {
    percentile(responded(of)?, 500, |times| times.p50_ns)
}

/// 95th percentile of the response times in microseconds.
pub(super) fn response_p95(of: &GroupFigures) -> Result<Value, NoValue> {
    percentile(responded(of)?, 950, |times| times.p95_ns)
}

/// 99th percentile of the response times in microseconds.
pub(super) fn response_p99(of: &GroupFigures) -> Result<Value, NoValue> {
    percentile(responded(of)?, 990, |times| times.p99_ns)
}

fn served(of: &GroupFigures) -> Result<ServiceTimes, NoValue> {
    let times = of.service.filter(|times| times.count > 0);
    times.ok_or(NoValue::NothingDone)
}

fn responded(of: &GroupFigures) -> Result<ServiceTimes, NoValue> {
    let times = of.response.ok_or(NoValue::NotScheduled)?;
    let is_timed = times.count > 0;
    is_timed.then_some(times).ok_or(NoValue::NothingDone)
}

fn percentile(
    times: ServiceTimes,
    per_mille: u16,
    ns: fn(&ServiceTimes) -> u64,
) -> Result<Value, NoValue> {
    if ServiceTimes::supports(times.count, per_mille) {
        Ok(microseconds(ns(&times) as f64))
    } else {
        Err(NoValue::TooFew)
    }
}

fn microseconds(ns: f64) -> Value {
    Value::counted(ns / 1e3)
}
