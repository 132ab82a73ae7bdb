//! Locks between processes: one file each, held as long as the value lives.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::thread;
use std::time::Duration;

use prony_model::StopFlag;

use crate::io_error::{At, IoError};

const POLL: Duration = Duration::from_millis(100);

/// A lock that is held. The kernel releases it when the process ends, however it ends.
#[derive(Debug)]
pub struct FileLock {
    file: File,
}

impl FileLock {
    /// Takes the lock of an open file beside others that share it, without waiting; `None` where
    /// somebody holds it alone.
    pub fn try_shared(file: File) -> Option<Self> {
        file.try_lock_shared().ok()?;
        Some(Self { file })
    }

    /// Takes the lock of an open file for its holder alone, without waiting; `None` where somebody
    /// else holds it.
    pub fn try_alone(file: File) -> Option<Self> {
        file.try_lock().ok()?;
        Some(Self { file })
    }

    /// Takes the lock of the file at `path`, which is made if it is not there; calls `on_wait` once
    /// if another process holds it. `None` where the user wished to stop meanwhile.
    ///
    /// # Errors
    /// When the file can't be opened or locked.
    pub fn acquire(
        path: &Path,
        stop: &StopFlag,
        on_wait: &mut dyn FnMut(),
    ) -> Result<Option<Self>, IoError> {
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path)
            .at("open", path)?;
        let mut on_wait = Some(on_wait);
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Some(Self { file })),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(error).at("lock", path),
            }
            if stop.requested() {
                return Ok(None);
            }
            if let Some(announce) = on_wait.take() {
                announce();
            }
            thread::sleep(POLL);
        }
    }

    /// The file that is locked.
    pub fn file(&self) -> &File {
        &self.file
    }
}

impl Drop for FileLock {
    /// Closing alone would keep it for as long as a child that another thread has just forked has
    /// the same file open, which is until it executes its program.
    fn drop(&mut self) {
        // Nothing to be done about an error: closing follows, and releases it as well.
        let _ = self.file.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_for_a_held_lock_is_announced_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.lock");
        let stop = StopFlag::default();
        let first = FileLock::acquire(&path, &stop, &mut || panic!("nobody holds it")).unwrap();
        assert!(first.is_some());
        let mut calls = 0;
        let asked = stop.clone();
        let second = FileLock::acquire(&path, &stop, &mut || {
            calls += 1;
            asked.request();
        });
        assert!(second.unwrap().is_none());
        assert_eq!(calls, 1);
        drop(first);
        let third = FileLock::acquire(&path, &stop, &mut || panic!("it was released")).unwrap();
        assert!(third.is_some());
    }
}
