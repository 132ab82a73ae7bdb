//! Arrival times of an open loop's operations.

use prony_model::{Spacing, Thousandths};

use crate::values::random::ClientRandom;

const NS_PER_SECOND: f64 = 1e9;

/// The planned arrivals of a group that fall to one thread, in order, in nanoseconds of the
/// host's monotonic clock. What is answered, and when, changes none of them.
///
/// Regular arrivals are numbered over all threads and dealt to clients in turn; a thread has those
/// of its clients. Poisson arrivals of a thread are a process of its own, at its clients' share of
/// the rate: together the threads' are one process at the whole rate.
#[derive(Debug, Clone)]
pub(crate) struct Arrivals {
    start_ns: u64,
    /// None comes at or after this instant.
    end_ns: u64,
    /// Arrivals still to come, at most.
    left: u64,
    rise: Rise,
    gaps: Gaps,
}

/// Parameters of a group's arrivals on one thread.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) rate: Thousandths,
    pub(crate) spacing: Spacing,
    /// Numbers, within their group and counted from 0, of the clients of this thread.
    pub(crate) numbers: Vec<u32>,
    /// Clients of the group on all threads.
    pub(crate) clients: u32,
    /// Time over which the rate rises from 0.
    pub(crate) ramp_ns: u64,
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    /// Arrivals at most.
    pub(crate) operations: u64,
    pub(crate) seed: u64,
}

#[derive(Debug, Clone)]
enum Gaps {
    Regular {
        numbers: Vec<u32>,
        clients: u64,
        next: u64,
    },
    Poisson {
        random: ClientRandom,
        /// Mean distance of two arrivals of this thread, in arrivals of the group.
        mean: f64,
        position: f64,
    },
}

/// A rate that rises evenly from 0 and then stays.
#[derive(Debug, Clone, Copy)]
struct Rise {
    /// Arrivals per nanosecond, in the end.
    rate: f64,
    ramp_ns: f64,
}

impl Arrivals {
    pub(crate) fn new(plan: Plan) -> Self {
        let first = plan.numbers.first().copied().unwrap_or(0);
        let share = plan.numbers.len() as f64;
        let gaps = match plan.spacing {
            Spacing::Regular => Gaps::Regular {
                numbers: plan.numbers,
                clients: u64::from(plan.clients),
                next: 0,
            },
            Spacing::Poisson => Gaps::Poisson {
                random: ClientRandom::new(plan.seed, first),
                mean: f64::from(plan.clients) / share.max(1.0),
                position: 0.0,
            },
        };
        Self {
            start_ns: plan.start_ns,
            end_ns: plan.end_ns,
            left: if share > 0.0 { plan.operations } else { 0 },
            rise: Rise {
                rate: plan.rate.as_f64() / NS_PER_SECOND,
                ramp_ns: plan.ramp_ns as f64,
            },
            gaps,
        }
    }

    /// From here on none comes at or after `end_ns`.
    pub(crate) fn end_at(&mut self, end_ns: u64) {
        self.end_ns = self.end_ns.min(end_ns);
    }
}

impl Iterator for Arrivals {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if self.left == 0 {
            return None;
        }
        let elapsed_ns = self.rise.ns_until(self.gaps.next());
        let at_ns = self.start_ns.saturating_add(elapsed_ns);
        if at_ns >= self.end_ns {
            self.left = 0;
            return None;
        }
        self.left -= 1;
        Some(at_ns)
    }
}

impl Gaps {
    /// Arrivals of the whole group that are expected before the next one of this thread.
    fn next(&mut self) -> f64 {
        match self {
            Self::Regular {
                numbers,
                clients,
                next,
            } => {
                let count = numbers.len() as u64;
                let (round, place) = (*next / count, *next % count);
                *next += 1;
                let number = numbers[usize::try_from(place).unwrap_or(0)];
                (round * *clients + u64::from(number)) as f64
            }
            Self::Poisson {
                random,
                mean,
                position,
            } => {
                *position += exponential(random) * *mean;
                *position
            }
        }
    }
}

impl Rise {
    /// Nanoseconds until this many arrivals are expected.
    fn ns_until(self, arrivals: f64) -> u64 {
        let in_ramp = self.rate * self.ramp_ns / 2.0;
        let ns = if arrivals < in_ramp {
            // The expected number is rate · t² ÷ (2 · ramp).
            (2.0 * arrivals * self.ramp_ns / self.rate).sqrt()
        } else {
            self.ramp_ns / 2.0 + arrivals / self.rate
        };
        ns_from(ns)
    }
}

/// An exponentially distributed number with mean 1.
pub(crate) fn exponential(random: &mut ClientRandom) -> f64 {
    // In (0, 1], so that the logarithm is finite.
    -(1.0 - random.unit()).ln()
}

/// The nearest whole nanosecond; what is beyond 64 bits never comes.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "floats saturate in casts, and times are never negative"
)]
pub(crate) const fn ns_from(ns: f64) -> u64 {
    ns.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND: u64 = 1_000_000_000;

    fn plan(rate: u32, spacing: Spacing, clients: u32, numbers: Vec<u32>) -> Plan {
        Plan {
            rate: Thousandths(rate * 1000),
            spacing,
            numbers,
            clients,
            ramp_ns: 0,
            start_ns: 5,
            end_ns: 5 + SECOND,
            operations: u64::MAX,
            seed: 1,
        }
    }

    /// The clients of thread `thread` of `threads`, dealt in turn.
    fn dealt(clients: u32, thread: u32, threads: u32) -> Vec<u32> {
        (0..clients).filter(|n| n % threads == thread).collect()
    }

    proptest! {
        /// However clients are dealt, regular arrivals of all threads are those of one.
        #[test]
        fn threads_share_regular_arrivals(clients in 1..9_u32, threads in 1..4_u32, rate in 1..500_u32) {
            let all = |numbers| Arrivals::new(plan(rate, Spacing::Regular, clients, numbers));
            let mut dealt_out: Vec<u64> = (0..threads)
                .flat_map(|thread| all(dealt(clients, thread, threads)))
                .collect();
            dealt_out.sort_unstable();
            let alone: Vec<u64> = all(dealt(clients, 0, 1)).collect();
            prop_assert_eq!(dealt_out, alone);
        }
    }

    #[test]
    fn regular_arrivals_are_evenly_spaced() {
        let arrivals: Vec<u64> =
            Arrivals::new(plan(4, Spacing::Regular, 3, vec![0, 1, 2])).collect();
        let quarter = SECOND / 4;
        assert_eq!(arrivals, [5, 5 + quarter, 5 + 2 * quarter, 5 + 3 * quarter]);
    }

    #[test]
    fn poisson_arrivals_have_the_rate_and_exponential_gaps() {
        let mut counts = 0;
        let mut gaps = Vec::new();
        for thread in 0..2 {
            let mut plan = plan(20_000, Spacing::Poisson, 3, dealt(3, thread, 2));
            plan.end_ns = 5 + 10 * SECOND;
            let arrivals: Vec<u64> = Arrivals::new(plan).collect();
            counts += arrivals.len();
            gaps.extend(arrivals.windows(2).map(|pair| (pair[1] - pair[0]) as f64));
        }
        // 200,000 expected; the standard deviation is 447.
        assert!((198_000..202_000).contains(&counts), "{counts}");
        // Of exponential gaps a share of 1/e is longer than the mean; here there are two means.
        let mut fast: Vec<f64> = gaps.clone();
        fast.sort_unstable_by(f64::total_cmp);
        let mean = fast.iter().sum::<f64>() / fast.len() as f64;
        let deviation =
            (fast.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / fast.len() as f64).sqrt();
        assert!(
            (0.97..1.15).contains(&(deviation / mean)),
            "{}",
            deviation / mean
        );
    }

    #[test]
    fn a_ramp_rises_evenly() {
        let mut plan = plan(1000, Spacing::Regular, 1, vec![0]);
        plan.ramp_ns = SECOND;
        plan.end_ns = 5 + 2 * SECOND;
        let arrivals: Vec<u64> = Arrivals::new(plan).collect();
        // 500 in the ramp, a quarter of them in its first half; 1000 after it.
        assert_eq!(arrivals.len(), 1500);
        let before = |ns: u64| arrivals.iter().filter(|at| **at < 5 + ns).count();
        assert_eq!((before(SECOND / 2), before(SECOND)), (125, 500));
    }

    #[test]
    fn the_number_of_arrivals_can_be_limited_and_the_end_moved() {
        let mut limited = plan(10, Spacing::Poisson, 1, vec![0]);
        limited.operations = 3;
        limited.end_ns = u64::MAX;
        assert_eq!(Arrivals::new(limited).count(), 3);
        let mut ended = Arrivals::new(plan(10, Spacing::Regular, 1, vec![0]));
        ended.end_at(5 + SECOND / 2);
        assert_eq!(ended.count(), 5);
        let nobody = Arrivals::new(plan(10, Spacing::Regular, 1, Vec::new()));
        assert_eq!(nobody.count(), 0);
    }
}
