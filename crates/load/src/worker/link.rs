//! A client and its socket.

use std::io::{self, ErrorKind, Read, Write};

use prony_client::{Socket, Stream};
use prony_wire::append_quit;

use crate::LoadError;
use crate::client::Client;
use crate::program::Program;

/// A client and its socket. Dropping it says goodbye to the server.
pub(crate) struct Link {
    pub(crate) client: Client,
    stream: Stream,
    /// Bytes of the client's request that the stream took.
    sent: usize,
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
}

impl Link {
    pub(crate) const fn new(client: Client, stream: Stream) -> Self {
        Self {
            client,
            stream,
            sent: 0,
        }
    }

    /// The name of the statement under way.
    pub(super) fn statement(&self, program: &Program) -> String {
        self.client.statement_name(program).to_owned()
    }

    /// Begins to send the client's request.
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
    pub(super) fn receive(
        &mut self,
        buffer: &mut [u8],
        program: &Program,
    ) -> Result<Transfer, LoadError> {
        let received = self.stream.read(buffer);
        self.received(received.map(|count| &buffer[..count]), program)
    }

    /// Takes what was received of the answer: no bytes where the server has hung up.
    #[inline]
    pub(super) fn received(
        &mut self,
        received: io::Result<&[u8]>,
        program: &Program,
    ) -> Result<Transfer, LoadError> {
        match received {
            Ok([]) => Err(LoadError::Closed {
                statement: self.statement(program),
            }),
            Ok(bytes) if self.client.feed(bytes, program)? => Ok(Transfer::Complete),
            Ok(_) => Ok(Transfer::Partial),
            Err(error) => match error.kind() {
                // Whoever waits for the rest tries again soon enough.
                ErrorKind::Interrupted | ErrorKind::WouldBlock => Ok(Transfer::NotReady),
                _ => Err(self.explain(error, program)),
            },
        }
    }

    fn explain(&self, source: io::Error, program: &Program) -> LoadError {
        let statement = self.statement(program);
        match source.kind() {
            ErrorKind::BrokenPipe | ErrorKind::ConnectionReset | ErrorKind::UnexpectedEof => {
                LoadError::Closed { statement }
            }
            _ => LoadError::Socket { statement, source },
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        if self.client.is_busy() {
            return;
        }
        let mut goodbye = Vec::new();
        append_quit(&mut goodbye);
        // A server that is gone needs no goodbye.
        let _ = self
            .stream
            .write_all(&goodbye)
            .and_then(|()| self.stream.flush());
    }
}
