//! Reading answers without keeping them: the hot path of the load generator.
//!
//! Messages that came whole are read where they lie. Of others only the heads of a few kinds are
//! copied, into a buffer of fixed size, so that a stream reads alike however it is split. Nothing is
//! allocated.

#[cfg(test)]
mod tests;

use super::{POSTGRES_HEADER_SIZE, read_header};
use crate::{Progress, Tally, WireError};

/// Bytes kept of a message that is read and not skipped: a refusal's fields up to its message.
const HEAD_SIZE: usize = 640;

/// An incremental reader of the answer to one request: everything up to `ReadyForQuery`.
#[derive(Debug, Clone)]
pub struct PostgresSkimmer {
    tally: Tally,
    done: bool,
    /// Bytes of the refusal in `head`, 0 where there is none.
    refused: usize,
    /// The message that is coming in pieces.
    piece: Piece,
    head: [u8; HEAD_SIZE],
}

/// A message that has come in part.
#[derive(Debug, Clone, Copy, Default)]
struct Piece {
    header: [u8; POSTGRES_HEADER_SIZE],
    /// In `0..=POSTGRES_HEADER_SIZE`; below it the header is still incomplete.
    header_length: usize,
    tag: u8,
    /// Bytes of its content that are still due.
    left: usize,
    /// Bytes of its content that are kept, in `0..=HEAD_SIZE`.
    kept: usize,
}

/// The reason for a refusal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Refused<'a> {
    /// Five characters; see the manual's appendix A.
    pub code: &'a [u8],
    /// The server's words.
    pub message: &'a [u8],
    /// The session ends with it: the server closes the connection and says nothing more.
    pub is_fatal: bool,
}

impl Default for PostgresSkimmer {
    fn default() -> Self {
        Self {
            tally: Tally::default(),
            done: false,
            refused: 0,
            piece: Piece::default(),
            head: [0; HEAD_SIZE],
        }
    }
}

impl PostgresSkimmer {
    /// Expects the answer to a new request.
    #[inline]
    pub const fn start(&mut self) {
        self.tally = Tally {
            packets: 0,
            rows: 0,
            affected: 0,
        };
        self.done = false;
        self.refused = 0;
        self.piece.header_length = 0;
        self.piece.left = 0;
    }

    /// Counts so far.
    pub const fn tally(&self) -> Tally {
        self.tally
    }

    /// Returns `true` if a refusal came with the answer.
    #[inline]
    pub const fn is_refused(&self) -> bool {
        self.refused > 0
    }

    /// The refusal that came with the answer, if one did. Its message is cut to what is kept.
    pub fn refused(&self) -> Option<Refused<'_>> {
        if self.refused == 0 {
            return None;
        }
        Some(Refused::read(&self.head[..self.refused]))
    }

    /// Takes the next bytes of the stream, in pieces of any size.
    ///
    /// # Errors
    /// If the bytes are no message, or one that has no place in an answer. The stream is then of no
    /// use any more.
    #[inline]
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Progress, WireError> {
        let mut rest = bytes;
        loop {
            if self.piece.header_length == 0 {
                rest = self.take_whole(rest)?;
            }
            if self.done {
                let consumed = bytes.len() - after_asides(rest).len();
                return Ok(Progress::Done { consumed });
            }
            match self.take_piece(rest)? {
                Some(after) => rest = after,
                None => return Ok(Progress::More),
            }
        }
    }

    /// Takes the messages at the front of `rest` that are whole, and returns what follows them. Rows
    /// come by the thousand, so they get a short way.
    #[inline]
    fn take_whole<'a>(&mut self, mut rest: &'a [u8]) -> Result<&'a [u8], WireError> {
        while !self.done
            && let Some(header) = rest.first_chunk::<POSTGRES_HEADER_SIZE>()
        {
            let (tag, length) = read_header(*header)?;
            let Some((content, after)) = rest[POSTGRES_HEADER_SIZE..].split_at_checked(length)
            else {
                break;
            };
            rest = after;
            if tag == b'D' {
                self.tally.packets += 1;
                self.tally.rows += 1;
            } else {
                self.end_message(tag, content)?;
            }
        }
        Ok(rest)
    }

    /// Takes a part of a message and returns what follows it, or `None` if more is needed.
    fn take_piece<'a>(&mut self, mut rest: &'a [u8]) -> Result<Option<&'a [u8]>, WireError> {
        let piece = &mut self.piece;
        if piece.header_length < POSTGRES_HEADER_SIZE {
            let missing = POSTGRES_HEADER_SIZE - piece.header_length;
            let (now, after) = rest.split_at(missing.min(rest.len()));
            piece.header[piece.header_length..][..now.len()].copy_from_slice(now);
            piece.header_length += now.len();
            rest = after;
            if piece.header_length < POSTGRES_HEADER_SIZE {
                return Ok(None);
            }
            (piece.tag, piece.left) = read_header(piece.header)?;
            check_tag(piece.tag)?;
            piece.kept = 0;
        }
        let (now, after) = rest.split_at(piece.left.min(rest.len()));
        piece.left -= now.len();
        // What a refusal says is kept until the answer ends.
        if is_read(piece.tag) && (self.refused == 0 || piece.tag == b'E') {
            let count = now.len().min(HEAD_SIZE - piece.kept);
            self.head[piece.kept..][..count].copy_from_slice(&now[..count]);
            piece.kept += count;
        }
        if piece.left > 0 {
            return Ok(None);
        }
        piece.header_length = 0;
        let (tag, head, kept) = (piece.tag, self.head, piece.kept);
        self.end_message(tag, &head[..kept])?;
        Ok(Some(after))
    }

    /// A message is complete. `content` is all of it, or as much as is kept of those that are read.
    #[inline]
    fn end_message(&mut self, tag: u8, content: &[u8]) -> Result<(), WireError> {
        check_tag(tag)?;
        self.tally.packets += 1;
        match tag {
            b'Z' => self.done = true,
            // After a refusal nothing changes.
            b'C' if self.refused == 0 => {
                self.tally.affected = self.tally.affected.saturating_add(affected(content));
            }
            b'D' => self.tally.rows += 1,
            b'E' => self.refuse(content),
            _ => {}
        }
        Ok(())
    }

    #[cold]
    fn refuse(&mut self, content: &[u8]) {
        let count = content.len().min(HEAD_SIZE);
        self.head[..count].copy_from_slice(&content[..count]);
        // Never 0, which would be no refusal.
        self.refused = count.max(1);
        self.done = Refused::read(&self.head[..count]).is_fatal;
    }
}

/// Bytes after the whole messages at the front that answer nothing and can come between answers: notices,
/// changed settings, notifications.
#[inline]
fn after_asides(mut rest: &[u8]) -> &[u8] {
    while let Some(header) = rest.first_chunk()
        && let Ok((b'N' | b'S' | b'A', length)) = read_header(*header)
        && let Some(after) = rest.get(POSTGRES_HEADER_SIZE + length..)
    {
        rest = after;
    }
    rest
}

/// Refuses messages that have no place in an answer, before they are whole.
#[inline]
const fn check_tag(tag: u8) -> Result<(), WireError> {
    match tag {
        // What is counted; ParseComplete, BindComplete, CloseComplete, columns, no columns, parameters, an
        // empty query, a portal with rows left; and what can come at any time: notices, changed settings,
        // notifications.
        b'Z' | b'C' | b'D' | b'E' | b'1' | b'2' | b'3' | b'T' | b'n' | b't' | b'I' | b's'
        | b'N' | b'S' | b'A' => Ok(()),
        byte => {
            let packet = "message";
            Err(WireError::UnexpectedByte { packet, byte })
        }
    }
}

/// `true` for messages whose content matters.
const fn is_read(tag: u8) -> bool {
    matches!(tag, b'C' | b'E')
}

/// Rows that a statement changed: the last number of its tag, such as `UPDATE 3` or `INSERT 0 1`;
/// `SELECT 5` changed nothing.
#[inline]
fn affected(tag: &[u8]) -> u64 {
    if !matches!(tag, [b'U' | b'I' | b'D' | b'M' | b'C', ..]) {
        return 0;
    }
    let text = tag.strip_suffix(&[0]).unwrap_or(tag);
    let digits = text.iter().rev().take_while(|byte| byte.is_ascii_digit());
    let start = text.len() - digits.count();
    text[start..].iter().fold(0, |number: u64, digit| {
        number
            .wrapping_mul(10)
            .wrapping_add(u64::from(digit - b'0'))
    })
}

impl<'a> Refused<'a> {
    /// Reads the fields of an `ErrorResponse`, each a letter and a text with a zero at its end. One that
    /// was cut ends where the bytes end.
    fn read(fields: &'a [u8]) -> Self {
        let mut refused = Self::default();
        let mut rest = fields;
        while let [letter, after @ ..] = rest
            && *letter != 0
        {
            let end = after.iter().position(|byte| *byte == 0);
            let (text, next) = after.split_at(end.unwrap_or(after.len()));
            match letter {
                b'S' | b'V' if matches!(text, b"FATAL" | b"PANIC") => refused.is_fatal = true,
                b'C' => refused.code = text,
                b'M' => refused.message = text,
                _ => {}
            }
            rest = next.get(1..).unwrap_or_default();
        }
        refused
    }
}
