//! The end of a prepared statement.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_stmt_close.html>
//!
//! ```text
//! int<1>  0x19
//! int<4>  statement id
//! ```
//! The server does not answer.

use crate::append_packet;

const COM_STMT_CLOSE: u8 = 0x19;

/// Appends the request, framed.
pub fn append_close(out: &mut Vec<u8>, id: u32) {
    let [a, b, c, d] = id.to_le_bytes();
    append_packet(out, 0, &[COM_STMT_CLOSE, a, b, c, d]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout() {
        let mut bytes = Vec::new();
        append_close(&mut bytes, 0x0102);
        assert_eq!(bytes, b"\x05\0\0\0\x19\x02\x01\0\0");
    }
}
