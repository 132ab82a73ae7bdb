//! A thread with clients behind `io_uring`: requests and receives are queued and handed to the
//! kernel together, answers are taken together, so that one system call serves many clients.
//!
//! All answers of a round were there when waiting ended, so they share one reading of the clock,
//! and so do the requests that are handed over together.

#[expect(
    unsafe_code,
    reason = "the kernel reads and writes memory while nobody looks; the module says how that \
              is kept sound"
)]
mod queue;

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use crate::LoadError;
use crate::backend::new_ring;
use crate::client::Next;
use crate::clock::now_ns;
use crate::worker::link::Transfer;
use crate::worker::ring::queue::Queue;
use crate::worker::{Desk, LOOK_NS, Link, Look, Phase};

/// Entries of the queue towards the kernel, two for each request. More requests than that are
/// handed over in several parts.
const ENTRIES: usize = 512;

/// The connections of a thread, and the ring that serves them.
struct Ring<'l, 'r> {
    links: &'l mut [Link],
    queue: Queue<'r>,
    /// Clients whose requests are queued.
    asked: Vec<usize>,
    /// Clients with a request under way.
    busy: usize,
}

/// Runs every client to its limit.
pub(super) fn run(links: &mut [Link], phase: &Phase, desk: &mut Desk<'_>) -> Result<(), LoadError> {
    let clients = links.len();
    let entries = u32::try_from((2 * clients).min(ENTRIES)).unwrap_or(u32::MAX);
    let completions = u32::try_from(2 * clients).unwrap_or(u32::MAX);
    let mut io_uring =
        new_ring(entries, completions).map_err(|source| system("create a ring", source))?;
    let sockets = links.iter().map(|link| link.socket().as_fd());
    let queue = Queue::new(&mut io_uring, sockets)
        .map_err(|source| system("register sockets with a ring", source))?;
    let mut ring = Ring {
        links,
        queue,
        asked: Vec::with_capacity(clients),
        busy: 0,
    };
    ring.begin(phase, desk)?;
    let mut silence_check_ns = now_ns() + LOOK_NS;
    while ring.busy > 0 {
        ring.wait()?;
        let now_ns = now_ns();
        if ring.attend(now_ns, desk)? == Look::Stop {
            return Ok(());
        }
        if now_ns >= silence_check_ns {
            silence_check_ns = now_ns + LOOK_NS;
            for link in &*ring.links {
                desk.check_silence(link, now_ns)?;
            }
        }
    }
    Ok(())
}

impl Ring<'_, '_> {
    fn begin(&mut self, phase: &Phase, desk: &mut Desk<'_>) -> Result<(), LoadError> {
        for index in 0..self.links.len() {
            let limit = phase.limit(index);
            let client = &mut self.links[index].client;
            if client.begin_phase(now_ns(), limit, &mut desk.context()) == Next::Send {
                self.busy += 1;
                self.ask(index)?;
            }
        }
        Ok(())
    }

    /// Queues a client's request.
    fn ask(&mut self, index: usize) -> Result<(), LoadError> {
        if !self.queue.has_room() {
            self.mark_sent();
            self.queue
                .submit()
                .map_err(|source| system("hand requests to a ring", source))?;
        }
        self.asked.push(index);
        self.queue
            .ask(index, self.links[index].client.request())
            .map_err(|source| system("hand requests to a ring", source))
    }

    /// What is queued is about to be handed over.
    fn mark_sent(&mut self) {
        let now_ns = now_ns();
        for index in self.asked.drain(..) {
            self.links[index].client.mark_sent(now_ns);
        }
    }

    /// Hands over what is queued and waits for answers, but not for longer than the thread may go
    /// without looking up.
    fn wait(&mut self) -> Result<(), LoadError> {
        self.mark_sent();
        self.queue
            .wait(Duration::from_nanos(LOOK_NS))
            .map_err(|source| system("wait for a ring", source))
    }

    /// Does what the answers that came by `now_ns` allow.
    fn attend(&mut self, now_ns: u64, desk: &mut Desk<'_>) -> Result<Look, LoadError> {
        while let Some(done) = self.queue.take() {
            let index = done.index;
            let link = &mut self.links[index];
            match link.received(done.received, desk.program)? {
                Transfer::Complete => match link.client.answered(now_ns, &mut desk.context())? {
                    Next::Send => self.ask(index)?,
                    Next::Rest => self.busy -= 1,
                },
                Transfer::Partial | Transfer::NotReady => {
                    link.client.heard_ns = now_ns;
                    self.queue
                        .receive(index)
                        .map_err(|source| system("hand requests to a ring", source))?;
                }
            }
        }
        desk.look_up(now_ns)
    }
}

fn system(action: &'static str, source: io::Error) -> LoadError {
    LoadError::System { action, source }
}
