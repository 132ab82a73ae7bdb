//! The end of column definitions and of rows.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_eof_packet.html>
//!
//! ```text
//! int<1>  0xfe
//! int<2>  warnings
//! int<2>  status
//! ```
//! A row may begin with 0xfe too, but then it has 9 bytes at least. MySQL 4.1 ends column
//! definitions with the first byte alone (seen with 4.1.13).

use crate::WireError;
use crate::response::STATUS_MORE_RESULTS;

/// Packets of this many bytes are rows even if they begin with 0xfe.
const ROW_SIZE_MIN: usize = 9;

/// Its name in error messages.
const PACKET: &str = "EOF packet";

/// An EOF packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Eof {
    /// Number of warnings.
    pub warnings: u16,
    /// Status flags.
    pub status: u16,
}

impl Eof {
    /// Returns `true` if a packet with this first byte and size, among rows, is an EOF packet.
    pub const fn is_eof(first: u8, size: usize) -> bool {
        first == 0xfe && size < ROW_SIZE_MIN
    }

    /// Reads an EOF packet.
    ///
    /// # Errors
    /// When the bytes are none.
    pub fn parse(payload: &[u8]) -> Result<Self, WireError> {
        match *payload {
            [0xfe, a, b, c, d] => Ok(Self {
                warnings: u16::from_le_bytes([a, b]),
                status: u16::from_le_bytes([c, d]),
            }),
            [0xfe] => Ok(Self {
                warnings: 0,
                status: 0,
            }),
            [] | [0xfe, _] | [0xfe, _, _] | [0xfe, _, _, _] => {
                Err(WireError::Truncated { packet: PACKET })
            }
            [0xfe, ..] => Err(WireError::Overlong { packet: PACKET }),
            [byte, ..] => Err(WireError::UnexpectedByte {
                packet: PACKET,
                byte,
            }),
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

    #[test]
    fn reads_five_bytes_or_one() {
        let bytes = [0xfe, 1, 0, 8, 0, 0];
        let eof = Eof::parse(&bytes[..5]).unwrap();
        assert_eq!((eof.warnings, eof.status), (1, 8));
        assert!(eof.more_results());
        assert!(Eof::parse(&bytes[..1]).is_ok_and(|eof| !eof.more_results()));
        for end in [0, 2, 3, 4, 6] {
            assert!(Eof::parse(&bytes[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn long_packets_are_rows() {
        assert!(Eof::is_eof(0xfe, 5));
        assert!(!Eof::is_eof(0xfe, 9));
        assert!(!Eof::is_eof(0x00, 5));
    }
}
