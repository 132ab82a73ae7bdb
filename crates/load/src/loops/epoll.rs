//! A thread with many clients: epoll, edge-triggered, over sockets that never block.
//!
//! A client has one request under way, so a new answer is always a new edge. Reading stops at the
//! answer's last byte; only an answer that is still incomplete is read until the socket is empty.

use std::ops::ControlFlow;
use std::os::fd::OwnedFd;

use rustix::event::{Timespec, epoll};
use rustix::io::Errno;

use crate::LoadError;
use crate::clock::now_ns;
use crate::connection::{Link, Transfer};
use crate::loops::many::Connections;
use crate::loops::timer::Timer;
use crate::loops::{HOUSEKEEPING_NS, State};
use crate::program::Program;

/// Marks the events of the timer; the others are of clients.
const TIMER: u64 = u64::MAX;

/// Events taken from the system at once.
const EVENTS: usize = 256;

/// The connections of a thread, and the epoll instance that watches them.
struct Watched<'l> {
    links: &'l mut [Link],
    epoll: OwnedFd,
    /// Goes off when the next waiting client has to begin.
    timer: Timer,
    /// Clients with a request, or a connection, under way.
    busy: usize,
}

/// Runs every client to its limit.
pub(super) fn run(
    links: &mut [Link],
    buffer: &mut [u8],
    state: &mut State<'_>,
) -> Result<(), LoadError> {
    let mut connections = Watched::new(links)?;
    connections.start(state)?;
    let mut events = Vec::with_capacity(EVENTS);
    let mut silence_check_ns = now_ns() + HOUSEKEEPING_NS;
    loop {
        match state.next_due() {
            Some(due_ns) => connections.timer.set(due_ns)?,
            None if connections.busy == 0 => return Ok(()),
            None => {}
        }
        wait(&connections.epoll, &mut events)?;
        for event in events.drain(..) {
            if event.data.u64() == TIMER {
                connections.timer.went_off();
                continue;
            }
            // The data of an event is the index that it was registered with.
            let index = usize::try_from(event.data.u64()).unwrap_or(usize::MAX);
            if connections.attend(index, buffer, state)?.is_break() {
                return Ok(());
            }
        }
        let now_ns = now_ns();
        if state.housekeeping(now_ns)?.is_break() {
            return Ok(());
        }
        connections.call_due(now_ns, state)?;
        if now_ns >= silence_check_ns {
            silence_check_ns = now_ns + HOUSEKEEPING_NS;
            for link in &*connections.links {
                state.check_silence(link, now_ns)?;
            }
        }
    }
}

/// Waits for events, but not for longer than housekeeping may wait.
fn wait(epoll: &OwnedFd, events: &mut Vec<epoll::Event>) -> Result<(), LoadError> {
    let timeout = Timespec {
        tv_sec: 0,
        tv_nsec: HOUSEKEEPING_NS.cast_signed(),
    };
    match epoll::wait(
        epoll,
        rustix::buffer::spare_capacity(events),
        Some(&timeout),
    ) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(errno) => Err(system("wait for events", errno)),
    }
}

impl Connections for Watched<'_> {
    fn links(&mut self) -> &mut [Link] {
        self.links
    }

    fn busy(&mut self) -> &mut usize {
        &mut self.busy
    }

    #[inline]
    fn ask(&mut self, index: usize, state: &State<'_>) -> Result<(), LoadError> {
        let link = &mut self.links[index];
        match link.send_request(now_ns(), state.program(link))? {
            Transfer::NotReady => self.set_interest(index, Unsent::Yes),
            _ => Ok(()),
        }
    }

    fn begin_connection(&mut self, index: usize, state: &State<'_>) -> Result<(), LoadError> {
        self.register(index)?;
        if self.links[index].has_unsent() {
            let program = state.program(&self.links[index]);
            self.reply(index, program)?;
        }
        Ok(())
    }
}

impl<'l> Watched<'l> {
    fn new(links: &'l mut [Link]) -> Result<Self, LoadError> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)
            .map_err(|errno| system("create an epoll instance", errno))?;
        let timer = Timer::new()?;
        epoll::add(
            &epoll,
            &timer,
            epoll::EventData::new_u64(TIMER),
            interest(Unsent::No),
        )
        .map_err(|errno| system("register a timer", errno))?;
        let connections = Self {
            links,
            epoll,
            timer,
            busy: 0,
        };
        for index in 0..connections.links.len() {
            connections.register(index)?;
        }
        Ok(connections)
    }

    /// Watches the socket of a client.
    fn register(&self, index: usize) -> Result<(), LoadError> {
        let socket = self.links[index].socket();
        socket
            .set_nonblocking()
            .map_err(|source| LoadError::System {
                action: "make a socket non-blocking",
                source,
            })?;
        let data = epoll::EventData::new_u64(index as u64);
        epoll::add(&self.epoll, socket, data, interest(Unsent::No))
            .map_err(|errno| system("register a socket", errno))
    }

    /// Handles an event.
    #[inline]
    fn attend(
        &mut self,
        index: usize,
        buffer: &mut [u8],
        state: &mut State<'_>,
    ) -> Result<ControlFlow<()>, LoadError> {
        if self.links[index].expects_nothing() {
            return Ok(ControlFlow::Continue(()));
        }
        let program = state.program(&self.links[index]);
        if self.links[index].has_unsent()
            && self.links[index].send_rest(program)? == Transfer::Complete
        {
            self.set_interest(index, Unsent::No)?;
        }
        loop {
            let link = &mut self.links[index];
            match link.receive(buffer, program)? {
                Transfer::NotReady => {
                    // What a handshake answers may be more than the socket took.
                    if link.has_unsent() {
                        self.set_interest(index, Unsent::Yes)?;
                    }
                    return Ok(ControlFlow::Continue(()));
                }
                Transfer::Reply => self.reply(index, program)?,
                Transfer::Opened => return self.opened(index, state),
                Transfer::Partial => {
                    let now_ns = now_ns();
                    link.client.heard_ns = now_ns;
                    if state.housekeeping(now_ns)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                Transfer::Complete => return self.answered(index, state),
            }
        }
    }

    #[inline]
    fn answered(
        &mut self,
        index: usize,
        state: &mut State<'_>,
    ) -> Result<ControlFlow<()>, LoadError> {
        let now_ns = now_ns();
        let flow = state.housekeeping(now_ns)?;
        let next = state.answered(&mut self.links[index].client, index, now_ns)?;
        self.turn(index, next, state)?;
        Ok(flow)
    }

    fn opened(
        &mut self,
        index: usize,
        state: &mut State<'_>,
    ) -> Result<ControlFlow<()>, LoadError> {
        let now_ns = now_ns();
        let next = state.opened(&mut self.links[index], index, now_ns);
        self.turn(index, next, state)?;
        state.housekeeping(now_ns)
    }

    /// Goes on with a conversation that opens a connection.
    fn reply(&mut self, index: usize, program: &Program) -> Result<(), LoadError> {
        let link = &mut self.links[index];
        link.client.heard_ns = now_ns();
        match link.send_rest(program)? {
            Transfer::NotReady => self.set_interest(index, Unsent::Yes),
            _ => Ok(()),
        }
    }

    fn set_interest(&self, index: usize, unsent: Unsent) -> Result<(), LoadError> {
        let data = epoll::EventData::new_u64(index as u64);
        epoll::modify(
            &self.epoll,
            self.links[index].socket(),
            data,
            interest(unsent),
        )
        .map_err(|errno| system("watch a socket", errno))
    }
}

/// Presence of an unsent part of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unsent {
    Yes,
    No,
}

fn interest(unsent: Unsent) -> epoll::EventFlags {
    let reading = epoll::EventFlags::IN | epoll::EventFlags::ET;
    match unsent {
        Unsent::Yes => reading | epoll::EventFlags::OUT,
        Unsent::No => reading,
    }
}

fn system(action: &'static str, errno: Errno) -> LoadError {
    LoadError::System {
        action,
        source: errno.into(),
    }
}
