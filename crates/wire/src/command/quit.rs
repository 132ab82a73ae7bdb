//! The polite end of a connection. Without it servers log an aborted one.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_quit.html>
//!
//! ```text
//! int<1>  0x01
//! ```

use crate::append_packet;

const COM_QUIT: u8 = 0x01;

/// Appends the request, framed. The server closes the connection without an answer.
pub fn append_quit(out: &mut Vec<u8>) {
    append_packet(out, 0, &[COM_QUIT]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout() {
        let mut out = Vec::new();
        append_quit(&mut out);
        assert_eq!(out, [1, 0, 0, 0, 1]);
    }
}
