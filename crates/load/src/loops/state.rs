//! The state of a thread's loop in one phase, besides its connections: the groups' programs and
//! records, and the decisions that are the same in every loop.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::LoadError;
use crate::client::{Client, Context, Next};
use crate::connection::Link;
use crate::loops::{HOUSEKEEPING_NS, Phase, Shared};
use crate::operations::Resources;
use crate::pacer::{Begin, Pacer, Waiting};
use crate::program::Program;
use crate::recorder::{Period, Recorder};
use crate::values::Values;

/// Pause of a connection that found the server's queue full, before it is tried again.
const RETRY_NS: u64 = 1_000_000;

/// A group's work on one thread.
pub(crate) struct GroupState<'a> {
    pub(crate) program: &'a Program,
    pub(crate) values: &'a mut [Values],
    pub(crate) recorder: Recorder,
    pub(crate) scheduled: bool,
    /// `true` if they arrive by a schedule that no answer changes.
    pub(crate) is_open: bool,
    /// Operations due and not begun when the measured time was over.
    pub(crate) backlog: u64,
}

/// The state of a thread's loop in one phase.
pub(crate) struct State<'a> {
    groups: Vec<GroupState<'a>>,
    pacer: Pacer,
    pub(super) shared: Shared<'a>,
    /// Threads on which clients of the first group still work, where their end is that of the other
    /// groups.
    own_left: Option<&'a AtomicU32>,
    /// Clients of the first group, on this thread, that still work.
    own_working: usize,
    /// `true` if the groups beside the first have ended.
    beside_closed: bool,
    hand_over: &'a mut dyn FnMut(Vec<Period>) -> Result<(), LoadError>,
    period_ns: u64,
    period_end_ns: u64,
    /// From here on no period ends: operations under way belong to the last one.
    end_ns: u64,
    ramp_ns: u64,
    drain_ns: u64,
    start_ns: u64,
    /// When the first group's operations should all have begun; from then on its backlog is worked
    /// off.
    over_ns: u64,
    /// Whether `over_ns` has come.
    over: bool,
    /// When the next round of housekeeping is due.
    housekeeping_ns: u64,
}

impl<'a> State<'a> {
    pub(crate) fn new(
        phase: &'a Phase<'a>,
        groups: Vec<GroupState<'a>>,
        pacer: Pacer,
        shared: Shared<'a>,
        hand_over: &'a mut dyn FnMut(Vec<Period>) -> Result<(), LoadError>,
    ) -> Self {
        let mut state = Self {
            groups,
            pacer,
            shared,
            own_left: phase.own_left,
            own_working: 0,
            beside_closed: false,
            hand_over,
            period_ns: phase.period_ns,
            period_end_ns: phase.period_start_ns,
            end_ns: phase.end_ns,
            ramp_ns: phase.ramp_ns,
            drain_ns: phase.drain_ns,
            start_ns: phase.start_ns,
            over_ns: phase.over_ns,
            over: false,
            housekeeping_ns: phase.start_ns,
        };
        state.set_period_end();
        state
    }

    /// Sets the number of clients of the first group on this thread.
    pub(crate) fn count_own(&mut self, clients: usize) {
        self.own_working = clients;
        if clients == 0 {
            self.own_ended_here();
        }
    }

    /// The clients of the first group, on this thread, have ended.
    fn own_ended_here(&self) {
        if let Some(own_left) = self.own_left {
            own_left.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// The program of a client.
    pub(super) fn program(&self, link: &Link) -> &'a Program {
        self.groups[link.client.group()].program
    }

    #[inline]
    fn context(&mut self, group: usize) -> Context<'_> {
        let closing = group > 0 && self.own_ended() && !self.groups[group].is_open;
        let state = &mut self.groups[group];
        Context {
            resources: Resources {
                program: state.program,
                room: state.values,
            },
            recorder: &mut state.recorder,
            stall_ns: self.shared.stall_ns,
            scheduled: state.scheduled,
            closing,
        }
    }

    /// Whether the clients of the first group have ended on all threads, and the others are to.
    fn own_ended(&self) -> bool {
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
            let clients = self.shared.opener.clients(group);
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
        let Some(prepared) = link.take_prepared(self.program(link)) else {
            return Next::Rest;
        };
        let client = &mut link.client;
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

    /// Time at which the first waiting client has to be called; `None` if none will.
    #[inline]
    pub(super) fn next_due(&self) -> Option<u64> {
        self.pacer.next_due()
    }

    /// Calls a client that has to begin now. Returns its index.
    pub(super) fn take_due(&mut self, now_ns: u64) -> Option<Begin> {
        self.close_beside(now_ns);
        let begin = self.pacer.take_due(now_ns)?;
        self.release();
        Some(begin)
    }

    /// A client that was called begins.
    pub(super) fn begin(&mut self, begin: Begin, client: &mut Client) -> Next {
        let mut context = self.context(client.group());
        client.begin(begin.planned_ns, begin.on_time, &mut context)
    }

    /// Decides how a client goes on that has nothing to send.
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
                self.release();
                self.begin(begin, client)
            }
            Waiting::Waits => Next::Wait,
            Waiting::Done => {
                client.rest();
                if client.group() == 0 {
                    self.count_rested(1);
                }
                Next::Rest
            }
        }
    }

    /// Releases idle clients of the first group that no operation will come for.
    fn release(&mut self) {
        let clients = self.pacer.release(0);
        if clients > 0 {
            self.count_rested(clients);
        }
    }

    /// Counts clients of the first group that rest.
    fn count_rested(&mut self, clients: usize) {
        self.own_working = self.own_working.saturating_sub(clients);
        if self.own_working == 0 {
            self.own_ended_here();
        }
    }

    /// Hands over periods that are over, and stops where another thread has failed or nobody
    /// controls the generator any more. Most calls only look at the time.
    #[inline]
    pub(super) fn housekeeping(&mut self, now_ns: u64) -> Result<ControlFlow<()>, LoadError> {
        if now_ns < self.housekeeping_ns {
            return Ok(ControlFlow::Continue(()));
        }
        self.do_housekeeping(now_ns)
    }

    #[cold]
    fn do_housekeeping(&mut self, now_ns: u64) -> Result<ControlFlow<()>, LoadError> {
        // When a thread failed in the warm-up, the measured time has no beginning either.
        if self.shared.failed.load(Ordering::Relaxed) {
            return Ok(ControlFlow::Break(()));
        }
        if (self.shared.is_abandoned)() {
            return Err(LoadError::Abandoned);
        }
        while now_ns >= self.period_end_ns {
            let periods = self.end_periods()?;
            (self.hand_over)(periods)?;
            self.set_period_end();
        }
        if !self.over && now_ns >= self.over_ns {
            self.over = true;
            self.count_backlogs(0, self.over_ns);
        }
        self.close_beside(now_ns);
        let end_ns = if self.over { u64::MAX } else { self.over_ns };
        let soon_ns = now_ns + HOUSEKEEPING_NS;
        self.housekeeping_ns = self.period_end_ns.min(soon_ns).min(end_ns);
        Ok(ControlFlow::Continue(()))
    }

    /// Ends the period of every group.
    fn end_periods(&mut self) -> Result<Vec<Period>, LoadError> {
        let end = |(index, group): (usize, &mut GroupState<'_>)| {
            let mut period = group.recorder.end_period()?;
            if let Some(open) = self.pacer.open(index) {
                period.backlog = open.backlog(self.period_end_ns);
            }
            Ok(period)
        };
        self.groups.iter_mut().enumerate().map(end).collect()
    }

    fn set_period_end(&mut self) {
        let next_ns = self.period_end_ns.saturating_add(self.period_ns);
        self.period_end_ns = if next_ns < self.end_ns {
            next_ns
        } else {
            u64::MAX
        };
    }

    /// Ends the groups beside the first when it has ended, or its time is over.
    fn close_beside(&mut self, now_ns: u64) {
        if self.beside_closed || self.groups.len() == 1 {
            return;
        }
        let end_ns = if now_ns >= self.end_ns {
            self.end_ns
        } else if self.own_ended() {
            now_ns
        } else {
            return;
        };
        self.beside_closed = true;
        self.pacer.close_beside(end_ns, self.drain_ns);
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
    pub(crate) fn into_records(mut self, now_ns: u64) -> Vec<Recorder> {
        // A loop that was cut short has not seen the end.
        if !self.beside_closed {
            self.pacer.close_beside(now_ns, 0);
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
        if !link.expects_nothing() && silent_ns >= self.shared.stall_ns {
            return Err(link.stalled(silent_ns, self.program(link)));
        }
        Ok(())
    }
}
