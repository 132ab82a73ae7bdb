//! A statement as text.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_query.html>
//!
//! ```text
//! int<1>       0x03
//! string<EOF>  the statement
//! ```

use crate::{append_packet, begin_packet};

const COM_QUERY: u8 = 0x03;

/// Appends the request, framed, in several frames where it is long. Returns the sequence number
/// with which the answer begins.
pub fn append_query(out: &mut Vec<u8>, sql: &[u8]) -> u8 {
    append_packet(out, 0, &[&[COM_QUERY], sql].concat())
}

/// Begins a request whose text the caller appends; [`finish_packet`](crate::finish_packet) with
/// sequence number 0 ends it. Returns where the packet starts.
pub fn begin_query(out: &mut Vec<u8>) -> usize {
    let start = begin_packet(out);
    out.push(COM_QUERY);
    start
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finish_packet;

    #[test]
    fn appended_and_built_are_alike() {
        let mut appended = Vec::new();
        assert_eq!(append_query(&mut appended, b"SELECT 1"), 1);
        assert_eq!(appended, b"\x09\0\0\0\x03SELECT 1");
        let mut built = Vec::new();
        let start = begin_query(&mut built);
        built.extend_from_slice(b"SELECT 1");
        finish_packet(&mut built, start, 0);
        assert_eq!(built, appended);
    }
}
