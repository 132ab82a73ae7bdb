//! The protocol of PostgreSQL, version 3.0, which all servers since 7.4 speak: what runs for every
//! statement. Requests are laid out once and patched, answers are skimmed. Logging in, preparing and
//! control statements are the business of `client`, with messages of a library.
//!
//! <https://www.postgresql.org/docs/current/protocol-message-formats.html>
//!
//! ```text
//! byte    tag, which the first message of a client lacks
//! int<4>  length of what follows, and of itself; the most significant byte comes first
//! ...     content
//! ```

mod execute;
mod skimmer;

pub use execute::{PostgresExecute, PostgresParam, append_value, statement_name};
pub use skimmer::{PostgresSkimmer, Refused};

use crate::WireError;

/// Bytes before the content of a message.
pub const POSTGRES_HEADER_SIZE: usize = 5;

/// The longest message that servers make and take: 1 GiB less one byte (`PQ_LARGE_MESSAGE_LIMIT`).
pub const POSTGRES_MESSAGE_MAX: usize = (1 << 30) - 1;

/// Begins a message; the content follows. Returns what [`finish_message`] needs.
#[inline]
pub fn begin_message(out: &mut Vec<u8>, tag: u8) -> usize {
    out.push(tag);
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    start
}

/// Writes the length of a message that was begun.
#[inline]
pub fn finish_message(out: &mut [u8], start: usize) {
    // Requests are compiled against a limit of size.
    let length = u32::try_from(out.len() - start).unwrap_or(u32::MAX);
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
}

/// Appends the message that ends a connection.
pub fn append_terminate(out: &mut Vec<u8>) {
    out.extend_from_slice(&[b'X', 0, 0, 0, 4]);
}

/// Tag and length of the content of a message.
///
/// # Errors
/// If the length is shorter than itself, or greater than servers allow.
#[inline]
pub(crate) fn read_header(header: [u8; POSTGRES_HEADER_SIZE]) -> Result<(u8, usize), WireError> {
    let [tag, length @ ..] = header;
    let size = u32::from_be_bytes(length) as usize;
    if size > POSTGRES_MESSAGE_MAX {
        let max = POSTGRES_MESSAGE_MAX;
        return Err(WireError::Oversized { size, max });
    }
    let content = size.checked_sub(4);
    let packet = "message";
    Ok((tag, content.ok_or(WireError::Truncated { packet })?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_framed_as_documented() {
        let mut out = b"before".to_vec();
        let start = begin_message(&mut out, b'Q');
        out.extend_from_slice(b"SELECT 1\0");
        finish_message(&mut out, start);
        append_terminate(&mut out);
        assert_eq!(&out[6..], b"Q\0\0\0\x0dSELECT 1\0X\0\0\0\x04");
    }

    #[test]
    fn headers_are_read_and_checked() {
        assert_eq!(read_header(*b"Z\0\0\0\x05"), Ok((b'Z', 1)));
        assert!(matches!(
            read_header(*b"Z\0\0\0\x03"),
            Err(WireError::Truncated { .. })
        ));
        assert!(matches!(
            read_header(*b"D\x40\0\0\0"),
            Err(WireError::Oversized { .. })
        ));
    }
}
