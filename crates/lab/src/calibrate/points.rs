//! The points of a calibration, and the rule by which its result is kept.

use prony_load::{DriveTask, Hello};
use prony_model::{Backend, Calibration, CounterSet, Family, Workload};
use rustix::process::{Resource, getrlimit};

use super::tasks::{available_backends, closed_loop, open_loop, warmup_ms};
use super::{noise, price};
use crate::drive::GeneratorSetup;

/// Files that a generator has open beside its connections, at most.
const OTHER_FILES: u64 = 64;

/// Milliseconds of measured time of the open loop in a short calibration: its 99th percentile of
/// lateness needs 10,000 operations, which is a second of them.
const OPEN_MS: u64 = 1_100;

/// The points to be measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CalibrationPoints {
    /// The families whose protocols the closed loops are measured in, at least one. All else is measured
    /// in that of the first.
    pub families: Vec<Family>,
    /// One after the other.
    pub backends: Vec<Backend>,
    /// Numbers of clients of the closed loops.
    pub clients: Vec<u32>,
    /// Milliseconds of measured time for each point, at least 1. A quarter of it before is warm-up.
    /// From [`Self::SHORT_MS`] on, the open loop takes as long as its percentiles need.
    pub time_ms: u64,
    /// Counters whose price is measured.
    pub looking: Vec<CounterSet>,
    /// Milliseconds for which the price of wake-ups is measured; 0 for not at all.
    pub wake_ups_ms: u64,
    /// Milliseconds for which the noise of the host is measured at each number of clients; 0 for not
    /// at all.
    pub noise_ms: u64,
}

impl CalibrationPoints {
    /// The numbers of clients that are measured by default.
    pub const CLIENTS: [u32; 5] = [1, 8, 64, 512, 1000];
    /// Milliseconds of measured time for each point by default.
    pub const TIME_MS: u64 = 2_000;
    /// The same where a run calibrates for itself: enough to see whether the generator is near its
    /// ceiling. What took less is never kept.
    pub const SHORT_MS: u64 = 500;

    /// Every protocol and every backend that this host has, at the usual numbers of clients, as far as
    /// this process may have so many connections.
    pub fn usual(time_ms: u64) -> Self {
        let files = getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX);
        let fits = |clients: &u32| u64::from(*clients) + OTHER_FILES <= files;
        Self {
            families: vec![Family::Mysql, Family::Postgresql],
            backends: available_backends(),
            clients: Self::CLIENTS.into_iter().filter(fits).collect(),
            time_ms,
            looking: Self::usual_looking(time_ms),
            wake_ups_ms: Self::usual_wake_ups_ms(time_ms),
            noise_ms: Self::usual_noise_ms(time_ms),
        }
    }

    /// Milliseconds of measuring wake-ups beside points of this length: long enough to see how often
    /// the kernel moves two threads, and in a short calibration enough for their price.
    pub const fn usual_wake_ups_ms(time_ms: u64) -> u64 {
        match time_ms {
            Self::TIME_MS.. => 10_000,
            Self::SHORT_MS.. => 2_500,
            _ => 0,
        }
    }

    /// Milliseconds of measuring noise beside points of this length.
    pub const fn usual_noise_ms(time_ms: u64) -> u64 {
        match time_ms {
            Self::TIME_MS.. => 10_000,
            Self::SHORT_MS.. => 4_000,
            _ => 0,
        }
    }

    /// Number of times that a disturbed point is measured again: a run that calibrates for itself
    /// must not wait long.
    pub(super) const fn repeats(&self) -> u32 {
        match self.time_ms {
            Self::TIME_MS.. => 3,
            _ => 1,
        }
    }

    /// The counters whose price is measured beside points of this length: all that the host has; in a
    /// short calibration only those that may ride along.
    pub fn usual_looking(time_ms: u64) -> Vec<CounterSet> {
        let mut sets = price::priced();
        if time_ms < Self::TIME_MS {
            sets.retain(|set| *set == CounterSet::Hardware);
        }
        sets
    }

    /// Milliseconds that it takes, warm-up included and connecting not.
    pub fn predicted_ms(&self) -> u64 {
        let point = |time_ms| time_ms + warmup_ms(time_ms);
        let closed = self.clients.len() * self.families.len();
        let backend = point(self.time_ms) * closed as u64 + point(self.open_ms());
        backend * self.backends.len() as u64
            + price::predicted_ms(self.looking.len())
            + noise::predicted_ms(self.noise_ms)
            + self.wake_ups_ms
    }

    /// Milliseconds of measured time of the open loop.
    pub(super) const fn open_ms(&self) -> u64 {
        if Self::SHORT_MS <= self.time_ms && self.time_ms < OPEN_MS {
            OPEN_MS
        } else {
            self.time_ms
        }
    }

    /// Tells whether the result replaces the one in the cache. It must have all that a usual one has,
    /// except protocols, since it may stand for the generator in reports from then on. A short one makes way for a full
    /// one, and only takes the place of one that lacks a backend or the price of counters.
    pub(super) fn worth_keeping(&self, usual: &Self, kept: Option<&Calibration>) -> bool {
        let has_backend = |backend| self.backends.contains(backend);
        let has_clients = |clients| self.clients.contains(clients);
        let whole = usual.backends.iter().all(has_backend) && usual.clients.iter().all(has_clients);
        let has_price = |kept: &Calibration, set: &CounterSet| {
            kept.looking.iter().any(|price| price.counters == *set)
        };
        let lacking = |kept: &Calibration| {
            let lacks = |family| move |&one: &Backend| !kept.covers(family, one);
            let mut families = self.families.iter();
            families.any(|&family| self.backends.iter().any(lacks(family)))
                || self.looking.iter().any(|set| !has_price(kept, set))
        };
        let time_will_do = self.time_ms >= Self::TIME_MS
            || self.time_ms >= Self::SHORT_MS && kept.is_none_or(lacking);
        whole && time_will_do
    }

    /// The closed loops that show the noise of the host, with the last backend.
    pub(super) fn noise_tasks(&self, workload: &Workload, hello: &Hello) -> Vec<DriveTask> {
        let backend = self.backends.last().filter(|_| self.noise_ms > 0);
        let of_backend = |&backend| {
            noise::CLIENTS
                .map(|clients| noise::task(workload, hello, backend, clients, self.noise_ms))
        };
        backend.into_iter().flat_map(of_backend).collect()
    }

    /// The family in whose protocol all but the closed loops is measured.
    pub(super) fn first_family(&self) -> Family {
        self.families.first().copied().unwrap_or(Family::Mysql)
    }

    /// By backend: closed loops for each family and number of clients, then the open loop.
    pub(super) fn tasks(&self, workload: &Workload, hello: &Hello) -> Vec<(Family, DriveTask)> {
        let of_backend = |&backend: &Backend| {
            let setup = GeneratorSetup::new(hello, backend);
            let families = self.families.iter();
            let closed = families.flat_map(move |&family| {
                let clients = self.clients.iter();
                clients.map(move |&clients| {
                    let task = closed_loop(workload, setup, clients, self.time_ms);
                    (family, task)
                })
            });
            let open = open_loop(workload, setup, self.open_ms());
            closed.chain([(self.first_family(), open)])
        };
        self.backends.iter().flat_map(of_backend).collect()
    }
}

#[cfg(test)]
mod tests {
    use prony_testkit as testkit;

    use super::super::tasks::RATE;
    use super::*;

    fn points(backends: &[Backend], clients: &[u32], time_ms: u64) -> CalibrationPoints {
        CalibrationPoints {
            families: vec![Family::Mysql],
            backends: backends.to_vec(),
            clients: clients.to_vec(),
            time_ms,
            looking: Vec::new(),
            wake_ups_ms: 0,
            noise_ms: 0,
        }
    }

    #[test]
    fn short_open_loop_has_a_99th_percentile() {
        let open_ms = |time_ms| points(&[Backend::Epoll], &[1], time_ms).open_ms();
        let operations = open_ms(CalibrationPoints::SHORT_MS) * u64::from(RATE.0) / 1_000_000;
        assert!(operations >= 10_000);
        assert_eq!([100, 1_500].map(open_ms), [100, 1_500]);
        let predicted = |time_ms| points(&[Backend::Epoll], &[1], time_ms).predicted_ms();
        assert_eq!(predicted(100), 2 * 125);
        assert_eq!(predicted(500), 625 + 1_375);
        let long = CalibrationPoints {
            wake_ups_ms: 3_000,
            noise_ms: 4_000,
            ..points(&[Backend::Epoll], &[1], 100)
        };
        assert_eq!(long.predicted_ms(), 2 * 125 + 3_000 + 2 * 4_500);
    }

    /// A calibration of these backends.
    fn calibration(backends: &[Backend]) -> Calibration {
        let closed = |&backend: &Backend| testkit::closed_point(backend, 1, 1);
        Calibration {
            closed: backends.iter().map(closed).collect(),
            ..testkit::calibration()
        }
    }

    #[test]
    fn only_what_has_all_usual_points_is_kept() {
        let both = [Backend::Epoll, Backend::IoUring];
        let usual = points(&both, &[1, 8], CalibrationPoints::TIME_MS);
        let kept = |points: &CalibrationPoints| points.worth_keeping(&usual, None);
        assert!(kept(&usual));
        assert!(kept(&points(&both, &[1, 8, 9], 60_000)));
        assert!(!kept(&points(&both, &[8], 60_000)));
        assert!(!kept(&points(&[Backend::Epoll], &[1, 8], 60_000)));
    }

    #[test]
    fn a_short_one_does_not_replace_another() {
        let both = [Backend::Epoll, Backend::IoUring];
        let usual = points(&both, &[1], CalibrationPoints::TIME_MS);
        let short = points(&both, &[1], CalibrationPoints::SHORT_MS);
        assert!(short.worth_keeping(&usual, None));
        assert!(short.worth_keeping(&usual, Some(&calibration(&both[..1]))));
        assert!(!short.worth_keeping(&usual, Some(&calibration(&both))));
        assert!(usual.worth_keeping(&usual, Some(&calibration(&both))));
        let hasty = points(&both, &[1], CalibrationPoints::SHORT_MS - 1);
        assert!(!hasty.worth_keeping(&usual, None));
    }
}
