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
pub(crate) struct FileLock {
    _file: File,
}

/// What came of waiting for a lock.
#[derive(Debug)]
pub(crate) enum Acquired {
    /// It is held.
    Held(FileLock),
    /// The user wished to stop while another process held it.
    Stopped,
}

/// Takes the lock; calls `on_wait` once if another process holds it.
pub(crate) fn acquire(
    path: &Path,
    stop: &StopFlag,
    on_wait: &mut dyn FnMut(),
) -> Result<Acquired, IoError> {
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .at("open", path)?;
    let mut told = false;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Acquired::Held(FileLock { _file: file })),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(error).at("lock", path),
        }
        if stop.requested() {
            return Ok(Acquired::Stopped);
        }
        if !told {
            on_wait();
            told = true;
        }
        thread::sleep(POLL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_lock_is_waited_for_and_said_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.lock");
        let stop = StopFlag::default();
        let first = acquire(&path, &stop, &mut || panic!("nobody holds it")).unwrap();
        assert!(matches!(first, Acquired::Held(_)));
        let mut told = 0;
        let asked = stop.clone();
        let second = acquire(&path, &stop, &mut || {
            told += 1;
            asked.request();
        });
        assert!(matches!(second.unwrap(), Acquired::Stopped));
        assert_eq!(told, 1);
        drop(first);
        let third = acquire(&path, &stop, &mut || panic!("it was released")).unwrap();
        assert!(matches!(third, Acquired::Held(_)));
    }
}
