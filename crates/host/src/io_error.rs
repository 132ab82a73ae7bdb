//! Errors of the operating system with the place that they are about.

use std::io;
use std::path::{Path, PathBuf};

/// An error of the operating system and the path it is about.
#[derive(Debug, thiserror::Error)]
#[error("{action} {}: {source}{}", path.display(), remedy(source))]
pub struct IoError {
    /// The verb of the attempt, such as `create`.
    pub action: &'static str,
    /// Its file or folder.
    pub path: PathBuf,
    /// The answer of the operating system.
    pub source: io::Error,
}

/// The way out of an error, where users have one; a cache without room or without the right to
/// write is what they meet.
fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; make room there, or, if this is Prony's cache, set PRONY_CACHE to a folder on a \
             larger disk"
        }
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
            "; give this user access to it, or, if this is Prony's cache, set PRONY_CACHE to a \
             folder that you may write to"
        }
        _ => "",
    }
}

/// The outcome of a removal: one by another process, or before, is as good as this one.
///
/// # Errors
/// All but that there was nothing to remove.
pub fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Adds the place to an [`io::Result`].
pub trait At<T> {
    /// Names what was tried on which path.
    ///
    /// # Errors
    /// When this is one.
    fn at(self, action: &'static str, path: &Path) -> Result<T, IoError>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, action: &'static str, path: &Path) -> Result<T, IoError> {
        self.map_err(|source| IoError {
            action,
            path: path.to_owned(),
            source,
        })
    }
}

impl<T> At<T> for Result<T, rustix::io::Errno> {
    fn at(self, action: &'static str, path: &Path) -> Result<T, IoError> {
        self.map_err(io::Error::from).at(action, path)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rustix::io::Errno;

    use super::*;

    #[test]
    fn errors_name_place_reason_and_remedy() {
        let path = Path::new("/cache/builds");
        for (errno, reason, remedy) in [
            (Errno::NOSPC, "No space left on device", "a larger disk"),
            (Errno::DQUOT, "quota exceeded", "a larger disk"),
            (Errno::ROFS, "Read-only file system", "may write to"),
            (Errno::ACCESS, "Permission denied", "may write to"),
        ] {
            let error = Err::<(), _>(errno).at("create", path).unwrap_err();
            let message = error.to_string();
            assert!(message.starts_with("create /cache/builds: "), "{message}");
            assert!(message.contains(reason), "{message}");
            assert!(message.contains("set PRONY_CACHE to a folder"), "{message}");
            assert!(message.ends_with(remedy), "{message}");
        }
        let missing = Err::<(), _>(Errno::NOENT).at("open", path).unwrap_err();
        assert_eq!(
            missing.to_string(),
            "open /cache/builds: No such file or directory (os error 2)"
        );
    }

    #[test]
    fn a_full_disk_is_named() {
        let full = Path::new("/dev/full");
        let error = fs::write(full, "x").at("write", full).unwrap_err();
        let message = error.to_string();
        assert!(
            message.starts_with("write /dev/full: No space left"),
            "{message}"
        );
        assert!(message.contains("make room there"), "{message}");
    }
}
