//! One thread and its clients: the event loops.

mod alone;
mod crowd;
mod link;
mod ring;

use std::sync::atomic::{AtomicBool, Ordering};

use prony_model::Backend;

pub(crate) use link::Link;

use crate::LoadError;
use crate::client::{Context, Limit};
use crate::program::{Program, Values};
use crate::recorder::{Period, Recorder};

/// Bytes received at once. Long results take several rounds.
const BUFFER_SIZE: usize = 64 * 1024;

/// How often, at least, a thread looks up from its connections.
const LOOK_NS: u64 = 100_000_000;
/// The same for the system calls that wait.
const LOOK_MS: u64 = LOOK_NS / 1_000_000;

/// A part of a run in which every client goes as far as its limit.
#[derive(Debug, Clone)]
pub(crate) struct Phase {
    /// When it begins.
    pub(crate) start_ns: u64,
    /// When no more operations are begun.
    pub(crate) end_ns: u64,
    /// Operations of each of this thread's clients.
    pub(crate) operations: Vec<u64>,
    /// Length of a period, at whose end it is handed over.
    pub(crate) period_ns: u64,
}

/// A thread's clients, and what they share.
pub(crate) struct Worker<'a> {
    links: Vec<Link>,
    program: &'a Program,
    values: Vec<Values>,
    buffer: Vec<u8>,
    stall_ns: u64,
    /// Set as soon as any thread fails.
    failed: &'a AtomicBool,
    backend: Backend,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(
        links: Vec<Link>,
        program: &'a Program,
        stall_ns: u64,
        failed: &'a AtomicBool,
        backend: Backend,
    ) -> Self {
        Self {
            links,
            program,
            values: program.new_values(),
            buffer: vec![0; BUFFER_SIZE],
            stall_ns,
            failed,
            backend,
        }
    }

    /// The clients, after a phase.
    pub(crate) fn links(&self) -> &[Link] {
        &self.links
    }

    /// Runs every client to its limit and returns what was recorded; `hand_over` gets each period
    /// but the last as it ends. Ends early, without an error, when another thread failed.
    ///
    /// # Errors
    /// When a statement fails fatally or the server goes away; other threads are then told.
    pub(crate) fn run(
        &mut self,
        phase: &Phase,
        hand_over: &mut dyn FnMut(Period) -> Result<(), LoadError>,
    ) -> Result<Recorder, LoadError> {
        // BEGIN and COMMIT are recorded behind the workload's own statements.
        let kinds = self.program.statements.len() + 2;
        let mut desk = Desk {
            program: self.program,
            values: &mut self.values,
            recorder: Recorder::new(kinds)?,
            stall_ns: self.stall_ns,
            failed: self.failed,
            hand_over,
            period_ns: phase.period_ns,
            period_end_ns: phase.start_ns,
            last_period_end_ns: phase.end_ns,
            look_ns: phase.start_ns,
        };
        desk.set_period_end();
        let result = match (self.links.as_mut_slice(), self.backend) {
            ([], _) => Ok(()),
            (links, Backend::IoUring) => ring::run(links, phase, &mut desk),
            ([link], Backend::Epoll) => {
                alone::run(link, phase.limit(0), &mut self.buffer, &mut desk)
            }
            (links, Backend::Epoll) => crowd::run(links, phase, &mut self.buffer, &mut desk),
        };
        if result.is_err() {
            self.failed.store(true, Ordering::Relaxed);
        }
        result.map(|()| desk.recorder)
    }
}

impl Phase {
    fn limit(&self, client: usize) -> Limit {
        Limit {
            end_ns: self.end_ns,
            operations: self.operations[client],
        }
    }
}

/// Whether a loop goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    GoOn,
    Stop,
}

/// What a loop has at hand besides the connections.
struct Desk<'a> {
    program: &'a Program,
    values: &'a mut [Values],
    recorder: Recorder,
    stall_ns: u64,
    failed: &'a AtomicBool,
    hand_over: &'a mut dyn FnMut(Period) -> Result<(), LoadError>,
    period_ns: u64,
    period_end_ns: u64,
    /// From here on no period ends: operations under way belong to the last one.
    last_period_end_ns: u64,
    /// When to look up next.
    look_ns: u64,
}

impl Desk<'_> {
    fn context(&mut self) -> Context<'_> {
        Context {
            program: self.program,
            values: self.values,
            recorder: &mut self.recorder,
            stall_ns: self.stall_ns,
        }
    }

    /// Hands over periods that are over and heeds the other threads, if it is time to.
    fn look_up(&mut self, now_ns: u64) -> Result<Look, LoadError> {
        if now_ns < self.look_ns {
            return Ok(Look::GoOn);
        }
        while now_ns >= self.period_end_ns {
            let period = self.recorder.end_period()?;
            (self.hand_over)(period)?;
            self.set_period_end();
        }
        self.look_ns = self.period_end_ns.min(now_ns + LOOK_NS);
        if self.failed.load(Ordering::Relaxed) {
            return Ok(Look::Stop);
        }
        Ok(Look::GoOn)
    }

    fn set_period_end(&mut self) {
        let next_ns = self.period_end_ns.saturating_add(self.period_ns);
        self.period_end_ns = if next_ns < self.last_period_end_ns {
            next_ns
        } else {
            u64::MAX
        };
    }

    /// Fails when the client's server has been silent for too long.
    fn check_silence(&self, link: &Link, now_ns: u64) -> Result<(), LoadError> {
        let silent_ns = now_ns.saturating_sub(link.client.heard_ns);
        if link.client.is_busy() && silent_ns >= self.stall_ns {
            return Err(LoadError::Stalled {
                statement: link.statement(self.program),
                seconds: silent_ns as f64 / 1e9,
            });
        }
        Ok(())
    }
}
