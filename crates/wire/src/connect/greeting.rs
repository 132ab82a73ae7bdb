//! The server's first packet.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase_packets_protocol_handshake_v10.html>
//!
//! ```text
//! int<1>       10
//! string<NUL>  server version
//! int<4>       connection id
//! string[8]    nonce, first part
//! int<1>       0
//! int<2>       capabilities, lower half
//! int<1>       character set
//! int<2>       status
//! int<2>       capabilities, upper half   (zeros before 5.5, like the next two)
//! int<1>       length of the nonce with its NUL
//! string[10]   0
//! string[13]   nonce, second part, NUL-terminated
//! string<NUL>  authentication plugin      (with PLUGIN_AUTH; NUL missing in 5.5.7 to 5.5.9)
//! ```

use crate::cursor::Cursor;
use crate::{Capabilities, WireError};

/// Bytes of randomness that most ways to authenticate use.
pub(crate) const NONCE_SIZE: usize = 20;
/// Number of bytes that come first.
const NONCE_FIRST: usize = 8;

/// Facts that the server reports about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Greeting<'a> {
    /// As `SELECT VERSION()` says it, except that MariaDB may prefix `5.5.5-`.
    pub server_version: &'a [u8],
    /// The connection's number, as `SHOW PROCESSLIST` shows it.
    pub connection_id: u32,
    /// Capabilities of the server.
    pub capabilities: Capabilities,
    /// Random bytes for the proof of the password.
    pub nonce: Vec<u8>,
    /// The server's first choice of authentication; empty before 5.5.7.
    pub auth_plugin: &'a [u8],
}

impl<'a> Greeting<'a> {
    /// Reads the first packet of a connection, unless it is an ERR packet.
    ///
    /// # Errors
    /// When it is not a greeting of protocol 10 with the capabilities of MySQL 4.1.
    pub fn parse(payload: &'a [u8]) -> Result<Self, WireError> {
        let mut cursor = Cursor::new(payload, "greeting");
        let version = cursor.u8()?;
        if version != 10 {
            return Err(WireError::ProtocolVersion { version });
        }
        let server_version = cursor.nul_terminated()?;
        let connection_id = cursor.u32()?;
        let mut nonce = cursor.take(NONCE_FIRST)?.to_vec();
        cursor.u8()?;
        let lower = cursor.u16()?;
        if cursor.is_empty() {
            return Err(WireError::ServerTooOld);
        }
        cursor.u8()?;
        cursor.u16()?;
        let upper = cursor.u16()?;
        let capabilities = Capabilities(u32::from(lower) | u32::from(upper) << 16);
        if !capabilities.contains(Capabilities::REQUIRED) {
            return Err(WireError::ServerTooOld);
        }
        let nonce_size = usize::from(cursor.u8()?);
        cursor.take(10)?;
        let second = cursor.take(nonce_size.saturating_sub(NONCE_FIRST).max(13))?;
        nonce.extend_from_slice(&second[..NONCE_SIZE - NONCE_FIRST]);
        let plugin = cursor.take_rest();
        Ok(Self {
            server_version,
            connection_id,
            capabilities,
            nonce,
            auth_plugin: plugin.strip_suffix(&[0]).unwrap_or(plugin),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn greeting(version: &str, capabilities: u32, plugin: &[u8]) -> Vec<u8> {
        let [a, b, c, d] = capabilities.to_le_bytes();
        let mut bytes = vec![10];
        bytes.extend_from_slice(version.as_bytes());
        bytes.extend_from_slice(&[0, 42, 1, 0, 0]);
        bytes.extend_from_slice(b"abcdefgh\0");
        bytes.extend_from_slice(&[a, b, 8, 2, 0, c, d]);
        bytes.push(if plugin.is_empty() { 0 } else { 21 });
        bytes.extend_from_slice(&[0; 10]);
        bytes.extend_from_slice(b"ijklmnopqrst\0");
        bytes.extend_from_slice(plugin);
        bytes
    }

    #[test]
    fn old_and_new() {
        for (version, plugin, expected) in [
            ("4.1.13-standard-log", &b""[..], &b""[..]),
            (
                "5.5.9-log",
                b"mysql_native_password",
                b"mysql_native_password",
            ),
            (
                "8.0.31",
                b"caching_sha2_password\0",
                b"caching_sha2_password",
            ),
        ] {
            let bytes = greeting(version, 0x008f_f7ff, plugin);
            let parsed = Greeting::parse(&bytes).expect(version);
            assert_eq!(parsed.server_version, version.as_bytes());
            assert_eq!(parsed.connection_id, 0x12a);
            assert_eq!(parsed.capabilities, Capabilities(0x008f_f7ff));
            assert_eq!(parsed.nonce, b"abcdefghijklmnopqrst");
            assert_eq!(parsed.auth_plugin, expected);
        }
    }

    #[test]
    fn servers_that_are_too_old() {
        assert_eq!(
            Greeting::parse(b"\x09three\0"),
            Err(WireError::ProtocolVersion { version: 9 })
        );
        let without_41 = greeting("4.0.30", 0x002c, b"");
        assert_eq!(Greeting::parse(&without_41), Err(WireError::ServerTooOld));
        assert_eq!(
            Greeting::parse(b"\x0a3.23.58\0\x01\0\0\0abcdefgh\0\x2c\0"),
            Err(WireError::ServerTooOld)
        );
    }

    proptest! {
        /// Arbitrary bytes and prefixes of a greeting never panic.
        #[test]
        fn never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..100), end in 0..80_usize) {
            let _ = Greeting::parse(&bytes);
            let whole = greeting("8.0.31", u32::MAX, b"caching_sha2_password\0");
            let _ = Greeting::parse(&whole[..end.min(whole.len())]);
            let mut version_10 = bytes;
            version_10.insert(0, 10);
            let _ = Greeting::parse(&version_10);
        }
    }
}
