//! One writer at a time.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::StoreError;

/// Held as long as a program works on a run. The kernel releases it when the process dies, however
/// it dies; the file itself stays and means nothing.
#[derive(Debug)]
pub(crate) struct RunLock {
    file: File,
}

impl RunLock {
    /// Takes the lock beside `database` without waiting.
    ///
    /// # Errors
    /// When another process holds it or the file can't be created.
    pub(crate) fn take(database: &Path) -> Result<Self, StoreError> {
        let path = lock_path(database);
        let failed = |source: std::io::Error| StoreError::Lock {
            path: path.clone(),
            source,
        };
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&path)
            .map_err(failed)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => {
                let pid = owner(&mut file);
                return Err(StoreError::InUse { path, pid });
            }
            Err(errno) => return Err(failed(errno.into())),
        }
        write_owner(&mut file).map_err(failed)?;
        Ok(Self { file })
    }
}

impl Drop for RunLock {
    /// Closing alone would keep it for as long as a child that another thread has just forked has
    /// the same file open, which is until it executes its program.
    fn drop(&mut self) {
        // Nothing to be done about an error: closing follows, and releases it as well.
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}

fn lock_path(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(".lock");
    PathBuf::from(name)
}

fn owner(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

fn write_owner(file: &mut File) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}
