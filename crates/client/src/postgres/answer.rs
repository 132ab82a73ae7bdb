//! Answers to statements, message by message.

use fallible_iterator::FallibleIterator as _;
use postgres_protocol::message::backend::{DataRowBody, Message, RowDescriptionBody};
use postgres_protocol::message::frontend;

use super::messages::{RUN, Refusal, append, text, unexpected};
use crate::{Answer, ClientError, PreparedStatement};

/// The number of the type CHAR(n) (`pg_type.dat`: bpchar).
const BPCHAR: u32 = 1042;

/// Where messages have no place.
const PLACE: &str = "an answer";

/// The answer to statements as text: the rows of all, and the changes of the last.
#[derive(Debug, Default)]
pub(super) struct Answering {
    answer: Answer,
    /// By column: `true` for texts that blanks pad to their length.
    padded: Vec<bool>,
    refusal: Option<Refusal>,
}

/// State of an answer after a message.
#[derive(Debug)]
pub(super) enum Answered {
    /// It goes on.
    More,
    /// The server asks for the rows of a `COPY`.
    RowsWanted,
    /// It is complete.
    Done(Answer),
}

impl Answering {
    pub(super) fn take(&mut self, message: &Message) -> Result<Answered, ClientError> {
        match message {
            Message::RowDescription(body) => {
                (self.answer.columns, self.padded) = columns(body)?.into_iter().unzip();
            }
            Message::DataRow(body) => {
                let mut row = values(body)?;
                // MySQL sends them without.
                let cells = row.iter_mut().zip(&self.padded);
                for text in cells.filter_map(|(cell, padded)| cell.as_mut().filter(|_| *padded)) {
                    text.truncate(text.trim_end_matches(' ').len());
                }
                self.answer.rows.push(row);
            }
            Message::CommandComplete(body) => {
                self.answer.affected = affected(body.tag().unwrap_or_default());
            }
            Message::CopyInResponse(_) => return Ok(Answered::RowsWanted),
            Message::ErrorResponse(body) => self.refusal = Refusal::read(body).unless_fatal()?,
            Message::ReadyForQuery(_) => {
                return match self.refusal.take() {
                    Some(refusal) => Err(refusal.of_task(RUN)),
                    None => Ok(Answered::Done(std::mem::take(&mut self.answer))),
                };
            }
            Message::ParseComplete
            | Message::BindComplete
            | Message::CloseComplete
            | Message::EmptyQueryResponse
            | Message::NoData
            | Message::NoticeResponse(_)
            | Message::NotificationResponse(_)
            | Message::ParameterStatus(_) => {}
            _ => return Err(unexpected(PLACE)),
        }
        Ok(Answered::More)
    }

    /// The refusal, if the server went away after it.
    pub(super) fn refused(&mut self) -> Option<ClientError> {
        let refusal = self.refusal.take()?;
        Some(refusal.of_task(RUN))
    }
}

/// The answer to a statement that the server is to prepare.
#[derive(Debug)]
pub(super) struct Preparing {
    statement: PreparedStatement,
    refusal: Option<Refusal>,
}

impl Preparing {
    /// Appends the request to prepare a statement under a number.
    pub(super) fn begin(id: u32, sql: &str, out: &mut Vec<u8>) -> Result<Self, ClientError> {
        let name = prony_wire::postgres::statement_name(id);
        append(out, |bytes| {
            frontend::parse(&name, sql, [], bytes)?;
            frontend::describe(b'S', &name, bytes)?;
            frontend::sync(bytes);
            Ok(())
        })?;
        let statement = PreparedStatement {
            id,
            columns: 0,
            params: 0,
        };
        Ok(Self {
            statement,
            refusal: None,
        })
    }

    /// Takes the next message; returns the statement when it was the last.
    pub(super) fn take(
        &mut self,
        message: &Message,
    ) -> Result<Option<PreparedStatement>, ClientError> {
        match message {
            Message::ParameterDescription(body) => {
                self.statement.params = counted(body.parameters().count())?;
            }
            Message::RowDescription(body) => {
                self.statement.columns = counted(body.fields().count())?;
            }
            Message::ErrorResponse(body) => self.refusal = Refusal::read(body).unless_fatal()?,
            Message::ReadyForQuery(_) => {
                return match self.refusal.take() {
                    Some(refusal) => Err(refusal.of_task(RUN)),
                    None => Ok(Some(self.statement)),
                };
            }
            Message::ParseComplete
            | Message::NoData
            | Message::NoticeResponse(_)
            | Message::ParameterStatus(_) => {}
            _ => return Err(unexpected(PLACE)),
        }
        Ok(None)
    }
}

fn counted(count: std::io::Result<usize>) -> Result<u16, ClientError> {
    let count = count.map_err(|source| ClientError::Message { source })?;
    // The protocol counts with 16 bits.
    Ok(u16::try_from(count).unwrap_or(u16::MAX))
}

/// Names of the columns, with `true` for those of type CHAR.
fn columns(body: &RowDescriptionBody) -> Result<Vec<(String, bool)>, ClientError> {
    let columns = body
        .fields()
        .map(|field| Ok((field.name().to_owned(), field.type_oid() == BPCHAR)));
    columns
        .collect()
        .map_err(|source| ClientError::Message { source })
}

fn values(body: &DataRowBody) -> Result<Vec<Option<String>>, ClientError> {
    let bytes = body.buffer();
    let values = body
        .ranges()
        .map(|range| Ok(range.map(|range| text(&bytes[range]))));
    values
        .collect()
        .map_err(|source| ClientError::Message { source })
}

/// Rows that a statement changed: the last number of its words. `SELECT 5` changed nothing.
fn affected(words: &str) -> u64 {
    if words.starts_with("SELECT") {
        return 0;
    }
    let last = words.rsplit(' ').next();
    last.and_then(|number| number.parse().ok()).unwrap_or(0)
}
