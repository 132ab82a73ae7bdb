//! Start of waiting clients: arrivals of open loops, think times, ramps. No I/O and no clock. One
//! for each thread and phase; clients are known by their index in the thread.

mod arrivals;
mod open;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use prony_model::{Pace, Spacing, Think};

pub(crate) use arrivals::{Arrivals, Plan};
pub(crate) use open::Open;

use crate::pacer::arrivals::{exponential, ns_from};
use crate::values::random::ClientRandom;

const NS_PER_US: u64 = 1_000;

/// An operation that is to begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Begin {
    /// Index of the client that begins it.
    pub(crate) client: usize,
    /// The time when it was to begin.
    pub(crate) planned_ns: u64,
    /// `true` if the client was idle at that instant, so that beginning later is the generator's
    /// fault.
    pub(crate) on_time: bool,
}

/// The decision on a client that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// It begins at once.
    Begins(Begin),
    /// It will be called.
    Waits,
    /// No arrival is left.
    Done,
}

/// The groups' paces on one thread, in one phase.
#[derive(Debug)]
pub(crate) struct Pacer {
    paces: Vec<GroupPace>,
    /// Instants at which clients with an instant of their own begin.
    timers: BinaryHeap<Reverse<Timer>>,
    random: ClientRandom,
    end_ns: u64,
}

/// A wake-up time: the instant, the client and its group.
type Timer = (u64, usize, usize);

/// The pace of a group on one thread.
#[derive(Debug)]
pub(crate) enum GroupPace {
    Closed { think: Option<Think> },
    Open(Box<Open>),
}

impl GroupPace {
    /// `plan` is asked for open loops only. At `over_ns` all operations should have begun; a
    /// backlog is worked off for `drain_ns`.
    pub(crate) fn new(
        pace: Pace,
        clients: usize,
        (over_ns, drain_ns): (u64, u64),
        plan: impl FnOnce(prony_model::Thousandths, Spacing) -> Plan,
    ) -> Self {
        match pace {
            Pace::Closed { think } => Self::Closed { think },
            Pace::Open { rate, spacing } => {
                let arrivals = Arrivals::new(plan(rate, spacing));
                Self::Open(Box::new(Open::new(arrivals, clients, over_ns, drain_ns)))
            }
        }
    }
}

impl Pacer {
    /// `clients` is how many the thread has; closed loops begin nothing at or after `end_ns`.
    pub(crate) fn new(
        paces: Vec<GroupPace>,
        clients: usize,
        random: ClientRandom,
        end_ns: u64,
    ) -> Self {
        Self {
            paces,
            timers: BinaryHeap::with_capacity(clients),
            random,
            end_ns,
        }
    }

    /// Time at which the first waiting client has to begin; `None` if none will.
    pub(crate) fn next_due(&self) -> Option<u64> {
        let timer = self.timers.peek().map(|Reverse((at_ns, ..))| *at_ns);
        let arrivals = self.paces.iter().filter_map(|pace| match pace {
            GroupPace::Closed { .. } => None,
            GroupPace::Open(open) => open.next_due(),
        });
        arrivals.chain(timer).min()
    }

    /// An operation that is due.
    pub(crate) fn take_due(&mut self, now_ns: u64) -> Option<Begin> {
        if let Some(Reverse((planned_ns, client, _))) = self.timers.peek().copied()
            && planned_ns <= now_ns
        {
            self.timers.pop();
            return Some(Begin {
                client,
                planned_ns,
                on_time: true,
            });
        }
        self.paces.iter_mut().find_map(|pace| match pace {
            GroupPace::Closed { .. } => None,
            GroupPace::Open(open) => open.take_due(now_ns),
        })
    }

    /// A client of a group has nothing to do before its next operation.
    pub(crate) fn wait(&mut self, group: usize, client: usize, now_ns: u64) -> Waiting {
        match &mut self.paces[group] {
            GroupPace::Open(open) => open.wait(client, now_ns),
            GroupPace::Closed { think } => {
                let wait_ns = think.map_or(0, |think| think.draw(&mut self.random));
                self.wait_until(now_ns.saturating_add(wait_ns), group, client)
            }
        }
    }

    /// A client begins the phase, at `start_ns`: a thinking client starts at a random point of its
    /// think time, and a client of an open loop is idle before the first arrival.
    pub(crate) fn wait_first(&mut self, group: usize, client: usize, start_ns: u64) -> Waiting {
        let wait_ns = match &mut self.paces[group] {
            GroupPace::Open(open) => {
                open.be_idle(client, start_ns);
                return Waiting::Waits;
            }
            GroupPace::Closed { think: None } => 0,
            GroupPace::Closed { think: Some(think) } => match think.spacing {
                Spacing::Regular => ns_from(self.random.unit() * think.mean_ns()),
                // What is left of an exponential time is distributed as the whole of it.
                Spacing::Poisson => think.draw(&mut self.random),
            },
        };
        self.wait_until(start_ns.saturating_add(wait_ns), group, client)
    }

    /// A client waits for an instant, unless the phase is over by then.
    pub(crate) fn wait_until(&mut self, at_ns: u64, group: usize, client: usize) -> Waiting {
        if at_ns >= self.end_ns {
            return Waiting::Done;
        }
        self.call_at(at_ns, group, client)
    }

    /// A client waits for an instant.
    pub(crate) fn call_at(&mut self, at_ns: u64, group: usize, client: usize) -> Waiting {
        self.timers.push(Reverse((at_ns, client, group)));
        Waiting::Waits
    }

    /// Releases clients of the group that wait although no operation will come. Returns their
    /// number.
    pub(crate) fn release(&mut self, group: usize) -> usize {
        match &mut self.paces[group] {
            GroupPace::Closed { .. } => 0,
            GroupPace::Open(open) => open.release(),
        }
    }

    /// All groups but the first end now.
    pub(crate) fn close_beside(&mut self, now_ns: u64, drain_ns: u64) {
        self.timers.retain(|Reverse((.., group))| *group == 0);
        for pace in self.paces.iter_mut().skip(1) {
            if let GroupPace::Open(open) = pace {
                open.close(now_ns, drain_ns);
            }
        }
    }

    /// The open loop of a group.
    pub(crate) fn open(&mut self, group: usize) -> Option<&mut Open> {
        match &mut self.paces[group] {
            GroupPace::Closed { .. } => None,
            GroupPace::Open(open) => Some(open),
        }
    }
}

/// Drawing think times.
trait Thinks {
    fn mean_ns(self) -> f64;
    fn draw(self, random: &mut ClientRandom) -> u64;
}

impl Thinks for Think {
    fn mean_ns(self) -> f64 {
        self.mean_us.saturating_mul(NS_PER_US) as f64
    }

    fn draw(self, random: &mut ClientRandom) -> u64 {
        match self.spacing {
            Spacing::Regular => self.mean_us.saturating_mul(NS_PER_US),
            Spacing::Poisson => ns_from(exponential(random) * self.mean_ns()),
        }
    }
}
