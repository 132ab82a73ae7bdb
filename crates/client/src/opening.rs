//! Opening a connection without I/O: logging in and preparing statements, for an event loop that
//! opens connections while others are at work.

use std::sync::Arc;

use prony_model::Family;

use crate::{Address, ClientError, Login, PreparedStatement, mysql, postgres};

/// A connection on its way to its last prepared statement. Nothing but bytes passes through here:
/// the owner of the socket sends what [`begin`](Self::begin) gives, feeds what it received, and sends
/// what it is given.
#[derive(Debug)]
pub struct Opening(Conversation);

#[derive(Debug)]
enum Conversation {
    Mysql(mysql::opening::Opening),
    Postgres(Box<postgres::opening::Opening>),
}

/// State of the opening of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpeningProgress {
    /// More bytes are needed.
    More,
    /// What is to be sent goes in clear, and all that follows in TLS, beginning with what
    /// [`encrypted`](Opening::encrypted) gives. Nothing more was received.
    Encrypt,
    /// The server accepted the login and prepared all statements; nothing is to be sent.
    Done,
}

/// Calls a method of either conversation.
macro_rules! of {
    ($opening:expr, $it:ident => $call:expr) => {
        match $opening {
            Conversation::Mysql($it) => $call,
            Conversation::Postgres($it) => $call,
        }
    };
}

impl Opening {
    /// The statements are prepared in their order after the login.
    pub fn new(address: &Address, login: &Login, statements: impl Into<Arc<[String]>>) -> Self {
        let statements = statements.into();
        Self(match login.family {
            Family::Mysql | Family::Mariadb => {
                Conversation::Mysql(mysql::opening::Opening::new(address, login, statements))
            }
            Family::Postgresql => {
                let opening = postgres::opening::Opening::new(address, login, statements);
                Conversation::Postgres(Box::new(opening))
            }
        })
    }

    /// Appends to `out` what is to be sent before the server says anything: nothing where it greets
    /// first.
    ///
    /// # Errors
    /// If the login can't be sent.
    pub fn begin(&mut self, out: &mut Vec<u8>) -> Result<(), ClientError> {
        match &mut self.0 {
            Conversation::Mysql(_) => Ok(()),
            Conversation::Postgres(opening) => opening.begin(out),
        }
    }

    /// Takes the next bytes of the server, in pieces of any size, and appends to `out` what is to
    /// be sent, framed.
    ///
    /// # Errors
    /// If the server refuses, wants an authentication that Prony does not know, has no TLS where
    /// the login asks for it, does not keep to the protocol, or says more than it was asked. The
    /// connection is then of no use any more, [`preparing`](Self::preparing) tells how far it came.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<OpeningProgress, ClientError> {
        of!(&mut self.0, it => it.feed(bytes, out))
    }

    /// TLS has begun: appends to `out` what is to be sent in it first, framed.
    ///
    /// # Errors
    /// If the login can't be sent.
    pub fn encrypted(&mut self, out: &mut Vec<u8>) -> Result<(), ClientError> {
        match &mut self.0 {
            Conversation::Mysql(opening) => {
                opening.encrypted(out);
                Ok(())
            }
            Conversation::Postgres(opening) => opening.encrypted(out),
        }
    }

    /// The statements that the server has prepared so far, in their order.
    pub fn prepared(&self) -> &[PreparedStatement] {
        of!(&self.0, it => it.prepared())
    }

    /// Index of the statement that is being prepared, counted from 0; `None` before and after.
    pub fn preparing(&self) -> Option<usize> {
        of!(&self.0, it => it.preparing())
    }
}
