//! Messages of the server out of its bytes, and messages of the client as bytes.

use std::io;

use bytes::BytesMut;
use postgres_protocol::message::backend::{ErrorResponseBody, Message};
use prony_model::ErrorCode;

use crate::ClientError;

/// What was received and is no whole message yet.
#[derive(Debug, Default)]
pub(super) struct Inbox(BytesMut);

impl Inbox {
    pub(super) fn put(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// The next message, if it is whole.
    pub(super) fn take(&mut self) -> Result<Option<Message>, ClientError> {
        Message::parse(&mut self.0).map_err(|source| ClientError::Message { source })
    }

    /// The next byte, which is no message: the answer to a request for encryption.
    pub(super) fn take_byte(&mut self) -> Option<u8> {
        (!self.0.is_empty()).then(|| self.0.split_to(1)[0])
    }

    pub(super) fn first(&self) -> Option<u8> {
        self.0.first().copied()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
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

/// The reason for a refusal.
#[derive(Debug, Default)]
pub(super) struct Refusal {
    pub(super) sqlstate: String,
    pub(super) message: String,
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
                _ => {}
            }
        }
        refusal
    }

    /// Code of the error; one that is no code has none of the classes that are not fatal.
    pub(super) fn code(&self) -> ErrorCode {
        self.sqlstate.parse().unwrap_or_else(|_| ErrorCode::from(0))
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
