//! A client and its socket.

use std::io::Write;

use prony_client::Socket;
use prony_wire::append_quit;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use crate::LoadError;
use crate::client::Client;
use crate::program::Program;

/// A client and its socket. Dropping it says goodbye to the server.
pub(crate) struct Link {
    pub(crate) client: Client,
    pub(crate) stream: Socket,
    /// Bytes of the client's request that were sent.
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
    pub(crate) const fn new(client: Client, stream: Socket) -> Self {
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

    /// Whether a part of the request is still to be sent.
    pub(super) fn has_unsent(&self) -> bool {
        self.client.is_busy() && self.sent < self.client.request().len()
    }

    /// Sends what the socket takes.
    pub(super) fn send_rest(&mut self, program: &Program) -> Result<Transfer, LoadError> {
        loop {
            let rest = &self.client.request()[self.sent..];
            match send(&self.stream, rest, SendFlags::NOSIGNAL) {
                Ok(count) if count == rest.len() => {
                    self.sent += count;
                    return Ok(Transfer::Complete);
                }
                Ok(count) => self.sent += count,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(Transfer::NotReady),
                Err(errno) => return Err(self.explain(errno, program)),
            }
        }
    }

    /// Receives what there is of the answer, at most a buffer full.
    pub(super) fn receive(
        &mut self,
        buffer: &mut [u8],
        program: &Program,
    ) -> Result<Transfer, LoadError> {
        loop {
            match recv(&self.stream, &mut *buffer, RecvFlags::empty()) {
                Ok((_, 0)) => {
                    return Err(LoadError::Closed {
                        statement: self.statement(program),
                    });
                }
                Ok((_, count)) => {
                    let complete = self.client.feed(&buffer[..count], program)?;
                    return Ok(if complete {
                        Transfer::Complete
                    } else {
                        Transfer::Partial
                    });
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(Transfer::NotReady),
                Err(errno) => return Err(self.explain(errno, program)),
            }
        }
    }

    fn explain(&self, errno: Errno, program: &Program) -> LoadError {
        let statement = self.statement(program);
        match errno {
            Errno::PIPE | Errno::CONNRESET => LoadError::Closed { statement },
            errno => LoadError::Socket {
                statement,
                source: errno.into(),
            },
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
        let _ = self.stream.write_all(&goodbye);
    }
}
