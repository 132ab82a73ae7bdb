//! The header of an SQLite file, read without SQLite: the size that the file must have.
//!
//! SQLite takes a file that lost its end for one of another kind or reads the missing rows as
//! damage, and does not notice at all where only a part of the last page is gone. The header is
//! described in <https://www.sqlite.org/fileformat2.html#the_database_header>.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::StoreError;

/// Marks an SQLite file as a result file of Prony: the letters `PRON`. Shown by file(1).
pub(crate) const APPLICATION_ID: i64 = 0x5052_4F4E;

/// The mark of files whose layouts were never released: the letters `PRNY`.
pub(crate) const UNRELEASED_ID: i64 = 0x5052_4E59;

/// The first bytes of every SQLite file.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// Bytes of the header.
const LENGTH: u64 = 100;

/// True where pages may still be in a log beside the file, so that its size says nothing.
pub(crate) fn has_log(path: &Path) -> bool {
    ["-wal", "-journal"].into_iter().any(|suffix| {
        let mut log = path.as_os_str().to_owned();
        log.push(suffix);
        fs::metadata(PathBuf::from(log)).is_ok_and(|log| log.len() > 0)
    })
}

/// Checks that the file is as long as its header says, where it has a header that could be that of
/// a result file. An empty file is none that was cut short: its run was never begun.
///
/// # Errors
/// When it is shorter.
pub(crate) fn check_length(path: &Path) -> Result<(), StoreError> {
    let Some((header, found)) = read(path) else {
        // Opening it will tell why.
        return Ok(());
    };
    let magic = MAGIC.len().min(header.len());
    if header.is_empty() || header[..magic] != MAGIC[..magic] || is_of_others(&header) {
        return Ok(());
    }
    let expected = size(&header);
    if expected.is_some_and(|expected| found >= expected) {
        return Ok(());
    }
    Err(StoreError::CutShort {
        path: path.into(),
        found,
        expected,
    })
}

/// The header, or as much of it as there is, and the size of the file.
fn read(path: &Path) -> Option<(Vec<u8>, u64)> {
    let file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    let mut header = Vec::new();
    file.take(LENGTH).read_to_end(&mut header).ok()?;
    Some((header, length))
}

/// True where the file says that another program made it.
fn is_of_others(header: &[u8]) -> bool {
    let id = number(header, 68).map(i64::from);
    id.is_some_and(|id| id != APPLICATION_ID && id != UNRELEASED_ID)
}

/// Size of the whole file in bytes; `None` where the header is not whole.
fn size(header: &[u8]) -> Option<u64> {
    if (header.len() as u64) < LENGTH {
        return None;
    }
    let page = match u64::from(number(header, 16)? >> 16) {
        // 64 KiB do not fit 16 bits.
        1 => 65_536,
        bytes => bytes,
    };
    Some(page * u64::from(number(header, 28)?))
}

/// Four bytes, the most significant first.
fn number(header: &[u8], at: usize) -> Option<u32> {
    let bytes = header.get(at..at + 4)?;
    bytes.try_into().ok().map(u32::from_be_bytes)
}
