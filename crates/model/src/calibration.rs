//! The load generator's ceiling on a host: its speed when the server costs next to nothing.

mod host_use;
mod noise;

use serde::{Deserialize, Serialize};

pub use self::host_use::{HostUse, Taken};
pub use self::noise::{NoisePoint, NoiseWindow};
use crate::{Backend, CounterSet, CpuSet, Family, PlacementRule, Spacing, Thousandths, WakeUps};

/// The ceiling of the load generator on one host, measured against the null server with a
/// prepared point query over a unix socket: raw counts, from which rates are derived when read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calibration {
    /// The version of Prony that was measured.
    pub prony_version: String,
    /// The host that it was measured on.
    pub host: CalibratedHost,
    /// The time when it was made, in milliseconds since 1970, UTC.
    pub made_at_ms: u64,
    /// The rule by which generator and null server got their processors.
    pub placement: PlacementRule,
    /// The price of wake-ups. `None` where it was not measured.
    pub wake_ups: Option<WakeUps>,
    /// Closed loops: by backend, then by family, then by number of clients.
    pub closed: Vec<ClosedPoint>,
    /// Open loops, one for each backend.
    pub open: Vec<OpenPoint>,
    /// The price of counters that are opened on a server: by set of counters, then by number of
    /// clients. Empty where this was not measured.
    #[serde(default)]
    pub looking: Vec<LookingPrice>,
    /// Noise of the host, by number of clients. Empty where it was not measured.
    #[serde(default)]
    pub noise: Vec<NoisePoint>,
}

/// The price of counters of `perf_event_open(2)`, opened on the null server at its birth, in
/// throughput: closed loops by turns against a null server with them and one without.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LookingPrice {
    /// The set of counters.
    pub counters: CounterSet,
    /// Connections.
    pub clients: u32,
    /// The turns.
    pub rounds: Vec<PricedRound>,
}

/// One turn of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PricedRound {
    /// Without counters.
    pub without: CalibrationCounts,
    /// With them.
    pub with: CalibrationCounts,
}

/// The part of the throughput that is lost, as a share of it; negative where it seems to grow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Loss {
    /// One less the geometric mean of the rounds' ratios.
    pub mean: f64,
    /// The least and the greatest of the rounds.
    pub range: (f64, f64),
    /// The mean and two and a half standard errors on top: the loss is hardly ever more.
    pub most: f64,
}

/// Facts of a host that decide how fast the generator is. A calibration is valid where all of it,
/// and the version of Prony, are the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CalibratedHost {
    /// Model name of the first processor, where it can be found out.
    pub cpu_model: Option<String>,
    /// Processors that Prony may use.
    pub cpus: u32,
    /// Kernel release, such as `6.1.0-18-amd64`, where it can be found out.
    pub kernel: Option<String>,
}

/// A closed loop against the null server: every client asks again as soon as it was answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClosedPoint {
    /// The family whose protocol the null server spoke.
    #[serde(default = "mysql")]
    pub family: Family,
    /// The backend that carried the connections.
    pub backend: Backend,
    /// Connections.
    pub clients: u32,
    /// Threads of the generator.
    pub threads: u32,
    /// The processors of generator and null server; `None` where the kernel chose.
    pub cpus: Option<CpuSet>,
    /// Use of the processors; `None` where it can't be read.
    pub host: Option<HostUse>,
    /// The counts.
    pub counts: CalibrationCounts,
}

/// The family of calibrations that name none.
const fn mysql() -> Family {
    Family::Mysql
}

/// An open loop against the null server, at a rate far below its ceiling.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenPoint {
    /// The backend that carried the connections.
    pub backend: Backend,
    /// Connections.
    pub clients: u32,
    /// Threads of the generator.
    pub threads: u32,
    /// The processors of generator and null server; `None` where the kernel chose.
    pub cpus: Option<CpuSet>,
    /// Use of the processors; `None` where it can't be read.
    pub host: Option<HostUse>,
    /// Operations per second over all clients.
    pub rate: Thousandths,
    /// Distribution of the gaps between arrivals.
    pub spacing: Spacing,
    /// The counts.
    pub counts: CalibrationCounts,
    /// Operations planned within the measured time.
    pub planned: u64,
    /// The generator's own lateness, send minus intended start of the operations for which a client
    /// was idle in time: HDR histogram V2, deflated, in nanoseconds.
    #[serde(with = "crate::hex")]
    pub error: Vec<u8>,
}

/// Raw counts of one measured time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CalibrationCounts {
    /// Queries answered.
    pub queries: u64,
    /// From the start of the measured time to the end of the last query, in nanoseconds.
    pub wall_ns: u64,
    /// Processor time of the generator in user space, in nanoseconds.
    pub client_user_ns: u64,
    /// The same in the kernel.
    pub client_system_ns: u64,
    /// Processor time of the null server, user and kernel together, in nanoseconds.
    pub server_ns: u64,
}

impl Calibration {
    /// True where it says something of this version on this host.
    pub fn is_of(&self, prony_version: &str, host: &CalibratedHost) -> bool {
        self.prony_version == prony_version && self.host == *host
    }

    /// True where it says something of the protocol of a family with a backend.
    pub fn covers(&self, family: Family, backend: Backend) -> bool {
        self.of(family, backend).next().is_some()
    }

    fn of(&self, family: Family, backend: Backend) -> impl Iterator<Item = &ClosedPoint> {
        let family = family.of_protocol();
        let closed = self.closed.iter();
        closed.filter(move |point| point.family == family && point.backend == backend)
    }

    /// The closed loop in the protocol of `family` with `backend` that has the smallest measured number
    /// of clients that is `clients` or more. `None` where none is.
    pub fn at_or_above(
        &self,
        family: Family,
        backend: Backend,
        clients: u32,
    ) -> Option<&ClosedPoint> {
        self.of(family, backend)
            .filter(|point| point.clients >= clients)
            .min_by_key(|point| point.clients)
    }

    /// The ceiling that a step proves wrong, because its `clients` together had more answers per
    /// second. `None` where the rate is below the ceiling, or no ceiling is known.
    pub fn struck_by(
        &self,
        family: Family,
        backend: Backend,
        clients: u32,
        queries_per_second: f64,
    ) -> Option<&ClosedPoint> {
        let point = self.at_or_above(family, backend, clients)?;
        let ceiling = point.counts.queries_per_second().unwrap_or(0.0);
        (queries_per_second > ceiling).then_some(point)
    }

    /// `true` if the hypervisor or other programs took time from any of its points.
    pub fn is_disturbed(&self) -> bool {
        let closed = self.closed.iter().map(|point| point.host);
        let open = self.open.iter().map(|point| point.host);
        let noise = self.noise.iter().map(|point| point.host);
        let mut uses = closed.chain(open).chain(noise).flatten();
        uses.any(|host| host.is_disturbed())
    }

    /// The noise of the host for a step with this number of clients: that of the nearest measured
    /// number, by quotient. `None` where it was not measured.
    pub fn noise_at(&self, clients: u32) -> Option<&NoisePoint> {
        let distance = |point: &&NoisePoint| {
            let quotient = f64::from(point.clients.max(1)) / f64::from(clients.max(1));
            quotient.ln().abs()
        };
        let points = self.noise.iter();
        points.min_by(|a, b| distance(a).total_cmp(&distance(b)))
    }
}

impl Calibration {
    /// The share of throughput that counters may take and still ride along where times are
    /// measured.
    pub const LOSS_MAX: f64 = 0.005;

    /// True where these counters were measured to take less than [`Self::LOSS_MAX`] at every number
    /// of clients.
    pub fn may_ride(&self, counters: CounterSet) -> bool {
        let mut prices = self
            .looking
            .iter()
            .filter(|price| price.counters == counters)
            .peekable();
        let small =
            |price: &LookingPrice| price.loss().is_some_and(|loss| loss.most < Self::LOSS_MAX);
        prices.peek().is_some() && prices.all(small)
    }
}

impl LookingPrice {
    /// The loss. `None` with fewer than three rounds in which anything was done: fewer say nothing.
    pub fn loss(&self) -> Option<Loss> {
        let ratio = |round: &PricedRound| {
            let with = round.with.queries_per_second()?;
            Some((with / round.without.queries_per_second()?).ln())
        };
        let logs: Vec<f64> = self.rounds.iter().filter_map(ratio).collect();
        if logs.len() < 3 {
            return None;
        }
        let count = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / count;
        let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
        let error = (squares / (count - 1.0) / count).sqrt();
        let lost = |log: f64| 1.0 - log.exp();
        let (low, high) = logs
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), log| {
                (low.min(*log), high.max(*log))
            });
        Some(Loss {
            mean: lost(mean),
            range: (lost(high), lost(low)),
            most: lost(2.5_f64.mul_add(-error, mean)),
        })
    }
}

impl OpenPoint {
    /// Operations that were planned and never started, since what was overdue when the measured time
    /// was over could not be worked off. An operation is one query here, and its failure would have
    /// ended the calibration.
    pub fn left(&self) -> u64 {
        self.planned.saturating_sub(self.counts.queries)
    }
}

impl CalibrationCounts {
    /// Queries per second. `None` when nothing was answered.
    pub fn queries_per_second(&self) -> Option<f64> {
        (self.queries > 0 && self.wall_ns > 0)
            .then(|| self.queries as f64 / (self.wall_ns as f64 / 1e9))
    }

    /// Microseconds of the generator's processor time for one query, user and kernel together.
    /// `None` when nothing was answered.
    pub fn client_us_per_query(&self) -> Option<f64> {
        self.us_per_query(self.client_user_ns + self.client_system_ns)
    }

    /// Microseconds of the generator's processor time in user space for one query. `None` when
    /// nothing was answered.
    pub fn client_user_us_per_query(&self) -> Option<f64> {
        self.us_per_query(self.client_user_ns)
    }

    /// Microseconds of the null server's processor time for one query. `None` when nothing was
    /// answered.
    pub fn server_us_per_query(&self) -> Option<f64> {
        self.us_per_query(self.server_ns)
    }

    fn us_per_query(&self, ns: u64) -> Option<f64> {
        (self.queries > 0).then(|| ns as f64 / 1e3 / self.queries as f64)
    }
}

#[cfg(test)]
mod tests;
