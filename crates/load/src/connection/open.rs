//! Opening the connections of clients.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use prony_client::{ClientError, Connection, Encryption, Login, Opening, Socket, Stream, TlsError};
use prony_model::{Backend, Tls};

use crate::choices::Choices;
use crate::client::Client;
use crate::connection::link::Link;
use crate::connection::statements::{all_texts, prepare};
use crate::message::Speaker;
use crate::operations::Statements;
use crate::program::Program;
use crate::{DriveTask, Job, LoadError, Message};

/// State of a connection that replaces an old one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Connecting {
    /// The server will greet over a new socket.
    Begun,
    /// The server's queue is full; the client tries again later.
    Later,
}

/// Opens connections for the clients of a task.
pub(crate) struct Opener<'a> {
    job: &'a Job,
    task: &'a DriveTask,
    login: Login,
    programs: &'a [Program],
    /// Encryption of clients that connect anew.
    encryption: Option<Encryption>,
    /// Texts that clients prepare when they connect anew, by group; where a client keeps to a table,
    /// by its number modulo the number of tables.
    texts: Vec<Vec<Arc<[String]>>>,
}

impl<'a> Opener<'a> {
    /// `programs` are those of the groups.
    ///
    /// # Errors
    /// When the certificates that verify the server's can't be read.
    pub(crate) fn new(
        job: &'a Job,
        task: &'a DriveTask,
        programs: &'a [Program],
    ) -> Result<Self, LoadError> {
        let mut groups = task.groups.iter();
        let connects_anew = groups.any(|group| group.reconnect_every.is_some());
        let encryption = (connects_anew && job.tls != Tls::Off)
            .then(|| Encryption::new(&job.address, &job.tls))
            .transpose()
            .map_err(|source| encryption_error(job, source))?;
        Ok(Self {
            job,
            task,
            login: job.login(),
            programs,
            encryption,
            texts: programs.iter().map(all_texts).collect(),
        })
    }

    /// The backend that drives the connections.
    pub(crate) const fn backend(&self) -> Backend {
        self.task.backend
    }

    /// Clients of a group.
    pub(crate) fn clients(&self, group: usize) -> u32 {
        self.task.groups[group].clients
    }

    /// Connects every client of every group and prepares its statements; group after group, and,
    /// where threads have processors of their own, thread after thread. Returns the clients of each
    /// thread: they are dealt to threads in turn.
    pub(crate) fn connect_all(
        &self,
        speaker: &mut Speaker<'_>,
    ) -> Result<Vec<Vec<Link>>, LoadError> {
        let threads = self.task.threads();
        let bound = !self.task.thread_cpus.is_empty();
        let mut links: Vec<Vec<Link>> = (0..threads).map(|_| Vec::new()).collect();
        let groups = 0..self.programs.len();
        let clients =
            groups.flat_map(|group| (0..self.clients(group)).map(move |number| (group, number)));
        let mut dealt: Vec<(u32, (usize, u32))> = (0..threads).cycle().zip(clients).collect();
        if bound {
            dealt.sort_by_key(|(thread, _)| *thread);
        }
        let mut begun = None;
        for (thread, (group, number)) in dealt {
            if bound && begun != Some(thread) {
                begun = Some(thread);
                speaker.say(&Message::Connecting { thread })?;
                if self.task.hold {
                    speaker.wait()?;
                }
            }
            speaker.check_input()?;
            links[thread as usize].push(self.connect(group, number)?);
        }
        Ok(links)
    }

    fn connect(&self, group: usize, number: u32) -> Result<Link, LoadError> {
        let program = &self.programs[group];
        let reconnect_every = self.task.groups[group].reconnect_every;
        let timeout = Duration::from_millis(self.task.stall_ms);
        let connect_error = |source| self.error(group, number, source);
        let mut connection =
            Connection::connect(&self.job.address, &self.login, timeout).map_err(connect_error)?;
        let prepared = prepare(&mut connection, program, number)?;
        let stream = connection.into_stream().map_err(connect_error)?;
        let operations = Statements::new(Choices::new(program, number), prepared);
        let client = Client::new(group, number, reconnect_every, operations, program.wire);
        Ok(Link::new(client, stream))
    }

    /// Begins a new connection in the place of the client's old one.
    pub(crate) fn reconnect(&self, link: &mut Link) -> Result<Connecting, LoadError> {
        link.leave();
        let (group, number) = (link.client.group(), link.client.number());
        let socket = match Socket::begin_connect(&self.job.address) {
            Ok(socket) => socket,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Connecting::Later),
            Err(source) => {
                let address = self.job.address.clone();
                let source = ClientError::Connect { address, source };
                return Err(self.error(group, number, source));
            }
        };
        let texts = &self.texts[group];
        let texts = &texts[number as usize % texts.len()];
        let opening = Opening::new(&self.job.address, &self.login, Arc::clone(texts));
        let stream = Stream::new(socket, self.encryption.as_ref())
            .map_err(|source| encryption_error(self.job, source))?;
        link.open(opening, stream)
            .map_err(|source| self.error(group, number, source))?;
        Ok(Connecting::Begun)
    }

    /// The error of client `number` of a group that could not connect.
    fn error(&self, group: usize, number: u32, source: ClientError) -> LoadError {
        LoadError::Connect {
            client: number + 1,
            clients: self.clients(group),
            source,
        }
    }
}

fn encryption_error(job: &Job, source: TlsError) -> LoadError {
    let address = job.address.clone();
    let source = ClientError::Tls { address, source };
    LoadError::Reconnect(source)
}
