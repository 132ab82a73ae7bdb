//! Proofs of a password, where possible without the password.

mod ed25519;
mod public_key;

pub use public_key::{PublicKeyError, encrypted_password};
use sha1::Sha1;
use sha2::{Digest, Sha256};

/// The ways to authenticate that Prony knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthPlugin {
    /// SHA-1 based; every version from 4.1 to 8.4, and MariaDB.
    NativePassword,
    /// SHA-256 based; the default from 8.0 on, and the only one of the two in 9.x.
    CachingSha2Password,
    /// The password itself, encrypted by the channel or for the server; 5.6 to 9.x.
    Sha256Password,
    /// A signature; `MariaDB` from 10.1 on.
    Ed25519,
    /// The password itself.
    ClearPassword,
}

/// Parties that can read the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    /// Anyone on the way: TCP without encryption.
    Open,
    /// Nobody else: a unix socket.
    Local,
    /// Nobody else: TLS over anything.
    Encrypted,
}

impl Channel {
    /// Returns `true` if no third party can read it.
    pub const fn is_private(self) -> bool {
        !matches!(self, Self::Open)
    }
}

/// Request for the server's public key, in place of a proof: a byte of its own for each plugin.
const SHA256_KEY_REQUEST: u8 = 1;
/// The same, after `caching_sha2_password` wanted more than the proof.
pub const CACHING_SHA2_KEY_REQUEST: u8 = 2;

impl AuthPlugin {
    /// The plugin with this name in the protocol.
    pub fn from_name(name: &[u8]) -> Option<Self> {
        match name {
            b"mysql_native_password" => Some(Self::NativePassword),
            b"caching_sha2_password" => Some(Self::CachingSha2Password),
            b"sha256_password" => Some(Self::Sha256Password),
            b"client_ed25519" => Some(Self::Ed25519),
            b"mysql_clear_password" => Some(Self::ClearPassword),
            _ => None,
        }
    }

    /// Its name in the protocol.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NativePassword => "mysql_native_password",
            Self::CachingSha2Password => "caching_sha2_password",
            Self::Sha256Password => "sha256_password",
            Self::Ed25519 => "client_ed25519",
            Self::ClearPassword => "mysql_clear_password",
        }
    }

    /// The answer to the server's `nonce` (20 random bytes; 32 for [`Self::Ed25519`]). `None` for
    /// [`Self::ClearPassword`] on a channel that others can read: it has nothing to say there.
    pub fn answer(self, password: &str, nonce: &[u8], channel: Channel) -> Option<Vec<u8>> {
        let bytes = password.as_bytes();
        Some(match self {
            Self::NativePassword if password.is_empty() => Vec::new(),
            Self::NativePassword => native(bytes, nonce).to_vec(),
            // The server takes a lone NUL for "no password".
            Self::CachingSha2Password | Self::Sha256Password if password.is_empty() => vec![0],
            Self::CachingSha2Password => caching_sha2(bytes, nonce).to_vec(),
            // Servers take nothing else than TLS for private here, not even their own socket.
            Self::Sha256Password if channel != Channel::Encrypted => vec![SHA256_KEY_REQUEST],
            Self::Ed25519 => ed25519::sign(bytes, nonce).to_vec(),
            Self::ClearPassword if !channel.is_private() => return None,
            Self::Sha256Password | Self::ClearPassword => clear_password(password),
        })
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
/// itself, NUL-terminated. Only to be sent over a channel that is private.
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

    /// The server's check: it stores `SHA1(SHA1(password))`, undoes the mask and hashes once.
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
            hex(&AuthPlugin::NativePassword
                .answer("secret", &nonce, Channel::Open)
                .unwrap()),
            "b32bb3a583e1340c0a1108d58b1be49781ad8c2f"
        );
        assert_eq!(
            hex(&AuthPlugin::CachingSha2Password
                .answer("secret", &nonce, Channel::Open)
                .unwrap()),
            "746ebe205d56a0707acb3e796e834e0dd7b1d61743b26bd5202c7a623230c7c9"
        );
    }

    #[test]
    fn empty_passwords() {
        let empty = |plugin: AuthPlugin| plugin.answer("", &[1; 20], Channel::Open);
        assert_eq!(empty(AuthPlugin::NativePassword).unwrap(), b"");
        assert_eq!(empty(AuthPlugin::CachingSha2Password).unwrap(), b"\0");
        assert_eq!(empty(AuthPlugin::Sha256Password).unwrap(), b"\0");
        assert_eq!(clear_password("abc"), b"abc\0");
    }

    #[test]
    fn the_password_itself_stays_private() {
        let nonce = [1; 20];
        for (channel, sha256, clear) in [
            (Channel::Open, &b"\x01"[..], None),
            (Channel::Local, b"\x01", Some(&b"abc\0"[..])),
            (Channel::Encrypted, b"abc\0", Some(b"abc\0")),
        ] {
            let answer = |plugin: AuthPlugin| plugin.answer("abc", &nonce, channel);
            assert_eq!(answer(AuthPlugin::Sha256Password).unwrap(), sha256);
            assert_eq!(answer(AuthPlugin::ClearPassword).as_deref(), clear);
        }
    }

    #[test]
    fn names_round_trip() {
        for plugin in [
            AuthPlugin::NativePassword,
            AuthPlugin::CachingSha2Password,
            AuthPlugin::Sha256Password,
            AuthPlugin::Ed25519,
            AuthPlugin::ClearPassword,
        ] {
            assert_eq!(
                AuthPlugin::from_name(plugin.name().as_bytes()),
                Some(plugin)
            );
        }
        assert_eq!(AuthPlugin::from_name(b"mysql_old_password"), None);
    }
}
