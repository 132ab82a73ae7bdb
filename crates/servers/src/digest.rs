//! SHA-256, of texts and of files.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use prony_host::{At, IoError};
use sha2::{Digest, Sha256};

/// The hash of some bytes, as 64 lower-case hexadecimal digits.
pub(crate) fn hex_of(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Hash and size of a file.
pub(crate) fn of_file(path: &Path) -> Result<(String, u64), IoError> {
    let mut file = File::open(path).at("open", path)?;
    let mut hashing = Hashing::new(io::sink());
    let size = io::copy(&mut file, &mut hashing).at("read", path)?;
    Ok((hashing.finish(), size))
}

/// Writes through and hashes what it writes.
pub(crate) struct Hashing<W> {
    inner: W,
    state: Sha256,
}

impl<W: Write> Hashing<W> {
    pub(crate) fn new(inner: W) -> Self {
        Self {
            inner,
            state: Sha256::new(),
        }
    }

    /// The hash of everything written.
    pub(crate) fn finish(self) -> String {
        hex(&self.state.finalize())
    }
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.state.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Random bytes of the system as hexadecimal digits, two for each byte.
pub(crate) fn random_hex(count: usize) -> Result<String, IoError> {
    let mut bytes = vec![0; count];
    random_bytes(&mut bytes)?;
    Ok(hex(&bytes))
}

/// Fills `bytes` with random ones of the system.
pub(crate) fn random_bytes(bytes: &mut [u8]) -> Result<(), IoError> {
    let path = Path::new("/dev/urandom");
    File::open(path)
        .and_then(|mut file| file.read_exact(bytes))
        .at("read", path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_bytes_hash_alike() {
        // FIPS 180-4, example of the message "abc".
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "abc").unwrap();
        assert_eq!(hex_of(b"abc"), expected);
        assert_eq!(of_file(file.path()).unwrap(), (expected.to_owned(), 3));
    }

    #[test]
    fn random_texts_differ() {
        let one = random_hex(16).unwrap();
        assert_eq!(one.len(), 32);
        assert_ne!(one, random_hex(16).unwrap());
    }
}
