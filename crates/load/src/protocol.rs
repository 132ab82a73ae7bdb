//! The protocol of clients' requests and servers' answers. Clients and loops know no packets; each
//! enum here has a variant for each protocol.

mod mysql;
mod postgres;

use prony_model::{ErrorCode, Family};
use prony_wire::postgres::PostgresSkimmer;
use prony_wire::{Skimmer, WireError};

pub(crate) use prony_wire::{Progress, Tally};

use std::fmt::Write as _;

use crate::values::{Hole, Values};

/// A protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    /// That of MySQL and MariaDB.
    Mysql,
    /// That of PostgreSQL.
    Postgres,
}

/// Bytes that no protocol allows. Fits after "failed to …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// Bytes that are none of the server's protocol, or too many for a request.
    #[error(transparent)]
    Wire(#[from] WireError),
}

/// The forms of a statement's values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shapes {
    /// By slot: `true` for integers that fit 32 bits whatever is drawn.
    pub(crate) short_integers: Vec<bool>,
    /// Bytes of the texts, at most.
    pub(crate) text_sizes: Vec<usize>,
    /// `true` if a text has another number of bytes from time to time.
    pub(crate) varying: bool,
}

impl Wire {
    /// The protocol of a family's servers.
    pub(crate) const fn of(family: Family) -> Self {
        match family {
            Family::Mysql | Family::Mariadb => Self::Mysql,
            Family::Postgresql => Self::Postgres,
        }
    }

    /// Appends the place of a value among the parameters of a prepared statement; `number` counts
    /// them from 1. PostgreSQL is told the size of an integer, which it would guess otherwise.
    pub(crate) fn append_place(self, sql: &mut String, number: usize, hole: Hole, shapes: &Shapes) {
        // Writing to a String cannot fail.
        let _ = match (self, hole) {
            (Self::Mysql, _) => write!(sql, "?"),
            (Self::Postgres, Hole::Integer(slot)) if shapes.short_integers[slot] => {
                write!(sql, "${number}::int4")
            }
            (Self::Postgres, Hole::Integer(_)) => write!(sql, "${number}::int8"),
            (Self::Postgres, Hole::Text(_)) => write!(sql, "${number}"),
        };
    }

    /// A text as SQL writes it, in the servers' default mode.
    pub(crate) fn quote(self, text: &str) -> Vec<u8> {
        let mut quoted = vec![b'\''];
        for byte in text.bytes() {
            if byte == b'\'' || byte == b'\\' && self == Self::Mysql {
                quoted.push(byte);
            }
            quoted.push(byte);
        }
        quoted.push(b'\'');
        quoted
    }

    /// The size that a statement's text must stay below, in bytes.
    pub(crate) const fn text_size_limit(self) -> usize {
        match self {
            Self::Mysql => mysql::TEXT_SIZE_LIMIT,
            Self::Postgres => postgres::TEXT_SIZE_LIMIT,
        }
    }

    /// The most parameters of a prepared statement.
    pub(crate) const fn params_max(self) -> usize {
        match self {
            Self::Mysql => mysql::PARAMS_MAX,
            Self::Postgres => postgres::PARAMS_MAX,
        }
    }

    /// The error of a text that does not.
    pub(crate) fn too_large(self, size: usize) -> ProtocolError {
        let max = self.text_size_limit();
        WireError::RequestTooLarge { size, max }.into()
    }

    /// The message with which a client leaves.
    pub(crate) fn goodbye(self) -> Vec<u8> {
        match self {
            Self::Mysql => mysql::goodbye(),
            Self::Postgres => postgres::goodbye(),
        }
    }
}

/// A statement prepared on one connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PreparedId {
    id: u32,
    /// Whether it was executed on this connection.
    is_executed: bool,
}

impl PreparedId {
    pub(crate) const fn new(id: u32) -> Self {
        Self {
            id,
            is_executed: false,
        }
    }
}

/// The request that executes a prepared statement, laid out but for its values.
#[derive(Debug)]
pub(crate) enum Execution {
    Mysql(mysql::Execution),
    Postgres(postgres::Execution),
}

impl Execution {
    /// Lays it out for values of these forms in the holes.
    ///
    /// # Errors
    /// When the values do not fit a request.
    pub(crate) fn new(wire: Wire, holes: &[Hole], shapes: &Shapes) -> Result<Self, ProtocolError> {
        Ok(match wire {
            Wire::Mysql => Self::Mysql(mysql::Execution::new(holes, shapes)?),
            Wire::Postgres => Self::Postgres(postgres::Execution::new(holes, shapes)?),
        })
    }
}

/// A client's request, whose room is reused.
#[derive(Debug)]
pub(crate) struct Request {
    wire: Wire,
    bytes: Vec<u8>,
    /// The prepared statement, by a number of the caller's, that the bytes execute again when only
    /// their values change. Each table has its own identifier, which changes too, and its own first
    /// execution, which is laid out differently.
    laid_out: Option<usize>,
}

impl Request {
    pub(crate) const fn new(wire: Wire) -> Self {
        Self {
            wire,
            bytes: Vec::new(),
            laid_out: None,
        }
    }

    /// The bytes to send.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Room for bytes that are no statement.
    pub(crate) const fn bytes_mut(&mut self) -> &mut Vec<u8> {
        self.laid_out = None;
        &mut self.bytes
    }

    /// Runs the text that `append` appends.
    #[inline]
    pub(crate) fn query(&mut self, append: impl FnOnce(&mut Vec<u8>)) {
        self.laid_out = None;
        self.bytes.clear();
        match self.wire {
            Wire::Mysql => mysql::query(&mut self.bytes, append),
            Wire::Postgres => postgres::query(&mut self.bytes, append),
        }
    }

    /// Executes prepared statement `number` of the caller's with these values.
    #[inline]
    pub(crate) fn execute(
        &mut self,
        number: usize,
        execution: &Execution,
        prepared: &mut PreparedId,
        values: &Values,
    ) {
        match execution {
            Execution::Mysql(execution) => {
                let is_executed = prepared.is_executed;
                if is_executed && self.laid_out == Some(number) {
                    execution.repeat(&mut self.bytes, prepared.id, values);
                } else {
                    self.bytes.clear();
                    execution.append(&mut self.bytes, prepared.id, is_executed, values);
                    self.laid_out = (is_executed && execution.is_fixed()).then_some(number);
                    prepared.is_executed = true;
                }
            }
            Execution::Postgres(execution) => {
                if self.laid_out == Some(number) {
                    execution.repeat(&mut self.bytes, prepared.id, values);
                } else {
                    self.bytes.clear();
                    execution.append(&mut self.bytes, prepared.id, values);
                    self.laid_out = execution.is_fixed().then_some(number);
                }
            }
        }
    }
}

/// A server's refusal of a statement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Refusal<'a> {
    pub(crate) code: ErrorCode,
    pub(crate) sqlstate: &'a [u8],
    pub(crate) message: &'a [u8],
}

impl Refusal<'_> {
    /// The SQL state as text, with replacement characters for bytes that are not UTF-8.
    pub(crate) fn sqlstate_text(&self) -> String {
        String::from_utf8_lossy(self.sqlstate).into_owned()
    }

    /// The message as text, likewise.
    pub(crate) fn message_text(&self) -> String {
        String::from_utf8_lossy(self.message).into_owned()
    }
}

/// The answer to a request, read without keeping it.
#[derive(Debug)]
pub(crate) enum Answer {
    Mysql(Skimmer),
    Postgres(PostgresSkimmer),
}

impl Answer {
    pub(crate) fn new(wire: Wire) -> Self {
        match wire {
            Wire::Mysql => Self::Mysql(Skimmer::default()),
            Wire::Postgres => Self::Postgres(PostgresSkimmer::default()),
        }
    }

    /// Expects the answer to a new request.
    #[inline]
    pub(crate) fn start(&mut self) {
        match self {
            Self::Mysql(skimmer) => skimmer.start(mysql::ANSWER_SEQUENCE),
            Self::Postgres(skimmer) => skimmer.start(),
        }
    }

    /// Takes bytes of it.
    #[inline]
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<Progress, ProtocolError> {
        match self {
            Self::Mysql(skimmer) => skimmer.feed(bytes),
            Self::Postgres(skimmer) => skimmer.feed(bytes),
        }
        .map_err(ProtocolError::from)
    }

    /// The counts of a complete answer.
    #[inline]
    pub(crate) fn tally(&self) -> Tally {
        match self {
            Self::Mysql(skimmer) => skimmer.tally(),
            Self::Postgres(skimmer) => skimmer.tally(),
        }
    }

    /// Returns `true` if a complete answer is a refusal.
    #[inline]
    pub(crate) const fn is_refusal(&self) -> bool {
        match self {
            Self::Mysql(skimmer) => skimmer.is_refused(),
            Self::Postgres(skimmer) => skimmer.is_refused(),
        }
    }

    /// The refusal that a complete answer is. Out of the way of answers that are none.
    #[cold]
    pub(crate) fn refusal(&self) -> Option<Refusal<'_>> {
        match self {
            Self::Mysql(skimmer) => skimmer.error().map(|error| Refusal {
                code: error.code.into(),
                sqlstate: error.sqlstate,
                message: error.message,
            }),
            Self::Postgres(skimmer) => skimmer.refused().map(|refused| Refusal {
                // Bytes that are no code have none of the classes that are not fatal.
                code: (str::from_utf8(refused.code).ok())
                    .and_then(|code| code.parse().ok())
                    .unwrap_or_else(|| ErrorCode::from(0)),
                sqlstate: refused.code,
                message: refused.message,
            }),
        }
    }
}
