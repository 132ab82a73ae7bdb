//! What a loop has at hand besides the connections: the groups' programs and records, and the
//! decisions that are the same behind every kind of loop.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::LoadError;
use crate::client::{Client, Context, Next};
use crate::pacer::{Pacer, Waiting};
use crate::program::{Program, Values};
use crate::recorder::{Period, Recorder};
use crate::setup::Opener;
use crate::worker::{LOOK_NS, Link, Phase};

/// How long a connection that found the server's queue full waits before it is tried again.
const RETRY_NS: u64 = 1_000_000;

/// Whether a loop goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    GoOn,
    Stop,
}

/// A group's work on one thread.
pub(super) struct GroupDesk<'a> {
    pub(super) program: &'a Program,
    pub(super) values: &'a mut [Values],
    pub(super) recorder: Recorder,
    pub(super) scheduled: bool,
    /// Whether they arrive by a schedule that no answer changes.
    pub(super) is_open: bool,
    /// Operations due and not begun when the measured time was over.
    pub(super) backlog: u64,
}

/// What a thread's loop works with, in one phase.
pub(super) struct Desk<'a> {
    pub(super) groups: Vec<GroupDesk<'a>>,
    pub(super) pacer: Pacer,
    pub(super) opener: &'a Opener<'a>,
    pub(super) stall_ns: u64,
    /// Set as soon as any thread fails.
    pub(super) failed: &'a AtomicBool,
    /// Threads of which clients of the first group still work, where their end is that of the other
    /// groups.
    own_left: Option<&'a AtomicU32>,
    /// Clients of the first group, on this thread, that still work.
    own_working: usize,
    /// Whether the groups beside the first have ended.
    sides_closed: bool,
    hand_over: &'a mut dyn FnMut(Period) -> Result<(), LoadError>,
    period_ns: u64,
    period_end_ns: u64,
    /// From here on no period ends: operations under way belong to the last one.
    end_ns: u64,
    ramp_ns: u64,
    drain_ns: u64,
    start_ns: u64,
    /// When the first group's operations should all have begun; from then on it is worked off.
    over_ns: u64,
    /// Whether that has come.
    over: bool,
    /// When to look up next.
    look_ns: u64,
}

impl<'a> Desk<'a> {
    pub(super) fn new(
        phase: &'a Phase<'a>,
        groups: Vec<GroupDesk<'a>>,
        pacer: Pacer,
        opener: &'a Opener<'a>,
        shared: (&'a AtomicBool, u64),
        hand_over: &'a mut dyn FnMut(Period) -> Result<(), LoadError>,
    ) -> Self {
        let mut desk = Self {
            groups,
            pacer,
            opener,
            failed: shared.0,
            stall_ns: shared.1,
            own_left: phase.own_left,
            own_working: 0,
            sides_closed: false,
            hand_over,
            period_ns: phase.period_ns,
            period_end_ns: phase.start_ns,
            end_ns: phase.end_ns,
            ramp_ns: phase.ramp_ns,
            drain_ns: phase.drain_ns,
            start_ns: phase.start_ns,
            over_ns: phase.over_ns,
            over: false,
            look_ns: phase.start_ns,
        };
        desk.set_period_end();
        desk
    }

    /// So many clients of the first group are on this thread.
    pub(super) fn count_own(&mut self, clients: usize) {
        self.own_working = clients;
        if clients == 0 {
            self.own_are_done();
        }
    }

    /// The clients of the first group, on this thread, have ended.
    fn own_are_done(&self) {
        if let Some(own_left) = self.own_left {
            own_left.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// What a client runs.
    pub(super) fn program(&self, link: &Link) -> &'a Program {
        self.groups[link.client.group()].program
    }

    #[inline]
    fn context(&mut self, group: usize) -> Context<'_> {
        let closing = group > 0 && self.own_have_ended() && !self.groups[group].is_open;
        let desk = &mut self.groups[group];
        Context {
            program: desk.program,
            values: desk.values,
            recorder: &mut desk.recorder,
            stall_ns: self.stall_ns,
            scheduled: desk.scheduled,
            closing,
        }
    }

    /// Whether the clients of the first group, on all threads, have ended, and that is the end.
    fn own_have_ended(&self) -> bool {
        self.own_left
            .is_some_and(|own_left| own_left.load(Ordering::Relaxed) == 0)
    }

    /// A client begins the phase.
    pub(super) fn start(&mut self, client: &mut Client, index: usize, now_ns: u64) -> Next {
        let group = client.group();
        if client.has_nothing_to_do() {
            return self.after(Waiting::Done, client);
        }
        if client.must_connect() {
            let next = client.go_on(now_ns, &mut self.context(group));
            return self.resolve(next, client, index, now_ns);
        }
        if self.ramp_ns > 0 && self.pacer.open(group).is_none() {
            let clients = self.opener.clients(group);
            let delay_ns =
                u128::from(self.ramp_ns) * u128::from(client.number()) / u128::from(clients);
            let delay_ns = u64::try_from(delay_ns).unwrap_or(u64::MAX);
            let waiting = self
                .pacer
                .wait_until(now_ns.saturating_add(delay_ns), group, index);
            return self.after(waiting, client);
        }
        if self.groups[group].scheduled {
            let waiting = self.pacer.wait_first(group, index, self.start_ns);
            return self.after(waiting, client);
        }
        let next = client.go_on(now_ns, &mut self.context(group));
        self.resolve(next, client, index, now_ns)
    }

    /// The answer of a client is complete.
    #[inline]
    pub(super) fn answered(
        &mut self,
        client: &mut Client,
        index: usize,
        now_ns: u64,
    ) -> Result<Next, LoadError> {
        let next = client.answered(now_ns, &mut self.context(client.group()))?;
        match next {
            Next::Send => Ok(next),
            other => Ok(self.resolve(other, client, index, now_ns)),
        }
    }

    /// The new connection of a client is open.
    pub(super) fn opened(&mut self, link: &mut Link, index: usize, now_ns: u64) -> Next {
        let Some(opening) = link.opened() else {
            return Next::Rest;
        };
        let client = &mut link.client;
        let prepared = self
            .opener
            .prepared(client.group(), client.number(), &opening);
        let next = client.connected(now_ns, prepared, &mut self.context(client.group()));
        self.resolve(next, client, index, now_ns)
    }

    /// The server's queue was full: the client tries again later.
    pub(super) fn retry_later(&mut self, client: &mut Client, index: usize, now_ns: u64) -> Next {
        // Also when the phase's end has come: operations may wait for this client.
        let at_ns = now_ns.saturating_add(RETRY_NS);
        let waiting = self.pacer.call_at(at_ns, client.group(), index);
        self.after(waiting, client)
    }

    /// When the first waiting client has to be called; `None` when none will be.
    #[inline]
    pub(super) fn next_due(&self) -> Option<u64> {
        self.pacer.next_due()
    }

    /// Calls a client that has to begin now. Returns its index.
    pub(super) fn take_due(&mut self, now_ns: u64) -> Option<crate::pacer::Begin> {
        self.close_sides(now_ns);
        let begin = self.pacer.take_due(now_ns)?;
        self.dismiss();
        Some(begin)
    }

    /// A client that was called begins.
    pub(super) fn begin(&mut self, begin: crate::pacer::Begin, client: &mut Client) -> Next {
        let mut context = self.context(client.group());
        client.begin(begin.planned_ns, begin.on_time, &mut context)
    }

    /// Finds out what becomes of a client that has nothing to send.
    fn resolve(&mut self, next: Next, client: &mut Client, index: usize, now_ns: u64) -> Next {
        match next {
            Next::Send | Next::Connect => next,
            Next::Rest => self.after(Waiting::Done, client),
            Next::Wait => {
                let waiting = self.pacer.wait(client.group(), index, now_ns);
                self.after(waiting, client)
            }
        }
    }

    fn after(&mut self, waiting: Waiting, client: &mut Client) -> Next {
        match waiting {
            Waiting::Begins(begin) => {
                self.dismiss();
                self.begin(begin, client)
            }
            Waiting::Waits => Next::Wait,
            Waiting::Done => {
                client.rest();
                if client.group() == 0 {
                    self.rested(1);
                }
                Next::Rest
            }
        }
    }

    /// Idle clients of the first group for which nothing comes any more rest.
    fn dismiss(&mut self) {
        let clients = self.pacer.dismiss(0);
        if clients > 0 {
            self.rested(clients);
        }
    }

    /// Clients of the first group rest.
    fn rested(&mut self, clients: usize) {
        self.own_working = self.own_working.saturating_sub(clients);
        if self.own_working == 0 {
            self.own_are_done();
        }
    }

    /// Hands over periods that are over and heeds the other threads, if it is time to.
    #[inline]
    pub(super) fn look_up(&mut self, now_ns: u64) -> Result<Look, LoadError> {
        if now_ns < self.look_ns {
            return Ok(Look::GoOn);
        }
        self.look_around(now_ns)
    }

    #[cold]
    fn look_around(&mut self, now_ns: u64) -> Result<Look, LoadError> {
        // When a thread failed in the warm-up, the measured time has no beginning either.
        if self.failed.load(Ordering::Relaxed) {
            return Ok(Look::Stop);
        }
        while now_ns >= self.period_end_ns {
            let mut period = self.groups[0].recorder.end_period()?;
            if let Some(open) = self.pacer.open(0) {
                period.backlog = open.backlog(self.period_end_ns);
            }
            (self.hand_over)(period)?;
            self.set_period_end();
        }
        if !self.over && now_ns >= self.over_ns {
            self.over = true;
            self.count_backlogs(0, self.over_ns);
        }
        self.close_sides(now_ns);
        let end_ns = if self.over { u64::MAX } else { self.over_ns };
        let soon_ns = now_ns + LOOK_NS;
        self.look_ns = self.period_end_ns.min(soon_ns).min(end_ns);
        Ok(Look::GoOn)
    }

    fn set_period_end(&mut self) {
        let next_ns = self.period_end_ns.saturating_add(self.period_ns);
        self.period_end_ns = if next_ns < self.end_ns {
            next_ns
        } else {
            u64::MAX
        };
    }

    /// Ends the groups beside the first where that has come to its end, or to the end of its time.
    fn close_sides(&mut self, now_ns: u64) {
        if self.sides_closed || self.groups.len() == 1 {
            return;
        }
        let end_ns = if now_ns >= self.end_ns {
            self.end_ns
        } else if self.own_have_ended() {
            now_ns
        } else {
            return;
        };
        self.sides_closed = true;
        self.pacer.close_sides(end_ns, self.drain_ns);
        for group in 1..self.groups.len() {
            self.count_backlogs(group, end_ns);
        }
    }

    fn count_backlogs(&mut self, group: usize, at_ns: u64) {
        if let Some(open) = self.pacer.open(group) {
            self.groups[group].backlog = open.backlog(at_ns);
        }
    }

    /// The records of the groups, when the phase is over.
    pub(super) fn into_records(mut self, now_ns: u64) -> Vec<Recorder> {
        // A loop that was cut short has not seen the end.
        if !self.sides_closed {
            self.pacer.close_sides(now_ns, 0);
        }
        for (index, group) in self.groups.iter_mut().enumerate() {
            if let Some(open) = self.pacer.open(index) {
                let (planned, left) = (open.planned(), open.backlog(u64::MAX));
                group.recorder.planned(planned, group.backlog, left);
            }
        }
        self.groups
            .into_iter()
            .map(|group| group.recorder)
            .collect()
    }

    /// Fails when the client's server has been silent for too long.
    pub(super) fn check_silence(&self, link: &Link, now_ns: u64) -> Result<(), LoadError> {
        let silent_ns = now_ns.saturating_sub(link.client.heard_ns);
        if !link.expects_nothing() && silent_ns >= self.stall_ns {
            return Err(link.stalled(silent_ns, self.program(link)));
        }
        Ok(())
    }
}
