//! A client and its socket.

use std::io::{self, ErrorKind, Read, Write};
use std::time::Duration;

use prony_client::{ClientError, Opening, OpeningProgress, Socket, Stream};
use rustix::io::ioctl_fionbio;

use crate::LoadError;
use crate::client::Client;
use crate::connection::statements::{check_params, opening_error, prepared_ids};
use crate::operations::PreparedIds;
use crate::program::Program;
use crate::protocol::{Answer, Progress, Request};

/// Name in errors of the query that makes a session publish its counters.
const EMPTY_QUERY: &str = "an empty query";

/// A client and its socket. Dropping it says goodbye to the server.
pub(crate) struct Link {
    pub(crate) client: Client,
    stream: Stream,
    /// Bytes of the client's request that the stream took.
    sent: usize,
    /// The connection in the making.
    opening: Option<Box<Opening>>,
    /// `true` if the client has left this connection and has no other yet.
    is_gone: bool,
}

/// Progress of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transfer {
    /// The request is sent; or, for an answer, it is complete.
    Complete,
    /// Some bytes came, and more are needed.
    Partial,
    /// The socket was not ready in the time allowed.
    NotReady,
    /// While a connection is being opened: the server waits for the rest of the request.
    Reply,
    /// The connection is open.
    Opened,
}

impl Link {
    pub(crate) const fn new(client: Client, stream: Stream) -> Self {
        Self {
            client,
            stream,
            sent: 0,
            opening: None,
            is_gone: false,
        }
    }

    /// The name of the statement under way.
    fn statement(&self, program: &Program) -> String {
        self.client.statement_name(program).to_owned()
    }

    /// Begins to send the client's request.
    #[inline]
    pub(crate) fn send_request(
        &mut self,
        now_ns: u64,
        program: &Program,
    ) -> Result<Transfer, LoadError> {
        self.client.mark_sent(now_ns);
        self.sent = 0;
        self.send_rest(program)
    }

    /// The socket, to be waited for.
    pub(crate) const fn socket(&self) -> &Socket {
        self.stream.socket()
    }

    /// Returns `true` if a part of the request is still to be sent.
    pub(crate) fn has_unsent(&self) -> bool {
        self.client.is_busy() && !self.is_sent()
    }

    fn is_sent(&self) -> bool {
        self.sent == self.client.request().len() && !self.stream.has_unsent()
    }

    /// Sends as much as the socket takes.
    #[inline]
    pub(crate) fn send_rest(&mut self, program: &Program) -> Result<Transfer, LoadError> {
        loop {
            let rest = &self.client.request()[self.sent..];
            let result = if rest.is_empty() {
                self.stream.flush()
            } else {
                self.stream.write(rest).map(|count| self.sent += count)
            };
            match result {
                Ok(()) if self.is_sent() => return Ok(Transfer::Complete),
                Ok(()) => {}
                Err(error) => match error.kind() {
                    ErrorKind::Interrupted => {}
                    ErrorKind::WouldBlock => return Ok(Transfer::NotReady),
                    _ => return Err(self.explain(error, program)),
                },
            }
        }
    }

    /// Receives what there is of the answer, at most a buffer full.
    #[inline]
    pub(crate) fn receive(
        &mut self,
        buffer: &mut [u8],
        program: &Program,
    ) -> Result<Transfer, LoadError> {
        let received = self.stream.read(buffer);
        self.received(received.map(|count| &buffer[..count]), program)
    }

    /// Takes received bytes: none where the server has hung up.
    #[inline]
    pub(crate) fn received(
        &mut self,
        received: io::Result<&[u8]>,
        program: &Program,
    ) -> Result<Transfer, LoadError> {
        match received {
            Ok([]) => Err(self.explain(ErrorKind::UnexpectedEof.into(), program)),
            Ok(bytes) if self.opening.is_some() => self.hear_opening(bytes, program),
            Ok(bytes) if self.client.feed(bytes, program)? => Ok(Transfer::Complete),
            Ok(_) => Ok(Transfer::Partial),
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock => Ok(Transfer::NotReady),
                // To be tried again at once: there may be no other sign of what is there.
                ErrorKind::Interrupted => Ok(Transfer::Partial),
                _ => Err(self.explain(error, program)),
            },
        }
    }

    /// Lets calls on the socket wait.
    pub(crate) fn make_blocking(&self) -> Result<(), LoadError> {
        ioctl_fionbio(self.socket(), false).map_err(LoadError::system("make a socket blocking"))
    }

    /// Whether events of its socket are of no interest: the client is idle, or waits for a place in
    /// the server's queue, and the old connection is over.
    pub(crate) fn expects_nothing(&self) -> bool {
        !self.client.is_busy() || self.is_gone
    }

    /// Leaves the old connection, unless that is done.
    pub(super) fn leave(&mut self) {
        if !self.is_gone {
            self.say_goodbye();
            self.is_gone = true;
        }
    }

    /// Opens a new connection over this stream.
    pub(super) fn open(&mut self, mut opening: Opening, stream: Stream) -> Result<(), ClientError> {
        self.stream = stream;
        self.is_gone = false;
        let request = self.client.request_mut();
        request.clear();
        opening.begin(request)?;
        self.opening = Some(Box::new(opening));
        self.sent = 0;
        Ok(())
    }

    /// Takes bytes from the server while the connection is being opened.
    fn hear_opening(&mut self, bytes: &[u8], program: &Program) -> Result<Transfer, LoadError> {
        let Some(opening) = &mut self.opening else {
            return Ok(Transfer::Partial);
        };
        let number = self.client.number();
        let reply = self.client.request_mut();
        reply.clear();
        let progress = opening
            .feed(bytes, reply)
            .map_err(|source| opening_error(program, number, opening, source))?;
        self.sent = 0;
        match progress {
            OpeningProgress::Done => {
                check_params(program, number, opening)?;
                Ok(Transfer::Opened)
            }
            OpeningProgress::More if reply.is_empty() => Ok(Transfer::Partial),
            OpeningProgress::More => Ok(Transfer::Reply),
            OpeningProgress::Encrypt => {
                let begun = self
                    .stream
                    .write_all(reply)
                    .and_then(|()| self.stream.encrypt());
                begun.map_err(|source| {
                    opening_error(program, number, opening, ClientError::Io { source })
                })?;
                reply.clear();
                opening
                    .encrypted(reply)
                    .map_err(|source| opening_error(program, number, opening, source))?;
                Ok(Transfer::Reply)
            }
        }
    }

    /// The statements prepared on the new connection, once it is open.
    pub(crate) fn take_prepared(&mut self, program: &Program) -> Option<PreparedIds> {
        let opening = self.opening.take()?;
        Some(prepared_ids(program, self.client.number(), &opening))
    }

    fn say_goodbye(&mut self) {
        let goodbye = self.client.wire().goodbye();
        // A server that is gone needs no goodbye.
        let _ = self
            .stream
            .write_all(&goodbye)
            .and_then(|()| self.stream.flush());
    }

    /// Asks an empty query and waits for its answer. No query is under way. Returns `false` if the
    /// connection is not open.
    pub(crate) fn ask_nothing(&mut self, timeout: Duration) -> Result<bool, LoadError> {
        if self.is_gone || self.opening.is_some() {
            return Ok(false);
        }
        self.make_blocking()?;
        let answer = self.converse(timeout).map_err(|source| LoadError::Socket {
            statement: EMPTY_QUERY.to_owned(),
            source,
        })?;
        // A session that is ended answers with the reason.
        match answer.refusal() {
            None => Ok(true),
            Some(refusal) => Err(LoadError::Server {
                statement: EMPTY_QUERY.to_owned(),
                code: refusal.code,
                sqlstate: refusal.sqlstate_text(),
                message: refusal.message_text(),
            }),
        }
    }

    fn converse(&mut self, timeout: Duration) -> io::Result<Answer> {
        let wire = self.client.wire();
        let mut request = Request::new(wire);
        request.query(|_| ());
        self.socket().set_timeouts(Some(timeout))?;
        self.stream.write_all(request.bytes())?;
        self.stream.flush()?;
        let mut answer = Answer::new(wire);
        answer.start();
        let mut buffer = [0; 4096];
        loop {
            let received = match self.stream.read(&mut buffer) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => &buffer[..count],
                // A process that is stopped and continued sees this where a limit is set.
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let progress = answer.feed(received).map_err(io::Error::other)?;
            if let Progress::Done { .. } = progress {
                self.socket().set_timeouts(None)?;
                return Ok(answer);
            }
        }
    }

    /// The error of a server that has been silent for too long.
    pub(crate) fn stalled(&self, silent_ns: u64, program: &Program) -> LoadError {
        if let Some(opening) = &self.opening {
            let after = Duration::from_nanos(silent_ns);
            let number = self.client.number();
            return opening_error(program, number, opening, ClientError::Timeout { after });
        }
        LoadError::Stalled {
            statement: self.statement(program),
            seconds: silent_ns as f64 / 1e9,
        }
    }

    fn explain(&self, source: io::Error, program: &Program) -> LoadError {
        let closed = matches!(
            source.kind(),
            ErrorKind::BrokenPipe | ErrorKind::ConnectionReset | ErrorKind::UnexpectedEof
        );
        if let Some(opening) = &self.opening {
            let source = if closed {
                ClientError::Closed
            } else {
                ClientError::Io { source }
            };
            return opening_error(program, self.client.number(), opening, source);
        }
        let statement = self.statement(program);
        if closed {
            return LoadError::Closed { statement };
        }
        LoadError::Socket { statement, source }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        if !self.client.is_busy() && !self.is_gone {
            self.say_goodbye();
        }
    }
}
