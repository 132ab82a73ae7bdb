//! Messages of the server out of its bytes, and messages of the client as bytes.

use std::io;

use bytes::BytesMut;
use postgres_protocol::message::backend::{ErrorResponseBody, Message};
use prony_model::ErrorCode;
use prony_wire::WireError;
use prony_wire::postgres::POSTGRES_HEADER_SIZE;

use crate::ClientError;

/// What was received and is no whole message yet.
#[derive(Debug)]
pub(super) struct Inbox {
    bytes: BytesMut,
    /// The longest message that is accepted.
    size_max: usize,
}

impl Inbox {
    pub(super) fn new(size_max: usize) -> Self {
        let bytes = BytesMut::new();
        Self { bytes, size_max }
    }

    pub(super) fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next message, if it is whole. The library makes room for a length that is only claimed, so
    /// it sees whole messages only.
    pub(super) fn take(&mut self) -> Result<Option<Message>, ClientError> {
        let Some([_, length @ ..]) = self.bytes.first_chunk::<POSTGRES_HEADER_SIZE>() else {
            return Ok(None);
        };
        let (size, max) = (u32::from_be_bytes(*length) as usize, self.size_max);
        if size > max {
            return Err(WireError::Oversized { size, max }.into());
        }
        if self.bytes.len() <= size {
            return Ok(None);
        }
        Message::parse(&mut self.bytes).map_err(|source| ClientError::Message { source })
    }

    /// The next byte, which is no message: the answer to a request for encryption.
    pub(super) fn take_byte(&mut self) -> Option<u8> {
        (!self.bytes.is_empty()).then(|| self.bytes.split_to(1)[0])
    }

    pub(super) fn first(&self) -> Option<u8> {
        self.bytes.first().copied()
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }
}

/// Appends the messages that `write` writes.
pub(super) fn append(
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut BytesMut) -> io::Result<()>,
) -> Result<(), ClientError> {
    let mut bytes = BytesMut::new();
    write(&mut bytes).map_err(|source| ClientError::Request { source })?;
    out.extend_from_slice(&bytes);
    Ok(())
}

/// The task of a statement.
pub(super) const RUN: &str = "run the statement";

/// The reason for a refusal.
#[derive(Debug, Default)]
pub(super) struct Refusal {
    pub(super) sqlstate: String,
    pub(super) message: String,
    /// The session ends with it: the server closes the connection and says nothing more.
    is_fatal: bool,
}

impl Refusal {
    pub(super) fn read(body: &ErrorResponseBody) -> Self {
        use fallible_iterator::FallibleIterator as _;
        let mut refusal = Self::default();
        let mut fields = body.fields();
        // What follows a field that can't be read is left out: the refusal stays one.
        while let Ok(Some(field)) = fields.next() {
            let text = || text(field.value_bytes());
            match field.type_() {
                b'C' => refusal.sqlstate = text(),
                b'M' => refusal.message = text(),
                b'S' | b'V' => {
                    refusal.is_fatal |= matches!(field.value_bytes(), b"FATAL" | b"PANIC");
                }
                _ => {}
            }
        }
        refusal
    }

    /// Code of the error; one that is no code has none of the classes that are not fatal.
    pub(super) fn code(&self) -> ErrorCode {
        self.sqlstate.parse().unwrap_or_else(|_| ErrorCode::from(0))
    }

    /// Refusal of a statement, to be kept until the server is ready again.
    pub(super) fn unless_fatal(self) -> Result<Option<Self>, ClientError> {
        if self.is_fatal {
            return Err(self.of_task(RUN));
        }
        Ok(Some(self))
    }

    pub(super) fn of_task(self, task: &'static str) -> ClientError {
        ClientError::Server {
            task,
            code: self.code(),
            sqlstate: self.sqlstate,
            message: self.message,
        }
    }
}

/// The error of a message that has no place where it came.
pub(super) fn unexpected(place: &'static str) -> ClientError {
    let reason = format!("one that has no place in {place} came");
    ClientError::Message {
        source: io::Error::new(io::ErrorKind::InvalidData, reason),
    }
}

pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
