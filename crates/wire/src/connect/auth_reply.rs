//! Answers of the server after the login or after more proof.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase_packets_protocol_auth_switch_request.html>
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase_packets_protocol_auth_more_data.html>
//!
//! ```text
//! int<1>       0xfe                 |  int<1>       0x01
//! string<NUL>  plugin               |  string<EOF>  data
//! string<EOF>  nonce
//! ```
//! A lone 0xfe asks for the password hash of MySQL 4.0 and older.

use crate::connect::greeting::NONCE_SIZE;
use crate::cursor::Cursor;
use crate::{ErrPacket, WireError};

/// A step of the authentication.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthReply<'a> {
    /// The connection is open.
    Accepted,
    /// The connection is refused.
    Refused(ErrPacket<'a>),
    /// Prove again in another way.
    Switch {
        /// The plugin's name.
        plugin: &'a [u8],
        /// New random bytes.
        nonce: &'a [u8],
    },
    /// Prove with a password hash of MySQL 4.0, which is no proof.
    OldPassword,
    /// `caching_sha2_password`: the proof is right and cached; acceptance follows.
    FastAuthSucceeded,
    /// `caching_sha2_password`: the account is not cached; the password itself is wanted.
    FullAuthNeeded,
    /// The requested data: the server's public key.
    Data(&'a [u8]),
}

impl<'a> AuthReply<'a> {
    /// Reads a packet of the authentication.
    ///
    /// # Errors
    /// When it is none of them.
    pub fn parse(payload: &'a [u8]) -> Result<Self, WireError> {
        let mut cursor = Cursor::new(payload, "answer to the login");
        match cursor.u8()? {
            0x00 => Ok(Self::Accepted),
            0xff => ErrPacket::parse(payload).map(Self::Refused),
            0xfe if cursor.is_empty() => Ok(Self::OldPassword),
            0xfe => {
                let plugin = cursor.nul_terminated()?;
                let nonce = cursor.take_rest();
                Ok(Self::Switch {
                    plugin,
                    nonce: without_nul(nonce),
                })
            }
            0x01 => match cursor.take_rest() {
                [3] => Ok(Self::FastAuthSucceeded),
                [4] => Ok(Self::FullAuthNeeded),
                [] => Err(cursor.unexpected(0x01)),
                [byte] => Err(cursor.unexpected(*byte)),
                data => Ok(Self::Data(data)),
            },
            byte => Err(cursor.unexpected(byte)),
        }
    }
}

/// A nonce of 20 bytes comes with a NUL, one of 32 without; its own last byte may be 0.
fn without_nul(nonce: &[u8]) -> &[u8] {
    match nonce {
        [nonce @ .., 0] if nonce.len() == NONCE_SIZE => nonce,
        nonce => nonce,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn kinds() {
        assert_eq!(
            AuthReply::parse(&[0, 0, 0, 2, 0, 0, 0]),
            Ok(AuthReply::Accepted)
        );
        assert_eq!(AuthReply::parse(&[0xfe]), Ok(AuthReply::OldPassword));
        assert_eq!(
            AuthReply::parse(b"\xfemysql_native_password\0abcdefghijklmnopqrst\0"),
            Ok(AuthReply::Switch {
                plugin: b"mysql_native_password",
                nonce: b"abcdefghijklmnopqrst"
            })
        );
        assert_eq!(AuthReply::parse(&[1, 3]), Ok(AuthReply::FastAuthSucceeded));
        assert_eq!(AuthReply::parse(&[1, 4]), Ok(AuthReply::FullAuthNeeded));
        assert_eq!(
            AuthReply::parse(b"\x01-----BEGIN"),
            Ok(AuthReply::Data(b"-----BEGIN"))
        );
        assert!(matches!(
            AuthReply::parse(b"\xff\x15\x04#28000Access denied"),
            Ok(AuthReply::Refused(ErrPacket { code: 1045, .. }))
        ));
        for bad in [&b""[..], b"\x01", b"\x01\x05", b"\x02", b"\xfeabc"] {
            assert!(AuthReply::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn long_nonces_keep_their_zeros() {
        let mut packet = b"\xfeclient_ed25519\0".to_vec();
        packet.extend_from_slice(&[0; 32]);
        let Ok(AuthReply::Switch { nonce, .. }) = AuthReply::parse(&packet) else {
            panic!("a request to switch");
        };
        assert_eq!(nonce, [0; 32]);
    }

    proptest! {
        /// Arbitrary bytes never panic.
        #[test]
        fn never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = AuthReply::parse(&bytes);
        }
    }
}
