//! Opening a connection without I/O: logging in and preparing statements, for an event loop that
//! opens connections while others are at work.

#[cfg(test)]
mod tests;

use std::mem;
use std::sync::Arc;

use prony_wire::{HEADER_SIZE, WireError, append_packet, append_prepare, read_header, split_frame};

use super::greet::{LoggingIn, Step};
use super::preparing::Preparing;
use crate::{Address, ClientError, Login, OpeningProgress, PreparedStatement};

/// The longest packet that is accepted: no honest answer to a login or a prepare comes near it.
const PACKET_SIZE_MAX: usize = 1 << 16;

/// A connection on its way from the server's greeting to its last prepared statement. The server
/// speaks first. Nothing but bytes passes through here: whoever owns the socket feeds what it
/// received and sends what it is given.
#[derive(Debug)]
pub(crate) struct Opening {
    stage: Stage,
    statements: Arc<[String]>,
    prepared: Vec<PreparedStatement>,
    /// Received, and not a whole packet yet.
    pending: Vec<u8>,
    /// Number of the packet that comes next, from either side.
    sequence: u8,
    /// The login that is to be sent in TLS, as soon as that has begun.
    login: Option<Vec<u8>>,
}

#[derive(Debug)]
enum Stage {
    LoggingIn(Box<LoggingIn>),
    Preparing(Preparing),
    Done,
}

/// The side that speaks next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    Server,
    Client,
}

impl Opening {
    /// Begins. The statements are prepared in their order after the login.
    pub(crate) fn new(
        address: &Address,
        login: &Login,
        statements: impl Into<Arc<[String]>>,
    ) -> Self {
        Self {
            stage: Stage::LoggingIn(Box::new(LoggingIn::new(address, login))),
            statements: statements.into(),
            prepared: Vec::new(),
            pending: Vec::new(),
            sequence: 0,
            login: None,
        }
    }

    /// See [`crate::Opening::feed`].
    pub(crate) fn feed(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<OpeningProgress, ClientError> {
        let mut pending = mem::take(&mut self.pending);
        pending.extend_from_slice(bytes);
        let mut rest = pending.as_slice();
        while let Some(packet) = self.next_packet(&mut rest)? {
            if self.take(packet, out)? == Turn::Client && !rest.is_empty() {
                let bytes = rest.len();
                return Err(ClientError::from(WireError::Surplus { bytes }));
            }
        }
        let taken = pending.len() - rest.len();
        pending.drain(..taken);
        self.pending = pending;
        Ok(match self.stage {
            Stage::Done => OpeningProgress::Done,
            _ if self.login.is_some() => OpeningProgress::Encrypt,
            Stage::LoggingIn(_) | Stage::Preparing(_) => OpeningProgress::More,
        })
    }

    /// See [`crate::Opening::encrypted`].
    pub(crate) fn encrypted(&mut self, out: &mut Vec<u8>) {
        if let Some(login) = self.login.take() {
            self.sequence = append_packet(out, self.sequence, &login);
        }
    }

    /// See [`crate::Opening::prepared`].
    pub(crate) fn prepared(&self) -> &[PreparedStatement] {
        &self.prepared
    }

    /// See [`crate::Opening::preparing`].
    pub(crate) fn preparing(&self) -> Option<usize> {
        matches!(self.stage, Stage::Preparing(_)).then_some(self.prepared.len())
    }

    /// Cuts the next packet off `rest`, if it is whole. None takes more than one frame.
    fn next_packet<'a>(&mut self, rest: &mut &'a [u8]) -> Result<Option<&'a [u8]>, WireError> {
        if matches!(self.stage, Stage::Done) && !rest.is_empty() {
            return Err(WireError::Surplus { bytes: rest.len() });
        }
        let Some(header) = rest.first_chunk::<HEADER_SIZE>() else {
            return Ok(None);
        };
        let (size, found) = read_header(*header);
        if found != self.sequence {
            let expected = self.sequence;
            return Err(WireError::Sequence { expected, found });
        }
        if size > PACKET_SIZE_MAX {
            let max = PACKET_SIZE_MAX;
            return Err(WireError::Oversized { size, max });
        }
        let Some((frame, after)) = split_frame(rest) else {
            return Ok(None);
        };
        self.sequence = self.sequence.wrapping_add(1);
        *rest = after;
        Ok(Some(frame.payload))
    }

    fn take(&mut self, packet: &[u8], out: &mut Vec<u8>) -> Result<Turn, ClientError> {
        match &mut self.stage {
            Stage::LoggingIn(login) => match login.take(packet)? {
                Step::Reply(payload) => {
                    self.sequence = append_packet(out, self.sequence, &payload);
                    Ok(Turn::Client)
                }
                Step::Wait => Ok(Turn::Server),
                Step::Done => Ok(self.prepare_next(out)),
                Step::Encrypt { request, login } => {
                    self.sequence = append_packet(out, self.sequence, &request);
                    self.login = Some(login);
                    Ok(Turn::Client)
                }
            },
            Stage::Preparing(answer) => match answer.take(packet)? {
                Some(statement) => {
                    self.prepared.push(statement);
                    Ok(self.prepare_next(out))
                }
                None => Ok(Turn::Server),
            },
            Stage::Done => Ok(Turn::Client),
        }
    }

    fn prepare_next(&mut self, out: &mut Vec<u8>) -> Turn {
        self.stage = match self.statements.get(self.prepared.len()) {
            Some(sql) => {
                self.sequence = append_prepare(out, sql.as_bytes());
                Stage::Preparing(Preparing::default())
            }
            None => Stage::Done,
        };
        Turn::Client
    }
}
