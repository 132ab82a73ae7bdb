//! The first packet of an answer to a statement, text or prepared.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_query_response.html>
//!
//! ```text
//! 0x00         OK: no rows
//! 0xff         ERR
//! 0xfb         the server wants rows to load: see [`LOCAL_ROWS`]
//! int<lenenc>  number of columns; definitions and rows follow
//! ```

use crate::cursor::Cursor;
use crate::{ErrPacket, OkPacket, WireError};

/// The first byte of the packet with which a server asks for the rows of `LOAD DATA LOCAL`; the
/// name of a file follows. The client sends them as packets numbered on, an empty one last, and the
/// server answers as to any statement.
///
/// <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_query_response_local_infile_request.html>
pub const LOCAL_ROWS: u8 = 0xfb;

/// Kind of answer that begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstPacket<'a> {
    /// It is complete, without rows.
    Ok(OkPacket),
    /// It is complete, an error.
    Err(ErrPacket<'a>),
    /// Column definitions, EOF, rows and EOF follow.
    Columns(u64),
}

impl<'a> FirstPacket<'a> {
    /// Reads the first packet of an answer.
    ///
    /// # Errors
    /// When it is none.
    pub fn parse(payload: &'a [u8]) -> Result<Self, WireError> {
        match payload {
            [0x00, ..] => OkPacket::parse(payload).map(Self::Ok),
            [0xff, ..] => ErrPacket::parse(payload).map(Self::Err),
            // Hardly ever are there more columns than this.
            [count @ ..=0xfa] => Ok(Self::Columns(u64::from(*count))),
            _ => {
                let mut cursor = Cursor::new(payload, "number of columns");
                let columns = cursor.lenenc()?;
                cursor.finish()?;
                Ok(Self::Columns(columns))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn kinds() {
        assert_eq!(FirstPacket::parse(&[3]), Ok(FirstPacket::Columns(3)));
        assert_eq!(
            FirstPacket::parse(&[0xfc, 0, 16]),
            Ok(FirstPacket::Columns(4096))
        );
        assert!(matches!(
            FirstPacket::parse(&[0, 1, 0, 2, 0, 0, 0]),
            Ok(FirstPacket::Ok(OkPacket { affected: 1, .. }))
        ));
        assert!(matches!(
            FirstPacket::parse(b"\xff\x10\x04x"),
            Ok(FirstPacket::Err(_))
        ));
        for bad in [&b""[..], &[3, 0], &[0xfb], b"\xfbfile.txt"] {
            assert!(FirstPacket::parse(bad).is_err(), "{bad:?}");
        }
    }

    proptest! {
        /// Arbitrary bytes never panic.
        #[test]
        fn never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = FirstPacket::parse(&bytes);
        }
    }
}
