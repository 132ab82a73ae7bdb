//! `MariaDB`'s `client_ed25519`: a signature of the server's nonce, with a key made of the password.
//!
//! <https://mariadb.com/kb/en/authentication-plugin-ed25519/>
//!
//! It is Ed25519 (RFC 8032, section 5.1.6), except that the password, of whatever length, stands
//! where RFC 8032 has 32 random bytes. The server knows the public key.

use curve25519_dalek::edwards::EdwardsPoint;
use curve25519_dalek::scalar::{Scalar, clamp_integer};
use sha2::{Digest, Sha512};

/// Bytes of a signature.
const SIZE: usize = 64;

/// Signs `nonce`.
pub(super) fn sign(password: &[u8], nonce: &[u8]) -> [u8; SIZE] {
    let (secret, prefix) = halves(Sha512::digest(password).into());
    let secret = Scalar::from_bytes_mod_order(clamp_integer(secret));
    let public = EdwardsPoint::mul_base(&secret).compress();
    let r = hash(&[&prefix, nonce]);
    let point = EdwardsPoint::mul_base(&r).compress();
    let k = hash(&[point.as_bytes(), public.as_bytes(), nonce]);
    let s = r + k * secret;
    let mut signature = [0; SIZE];
    signature[..SIZE / 2].copy_from_slice(point.as_bytes());
    signature[SIZE / 2..].copy_from_slice(s.as_bytes());
    signature
}

fn hash(parts: &[&[u8]]) -> Scalar {
    let digest = parts.iter().fold(Sha512::new(), Digest::chain_update);
    Scalar::from_bytes_mod_order_wide(&digest.finalize().into())
}

fn halves(bytes: [u8; 64]) -> ([u8; 32], [u8; 32]) {
    let mut halves = ([0; 32], [0; 32]);
    halves.0.copy_from_slice(&bytes[..32]);
    halves.1.copy_from_slice(&bytes[32..]);
    halves
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unhex(text: &str) -> Vec<u8> {
        (0..text.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
            .collect()
    }

    /// RFC 8032, section 7.1: where the password has the 32 bytes of a seed, it is Ed25519.
    #[test]
    fn vectors_of_the_standard() {
        for (seed, message, signature) in [
            (
                "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
                "",
                "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155\
                 5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
            ),
            (
                "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
                "af82",
                "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac\
                 18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
            ),
        ] {
            assert_eq!(
                sign(&unhex(seed), &unhex(message)).to_vec(),
                unhex(signature)
            );
        }
    }
}
