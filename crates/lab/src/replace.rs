//! Files of the cache that are replaced as a whole.

use std::path::Path;
use std::{fs, io};

/// Writes a file, whole or not at all: another Prony may be writing or reading it.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let aside = path.with_extension(format!("json.{}", std::process::id()));
    fs::write(&aside, bytes)?;
    fs::rename(&aside, path)
}
