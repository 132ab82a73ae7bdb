//! The event loop: one thread, epoll, edge-triggered, over sockets that never block.

use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use prony_model::{Address, Family};
use rustix::event::Timespec;
use rustix::event::epoll::{self, EventFlags};
use rustix::io::Errno;

use crate::connection::{Connection, Received, Sent};
use crate::listener::Listener;
use crate::mysql::Mysql;
use crate::postgres::Postgres;
use crate::protocol::{Flow, Protocol, Reply};
use crate::queue::{Cost, Queue};
use crate::timer::{Timer, now_ns};
use crate::{NullError, limits};

/// Bytes received at once.
const BUFFER_SIZE: usize = 64 * 1024;
/// Events taken from the system at once.
const EVENTS: usize = 256;
/// Longest delay in noticing a request to stop.
const LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};
/// Number of the listener's events, which those of connections never reach.
const LISTENER: u64 = u64::MAX;
/// Number of the timer's events.
const TIMER: u64 = u64::MAX - 1;

/// Interest in a client's bytes.
const RECEIVE: EventFlags = EventFlags::IN
    .union(EventFlags::RDHUP)
    .union(EventFlags::ET);
/// The same, and in a socket that takes more. An event each time that the client has read would
/// cost as much as a query: this is for a client with unsent bytes.
const RECEIVE_AND_SEND: EventFlags = RECEIVE.union(EventFlags::OUT);

/// A server that listens.
pub struct NullServer(Kind);

/// The protocol is chosen once: what runs for every query is made for it.
enum Kind {
    Mysql(Server<Mysql>),
    Postgres(Server<Postgres>),
}

struct Server<P: Protocol> {
    listener: Listener,
    epoll: OwnedFd,
    timer: Timer,
    /// Files that may be open.
    limit: u64,
    /// Connections so far.
    accepted: u64,
    /// Connections by number. Numbers are not reused: an answer that waits for a connection that is
    /// gone reaches no other.
    connections: HashMap<u64, Connection<P::Conversation>>,
    responder: Responder<P>,
}

/// State for answering requests.
struct Responder<P: Protocol> {
    canned: P,
    /// Queue of queries with a service time.
    queue: Option<Queue<P::Answer>>,
    /// Bytes to send.
    out: Vec<u8>,
}

/// Fate of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Stays,
    Goes,
}

impl NullServer {
    /// Listens at `address`, as a server of a family. Queries take `service` each, one after the other;
    /// zero answers at once. The soft limit of open files of this process is raised to the hard one.
    ///
    /// # Errors
    /// If nothing can listen there, or the system refuses what else is needed.
    pub fn bind(address: Address, family: Family, service: Duration) -> Result<Self, NullError> {
        Ok(Self(match family {
            Family::Mysql | Family::Mariadb => Kind::Mysql(Server::bind(address, service)?),
            Family::Postgresql => Kind::Postgres(Server::bind(address, service)?),
        }))
    }

    /// Serves until `stop` says so, which is asked several times a second.
    ///
    /// # Errors
    /// If there are more clients than files may be open, or the system refuses something.
    pub fn serve(&mut self, stop: &dyn Fn() -> bool) -> Result<(), NullError> {
        match &mut self.0 {
            Kind::Mysql(server) => server.serve(stop),
            Kind::Postgres(server) => server.serve(stop),
        }
    }
}

impl<P: Protocol> Server<P> {
    fn bind(address: Address, service: Duration) -> Result<Self, NullError> {
        let limit = limits::raise()?;
        let listener = match Listener::bind(&address) {
            Ok(listener) => listener,
            Err(errno) => {
                let source = errno.into();
                return Err(NullError::Listen { address, source });
            }
        };
        let timer = Timer::new()?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)
            .map_err(|errno| NullError::system("create an epoll instance", errno))?;
        let interest = EventFlags::IN | EventFlags::ET;
        watch(&epoll, &listener, LISTENER, interest)?;
        watch(&epoll, &timer, TIMER, interest)?;
        let service_ns = u64::try_from(service.as_nanos()).unwrap_or(u64::MAX);
        Ok(Self {
            listener,
            epoll,
            timer,
            limit,
            accepted: 0,
            connections: HashMap::new(),
            responder: Responder {
                canned: P::new(),
                queue: (service_ns > 0).then(|| Queue::new(service_ns)),
                out: Vec::new(),
            },
        })
    }

    fn serve(&mut self, stop: &dyn Fn() -> bool) -> Result<(), NullError> {
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
                    number => self.attend(number, event.flags, &mut buffer)?,
                }
            }
            self.deliver_due()?;
        }
        Ok(())
    }

    /// Accepts all waiting clients.
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
            self.accepted += 1;
            let mut connection = Connection::new(socket, self.accepted);
            watch(&self.epoll, &connection, connection.number, RECEIVE)?;
            let out = &mut self.responder.out;
            out.clear();
            P::append_greeting(out, connection.number);
            // A new socket takes that much at once, unless the client has gone.
            if connection.send(out) == Sent::All {
                self.connections.insert(connection.number, connection);
            }
        }
    }

    /// Does what an event of a connection allows.
    fn attend(
        &mut self,
        number: u64,
        flags: EventFlags,
        buffer: &mut [u8],
    ) -> Result<(), NullError> {
        let Some(connection) = self.connections.get_mut(&number) else {
            return Ok(());
        };
        let responder = &mut self.responder;
        if converse(&self.epoll, connection, flags, buffer, responder)? == Fate::Goes {
            self.connections.remove(&number);
        }
        Ok(())
    }

    /// Sends the answers that are due, and sets the timer to the next one.
    fn deliver_due(&mut self) -> Result<(), NullError> {
        let Responder { canned, queue, out } = &mut self.responder;
        let Some(queue) = queue else {
            return Ok(());
        };
        let now_ns = now_ns();
        while let Some((number, answer)) = queue.pop_due(now_ns) {
            let Some(connection) = self.connections.get_mut(&number) else {
                continue;
            };
            connection.waiting -= 1;
            out.clear();
            canned.append(answer, out);
            if send(&self.epoll, connection, out)? == Fate::Goes {
                self.connections.remove(&number);
            }
        }
        match queue.next_due_ns() {
            Some(due_ns) => self.timer.set(due_ns),
            None => Ok(()),
        }
    }
}

/// Sends what could not be sent, and answers what has come.
fn converse<P: Protocol>(
    epoll: &OwnedFd,
    connection: &mut Connection<P::Conversation>,
    flags: EventFlags,
    buffer: &mut [u8],
    responder: &mut Responder<P>,
) -> Result<Fate, NullError> {
    if connection.has_unsent() {
        match connection.send_rest() {
            Sent::All => set_interest(epoll, connection, RECEIVE)?,
            Sent::Part => return Ok(Fate::Stays),
            Sent::Gone => return Ok(Fate::Goes),
        }
    }
    // Where the client has gone, the end of its bytes is not an event of its own any more.
    let to_the_end = flags.intersects(EventFlags::RDHUP | EventFlags::HUP);
    // Who does not take its answers is not asked for more: the socket becoming free is an event.
    while !connection.ends && !connection.has_unsent() {
        let count = match connection.receive(buffer) {
            Received::Bytes(count) => count,
            Received::Nothing => return Ok(Fate::Stays),
            Received::Gone => return Ok(Fate::Goes),
        };
        match responder.hear(connection, &buffer[..count]) {
            Flow::Goodbye => return Ok(Fate::Goes),
            Flow::End => connection.ends = true,
            Flow::GoOn => {}
        }
        if send(epoll, connection, &responder.out)? == Fate::Goes {
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
fn send<C: Default>(
    epoll: &OwnedFd,
    connection: &mut Connection<C>,
    bytes: &[u8],
) -> Result<Fate, NullError> {
    let had_unsent = connection.has_unsent();
    match connection.send(bytes) {
        Sent::Gone => return Ok(Fate::Goes),
        Sent::Part if !had_unsent => set_interest(epoll, connection, RECEIVE_AND_SEND)?,
        Sent::Part | Sent::All => {}
    }
    Ok(end_of(connection))
}

/// Returns `true` if everything is sent and nothing more is received.
fn end_of<C: Default>(connection: &Connection<C>) -> Fate {
    if connection.ends && connection.waiting == 0 && !connection.has_unsent() {
        Fate::Goes
    } else {
        Fate::Stays
    }
}

impl<P: Protocol> Responder<P> {
    /// Takes what a client sent. What is to be answered at once is then in `out`, the rest waits in
    /// the queue.
    fn hear(&mut self, connection: &mut Connection<P::Conversation>, bytes: &[u8]) -> Flow {
        let Self { canned, queue, out } = self;
        let Connection {
            number,
            pending,
            conversation,
            waiting,
            ..
        } = connection;
        out.clear();
        let now_ns = queue.as_ref().map_or(0, |_| now_ns());
        let mut reply = |reply| {
            let (answer, cost) = match reply {
                Reply::Query(answer) => (answer, Cost::Service),
                Reply::Other(answer) => (answer, Cost::Nothing),
                Reply::Silence | Reply::Goodbye => return,
            };
            match queue {
                // Another answer must not overtake the answers before it.
                Some(queue) if cost == Cost::Service || *waiting > 0 => {
                    queue.push(now_ns, *number, answer, cost);
                    *waiting += 1;
                }
                _ => canned.append(answer, out),
            }
        };
        pending.hear(bytes, |bytes| {
            P::take_requests(conversation, bytes, &mut reply)
        })
    }
}

fn watch(
    epoll: &OwnedFd,
    source: impl AsFd,
    data: u64,
    interest: EventFlags,
) -> Result<(), NullError> {
    let data = epoll::EventData::new_u64(data);
    epoll::add(epoll, source, data, interest)
        .map_err(|errno| NullError::system("register a socket", errno))
}

fn set_interest<C: Default>(
    epoll: &OwnedFd,
    connection: &Connection<C>,
    interest: EventFlags,
) -> Result<(), NullError> {
    let data = epoll::EventData::new_u64(connection.number);
    epoll::modify(epoll, connection, data, interest)
        .map_err(|errno| NullError::system("watch a socket", errno))
}
