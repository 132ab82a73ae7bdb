//! The calibration in the cache: one file, of the host and program that were measured last.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use prony_model::{Backend, CalibratedHost, Calibration, Family};
use serde::{Deserialize, Serialize};

use super::program::Program;
use crate::replace::replace;

/// The content of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CachedCalibration {
    /// The program that was measured.
    pub(super) program: Program,
    /// The result.
    pub(super) calibration: Calibration,
    /// Those that a step of a run has exceeded since.
    pub(super) struck: BTreeSet<Ceiling>,
}

/// A closed loop: by the family of its protocol, backend and number of clients.
pub(crate) type Ceiling = (Family, Backend, u32);

/// The reason why a calibration can't be kept.
#[derive(Debug, thiserror::Error)]
#[error(
    "store the calibration in {path}: {source}; free some space, or set PRONY_CACHE to another folder"
)]
pub struct KeepError {
    /// The file.
    path: PathBuf,
    /// The answer of the system.
    source: io::Error,
}

/// Reads the file, if it is of this program, version and host. A file that another version wrote in
/// another form counts as none.
pub(super) fn recall(
    path: &Path,
    program: &Program,
    version: &str,
    host: &CalibratedHost,
) -> Option<CachedCalibration> {
    let text = fs::read(path).ok()?;
    let kept: CachedCalibration = serde_json::from_slice(&text).ok()?;
    let valid = kept.program == *program && kept.calibration.is_of(version, host);
    valid.then_some(kept)
}

/// Writes the file, whole or not at all.
pub(super) fn keep(path: &Path, kept: &CachedCalibration) -> Result<(), KeepError> {
    let written = || replace(path, &serde_json::to_vec(kept)?);
    written().map_err(|source: io::Error| KeepError {
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use prony_testkit as testkit;

    use super::*;

    /// Of the program that runs the tests.
    fn kept() -> CachedCalibration {
        let calibration = testkit::calibration();
        let program = Program::read(&std::env::current_exe().unwrap()).unwrap();
        CachedCalibration {
            program,
            calibration,
            struck: [(Family::Mysql, Backend::Epoll, 8)].into(),
        }
    }

    #[test]
    fn what_is_kept_is_recalled_for_its_program_version_and_host() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calibration.json");
        let kept = kept();
        let (program, host) = (&kept.program, &kept.calibration.host);
        assert_eq!(recall(&path, program, "1.2.3", host), None);
        keep(&path, &kept).unwrap();
        let recalled = recall(&path, program, "1.2.3", host);
        assert_eq!(recalled.as_ref(), Some(&kept));
        assert_eq!(recall(&path, program, "1.2.4", host), None);
        let other = CalibratedHost {
            cpus: 3,
            ..host.clone()
        };
        assert_eq!(recall(&path, program, "1.2.3", &other), None);
        let another = Program::read(&path).unwrap();
        assert_eq!(recall(&path, &another, "1.2.3", host), None);
        fs::write(&path, "{}").unwrap();
        assert_eq!(recall(&path, program, "1.2.3", host), None);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("none/calibration.json");
        let error = keep(&path, &kept()).unwrap_err().to_string();
        assert!(error.contains(path.to_str().unwrap()), "{error}");
        assert!(error.contains("PRONY_CACHE"), "{error}");
    }
}
