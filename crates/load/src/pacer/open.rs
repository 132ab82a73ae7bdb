//! The open loop of a group on one thread: who waits for arrivals, and which wait for somebody.

use std::collections::VecDeque;

use crate::pacer::arrivals::Arrivals;
use crate::pacer::{Begin, Waiting};

/// The arrivals of a group, and its idle clients.
#[derive(Debug)]
pub(crate) struct Open {
    upcoming: Arrivals,
    /// The first that has no client yet.
    next_ns: Option<u64>,
    /// The same arrivals once more, to count those that are due.
    counting: Arrivals,
    uncounted_ns: Option<u64>,
    planned: u64,
    begun: u64,
    /// Idle clients and since when, who is idle longest first.
    idle: VecDeque<(usize, u64)>,
    /// From here on, what has waited for `drain_ns` is left, and all that follows.
    give_up_ns: u64,
    drain_ns: u64,
}

impl Open {
    /// `clients` is how many may be idle at once. At `over_ns` all should have begun; a backlog is
    /// worked off for `drain_ns`.
    pub(super) fn new(mut arrivals: Arrivals, clients: usize, over_ns: u64, drain_ns: u64) -> Self {
        let mut counting = arrivals.clone();
        Self {
            next_ns: arrivals.next(),
            uncounted_ns: counting.next(),
            upcoming: arrivals,
            counting,
            planned: 0,
            begun: 0,
            idle: VecDeque::with_capacity(clients),
            give_up_ns: over_ns.saturating_add(drain_ns),
            drain_ns,
        }
    }

    /// Time of the next arrival for which a client is idle.
    pub(super) fn next_due(&self) -> Option<u64> {
        self.idle.front()?;
        self.next_ns
    }

    /// An arrival that is due and its client.
    pub(super) fn take_due(&mut self, now_ns: u64) -> Option<Begin> {
        if self.next_ns? > now_ns {
            return None;
        }
        let (client, idle_ns) = self.idle.pop_front()?;
        let planned_ns = self.take()?;
        Some(Begin {
            client,
            planned_ns,
            on_time: idle_ns <= planned_ns,
        })
    }

    /// A client is idle since then, and will be called.
    pub(super) fn be_idle(&mut self, client: usize, since_ns: u64) {
        self.idle.push_back((client, since_ns));
    }

    /// A client is idle: it gets the arrival that waits longest, if one does.
    pub(super) fn wait(&mut self, client: usize, now_ns: u64) -> Waiting {
        // Arrivals may come later than their number lets one expect; those are not late.
        let is_late = |next_ns: u64| next_ns.saturating_add(self.drain_ns) <= now_ns;
        if now_ns >= self.give_up_ns && self.next_ns.is_some_and(is_late) {
            self.next_ns = None;
        }
        match self.next_ns {
            None => Waiting::Done,
            // Who has been idle for longer comes first, and was perhaps idle in time.
            Some(next_ns) if next_ns > now_ns || !self.idle.is_empty() => {
                self.be_idle(client, now_ns);
                Waiting::Waits
            }
            Some(planned_ns) => {
                self.take();
                Waiting::Begins(Begin {
                    client,
                    planned_ns,
                    on_time: false,
                })
            }
        }
    }

    /// Clients that wait although no arrival is left.
    pub(super) fn release(&mut self) -> usize {
        if self.next_ns.is_some() {
            return 0;
        }
        let count = self.idle.len();
        self.idle.clear();
        count
    }

    fn take(&mut self) -> Option<u64> {
        let planned_ns = self.next_ns?;
        self.next_ns = self.upcoming.next();
        self.begun += 1;
        Some(planned_ns)
    }

    /// Nothing arrives from this instant on.
    pub(super) fn close(&mut self, now_ns: u64, drain_ns: u64) {
        self.drain_ns = drain_ns;
        self.upcoming.end_at(now_ns);
        self.counting.end_at(now_ns);
        self.next_ns = self.next_ns.filter(|next_ns| *next_ns < now_ns);
        self.uncounted_ns = self.uncounted_ns.filter(|next_ns| *next_ns < now_ns);
        self.give_up_ns = self.give_up_ns.min(now_ns.saturating_add(drain_ns));
    }

    /// Arrivals that were due by then and have not begun.
    pub(crate) fn backlog(&mut self, at_ns: u64) -> u64 {
        while self.uncounted_ns.is_some_and(|next_ns| next_ns <= at_ns) {
            self.planned += 1;
            self.uncounted_ns = self.counting.next();
        }
        self.planned.saturating_sub(self.begun)
    }

    /// Arrivals that were planned in all.
    pub(crate) fn planned(&mut self) -> u64 {
        self.backlog(u64::MAX);
        self.planned
    }
}

#[cfg(test)]
mod tests {
    use prony_model::{Spacing, Thousandths};

    use super::*;
    use crate::pacer::arrivals::Plan;

    /// Ten arrivals, one every 233 ns from 0 on; two clients.
    fn open(drain_ns: u64) -> Open {
        let arrivals = Arrivals::new(Plan {
            rate: Thousandths(u32::MAX),
            spacing: Spacing::Regular,
            numbers: vec![0, 1],
            clients: 2,
            ramp_ns: 0,
            start_ns: 0,
            end_ns: 2320,
            operations: 10,
            seed: 1,
        });
        Open::new(arrivals, 2, 2320, drain_ns)
    }

    #[test]
    fn arrivals_wait_for_clients_and_clients_for_arrivals() {
        let mut open = open(u64::MAX);
        // The rate is 4,294,967 per second: 232.8 ns between two.
        let Waiting::Begins(begin) = open.wait(0, 5) else {
            panic!("the first is due at once")
        };
        assert_eq!((begin.planned_ns, begin.on_time), (0, false));
        assert_eq!(open.next_due(), None);
        assert_eq!(open.wait(1, 7), Waiting::Waits);
        assert_eq!(open.next_due(), Some(233));
        assert_eq!(open.take_due(231), None);
        let begin = open.take_due(240).unwrap();
        assert_eq!(
            (begin.client, begin.planned_ns, begin.on_time),
            (1, 233, true)
        );
        assert_eq!(open.backlog(700), 2);
        let Waiting::Begins(begin) = open.wait(0, 700) else {
            panic!("two are late")
        };
        assert_eq!((begin.planned_ns, begin.on_time), (466, false));
        assert_eq!(open.planned(), 10);
    }

    #[test]
    fn nothing_is_begun_after_the_time_for_working_off() {
        let mut open = open(1000);
        assert!(matches!(open.wait(0, 3000), Waiting::Begins(_)));
        assert_eq!(open.wait(0, 3320), Waiting::Done);
        assert_eq!((open.planned(), open.backlog(3320)), (10, 9));
    }

    #[test]
    fn closing_ends_what_has_not_arrived() {
        let mut open = open(u64::MAX);
        open.wait(0, 0);
        open.wait(0, 1);
        assert_eq!(open.release(), 0);
        open.close(200, 0);
        assert_eq!((open.release(), open.planned()), (1, 1));
    }
}
