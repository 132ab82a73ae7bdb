//! The identity of this program, down to its bytes.

use std::fs::File;
use std::io::{self, Read as _};

use sha2::{Digest as _, Sha256};

use crate::failure::Failure;

/// Hash of this program, in hexadecimal digits: what different programs measured is not merged, and they
/// don't work together.
pub(crate) fn own_build() -> Result<String, Failure> {
    let failed = |error: io::Error| Failure::host(format!("read this program: {error}"));
    let mut file = File::open("/proc/self/exe").map_err(failed)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        let read = file.read(&mut buffer).map_err(failed)?;
        if read == 0 {
            break;
        }
        hash.update(&buffer[..read]);
    }
    let digits = hash
        .finalize()
        .iter()
        .take(8)
        .fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    Ok(digits)
}
