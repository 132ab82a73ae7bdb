//! The refusal of a statement or a connection.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_err_packet.html>
//!
//! ```text
//! int<1>       0xff
//! int<2>       code
//! string[1]    '#'        (missing before the login, from some versions)
//! string[5]    SQL state
//! string<EOF>  message
//! ```

use crate::WireError;
use crate::cursor::Cursor;

/// State of errors without a state of their own.
const GENERAL_ERROR: &[u8] = b"HY000";

/// An ERR packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrPacket<'a> {
    /// The server's error code.
    pub code: u16,
    /// Five characters; `HY000` where the server gave none.
    pub sqlstate: &'a [u8],
    /// The message, in the connection's character set.
    pub message: &'a [u8],
}

impl<'a> ErrPacket<'a> {
    /// Reads an ERR packet.
    ///
    /// # Errors
    /// When the bytes are none.
    pub fn parse(payload: &'a [u8]) -> Result<Self, WireError> {
        let mut cursor = Cursor::new(payload, "error packet");
        let byte = cursor.u8()?;
        if byte != 0xff {
            return Err(cursor.unexpected(byte));
        }
        let code = cursor.u16()?;
        let rest = cursor.take_rest();
        let (sqlstate, message) = rest
            .strip_prefix(b"#")
            .and_then(|marked| marked.split_at_checked(5))
            .unwrap_or((GENERAL_ERROR, rest));
        Ok(Self {
            code,
            sqlstate,
            message,
        })
    }

    /// The SQL state as text, with replacement characters for what is not UTF-8.
    pub fn sqlstate_text(&self) -> String {
        String::from_utf8_lossy(self.sqlstate).into_owned()
    }

    /// The message as text, with replacement characters for what is not UTF-8.
    pub fn message_text(&self) -> String {
        String::from_utf8_lossy(self.message).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn with_and_without_state() {
        assert_eq!(
            ErrPacket::parse(b"\xff\xbd\x04#40001Deadlock found"),
            Ok(ErrPacket {
                code: 1213,
                sqlstate: b"40001",
                message: b"Deadlock found"
            })
        );
        assert_eq!(
            ErrPacket::parse(b"\xff\x10\x04Too many connections"),
            Ok(ErrPacket {
                code: 1040,
                sqlstate: b"HY000",
                message: b"Too many connections"
            })
        );
        assert!(ErrPacket::parse(b"\xff\x10").is_err());
        assert!(ErrPacket::parse(b"\x00\x10\x04").is_err());
    }

    proptest! {
        /// Arbitrary bytes never panic.
        #[test]
        fn never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = ErrPacket::parse(&bytes);
        }
    }
}
