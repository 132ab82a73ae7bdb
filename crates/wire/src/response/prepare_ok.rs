//! The answer to a statement that was prepared.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_stmt_prepare.html>
//!
//! ```text
//! int<1>  0x00
//! int<4>  statement id
//! int<2>  columns
//! int<2>  parameters
//! int<1>  0
//! int<2>  warnings   (missing before 5.0)
//! ```
//! Then the definitions of the parameters, if any, and EOF; those of the columns, if any, and EOF.

use crate::WireError;
use crate::cursor::Cursor;

/// A prepared statement, as the server knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PreparedStatement {
    /// Its number on this connection.
    pub id: u32,
    /// Columns of its result, 0 for none.
    pub columns: u16,
    /// Parameters that it wants.
    pub params: u16,
}

impl PreparedStatement {
    /// Reads the first packet of the answer, unless it is an ERR packet.
    ///
    /// # Errors
    /// When it is none.
    pub fn parse(payload: &[u8]) -> Result<Self, WireError> {
        let mut cursor = Cursor::new(payload, "answer to a prepare");
        match cursor.u8()? {
            0x00 => Ok(Self {
                id: cursor.u32()?,
                columns: cursor.u16()?,
                params: cursor.u16()?,
            }),
            byte => Err(cursor.unexpected(byte)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_and_new() {
        let expected = PreparedStatement {
            id: 5,
            columns: 1,
            params: 2,
        };
        for bytes in [
            &b"\0\x05\0\0\0\x01\0\x02\0"[..],
            b"\0\x05\0\0\0\x01\0\x02\0\0\0\0",
        ] {
            assert_eq!(PreparedStatement::parse(bytes), Ok(expected));
        }
        assert!(PreparedStatement::parse(b"\0\x05\0\0\0\x01\0\x02").is_err());
        assert!(PreparedStatement::parse(b"\xff\x05\0\0\0\x01\0\x02\0").is_err());
    }
}
