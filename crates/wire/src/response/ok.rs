//! The answer to a statement without rows.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_ok_packet.html>
//!
//! ```text
//! int<1>       0x00
//! int<lenenc>  affected rows
//! int<lenenc>  last insert id
//! int<2>       status
//! int<2>       warnings
//! string<EOF>  a message for people
//! ```

use crate::WireError;
use crate::cursor::Cursor;
use crate::response::STATUS_MORE_RESULTS;

/// An OK packet, without its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OkPacket {
    /// Rows changed; matched rows that already had the values do not count.
    pub affected: u64,
    /// The first automatic id of the statement, 0 when there is none.
    pub last_insert_id: u64,
    /// Status flags.
    pub status: u16,
    /// Number of warnings.
    pub warnings: u16,
}

impl OkPacket {
    /// Reads an OK packet.
    ///
    /// # Errors
    /// When the bytes are none.
    pub fn parse(payload: &[u8]) -> Result<Self, WireError> {
        let mut cursor = Cursor::new(payload, "OK packet");
        match cursor.u8()? {
            0x00 => Ok(Self {
                affected: cursor.lenenc()?,
                last_insert_id: cursor.lenenc()?,
                status: cursor.u16()?,
                warnings: cursor.u16()?,
            }),
            byte => Err(cursor.unexpected(byte)),
        }
    }

    /// Returns `true` if another result follows.
    pub const fn more_results(&self) -> bool {
        self.status & STATUS_MORE_RESULTS != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_counts_of_all_sizes() {
        let bytes = b"\x00\xfc\xe8\x03\xfd\x01\x00\x01\x0a\x00\x02\x00Rows matched: 1";
        assert_eq!(
            OkPacket::parse(bytes),
            Ok(OkPacket {
                affected: 1000,
                last_insert_id: 65537,
                status: 10,
                warnings: 2
            })
        );
        assert!(OkPacket::parse(bytes).is_ok_and(|ok| ok.more_results()));
        for end in 0..12 {
            assert!(OkPacket::parse(&bytes[..end]).is_err(), "{end}");
        }
    }

    proptest! {
        /// Arbitrary bytes never panic.
        #[test]
        fn never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = OkPacket::parse(&bytes);
        }
    }
}
