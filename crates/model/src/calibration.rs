//! The load generator's ceiling on a host: its speed when the server costs next to nothing.

use serde::{Deserialize, Serialize};

use crate::{Backend, CounterSet, Spacing, Thousandths};

/// The ceiling of the load generator on one host, measured against the null server with a
/// prepared point query over a unix socket: raw counts, from which rates are derived when read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calibration {
    /// The version of Prony that was measured.
    pub prony_version: String,
    /// The host that it was measured on.
    pub host: CalibratedHost,
    /// When it was made, in milliseconds since 1970, UTC.
    pub made_at_ms: u64,
    /// Closed loops: by backend, then by number of clients.
    pub closed: Vec<ClosedPoint>,
    /// Open loops, one for each backend.
    pub open: Vec<OpenPoint>,
    /// The price of counters that are opened on a server: by set of counters, then by number of
    /// clients. Empty where this was not measured.
    #[serde(default)]
    pub looking: Vec<LookingPrice>,
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

/// Facts of a host that decide how fast the generator is. A calibration is valid where all of it, and
/// the version of Prony, are the same.
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
    /// The backend that carried the connections.
    pub backend: Backend,
    /// Connections.
    pub clients: u32,
    /// Threads of the generator.
    pub threads: u32,
    /// The counts.
    pub counts: CalibrationCounts,
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
    /// Operations per second over all clients.
    pub rate: Thousandths,
    /// Gaps between arrivals.
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

    /// True where it says something of a backend.
    pub fn covers(&self, backend: Backend) -> bool {
        self.closed.iter().any(|point| point.backend == backend)
    }

    /// The closed loop of `backend` with the smallest measured number of clients that is `clients`
    /// or more. `None` where none is.
    pub fn at_or_above(&self, backend: Backend, clients: u32) -> Option<&ClosedPoint> {
        self.closed
            .iter()
            .filter(|point| point.backend == backend && point.clients >= clients)
            .min_by_key(|point| point.clients)
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
    /// Operations that were planned and never begun, since what was overdue when the measured time
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
mod tests {
    use super::*;

    fn point(backend: Backend, clients: u32) -> ClosedPoint {
        ClosedPoint {
            backend,
            clients,
            threads: 1,
            counts: CalibrationCounts {
                queries: 1_000,
                wall_ns: 500_000_000,
                client_user_ns: 1_000_000,
                client_system_ns: 3_000_000,
                server_ns: 2_000_000,
            },
        }
    }

    fn calibration() -> Calibration {
        Calibration {
            prony_version: "1.2.3".into(),
            host: CalibratedHost {
                cpu_model: Some("Example 1".into()),
                cpus: 2,
                kernel: None,
            },
            made_at_ms: 5,
            closed: vec![
                point(Backend::Epoll, 1),
                point(Backend::Epoll, 64),
                point(Backend::IoUring, 512),
            ],
            open: vec![OpenPoint {
                backend: Backend::Epoll,
                clients: 8,
                threads: 2,
                rate: Thousandths(10_000_000),
                spacing: Spacing::Regular,
                counts: point(Backend::Epoll, 8).counts,
                planned: 1_000,
                error: vec![1, 255],
            }],
            looking: Vec::new(),
        }
    }

    #[test]
    fn rates_come_from_counts() {
        let counts = point(Backend::Epoll, 1).counts;
        assert_eq!(counts.queries_per_second(), Some(2_000.0));
        assert_eq!(counts.client_us_per_query(), Some(4.0));
        assert_eq!(counts.client_user_us_per_query(), Some(1.0));
        assert_eq!(counts.server_us_per_query(), Some(2.0));
        let none = CalibrationCounts {
            queries: 0,
            ..counts
        };
        assert_eq!(none.queries_per_second(), None);
        assert_eq!(none.client_us_per_query(), None);
    }

    #[test]
    fn the_point_at_or_above_is_of_the_same_backend() {
        let calibration = calibration();
        let found = |backend, clients| {
            let point = calibration.at_or_above(backend, clients);
            point.map(|point| point.clients)
        };
        assert_eq!(found(Backend::Epoll, 1), Some(1));
        assert_eq!(found(Backend::Epoll, 2), Some(64));
        assert_eq!(found(Backend::Epoll, 64), Some(64));
        assert_eq!(found(Backend::Epoll, 65), None);
        assert_eq!(found(Backend::IoUring, 1), Some(512));
        let epoll_only = Calibration {
            closed: vec![point(Backend::Epoll, 1)],
            ..calibration
        };
        assert!(epoll_only.covers(Backend::Epoll) && !epoll_only.covers(Backend::IoUring));
        assert_eq!(epoll_only.at_or_above(Backend::IoUring, 1), None);
    }

    #[test]
    fn it_is_of_one_version_on_one_host() {
        let calibration = calibration();
        let host = calibration.host.clone();
        assert!(calibration.is_of("1.2.3", &host));
        assert!(!calibration.is_of("1.2.4", &host));
        let other = CalibratedHost { cpus: 4, ..host };
        assert!(!calibration.is_of("1.2.3", &other));
    }

    #[test]
    fn what_was_planned_and_not_answered_is_left() {
        let [point] = <[OpenPoint; 1]>::try_from(calibration().open).unwrap();
        assert_eq!(point.left(), 0);
        let overloaded = OpenPoint {
            planned: 1_020,
            ..point
        };
        assert_eq!(overloaded.left(), 20);
    }

    #[test]
    fn the_price_of_looking_is_what_is_lost() {
        let counts = |queries| CalibrationCounts {
            queries,
            wall_ns: 1_000_000_000,
            client_user_ns: 1,
            client_system_ns: 1,
            server_ns: 1,
        };
        let price = |with: [u64; 3]| LookingPrice {
            counters: CounterSet::Hardware,
            clients: 1,
            rounds: with
                .map(|with| PricedRound {
                    without: counts(1_000),
                    with: counts(with),
                })
                .to_vec(),
        };
        let loss = price([900, 900, 900]).loss().unwrap();
        assert!((loss.mean - 0.1).abs() < 1e-9, "{loss:?}");
        assert!((loss.most - 0.1).abs() < 1e-9, "{loss:?}");
        let spread = price([800, 900, 1_000]).loss().unwrap();
        assert!((spread.range.1 - 0.2).abs() < 1e-9 && spread.range.0.abs() < 1e-9);
        assert!(spread.most > 0.2, "{spread:?}");
        let mut few = price([900, 900, 900]);
        few.rounds.pop();
        assert_eq!(few.loss(), None);

        let mut calibration = calibration();
        let may = |calibration: &Calibration| calibration.may_ride(CounterSet::Hardware);
        assert!(!may(&calibration));
        calibration.looking = vec![price([999, 999, 999])];
        assert!(may(&calibration) && !calibration.may_ride(CounterSet::Software));
        calibration.looking.push(price([990, 990, 990]));
        assert!(!may(&calibration));
    }

    #[test]
    fn travels_as_json() {
        let json = serde_json::to_string(&calibration()).unwrap();
        assert!(json.contains(r#""error":"01ff""#), "{json}");
        assert_eq!(
            serde_json::from_str::<Calibration>(&json).unwrap(),
            calibration()
        );
    }
}
