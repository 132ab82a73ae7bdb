//! A thread with many clients: epoll, edge-triggered, over sockets that never block.
//!
//! A client has one request under way, so a new answer is always a new edge. Reading stops at the
//! answer's last byte; only an answer that is still incomplete is read until the socket is empty.

use rustix::event::{Timespec, epoll};
use rustix::io::Errno;

use crate::LoadError;
use crate::client::Next;
use crate::clock::now_ns;
use crate::worker::link::Transfer;
use crate::worker::{Desk, LOOK_NS, Link, Look, Phase};

/// Events taken from the system at once.
const EVENTS: usize = 256;

/// The connections of a thread, and what the system says of them.
struct Crowd<'l> {
    links: &'l mut [Link],
    epoll: std::os::fd::OwnedFd,
    /// Clients with a request under way.
    busy: usize,
}

/// Runs every client to its limit.
pub(super) fn run(
    links: &mut [Link],
    phase: &Phase,
    buffer: &mut [u8],
    desk: &mut Desk<'_>,
) -> Result<(), LoadError> {
    let mut crowd = Crowd::new(links)?;
    crowd.begin(phase, desk)?;
    let mut events = Vec::with_capacity(EVENTS);
    let mut silence_check_ns = now_ns() + LOOK_NS;
    while crowd.busy > 0 {
        wait(&crowd.epoll, &mut events)?;
        for event in events.drain(..) {
            // The data of an event is the index that it was registered with.
            let index = usize::try_from(event.data.u64()).unwrap_or(usize::MAX);
            if crowd.attend(index, buffer, desk)? == Look::Stop {
                return Ok(());
            }
        }
        let now_ns = now_ns();
        if now_ns >= silence_check_ns {
            silence_check_ns = now_ns + LOOK_NS;
            for link in &*crowd.links {
                desk.check_silence(link, now_ns)?;
            }
            if desk.look_up(now_ns)? == Look::Stop {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Waits for events, but not for longer than the thread may go without looking up.
fn wait(epoll: &std::os::fd::OwnedFd, events: &mut Vec<epoll::Event>) -> Result<(), LoadError> {
    let timeout = Timespec {
        tv_sec: 0,
        tv_nsec: LOOK_NS.cast_signed(),
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

impl<'l> Crowd<'l> {
    fn new(links: &'l mut [Link]) -> Result<Self, LoadError> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)
            .map_err(|errno| system("create an epoll instance", errno))?;
        for (index, link) in links.iter().enumerate() {
            link.socket()
                .set_nonblocking()
                .map_err(|source| LoadError::System {
                    action: "make a socket non-blocking",
                    source,
                })?;
            let data = epoll::EventData::new_u64(index as u64);
            epoll::add(&epoll, link.socket(), data, interest(Unsent::No))
                .map_err(|errno| system("register a socket", errno))?;
        }
        Ok(Self {
            links,
            epoll,
            busy: 0,
        })
    }

    fn begin(&mut self, phase: &Phase, desk: &mut Desk<'_>) -> Result<(), LoadError> {
        for index in 0..self.links.len() {
            let limit = phase.limit(index);
            let client = &mut self.links[index].client;
            if client.begin_phase(now_ns(), limit, &mut desk.context()) == Next::Send {
                self.busy += 1;
                self.ask(index, desk)?;
            }
        }
        Ok(())
    }

    /// Sends a client's request, or what the socket takes of it.
    fn ask(&mut self, index: usize, desk: &Desk<'_>) -> Result<(), LoadError> {
        match self.links[index].send_request(now_ns(), desk.program)? {
            Transfer::Complete => Ok(()),
            Transfer::Partial | Transfer::NotReady => self.set_interest(index, Unsent::Yes),
        }
    }

    /// Does what an event allows.
    fn attend(
        &mut self,
        index: usize,
        buffer: &mut [u8],
        desk: &mut Desk<'_>,
    ) -> Result<Look, LoadError> {
        if !self.links[index].client.is_busy() {
            return Ok(Look::GoOn);
        }
        if self.links[index].has_unsent()
            && self.links[index].send_rest(desk.program)? == Transfer::Complete
        {
            self.set_interest(index, Unsent::No)?;
        }
        loop {
            let link = &mut self.links[index];
            match link.receive(buffer, desk.program)? {
                Transfer::NotReady => return Ok(Look::GoOn),
                Transfer::Partial => {
                    let now_ns = now_ns();
                    link.client.heard_ns = now_ns;
                    if desk.look_up(now_ns)? == Look::Stop {
                        return Ok(Look::Stop);
                    }
                }
                Transfer::Complete => return self.answered(index, desk),
            }
        }
    }

    fn answered(&mut self, index: usize, desk: &mut Desk<'_>) -> Result<Look, LoadError> {
        let now_ns = now_ns();
        let look = desk.look_up(now_ns)?;
        match self.links[index]
            .client
            .answered(now_ns, &mut desk.context())?
        {
            Next::Send => self.ask(index, desk)?,
            Next::Rest => self.busy -= 1,
        }
        Ok(look)
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

/// Whether a part of the request waits for the socket.
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
