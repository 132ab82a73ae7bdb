//! The event loop: one thread, epoll, edge-triggered, over sockets that never block.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::{Timespec, epoll};
use rustix::io::Errno;

use crate::answer::{Canned, append_greeting};
use crate::connection::{Connection, Received, Sent};
use crate::conversation::{Flow, Reply};
use crate::listener::Listener;
use crate::queue::{Cost, Queue};
use crate::slots::{Key, Slots};
use crate::timer::{Timer, now_ns};
use crate::{NullError, Place, limits};

/// Bytes received at once.
const BUFFER_SIZE: usize = 64 * 1024;
/// Events taken from the system at once.
const EVENTS: usize = 256;
/// Longest delay in noticing a request to stop.
const LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};
/// Key of the listener's events.
const LISTENER: u64 = u64::MAX;
/// Key of the timer's events.
const TIMER: u64 = u64::MAX - 1;

/// A server that listens.
pub struct NullServer {
    listener: Listener,
    epoll: OwnedFd,
    timer: Timer,
    /// Files that may be open.
    limit: u64,
    /// Connections so far.
    accepted: u32,
    connections: Slots<Connection>,
    desk: Desk,
}

/// State for answering requests.
struct Desk {
    canned: Canned,
    /// Queue of queries with a service time.
    queue: Option<Queue>,
    /// Bytes to send.
    out: Vec<u8>,
}

/// Fate of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Stays,
    Goes,
}

/// Interest in a socket that can take more bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unsent {
    Yes,
    No,
}

impl NullServer {
    /// Listens at `place`. Queries take `service` each, one after the other; zero answers at once.
    /// The soft limit of open files of this process is raised to the hard one.
    ///
    /// # Errors
    /// When nothing can listen there, or the system refuses what else is needed.
    pub fn bind(place: Place, service: Duration) -> Result<Self, NullError> {
        let limit = limits::raise()?;
        let listener = Listener::bind(place)?;
        let timer = Timer::new()?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)
            .map_err(|errno| NullError::system("create an epoll instance", errno))?;
        let interest = epoll::EventFlags::IN | epoll::EventFlags::ET;
        watch(&epoll, &listener, LISTENER, interest)?;
        watch(&epoll, &timer, TIMER, interest)?;
        let service_ns = u64::try_from(service.as_nanos()).unwrap_or(u64::MAX);
        Ok(Self {
            listener,
            epoll,
            timer,
            limit,
            accepted: 0,
            connections: Slots::new(),
            desk: Desk {
                canned: Canned::new(),
                queue: (service_ns > 0).then(|| Queue::new(service_ns)),
                out: Vec::new(),
            },
        })
    }

    /// Serves until `stop` says so, which is asked several times a second.
    ///
    /// # Errors
    /// When there are more clients than files may be open, or the system refuses something.
    pub fn serve(&mut self, stop: &dyn Fn() -> bool) -> Result<(), NullError> {
        let mut events = Vec::with_capacity(EVENTS);
        let mut buffer = vec![0; BUFFER_SIZE];
        while !stop() {
            let room = rustix::buffer::spare_capacity(&mut events);
            match epoll::wait(&self.epoll, room, Some(&LOOK)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(NullError::system("wait for events", errno)),
            }
            for event in events.drain(..) {
                match event.data.u64() {
                    LISTENER => self.accept()?,
                    TIMER => self.timer.went_off(),
                    bits => self.attend(Key::from_bits(bits), event.flags, &mut buffer)?,
                }
            }
            self.deliver_due()?;
        }
        Ok(())
    }

    /// Lets everybody in who waits.
    fn accept(&mut self) -> Result<(), NullError> {
        loop {
            let socket = match self.listener.accept() {
                Ok(Some(socket)) => socket,
                Ok(None) => return Ok(()),
                Err(Errno::MFILE) => {
                    return Err(NullError::OpenFiles {
                        connections: self.connections.len(),
                        limit: self.limit,
                    });
                }
                Err(errno) => return Err(NullError::system("accept a connection", errno)),
            };
            let key = self.connections.insert(Connection::new(socket));
            let Some(connection) = self.connections.get_mut(key) else {
                continue;
            };
            watch(
                &self.epoll,
                &*connection,
                key.to_bits(),
                interest(Unsent::No),
            )?;
            self.accepted = self.accepted.wrapping_add(1);
            self.desk.out.clear();
            append_greeting(&mut self.desk.out, self.accepted);
            // A new socket takes that much at once, unless the client has gone.
            if connection.send(&self.desk.out) != Sent::All {
                self.connections.remove(key);
            }
        }
    }

    /// Does what an event of a connection allows.
    fn attend(
        &mut self,
        key: Key,
        flags: epoll::EventFlags,
        buffer: &mut [u8],
    ) -> Result<(), NullError> {
        let Some(connection) = self.connections.get_mut(key) else {
            return Ok(());
        };
        let fate = converse(&self.epoll, connection, key, flags, buffer, &mut self.desk)?;
        if fate == Fate::Goes {
            self.connections.remove(key);
        }
        Ok(())
    }

    /// Sends the answers that are due, and sets the timer to the next one.
    fn deliver_due(&mut self) -> Result<(), NullError> {
        let Some(queue) = &mut self.desk.queue else {
            return Ok(());
        };
        let now_ns = now_ns();
        while let Some((key, answer)) = queue.pop_due(now_ns) {
            let Some(connection) = self.connections.get_mut(key) else {
                continue;
            };
            connection.waiting -= 1;
            self.desk.out.clear();
            self.desk.canned.append(answer, &mut self.desk.out);
            if say(&self.epoll, connection, key, &self.desk.out)? == Fate::Goes {
                self.connections.remove(key);
            }
        }
        match queue.next_due_ns() {
            Some(due_ns) => self.timer.set(due_ns),
            None => Ok(()),
        }
    }
}

/// Sends what could not be sent, and answers what has come.
fn converse(
    epoll: &OwnedFd,
    connection: &mut Connection,
    key: Key,
    flags: epoll::EventFlags,
    buffer: &mut [u8],
    desk: &mut Desk,
) -> Result<Fate, NullError> {
    if connection.has_unsent() {
        match connection.send_rest() {
            Sent::All => set_interest(epoll, connection, key, Unsent::No)?,
            Sent::Part => return Ok(Fate::Stays),
            Sent::Gone => return Ok(Fate::Goes),
        }
    }
    // Where the client has gone, the end of its bytes is not an event of its own any more.
    let to_the_end = flags.intersects(epoll::EventFlags::RDHUP | epoll::EventFlags::HUP);
    // Who does not take its answers is not asked for more: the socket becoming free is an event.
    while !connection.ends && !connection.has_unsent() {
        let count = match connection.receive(buffer) {
            Received::Bytes(count) => count,
            Received::Nothing => return Ok(Fate::Stays),
            Received::Gone => return Ok(Fate::Goes),
        };
        match desk.hear(connection, key, &buffer[..count]) {
            Flow::Goodbye => return Ok(Fate::Goes),
            Flow::End => connection.ends = true,
            Flow::GoOn => {}
        }
        if say(epoll, connection, key, &desk.out)? == Fate::Goes {
            return Ok(Fate::Goes);
        }
        // A buffer that is not full was all that there is: what comes later is a new event.
        if count < buffer.len() && !to_the_end {
            return Ok(Fate::Stays);
        }
    }
    Ok(end_of(connection))
}

/// Sends `bytes`, or as much of it as the socket takes.
fn say(
    epoll: &OwnedFd,
    connection: &mut Connection,
    key: Key,
    bytes: &[u8],
) -> Result<Fate, NullError> {
    let had_unsent = connection.has_unsent();
    match connection.send(bytes) {
        Sent::Gone => return Ok(Fate::Goes),
        Sent::Part if !had_unsent => set_interest(epoll, connection, key, Unsent::Yes)?,
        Sent::Part | Sent::All => {}
    }
    Ok(end_of(connection))
}

/// Returns `true` if everything is said to who is not listened to any more.
fn end_of(connection: &Connection) -> Fate {
    if connection.ends && connection.waiting == 0 && !connection.has_unsent() {
        Fate::Goes
    } else {
        Fate::Stays
    }
}

impl Desk {
    /// Takes what a client sent. What is to be answered at once is then in `out`, the rest waits in
    /// the queue.
    fn hear(&mut self, connection: &mut Connection, key: Key, bytes: &[u8]) -> Flow {
        let Self { canned, queue, out } = self;
        out.clear();
        let Some(queue) = queue else {
            return connection
                .conversation
                .hear(bytes, &mut |reply| match reply {
                    Reply::Query(answer) | Reply::Other(answer) => canned.append(answer, out),
                    Reply::Silence | Reply::Goodbye => {}
                });
        };
        let now_ns = now_ns();
        let Connection {
            conversation,
            waiting,
            ..
        } = connection;
        conversation.hear(bytes, &mut |reply| {
            let (answer, cost) = match reply {
                Reply::Query(answer) => (answer, Cost::Service),
                // It must not overtake the answers before it.
                Reply::Other(answer) if *waiting > 0 => (answer, Cost::Nothing),
                Reply::Other(answer) => return canned.append(answer, out),
                Reply::Silence | Reply::Goodbye => return,
            };
            queue.push(now_ns, key, answer, cost);
            *waiting += 1;
        })
    }
}

fn interest(unsent: Unsent) -> epoll::EventFlags {
    let reading = epoll::EventFlags::IN | epoll::EventFlags::RDHUP | epoll::EventFlags::ET;
    match unsent {
        Unsent::Yes => reading | epoll::EventFlags::OUT,
        // Being told each time that the client has read would cost as much as a query.
        Unsent::No => reading,
    }
}

fn watch(
    epoll: &OwnedFd,
    source: impl AsFd,
    data: u64,
    interest: epoll::EventFlags,
) -> Result<(), NullError> {
    let data = epoll::EventData::new_u64(data);
    epoll::add(epoll, source, data, interest)
        .map_err(|errno| NullError::system("register a socket", errno))
}

fn set_interest(
    epoll: &OwnedFd,
    connection: &Connection,
    key: Key,
    unsent: Unsent,
) -> Result<(), NullError> {
    let data = epoll::EventData::new_u64(key.to_bits());
    epoll::modify(epoll, connection, data, interest(unsent))
        .map_err(|errno| NullError::system("watch a socket", errno))
}
