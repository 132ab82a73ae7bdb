//! The calibration in the cache: one file, of the host and version that were measured last.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use prony_model::{CalibratedHost, Calibration};

/// Why a calibration can't be kept.
#[derive(Debug, thiserror::Error)]
#[error("keep the calibration in {path}: {source}; make room or set PRONY_CACHE to another folder")]
pub struct KeepError {
    /// The file.
    path: PathBuf,
    /// What the system said.
    source: io::Error,
}

/// What the file says, if it is of this version and host. A file that is not there, or that another
/// version wrote in another form, is as good as none.
pub(super) fn recall(path: &Path, version: &str, host: &CalibratedHost) -> Option<Calibration> {
    let text = fs::read(path).ok()?;
    let calibration: Calibration = serde_json::from_slice(&text).ok()?;
    calibration.is_of(version, host).then_some(calibration)
}

/// Writes the file, whole or not at all.
pub(super) fn keep(path: &Path, calibration: &Calibration) -> Result<(), KeepError> {
    let written = || {
        let text = serde_json::to_vec(calibration)?;
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

    fn calibration() -> Calibration {
        Calibration {
            prony_version: "1.2.3".into(),
            host: CalibratedHost {
                cpu_model: None,
                cpus: 2,
                kernel: Some("6.1.0".into()),
            },
            made_at_ms: 7,
            closed: Vec::new(),
            open: Vec::new(),
        }
    }

    #[test]
    fn what_is_kept_is_recalled_for_its_version_and_host() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calibration.json");
        let calibration = calibration();
        let host = calibration.host.clone();
        assert_eq!(recall(&path, "1.2.3", &host), None);
        keep(&path, &calibration).unwrap();
        assert_eq!(recall(&path, "1.2.3", &host).as_ref(), Some(&calibration));
        assert_eq!(recall(&path, "1.2.4", &host), None);
        let other = CalibratedHost {
            cpus: 3,
            ..host.clone()
        };
        assert_eq!(recall(&path, "1.2.3", &other), None);
        fs::write(&path, "{}").unwrap();
        assert_eq!(recall(&path, "1.2.3", &host), None);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("none/calibration.json");
        let error = keep(&path, &calibration()).unwrap_err().to_string();
        assert!(error.contains(path.to_str().unwrap()), "{error}");
        assert!(error.contains("PRONY_CACHE"), "{error}");
    }
}
