//! A statement to prepare.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_stmt_prepare.html>
//!
//! ```text
//! int<1>       0x16
//! string<EOF>  the statement, with ? for parameters
//! ```

use crate::append_packet;

const COM_STMT_PREPARE: u8 = 0x16;

/// Appends the request, framed. Returns the sequence number with which the answer begins.
pub fn append_prepare(out: &mut Vec<u8>, sql: &[u8]) -> u8 {
    append_packet(out, 0, &[&[COM_STMT_PREPARE], sql].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout() {
        let mut out = Vec::new();
        assert_eq!(append_prepare(&mut out, b"DO ?"), 1);
        assert_eq!(out, b"\x05\0\0\0\x16DO ?");
    }
}
