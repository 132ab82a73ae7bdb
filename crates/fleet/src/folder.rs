//! The folder of a run that all its hosts see.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::error::{At as _, FleetError};

/// The folder of a run that all its hosts see. It holds whole files only, and each has one writer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// The folder of a submitted run.
    ///
    /// # Errors
    /// When it holds no plan, or has no absolute path.
    pub fn open(path: &Path) -> Result<Self, FleetError> {
        let folder = Self {
            path: std::path::absolute(path).at("find", path)?,
        };
        if folder.plan().is_file() {
            Ok(folder)
        } else {
            Err(FleetError::NotARun {
                path: path.to_owned(),
            })
        }
    }

    /// Gives a folder that exists the folders of a run.
    ///
    /// # Errors
    /// When they can't be made.
    pub fn create(path: &Path) -> Result<Self, FleetError> {
        let path = std::path::absolute(path).at("find", path)?;
        let folder = Self { path };
        for made in [folder.parts(), folder.jobs()] {
            fs::create_dir_all(&made).at("make", &made)?;
        }
        Ok(folder)
    }

    /// Its absolute path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The result file without a trial, of which parts are copies. Never changes.
    pub fn plan(&self) -> PathBuf {
        self.path.join("plan.sqlite")
    }

    /// The result file that parts are merged into.
    pub fn result(&self) -> PathBuf {
        self.path.join("run.sqlite")
    }

    /// The folder of parts.
    pub fn parts(&self) -> PathBuf {
        self.path.join("parts")
    }

    /// The folder of what the engine was asked for, and of what its jobs said.
    pub fn jobs(&self) -> PathBuf {
        self.path.join("jobs")
    }

    /// The program that measures parts: that of the submission, whatever is installed later.
    pub fn program(&self) -> PathBuf {
        self.path.join("prony")
    }

    /// A file that says why no part can be measured: jobs that find it end at once.
    pub fn stop(&self) -> PathBuf {
        self.path.join("stop")
    }

    /// The delivered parts, in the order of their names.
    ///
    /// # Errors
    /// When the folder can't be read.
    pub fn part_files(&self) -> Result<Vec<PathBuf>, FleetError> {
        files(&self.parts(), "sqlite")
    }
}

/// The files of a folder with an extension, those that are being written left out, in the order of
/// their names.
pub(crate) fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, FleetError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).at("read", folder)? {
        let entry = entry.at("read", folder)?;
        let is_draft = entry.file_name().to_string_lossy().starts_with('.');
        let path = entry.path();
        if !is_draft && path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Writes a file as a whole or not at all.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), FleetError> {
    let draft = draft_of(path);
    let written = fs::File::create(&draft).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written
        .and_then(|()| fs::rename(&draft, path))
        .at("write", path)
}

/// The name of a file while it is being written. Readers leave it out, and one that a dead host left
/// behind means nothing.
pub(crate) fn draft_of(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}", std::process::id()))
}
