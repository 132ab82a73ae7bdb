//! The request to stop the server, for servers that can't be asked by a signal.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/8.0.31/page_protocol_com_shutdown.html>
//!
//! ```text
//! int<1>  0x08
//! int<1>  level: 0x00, the default
//! ```

use crate::append_packet;

const COM_SHUTDOWN: u8 = 0x08;
const LEVEL_DEFAULT: u8 = 0x00;

/// Appends the request, framed, and returns the sequence number of the answer, which is an EOF, OK
/// or ERR packet. Servers of 9.x do not know it.
pub fn append_shutdown(out: &mut Vec<u8>) -> u8 {
    append_packet(out, 0, &[COM_SHUTDOWN, LEVEL_DEFAULT])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout() {
        let mut out = Vec::new();
        assert_eq!(append_shutdown(&mut out), 1);
        assert_eq!(out, [2, 0, 0, 0, 8, 0]);
    }
}
