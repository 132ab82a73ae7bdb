//! The protocol of PostgreSQL, version 3.0, which all servers since 7.4 speak: what a connection for control
//! statements needs, which logs in and sends statements as text.
//!
//! <https://www.postgresql.org/docs/current/protocol-message-formats.html>
//!
//! ```text
//! byte    tag, which the first message of a client lacks
//! int<4>  length of what follows, and of itself; the most significant byte comes first
//! ...     content
//! ```

use crate::WireError;

/// Bytes before the content of a message of the server.
pub const HEADER_SIZE: usize = 5;

/// Version 3.0.
const PROTOCOL: u32 = 3 << 16;

/// A message of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message<'a> {
    /// The login is accepted.
    LoggedIn,
    /// A proof is required, of the kind with this number.
    ProofRequired(u32),
    /// Names of the columns of the rows that follow.
    Columns(Vec<&'a [u8]>),
    /// A row; `None` is NULL.
    Row(Vec<Option<&'a [u8]>>),
    /// The statement is done; its words, such as `UPDATE 3`.
    Done(&'a [u8]),
    /// The statement is refused, or the connection.
    Refused(Refused<'a>),
    /// The next statement may come.
    Ready,
    /// What is of no interest here: notices, parameters, the key for cancelling.
    Other,
}

/// The reason for a refusal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Refused<'a> {
    /// Five characters; see the manual's appendix A.
    pub code: &'a [u8],
    /// The server's words.
    pub message: &'a [u8],
}

/// Appends the first message: the account and the database.
pub fn append_startup(out: &mut Vec<u8>, user: &str, database: &str) {
    let begin = out.len();
    out.extend([0; 4]);
    out.extend(PROTOCOL.to_be_bytes());
    for text in ["user", user, "database", database] {
        append_text(out, text.as_bytes());
    }
    out.push(0);
    put_length(out, begin);
}

/// Appends statements in text, separated by `;`.
pub fn append_query(out: &mut Vec<u8>, sql: &[u8]) {
    out.push(b'Q');
    let begin = out.len();
    out.extend([0; 4]);
    append_text(out, sql);
    put_length(out, begin);
}

/// Appends the last message.
pub fn append_terminate(out: &mut Vec<u8>) {
    out.extend([b'X', 0, 0, 0, 4]);
}

/// Appends a text with the zero that ends it. What comes after a zero in it is left out, as servers do.
fn append_text(out: &mut Vec<u8>, text: &[u8]) {
    out.extend(text.split(|byte| *byte == 0).next().unwrap_or_default());
    out.push(0);
}

fn put_length(out: &mut [u8], begin: usize) {
    // No statement of ours comes near 2 GB; a longer one is refused by the server.
    let length = u32::try_from(out.len() - begin).unwrap_or(u32::MAX);
    out[begin..begin + 4].copy_from_slice(&length.to_be_bytes());
}

/// Tag and length of the content of a message.
///
/// # Errors
/// When the length is shorter than itself.
pub fn read_header(header: [u8; HEADER_SIZE]) -> Result<(u8, usize), WireError> {
    let [tag, length @ ..] = header;
    let length = u32::from_be_bytes(length) as usize;
    let content = length.checked_sub(4);
    Ok((
        tag,
        content.ok_or(WireError::Truncated { packet: "message" })?,
    ))
}

impl<'a> Message<'a> {
    /// Reads the content of a message with this tag.
    ///
    /// # Errors
    /// When it is not what the tag says.
    pub fn parse(tag: u8, content: &'a [u8]) -> Result<Self, WireError> {
        let mut content = Content(content);
        Ok(match tag {
            b'R' => match content.number::<4>("authentication request")? {
                0 => Self::LoggedIn,
                kind => Self::ProofRequired(kind),
            },
            b'T' => Self::Columns(content.columns()?),
            b'D' => Self::Row(content.row()?),
            b'C' => Self::Done(content.text("command tag")?),
            b'E' => Self::Refused(content.refused()?),
            b'Z' => Self::Ready,
            _ => Self::Other,
        })
    }
}

/// What is left of a message.
struct Content<'a>(&'a [u8]);

impl<'a> Content<'a> {
    fn take(&mut self, count: usize, packet: &'static str) -> Result<&'a [u8], WireError> {
        let (taken, rest) = self
            .0
            .split_at_checked(count)
            .ok_or(WireError::Truncated { packet })?;
        self.0 = rest;
        Ok(taken)
    }

    /// A number of `N` bytes, at most 4.
    fn number<const N: usize>(&mut self, packet: &'static str) -> Result<u32, WireError> {
        let bytes = self.take(N, packet)?.iter();
        Ok(bytes.fold(0, |number, byte| number << 8 | u32::from(*byte)))
    }

    fn text(&mut self, packet: &'static str) -> Result<&'a [u8], WireError> {
        let end = self.0.iter().position(|byte| *byte == 0);
        let text = self.take(end.ok_or(WireError::Truncated { packet })?, packet)?;
        self.take(1, packet)?;
        Ok(text)
    }

    fn columns(&mut self) -> Result<Vec<&'a [u8]>, WireError> {
        const PACKET: &str = "row description";
        let count = self.number::<2>(PACKET)?;
        let mut names = Vec::new();
        for _ in 0..count {
            names.push(self.text(PACKET)?);
            // Table, column, type, its size and modifier, format.
            self.take(18, PACKET)?;
        }
        Ok(names)
    }

    fn row(&mut self) -> Result<Vec<Option<&'a [u8]>>, WireError> {
        const PACKET: &str = "row";
        let count = self.number::<2>(PACKET)?;
        let mut values = Vec::new();
        for _ in 0..count {
            values.push(match self.number::<4>(PACKET)? {
                u32::MAX => None,
                length => Some(self.take(length as usize, PACKET)?),
            });
        }
        Ok(values)
    }

    fn refused(&mut self) -> Result<Refused<'a>, WireError> {
        const PACKET: &str = "error";
        let mut refused = Refused::default();
        loop {
            match self.number::<1>(PACKET)? {
                0 => return Ok(refused),
                67 => refused.code = self.text(PACKET)?,
                77 => refused.message = self.text(PACKET)?,
                _ => drop(self.text(PACKET)?),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn requests_are_laid_out_as_documented() {
        let mut out = Vec::new();
        append_startup(&mut out, "me", "mine");
        assert_eq!(
            &out[..],
            b"\0\0\0\x1f\0\x03\0\0user\0me\0database\0mine\0\0"
        );
        out.clear();
        append_query(&mut out, b"SELECT 1");
        append_terminate(&mut out);
        assert_eq!(&out[..], b"Q\0\0\0\x0dSELECT 1\0X\0\0\0\x04");
    }

    #[test]
    fn answers_are_read() {
        let parse = |tag, content: &'static [u8]| Message::parse(tag, content).unwrap();
        assert_eq!(parse(b'R', b"\0\0\0\0"), Message::LoggedIn);
        assert_eq!(parse(b'R', b"\0\0\0\x05salt"), Message::ProofRequired(5));
        let columns = b"\0\x01id\0\0\0\x40\0\0\x01\0\0\0\x17\0\x04\xff\xff\xff\xff\0\0";
        assert_eq!(parse(b'T', columns), Message::Columns(vec![b"id"]));
        let row = b"\0\x02\0\0\0\x015\xff\xff\xff\xff";
        assert_eq!(parse(b'D', row), Message::Row(vec![Some(b"5"), None]));
        assert_eq!(parse(b'C', b"UPDATE 3\0"), Message::Done(b"UPDATE 3"));
        let refused = Refused {
            code: b"42P01",
            message: b"no such table",
        };
        let error = b"SERROR\0VERROR\0C42P01\0Mno such table\0\0";
        assert_eq!(parse(b'E', error), Message::Refused(refused));
        assert_eq!(parse(b'Z', b"I"), Message::Ready);
        assert_eq!(parse(b'N', b"anything"), Message::Other);
        assert_eq!(read_header(*b"Z\0\0\0\x05"), Ok((b'Z', 1)));
        assert!(read_header(*b"Z\0\0\0\x03").is_err());
    }

    #[test]
    fn messages_that_end_too_early_are_errors() {
        for (tag, content) in [
            (b'R', &b"\0\0\0"[..]),
            (b'T', b"\0\x01id\0\0\0"),
            (b'D', b"\0\x01\0\0\0\x09short"),
            (b'C', b"UPDATE"),
            (b'E', b"C42P01\0"),
        ] {
            let error = Message::parse(tag, content).unwrap_err();
            assert!(matches!(error, WireError::Truncated { .. }), "{error}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic(tag: u8, content: Vec<u8>) {
            let _ = Message::parse(tag, &content);
        }
    }
}
