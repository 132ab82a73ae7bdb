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

use io_uring::IoUring;

use crate::LoadError;
use crate::backend::new_ring;
use crate::clock::now_ns;
use crate::connection::{Link, Transfer};
use crate::loops::many::Connections;
use crate::loops::uring::queue::Queue;
use crate::loops::{HOUSEKEEPING_NS, State};

/// Entries of the queue towards the kernel, two for each request. More requests than that are
/// handed over in several parts.
const ENTRIES: usize = 512;

/// The connections of a thread, and the ring that serves them.
struct Ring<'l, 'r> {
    links: &'l mut [Link],
    queue: Queue<'r>,
    /// Clients whose requests are queued.
    asked: Vec<usize>,
    /// Clients with a request, or a connection, under way.
    busy: usize,
}

/// Runs every client to its limit.
pub(super) fn run(links: &mut [Link], state: &mut State<'_>) -> Result<(), LoadError> {
    let mut io_uring = make(links.len())?;
    let mut ring = Ring::new(links, &mut io_uring)?;
    ring.start(state)?;
    let mut silence_check_ns = now_ns() + HOUSEKEEPING_NS;
    loop {
        let due_ns = state.next_due();
        if due_ns.is_none() && ring.busy == 0 {
            return Ok(());
        }
        ring.wait(due_ns)?;
        let now_ns = now_ns();
        if state.housekeeping(now_ns)?.is_break() {
            return Ok(());
        }
        ring.attend(now_ns, state)?;
        ring.call_due(now_ns, state)?;
        if now_ns >= silence_check_ns {
            silence_check_ns = now_ns + HOUSEKEEPING_NS;
            // A client that has just begun is not silent.
            ring.mark_sent();
            for link in &*ring.links {
                state.check_silence(link, now_ns)?;
            }
        }
    }
}

fn make(clients: usize) -> Result<IoUring, LoadError> {
    let entries = u32::try_from((2 * clients).min(ENTRIES)).unwrap_or(u32::MAX);
    let completions = u32::try_from(2 * clients).unwrap_or(u32::MAX);
    new_ring(entries, completions).map_err(|source| system("create a ring", source))
}

impl Connections for Ring<'_, '_> {
    fn links(&mut self) -> &mut [Link] {
        self.links
    }

    fn busy(&mut self) -> &mut usize {
        &mut self.busy
    }

    #[inline]
    fn ask(&mut self, index: usize, _: &State<'_>) -> Result<(), LoadError> {
        self.make_room()?;
        self.asked.push(index);
        self.queue_request(index)
    }

    fn begin_connection(&mut self, index: usize, _: &State<'_>) -> Result<(), LoadError> {
        let link = &self.links[index];
        link.make_blocking()?;
        self.queue
            .replace(index, link.socket().as_fd())
            .map_err(|source| system("register a socket with a ring", source))?;
        if self.links[index].client.request().is_empty() {
            return self.receive(index);
        }
        self.make_room()?;
        self.queue_request(index)
    }
}

impl<'l, 'r> Ring<'l, 'r> {
    fn new(links: &'l mut [Link], ring: &'r mut IoUring) -> Result<Self, LoadError> {
        // Waiting for a socket is the ring's, which leaves it to us where a socket does not block.
        links.iter().try_for_each(Link::make_blocking)?;
        let sockets = links.iter().map(|link| link.socket().as_fd());
        let queue = Queue::new(ring, sockets)
            .map_err(|source| system("register sockets with a ring", source))?;
        Ok(Self {
            asked: Vec::with_capacity(links.len()),
            links,
            queue,
            busy: 0,
        })
    }

    /// Queues a client's request, and the receiving of the answer.
    #[inline]
    fn queue_request(&mut self, index: usize) -> Result<(), LoadError> {
        self.queue
            .ask(index, self.links[index].client.request())
            .map_err(|source| system("queue a request", source))
    }

    fn receive(&mut self, index: usize) -> Result<(), LoadError> {
        self.make_room()?;
        self.queue
            .receive(index)
            .map_err(|source| system("queue a receive", source))
    }

    /// Hands over the queue where it is full.
    #[inline]
    fn make_room(&mut self) -> Result<(), LoadError> {
        if self.queue.has_room() {
            return Ok(());
        }
        self.mark_sent();
        self.queue
            .submit()
            .map_err(|source| system("hand requests to a ring", source))
    }

    /// Notes that the queue is about to be handed over.
    fn mark_sent(&mut self) {
        let now_ns = now_ns();
        for index in self.asked.drain(..) {
            self.links[index].client.mark_sent(now_ns);
        }
    }

    /// Hands over the queue and waits for answers: until the next waiting client has to begin, and
    /// not for longer than housekeeping may wait.
    fn wait(&mut self, due_ns: Option<u64>) -> Result<(), LoadError> {
        self.mark_sent();
        let mut wait_ns = HOUSEKEEPING_NS;
        if let Some(due_ns) = due_ns {
            // The time of handing over counts as waiting.
            self.queue
                .submit()
                .map_err(|source| system("hand requests to a ring", source))?;
            wait_ns = due_ns.saturating_sub(now_ns()).min(HOUSEKEEPING_NS);
        }
        self.queue
            .wait(Duration::from_nanos(wait_ns))
            .map_err(|source| system("wait for a ring", source))
    }

    /// Handles the answers that came by `now_ns`.
    fn attend(&mut self, now_ns: u64, state: &mut State<'_>) -> Result<(), LoadError> {
        while let Some(done) = self.queue.take() {
            let index = done.index;
            let link = &mut self.links[index];
            let next = match link.received(done.received, state.program(link))? {
                Transfer::Complete => state.answered(&mut link.client, index, now_ns)?,
                Transfer::Opened => state.opened(link, index, now_ns),
                Transfer::Reply => {
                    link.client.heard_ns = now_ns;
                    self.make_room()?;
                    self.queue_request(index)?;
                    continue;
                }
                Transfer::Partial | Transfer::NotReady => {
                    link.client.heard_ns = now_ns;
                    self.receive(index)?;
                    continue;
                }
            };
            self.turn(index, next, state)?;
        }
        Ok(())
    }
}

fn system(action: &'static str, source: io::Error) -> LoadError {
    LoadError::System { action, source }
}
