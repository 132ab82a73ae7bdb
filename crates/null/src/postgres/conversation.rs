//! One client's messages, from bytes in pieces of any size to answers. No I/O.
//!
//! <https://www.postgresql.org/docs/current/protocol-flow.html>

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use super::answer::{Answer, Batch, Refusal};
use crate::protocol::{self, Flow};
use crate::statement::{Kind, count_places};

/// Answer to a request.
type Reply = protocol::Reply<Answer>;

/// The longest message that is taken.
const MESSAGE_SIZE_MAX: usize = 1 << 24;
/// Bytes of the length that a client's first message begins with.
const LENGTH_SIZE: usize = 4;
/// Something taken off the front of bytes, and the bytes behind it.
type Taken<'b, T> = (T, &'b [u8]);

/// The version of the protocol.
const VERSION: [u8; 4] = [0, 3, 0, 0];
/// Requests to encrypt by TLS or GSSAPI in place of a version.
const ENCRYPTION: [[u8; 4]; 2] = [[0x04, 0xd2, 0x16, 0x2f], [0x04, 0xd2, 0x16, 0x30]];

/// The state of one conversation.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    is_begun: bool,
    /// Prepared statements by their names: their parameters, and what their executions return.
    prepared: HashMap<Vec<u8>, (u16, Kind)>,
    /// The statement that was bound last.
    bound: Option<Kind>,
    /// Answers that wait for `Sync`.
    batch: Batch,
    /// The reason why all up to `Sync` is ignored.
    refusal: Option<Refusal>,
}

impl Conversation {
    /// Replies to every whole request of `bytes`; returns what follows them.
    pub(super) fn take_requests<'b>(
        &mut self,
        mut bytes: &'b [u8],
        reply: &mut dyn FnMut(Reply),
    ) -> (Flow, &'b [u8]) {
        loop {
            let taken = if self.is_begun {
                self.take_message(bytes)
            } else {
                self.take_startup(bytes)
            };
            let (said, rest) = match taken {
                Ok(None) => return (Flow::GoOn, bytes),
                Ok(Some(taken)) => taken,
                Err(refusal) => {
                    reply(Reply::Other(Answer::Refused(refusal)));
                    return (Flow::End, &[]);
                }
            };
            reply(said);
            if said == Reply::Goodbye {
                return (Flow::Goodbye, &[]);
            }
            bytes = rest;
        }
    }

    /// Takes what a client begins with. Who it is is all the same.
    fn take_startup<'b>(&mut self, bytes: &'b [u8]) -> Result<Option<Taken<'b, Reply>>, Refusal> {
        let Some((content, rest)) = split_content(bytes)? else {
            return Ok(None);
        };
        let version = content.first_chunk().ok_or(Refusal::Startup)?;
        if ENCRYPTION.contains(version) {
            return Ok(Some((Reply::Other(Answer::NotEncrypted), rest)));
        }
        if *version != VERSION {
            return Err(Refusal::Startup);
        }
        self.is_begun = true;
        Ok(Some((Reply::Other(Answer::Welcome), rest)))
    }

    fn take_message<'b>(&mut self, bytes: &'b [u8]) -> Result<Option<Taken<'b, Reply>>, Refusal> {
        let Some((&tag, after)) = bytes.split_first() else {
            return Ok(None);
        };
        let Some((content, rest)) = split_content(after)? else {
            return Ok(None);
        };
        let reply = match tag {
            b'X' => Reply::Goodbye,
            b'Q' if self.batch == Batch::default() && self.refusal.is_none() => {
                let sql = content.strip_suffix(&[0]).ok_or(Refusal::Message)?;
                Reply::Query(Answer::Text(Kind::of(sql)))
            }
            b'S' => self.sync(),
            // Flush: nothing is held back that a client could wait for before its `Sync`.
            b'H' => Reply::Silence,
            tag => {
                if self.refusal.is_none() {
                    self.refusal = self.batched(tag, content).err();
                }
                Reply::Silence
            }
        };
        Ok(Some((reply, rest)))
    }

    /// Answers everything since the last `Sync`.
    fn sync(&mut self) -> Reply {
        let batch = std::mem::take(&mut self.batch);
        if let Some(refusal) = self.refusal.take() {
            return Reply::Other(Answer::Refused(refusal));
        }
        let Some(kind) = batch.executed else {
            return Reply::Other(Answer::Batch(batch));
        };
        let executed = Batch {
            bound: true,
            executed: batch.executed,
            ..Batch::default()
        };
        Reply::Query(if batch == executed {
            Answer::Executed(kind)
        } else {
            Answer::Batch(batch)
        })
    }

    /// Takes a message whose answer waits for `Sync`.
    fn batched(&mut self, tag: u8, content: &[u8]) -> Result<(), Refusal> {
        let batch = &mut self.batch;
        match tag {
            b'P' if !batch.parsed && batch.executed.is_none() => {
                let (name, rest) = split_text(content)?;
                let (sql, _) = split_text(rest)?;
                let params = count_places(sql);
                self.prepared.insert(name.to_vec(), (params, Kind::of(sql)));
                batch.parsed = true;
            }
            b'D' if batch.described.is_none() && batch.columns.is_none() => {
                let (kind, name) = content.split_first().ok_or(Refusal::Message)?;
                if *kind == b'S' {
                    let (name, _) = split_text(name)?;
                    batch.described = Some(known(&self.prepared, name)?);
                } else {
                    batch.columns = Some(self.bound.ok_or(Refusal::UnknownStatement)?);
                }
            }
            b'B' if !batch.bound => {
                let (_portal, rest) = split_text(content)?;
                let (name, _) = split_text(rest)?;
                let (_, kind) = known(&self.prepared, name)?;
                self.bound = Some(kind);
                batch.bound = true;
            }
            b'E' if batch.executed.is_none() => {
                batch.executed = Some(self.bound.ok_or(Refusal::UnknownStatement)?);
            }
            b'C' if !batch.closed => {
                if let Some((b'S', name)) = content.split_first() {
                    self.prepared.remove(split_text(name)?.0);
                }
                batch.closed = true;
            }
            _ => return Err(Refusal::Unsupported),
        }
        Ok(())
    }
}

fn known(prepared: &HashMap<Vec<u8>, (u16, Kind)>, name: &[u8]) -> Result<(u16, Kind), Refusal> {
    prepared.get(name).copied().ok_or(Refusal::UnknownStatement)
}

/// Cuts off the content of a message that begins with its length, if it is whole.
fn split_content(bytes: &[u8]) -> Result<Option<Taken<'_, &[u8]>>, Refusal> {
    let Some(length) = bytes.first_chunk() else {
        return Ok(None);
    };
    let size = u32::from_be_bytes(*length) as usize;
    if !(LENGTH_SIZE..=MESSAGE_SIZE_MAX).contains(&size) {
        return Err(Refusal::Message);
    }
    let message = bytes.split_at_checked(size);
    Ok(message.map(|(message, rest)| (&message[LENGTH_SIZE..], rest)))
}

/// Cuts off a text that ends with a zero.
fn split_text(bytes: &[u8]) -> Result<Taken<'_, &[u8]>, Refusal> {
    let end = bytes.iter().position(|byte| *byte == 0);
    let (text, rest) = bytes.split_at(end.ok_or(Refusal::Message)?);
    Ok((text, &rest[1..]))
}
