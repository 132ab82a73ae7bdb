//! Proofs of a password, without the password.

use sha1::Sha1;
use sha2::{Digest, Sha256};

/// The ways to authenticate that Prony knows. Every server it measures has one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthPlugin {
    /// SHA-1 based; every version from 4.1 to 8.4, and MariaDB.
    NativePassword,
    /// SHA-256 based; the default from 8.0 on, and the only one of the two in 9.x.
    CachingSha2Password,
}

impl AuthPlugin {
    /// The plugin with this name in the protocol.
    pub fn from_name(name: &[u8]) -> Option<Self> {
        match name {
            b"mysql_native_password" => Some(Self::NativePassword),
            b"caching_sha2_password" => Some(Self::CachingSha2Password),
            _ => None,
        }
    }

    /// Its name in the protocol.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NativePassword => "mysql_native_password",
            Self::CachingSha2Password => "caching_sha2_password",
        }
    }

    /// The answer to the server's `nonce` (20 random bytes).
    pub fn answer(self, password: &str, nonce: &[u8]) -> Vec<u8> {
        match (self, password.is_empty()) {
            (Self::NativePassword, true) => Vec::new(),
            (Self::NativePassword, false) => native(password.as_bytes(), nonce).to_vec(),
            // The server takes a lone NUL for "no password".
            (Self::CachingSha2Password, true) => vec![0],
            (Self::CachingSha2Password, false) => caching_sha2(password.as_bytes(), nonce).to_vec(),
        }
    }
}

/// `SHA1(password) XOR SHA1(nonce + SHA1(SHA1(password)))`.
///
/// <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase_authentication_methods_native_password_authentication.html>
fn native(password: &[u8], nonce: &[u8]) -> [u8; 20] {
    let once = Sha1::digest(password);
    let twice = Sha1::digest(once);
    let mask: [u8; 20] = Sha1::new()
        .chain_update(nonce)
        .chain_update(twice)
        .finalize()
        .into();
    xor(once.into(), mask)
}

/// `SHA256(password) XOR SHA256(SHA256(SHA256(password)) + nonce)`.
///
/// <https://dev.mysql.com/doc/dev/mysql-server/latest/page_caching_sha2_authentication_exchanges.html>
fn caching_sha2(password: &[u8], nonce: &[u8]) -> [u8; 32] {
    let once = Sha256::digest(password);
    let twice = Sha256::digest(once);
    let mask: [u8; 32] = Sha256::new()
        .chain_update(twice)
        .chain_update(nonce)
        .finalize()
        .into();
    xor(once.into(), mask)
}

/// What `caching_sha2_password` asks for when the server has not cached the account: the password
/// itself, NUL-terminated. Only to be sent over a channel that nobody can read, such as a unix
/// socket.
pub fn clear_password(password: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(password.len() + 1);
    bytes.extend_from_slice(password.as_bytes());
    bytes.push(0);
    bytes
}

fn xor<const N: usize>(mut value: [u8; N], mask: [u8; N]) -> [u8; N] {
    for (byte, mask) in value.iter_mut().zip(mask) {
        *byte ^= mask;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the server does: it stores `SHA1(SHA1(password))`, undoes the mask and hashes once.
    #[test]
    fn the_server_can_check_native() {
        let nonce = [7; 20];
        let answer = native(b"secret", &nonce);
        let stored = Sha1::digest(Sha1::digest(b"secret"));
        let mask: [u8; 20] = Sha1::new()
            .chain_update(nonce)
            .chain_update(stored)
            .finalize()
            .into();
        assert_eq!(Sha1::digest(xor(answer, mask)), stored);
    }

    /// Vectors computed independently from the formulas of the documentation.
    #[test]
    fn known_answers() {
        let nonce: Vec<u8> = (1..=20).collect();
        let hex = |bytes: &[u8]| {
            bytes
                .iter()
                .fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
        };
        assert_eq!(
            hex(&AuthPlugin::NativePassword.answer("secret", &nonce)),
            "b32bb3a583e1340c0a1108d58b1be49781ad8c2f"
        );
        assert_eq!(
            hex(&AuthPlugin::CachingSha2Password.answer("secret", &nonce)),
            "746ebe205d56a0707acb3e796e834e0dd7b1d61743b26bd5202c7a623230c7c9"
        );
    }

    #[test]
    fn empty_passwords() {
        assert_eq!(AuthPlugin::NativePassword.answer("", &[1; 20]), b"");
        assert_eq!(AuthPlugin::CachingSha2Password.answer("", &[1; 20]), b"\0");
        assert_eq!(clear_password("abc"), b"abc\0");
    }

    #[test]
    fn names_round_trip() {
        for plugin in [AuthPlugin::NativePassword, AuthPlugin::CachingSha2Password] {
            assert_eq!(
                AuthPlugin::from_name(plugin.name().as_bytes()),
                Some(plugin)
            );
        }
        assert_eq!(AuthPlugin::from_name(b"client_ed25519"), None);
    }
}
