//! The identity of the calibrated build of Prony: versions have many.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The difference between builds of Prony of the same version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Program {
    /// `debug` or `release`, which differ by a multiple.
    profile: String,
    /// Size of the executable, in bytes.
    bytes: u64,
    /// Time of its last change, in seconds since 1970, UTC.
    modified_s: i64,
    /// Nanoseconds on top.
    modified_ns: i64,
}

impl Program {
    /// That of an executable built with the profile of this one.
    pub(super) fn read(executable: &Path) -> io::Result<Self> {
        let facts = fs::metadata(executable)?;
        let profile = if cfg!(debug_assertions) {
            "debug"
        } else {
            "release"
        };
        Ok(Self {
            profile: profile.to_owned(),
            bytes: facts.size(),
            modified_s: facts.mtime(),
            modified_ns: facts.mtime_nsec(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn another_build_is_another_program() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("prony");
        fs::write(&path, "one").unwrap();
        let one = Program::read(&path).unwrap();
        assert_eq!(Program::read(&path).unwrap(), one);
        let at = |ns| SystemTime::UNIX_EPOCH + Duration::from_nanos(ns);
        let programs = ["one", "more"].map(|content| {
            fs::write(&path, content).unwrap();
            [5, 6].map(|ns| {
                let file = File::options().write(true).open(&path).unwrap();
                file.set_modified(at(ns)).unwrap();
                Program::read(&path).unwrap()
            })
        });
        let [[a, b], [c, d]] = programs;
        assert!(a != b && a != c && b != d && c != d);
        fs::remove_file(&path).unwrap();
        assert!(Program::read(&path).is_err());
    }
}
