//! One client's requests, from bytes in pieces of any size to answers. No I/O.
//!
//! Commands: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_command_phase.html>

#[cfg(test)]
mod tests;

use prony_wire::{Capabilities, Frame, PAYLOAD_MAX, split_frame};

use super::answer::{Answer, Refusal};
use crate::protocol::{self, Flow};
use crate::statement::{Kind, count_parameters};

/// Answer to a request.
type Reply = protocol::Reply<Answer>;

/// Bytes of a login before the account's name; a request for TLS ends there.
const LOGIN_HEAD: usize = 32;

/// The state of one conversation.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    logged_in: bool,
    /// Statements prepared so far.
    prepared: u32,
}

impl Conversation {
    /// Replies to every whole request of `bytes`; returns what follows them.
    pub(super) fn take_requests<'b>(
        &mut self,
        mut bytes: &'b [u8],
        reply: &mut dyn FnMut(Reply),
    ) -> (Flow, &'b [u8]) {
        loop {
            if is_too_large(bytes) {
                reply(Reply::Other(Answer::Refused(Refusal::TooLarge)));
                return (Flow::End, &[]);
            }
            let Some((frame, rest)) = split_frame(bytes) else {
                return (Flow::GoOn, bytes);
            };
            let said = self.reply_to(frame);
            reply(said);
            match said {
                Reply::Goodbye => return (Flow::Goodbye, &[]),
                Reply::Other(Answer::Refused(refusal)) if refusal.ends_conversation() => {
                    return (Flow::End, &[]);
                }
                _ => bytes = rest,
            }
        }
    }

    fn reply_to(&mut self, frame: Frame<'_>) -> Reply {
        let refused = |refusal| Reply::Other(Answer::Refused(refusal));
        if frame.sequence != u8::from(!self.logged_in) {
            refused(Refusal::OutOfOrder)
        } else if self.logged_in {
            self.command(frame.payload)
        } else if is_login(frame.payload) {
            self.logged_in = true;
            Reply::Other(Answer::Welcome)
        } else {
            refused(Refusal::Handshake)
        }
    }

    fn command(&mut self, payload: &[u8]) -> Reply {
        let refused = |refusal| Reply::Other(Answer::Refused(refusal));
        let Some((command, arguments)) = payload.split_first() else {
            return refused(Refusal::UnknownCommand);
        };
        match command {
            // COM_QUIT
            0x01 => Reply::Goodbye,
            // COM_INIT_DB, COM_PING, COM_STMT_RESET, COM_RESET_CONNECTION
            0x02 | 0x0e | 0x1a | 0x1f => Reply::Other(Answer::Done { affected: 0 }),
            // COM_QUERY
            0x03 => Reply::Query(result(Kind::of(arguments), Answer::TextRow)),
            // COM_STMT_PREPARE
            0x16 => Reply::Other(self.prepare(arguments)),
            // COM_STMT_EXECUTE
            0x17 => match executed(arguments) {
                Some(kind) => Reply::Query(result(kind, Answer::BinaryRow)),
                None => refused(Refusal::UnknownStatement),
            },
            // COM_STMT_SEND_LONG_DATA, COM_STMT_CLOSE
            0x18 | 0x19 => Reply::Silence,
            _ => refused(Refusal::UnknownCommand),
        }
    }

    /// Numbers a statement. Its number says what its executions return, so that nothing has to be
    /// kept of it.
    fn prepare(&mut self, sql: &[u8]) -> Answer {
        let kind = Kind::of(sql);
        match u16::try_from(count_parameters(sql)) {
            Err(_) => Answer::Refused(Refusal::TooManyParameters),
            Ok(params) => {
                self.prepared = self.prepared.wrapping_add(1);
                let id = self.prepared << 2 | kind as u32;
                Answer::Prepared { id, params, kind }
            }
        }
    }
}

/// Kind of result of an execution; `None` if no statement was prepared.
fn executed(arguments: &[u8]) -> Option<Kind> {
    let id = u32::from_le_bytes(*arguments.first_chunk()?);
    let kinds = [Kind::Rows, Kind::Change, Kind::Control];
    kinds.into_iter().find(|kind| id & 3 == *kind as u32)
}

const fn result(kind: Kind, row: Answer) -> Answer {
    match kind {
        Kind::Rows => row,
        Kind::Change => Answer::Done { affected: 1 },
        Kind::Control => Answer::Done { affected: 0 },
    }
}

/// Returns `true` if a request begins here that goes on in a second frame.
fn is_too_large(bytes: &[u8]) -> bool {
    let Some(header) = bytes.first_chunk::<4>() else {
        return false;
    };
    (u32::from_le_bytes(*header) & 0xff_ffff) as usize == PAYLOAD_MAX
}

/// Returns `true` if a client of protocol 4.1 introduces itself. Who it is, and with which
/// password, is all the same.
fn is_login(payload: &[u8]) -> bool {
    let capabilities = payload
        .first_chunk()
        .map(|bytes| Capabilities(u32::from_le_bytes(*bytes)));
    payload.len() > LOGIN_HEAD
        && capabilities.is_some_and(|flags| flags.contains(Capabilities::PROTOCOL_41))
}
