//! From the first byte to the last prepared statement, without I/O.

use std::mem;
use std::sync::Arc;

use postgres_protocol::message::frontend;
use prony_model::Tls;
use prony_wire::WireError;

use super::answer::Preparing;
use super::login::LoggingIn;
use super::messages::{Inbox, append};
use crate::{Address, ClientError, Login, OpeningProgress, PreparedStatement, TlsError};

/// The longest message that is accepted: no honest answer to a login or a prepare comes near it.
const MESSAGE_SIZE_MAX: usize = 1 << 16;

/// A connection on its way. The client speaks first.
#[derive(Debug)]
pub(crate) struct Opening {
    login: LoggingIn,
    stage: Stage,
    statements: Arc<[String]>,
    prepared: Vec<PreparedStatement>,
    inbox: Inbox,
}

#[derive(Debug)]
enum Stage {
    /// The server was asked to encrypt.
    Encrypting,
    /// It is encrypting; the login follows.
    Encrypted,
    LoggingIn,
    Preparing(Preparing),
    Done,
}

impl Opening {
    pub(crate) fn new(address: &Address, login: &Login, statements: Arc<[String]>) -> Self {
        Self {
            login: LoggingIn::new(address, login),
            stage: Stage::LoggingIn,
            statements,
            prepared: Vec::new(),
            inbox: Inbox::new(MESSAGE_SIZE_MAX),
        }
    }

    /// See [`crate::Opening::begin`].
    pub(crate) fn begin(&mut self, out: &mut Vec<u8>) -> Result<(), ClientError> {
        if self.login.login().tls == Tls::Off {
            return self.login.append_startup(out);
        }
        self.stage = Stage::Encrypting;
        append(out, |bytes| {
            frontend::ssl_request(bytes);
            Ok(())
        })
    }

    /// See [`crate::Opening::feed`].
    pub(crate) fn feed(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<OpeningProgress, ClientError> {
        self.inbox.put(bytes);
        // An error in place of the one byte is a message: from a server that can't take connections.
        if matches!(self.stage, Stage::Encrypting) && self.inbox.first() != Some(b'E') {
            return self.hear_encryption();
        }
        while !matches!(self.stage, Stage::Done)
            && let Some(message) = self.inbox.take()?
        {
            match &mut self.stage {
                Stage::Encrypting | Stage::LoggingIn => {
                    if self.login.take(&message, out)? {
                        self.prepare_next(out)?;
                    }
                }
                Stage::Preparing(answer) => {
                    if let Some(statement) = answer.take(&message)? {
                        self.prepared.push(statement);
                        self.prepare_next(out)?;
                    }
                }
                Stage::Encrypted | Stage::Done => {}
            }
        }
        match self.stage {
            Stage::Done if self.inbox.len() > 0 => {
                let bytes = self.inbox.len();
                Err(WireError::Surplus { bytes }.into())
            }
            Stage::Done => Ok(OpeningProgress::Done),
            _ => Ok(OpeningProgress::More),
        }
    }

    /// The answer to the request for encryption. Nothing may come with it: whoever stands in between
    /// could have said it.
    fn hear_encryption(&mut self) -> Result<OpeningProgress, ClientError> {
        let tls_error = |source| ClientError::Tls {
            address: self.login.address().clone(),
            source,
        };
        match self.inbox.take_byte() {
            None => Ok(OpeningProgress::More),
            Some(b'S') if self.inbox.len() == 0 => {
                self.stage = Stage::Encrypted;
                Ok(OpeningProgress::Encrypt)
            }
            Some(b'S') => {
                let surplus = self.inbox.len();
                let reason = format!("the server sent {surplus} unexpected bytes in clear");
                Err(tls_error(TlsError::Handshake { reason }))
            }
            Some(_) => Err(tls_error(TlsError::NotOffered)),
        }
    }

    /// See [`crate::Opening::encrypted`].
    pub(crate) fn encrypted(&mut self, out: &mut Vec<u8>) -> Result<(), ClientError> {
        self.stage = Stage::LoggingIn;
        self.login.append_startup(out)
    }

    /// See [`crate::Opening::prepared`].
    pub(crate) fn prepared(&self) -> &[PreparedStatement] {
        &self.prepared
    }

    /// See [`crate::Opening::preparing`].
    pub(crate) fn preparing(&self) -> Option<usize> {
        matches!(self.stage, Stage::Preparing(_)).then_some(self.prepared.len())
    }

    /// The server's version and the process of the session, once it is done.
    pub(super) fn session(&mut self) -> (String, u32) {
        let version = mem::take(&mut self.login.server_version);
        (version, self.login.process_id)
    }

    fn prepare_next(&mut self, out: &mut Vec<u8>) -> Result<(), ClientError> {
        let number = self.prepared.len();
        self.stage = match self.statements.get(number) {
            Some(sql) => {
                // Far fewer than 32 bits count.
                let id = u32::try_from(number).unwrap_or(u32::MAX);
                Stage::Preparing(Preparing::begin(id, sql, out)?)
            }
            None => Stage::Done,
        };
        Ok(())
    }
}
