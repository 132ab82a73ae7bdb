//! Passwords under the server's RSA key, for channels that others may read.

use rsa::pkcs8::DecodePublicKey;
use rsa::rand_core::CryptoRng;
use rsa::{Oaep, RsaPublicKey};
use sha1::Sha1;

use super::clear_password;

/// Reason why a password can't be encrypted. Fits after "failed to …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PublicKeyError {
    /// The server sent something else than a public key.
    #[error("read the server's public key: {reason}")]
    Unreadable {
        /// Description of the problem.
        reason: String,
    },
    /// The key can't take this password.
    #[error("encrypt the password with the server's public key: {reason}")]
    Unusable {
        /// The cause.
        reason: String,
    },
}

/// The password, NUL-terminated, masked with `nonce` over and over, and encrypted (RSA, OAEP with
/// SHA-1) with the server's key, a `SubjectPublicKeyInfo` in PEM.
///
/// <https://dev.mysql.com/doc/dev/mysql-server/latest/page_caching_sha2_authentication_exchanges.html>
///
/// # Errors
/// When `key` is no such key, or the password is too long for it (more than 213 bytes for a key of
/// 2048 bits).
pub fn encrypted_password(
    password: &str,
    nonce: &[u8],
    key: &[u8],
    random: &mut impl CryptoRng,
) -> Result<Vec<u8>, PublicKeyError> {
    let unreadable = |reason: String| PublicKeyError::Unreadable { reason };
    let pem = std::str::from_utf8(key).map_err(|error| unreadable(error.to_string()))?;
    let key = RsaPublicKey::from_public_key_pem(pem.trim_end_matches('\0'))
        .map_err(|error| unreadable(error.to_string()))?;
    let mut masked = clear_password(password);
    for (byte, mask) in masked.iter_mut().zip(nonce.iter().cycle()) {
        *byte ^= mask;
    }
    key.encrypt(random, Oaep::<Sha1>::new(), &masked)
        .map_err(|error| PublicKeyError::Unusable {
            reason: error.to_string(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rsa::RsaPrivateKey;
    use rsa::pkcs8::{EncodePublicKey, LineEnding};
    use std::sync::LazyLock;

    /// Numbers without any secrecy.
    struct Counter(u64);

    impl rsa::rand_core::TryRng for Counter {
        type Error = std::convert::Infallible;

        fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
            self.try_next_u64().map(|number| (number >> 32) as u32)
        }

        fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            Ok((self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9))
        }

        fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
            for byte in bytes {
                *byte = self.try_next_u64()?.to_le_bytes()[7];
            }
            Ok(())
        }
    }

    impl rsa::rand_core::TryCryptoRng for Counter {}

    static KEY: LazyLock<RsaPrivateKey> =
        LazyLock::new(|| RsaPrivateKey::new(&mut Counter(1), 1024).unwrap());

    fn pem() -> String {
        KEY.to_public_key()
            .to_public_key_pem(LineEnding::LF)
            .unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        /// The owner of the private key and the nonce gets the password back.
        #[test]
        fn the_server_can_read_it(password in "[^\0]{0,20}", nonce: [u8; 20], seed: u64) {
            let mut random = Counter(seed);
            let bytes = encrypted_password(&password, &nonce, pem().as_bytes(), &mut random).unwrap();
            let mut clear = KEY.decrypt(Oaep::<Sha1>::new(), &bytes).unwrap();
            for (byte, mask) in clear.iter_mut().zip(nonce.iter().cycle()) {
                *byte ^= mask;
            }
            prop_assert_eq!(clear, clear_password(&password));
        }

        /// Arbitrary bytes for a key never panic.
        #[test]
        fn arbitrary_keys(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(encrypted_password("x", &[1; 20], &bytes, &mut Counter(0)).is_err());
        }
    }

    #[test]
    fn keys_that_are_none_and_passwords_that_are_too_long() {
        let encrypt = |password: &str, key: &str| {
            encrypted_password(password, &[1; 20], key.as_bytes(), &mut Counter(2))
        };
        for garbage in [
            "",
            "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n",
            &pem().replace('M', "A"),
        ] {
            let error = encrypt("secret", garbage).unwrap_err();
            assert!(
                matches!(error, PublicKeyError::Unreadable { .. }),
                "{error}"
            );
        }
        let longest = 1024 / 8 - 2 * 20 - 2 - 1;
        assert!(encrypt(&"x".repeat(longest), &pem()).is_ok());
        let error = encrypt(&"x".repeat(longest + 1), &pem()).unwrap_err();
        assert!(matches!(error, PublicKeyError::Unusable { .. }), "{error}");
    }
}
