//! A thread with many clients: epoll, edge-triggered, over sockets that never block.
//!
//! A client has one request under way, so a new answer is always a new edge. Reading stops at the
//! answer's last byte; only an answer that is still incomplete is read until the socket is empty.

use rustix::event::{Timespec, epoll};
use rustix::io::Errno;

use crate::LoadError;
use crate::client::Next;
use crate::clock::now_ns;
use crate::program::Program;
use crate::worker::link::{Connecting, Transfer};
use crate::worker::timer::Timer;
use crate::worker::{Desk, LOOK_NS, Link, Look};

/// Marks the events of the timer; the others are of clients.
const TIMER: u64 = u64::MAX;

/// Events taken from the system at once.
const EVENTS: usize = 256;

/// The connections of a thread, and what the system says of them.
struct Crowd<'l> {
    links: &'l mut [Link],
    epoll: std::os::fd::OwnedFd,
    /// Goes off when the next waiting client has to begin.
    timer: Timer,
    /// Clients with a request, or a connection, under way.
    busy: usize,
}

/// Runs every client to its limit.
pub(super) fn run(
    links: &mut [Link],
    buffer: &mut [u8],
    desk: &mut Desk<'_>,
) -> Result<(), LoadError> {
    let mut crowd = Crowd::new(links)?;
    crowd.start(desk)?;
    let mut events = Vec::with_capacity(EVENTS);
    let mut silence_check_ns = now_ns() + LOOK_NS;
    loop {
        match desk.next_due() {
            Some(due_ns) => crowd.timer.set(due_ns)?,
            None if crowd.busy == 0 => return Ok(()),
            None => {}
        }
        wait(&crowd.epoll, &mut events)?;
        for event in events.drain(..) {
            if event.data.u64() == TIMER {
                crowd.timer.went_off();
                continue;
            }
            // The data of an event is the index that it was registered with.
            let index = usize::try_from(event.data.u64()).unwrap_or(usize::MAX);
            if crowd.attend(index, buffer, desk)? == Look::Stop {
                return Ok(());
            }
        }
        let now_ns = now_ns();
        if desk.look_up(now_ns)? == Look::Stop {
            return Ok(());
        }
        crowd.call_due(now_ns, desk)?;
        if now_ns >= silence_check_ns {
            silence_check_ns = now_ns + LOOK_NS;
            for link in &*crowd.links {
                desk.check_silence(link, now_ns)?;
            }
        }
    }
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
        let timer = Timer::new()?;
        epoll::add(
            &epoll,
            &timer,
            epoll::EventData::new_u64(TIMER),
            interest(Unsent::No),
        )
        .map_err(|errno| system("register a timer", errno))?;
        let crowd = Self {
            links,
            epoll,
            timer,
            busy: 0,
        };
        for index in 0..crowd.links.len() {
            crowd.register(index)?;
        }
        Ok(crowd)
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

    fn start(&mut self, desk: &mut Desk<'_>) -> Result<(), LoadError> {
        for index in 0..self.links.len() {
            let next = desk.start(&mut self.links[index].client, index, now_ns());
            self.busy += 1;
            self.turn(index, next, desk)?;
        }
        Ok(())
    }

    /// Lets the clients begin whose time has come.
    fn call_due(&mut self, now_ns: u64, desk: &mut Desk<'_>) -> Result<(), LoadError> {
        while let Some(begin) = desk.take_due(now_ns) {
            let next = desk.begin(begin, &mut self.links[begin.client].client);
            self.busy += 1;
            self.turn(begin.client, next, desk)?;
        }
        Ok(())
    }

    /// Does what a client wants, who is counted as busy.
    #[inline]
    fn turn(&mut self, index: usize, next: Next, desk: &mut Desk<'_>) -> Result<(), LoadError> {
        match next {
            Next::Send => self.ask(index, desk),
            Next::Connect => self.connect(index, desk),
            Next::Wait | Next::Rest => {
                self.busy -= 1;
                Ok(())
            }
        }
    }

    fn connect(&mut self, index: usize, desk: &mut Desk<'_>) -> Result<(), LoadError> {
        let link = &mut self.links[index];
        if link.connect(desk.opener)? == Connecting::Begun {
            return self.register(index);
        }
        desk.retry_later(&mut link.client, index, now_ns());
        self.busy -= 1;
        Ok(())
    }

    /// Sends a client's request, or what the socket takes of it.
    #[inline]
    fn ask(&mut self, index: usize, desk: &Desk<'_>) -> Result<(), LoadError> {
        let link = &mut self.links[index];
        match link.send_request(now_ns(), desk.program(link))? {
            Transfer::NotReady => self.set_interest(index, Unsent::Yes),
            _ => Ok(()),
        }
    }

    /// Does what an event allows.
    #[inline]
    fn attend(
        &mut self,
        index: usize,
        buffer: &mut [u8],
        desk: &mut Desk<'_>,
    ) -> Result<Look, LoadError> {
        if self.links[index].expects_nothing() {
            return Ok(Look::GoOn);
        }
        let program = desk.program(&self.links[index]);
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
                    return Ok(Look::GoOn);
                }
                Transfer::Reply => self.reply(index, program)?,
                Transfer::Opened => return self.opened(index, desk),
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

    #[inline]
    fn answered(&mut self, index: usize, desk: &mut Desk<'_>) -> Result<Look, LoadError> {
        let now_ns = now_ns();
        let look = desk.look_up(now_ns)?;
        let next = desk.answered(&mut self.links[index].client, index, now_ns)?;
        self.turn(index, next, desk)?;
        Ok(look)
    }

    fn opened(&mut self, index: usize, desk: &mut Desk<'_>) -> Result<Look, LoadError> {
        let now_ns = now_ns();
        let next = desk.opened(&mut self.links[index], index, now_ns);
        self.turn(index, next, desk)?;
        desk.look_up(now_ns)
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
