//! The calibration in the cache: one file, of the host and program that were measured last.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use prony_model::{CalibratedHost, Calibration};
use serde::{Deserialize, Serialize};

use super::program::Program;

/// What the file holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Kept {
    /// What was measured.
    pub(super) program: Program,
    /// What came out.
    pub(super) calibration: Calibration,
}

/// Why a calibration can't be kept.
#[derive(Debug, thiserror::Error)]
#[error("keep the calibration in {path}: {source}; make room or set PRONY_CACHE to another folder")]
pub struct KeepError {
    /// The file.
    path: PathBuf,
    /// What the system said.
    source: io::Error,
}

/// What the file says, if it is of this program, version and host. A file that is not there, or that
/// another version wrote in another form, is as good as none.
pub(super) fn recall(
    path: &Path,
    program: &Program,
    version: &str,
    host: &CalibratedHost,
) -> Option<Calibration> {
    let text = fs::read(path).ok()?;
    let kept: Kept = serde_json::from_slice(&text).ok()?;
    let valid = kept.program == *program && kept.calibration.is_of(version, host);
    valid.then_some(kept.calibration)
}

/// Writes the file, whole or not at all.
pub(super) fn keep(path: &Path, kept: &Kept) -> Result<(), KeepError> {
    let written = || {
        let text = serde_json::to_vec(kept)?;
        // Another Prony may be writing, too.
        let aside = path.with_extension(format!("json.{}", std::process::id()));
        fs::write(&aside, text)?;
        fs::rename(&aside, path)
    };
    written().map_err(|source: io::Error| KeepError {
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the program that runs the tests.
    fn kept() -> Kept {
        let calibration = Calibration {
            prony_version: "1.2.3".into(),
            host: CalibratedHost {
                cpu_model: None,
                cpus: 2,
                kernel: Some("6.1.0".into()),
            },
            made_at_ms: 7,
            closed: Vec::new(),
            open: Vec::new(),
            looking: Vec::new(),
        };
        let program = Program::read(&std::env::current_exe().unwrap()).unwrap();
        Kept {
            program,
            calibration,
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
        assert_eq!(recalled.as_ref(), Some(&kept.calibration));
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
