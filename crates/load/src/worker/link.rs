//! A client and its socket.

use std::io::{self, ErrorKind, Read, Write};
use std::time::Duration;

use prony_client::{ClientError, Opening, OpeningProgress, Socket, Stream};
use prony_wire::append_quit;
use rustix::io::ioctl_fionbio;

use crate::LoadError;
use crate::client::Client;
use crate::program::Program;
use crate::setup::{Opener, check_params, opening_error};

/// A client and its socket. Dropping it says goodbye to the server.
pub(crate) struct Link {
    pub(crate) client: Client,
    stream: Stream,
    /// Bytes of the client's request that the stream took.
    sent: usize,
    /// The connection in the making.
    opening: Option<Box<Opening>>,
    /// Whether the client has left this connection and has no other yet.
    is_gone: bool,
}

/// How far a transfer came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transfer {
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

/// Whether a new connection is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Connecting {
    /// It is, over a new socket: the server will greet.
    Begun,
    /// The server's queue is full: it is to be tried again.
    Later,
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
    pub(super) fn statement(&self, program: &Program) -> String {
        self.client.statement_name(program).to_owned()
    }

    /// Begins to send the client's request.
    #[inline]
    pub(super) fn send_request(
        &mut self,
        now_ns: u64,
        program: &Program,
    ) -> Result<Transfer, LoadError> {
        self.client.mark_sent(now_ns);
        self.sent = 0;
        self.send_rest(program)
    }

    /// The socket, to be waited for.
    pub(super) const fn socket(&self) -> &Socket {
        self.stream.socket()
    }

    /// Whether a part of the request is still to be sent.
    pub(super) fn has_unsent(&self) -> bool {
        self.client.is_busy() && !self.is_sent()
    }

    fn is_sent(&self) -> bool {
        self.sent == self.client.request().len() && !self.stream.has_unsent()
    }

    /// Sends what the socket takes.
    #[inline]
    pub(super) fn send_rest(&mut self, program: &Program) -> Result<Transfer, LoadError> {
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
    pub(super) fn receive(
        &mut self,
        buffer: &mut [u8],
        program: &Program,
    ) -> Result<Transfer, LoadError> {
        let received = self.stream.read(buffer);
        self.received(received.map(|count| &buffer[..count]), program)
    }

    /// Takes what was received: no bytes where the server has hung up.
    #[inline]
    pub(super) fn received(
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
    pub(super) fn make_blocking(&self) -> Result<(), LoadError> {
        ioctl_fionbio(self.socket(), false).map_err(|errno| LoadError::System {
            action: "make a socket blocking",
            source: errno.into(),
        })
    }

    /// Whether whatever its socket says is of no interest: the client is idle, or waits for a place
    /// in the server's queue, and the old connection is over.
    pub(super) fn expects_nothing(&self) -> bool {
        !self.client.is_busy() || self.is_gone
    }

    /// Begins a new connection in the place of the old one.
    pub(super) fn connect(&mut self, opener: &Opener<'_>) -> Result<Connecting, LoadError> {
        if !self.is_gone {
            self.say_goodbye();
            self.is_gone = true;
        }
        let group = self.client.group();
        let number = self.client.number();
        let socket = match Socket::begin_connect(opener.address()) {
            Ok(socket) => socket,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Connecting::Later),
            Err(source) => {
                let address = opener.address().clone();
                let source = ClientError::Connect { address, source };
                return Err(opener.error(group, number, source));
            }
        };
        let (opening, stream) = opener.opening(group, number, socket)?;
        self.stream = stream;
        self.opening = Some(Box::new(opening));
        self.is_gone = false;
        self.client.request_mut().clear();
        self.sent = 0;
        Ok(Connecting::Begun)
    }

    /// Takes what the server says while the connection is being opened.
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
                opening.encrypted(reply);
                Ok(Transfer::Reply)
            }
        }
    }

    /// What was opened, once it is.
    pub(super) fn opened(&mut self) -> Option<Box<Opening>> {
        self.opening.take()
    }

    fn say_goodbye(&mut self) {
        let mut goodbye = Vec::new();
        append_quit(&mut goodbye);
        // A server that is gone needs no goodbye.
        let _ = self
            .stream
            .write_all(&goodbye)
            .and_then(|()| self.stream.flush());
    }

    /// What to say when the server has been silent for too long.
    pub(super) fn stalled(&self, silent_ns: u64, program: &Program) -> LoadError {
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
