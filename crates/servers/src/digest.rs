//! SHA-256 of texts and of files, and what else deals with plain bytes.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use prony_host::{At, IoError};
use sha2::{Digest, Sha256};

/// Bytes that are read at a time.
const CHUNK: usize = 256 * 1024;

/// The hash of some bytes, as 64 lower-case hexadecimal digits.
pub(crate) fn hex_of(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Hash and size of a file.
pub(crate) fn of_file(path: &Path) -> Result<(String, u64), IoError> {
    let mut file = File::open(path).at("open", path)?;
    let mut hasher = Sha256::new();
    let size = each_chunk(&mut file, |chunk| -> io::Result<()> {
        hasher.update(chunk);
        Ok(())
    });
    Ok((hex(&hasher.finalize()), size.at("read", path)?))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Hands the rest of a stream to `take`, chunk by chunk, and returns its size.
pub(crate) fn each_chunk<E: From<io::Error>>(
    stream: &mut dyn Read,
    mut take: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<u64, E> {
    let mut buffer = vec![0; CHUNK];
    let mut size = 0;
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(size),
            Ok(count) => {
                take(&buffer[..count])?;
                size += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// A random number of the system.
pub(crate) fn random() -> Result<u128, IoError> {
    let path = Path::new("/dev/urandom");
    let mut bytes = [0; 16];
    File::open(path)
        .and_then(|mut file| file.read_exact(&mut bytes))
        .at("read", path)?;
    Ok(u128::from_ne_bytes(bytes))
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
    fn random_numbers_differ() {
        assert_ne!(random().unwrap(), random().unwrap());
    }
}
