//! Libraries that a server loads before all others, as an experiment names them.

use std::env::consts::ARCH;
use std::path::{Path, PathBuf};

use prony_host::{At, IoError};
use prony_model::PreloadedLibrary;

use super::{Instance, ServerFailure, allocator};
use crate::build::elf::Elf;
use crate::digest;

/// A library that no server can preload.
#[derive(Debug, thiserror::Error)]
pub enum PreloadError {
    /// The file can't be read.
    #[error(transparent)]
    Io(#[from] IoError),
    /// The file is of another kind.
    #[error("preload {}: it is not a library for {ARCH}; name a shared library of this machine", .0.display())]
    Kind(PathBuf),
    /// The file is not the planned one.
    #[error(
        "preload {}: its sha256 is {found} and that of the plan {planned}; put the planned file \
         there, or start a new run",
        file.display()
    )]
    Changed {
        /// Its path.
        file: PathBuf,
        /// The digest in the plan.
        planned: String,
        /// The digest of the file.
        found: String,
    },
}

/// The SHA-256 of a library, in hexadecimal digits.
///
/// # Errors
/// If the file can't be read or is not a library for this kind of processor.
pub fn library_digest(file: &Path) -> Result<String, PreloadError> {
    let elf = Elf::read(file).at("read", file)?;
    if !elf.is_some_and(|elf| elf.runs_on(ARCH)) {
        return Err(PreloadError::Kind(file.to_owned()));
    }
    Ok(digest::of_file(file)?.0)
}

/// Checks that the files of planned libraries are the planned ones.
///
/// # Errors
/// If a file is missing or has another digest.
pub fn check_libraries(libraries: &[PreloadedLibrary]) -> Result<(), PreloadError> {
    find(libraries).map(drop)
}

/// The files of planned libraries, without links in their paths.
pub(super) fn find(libraries: &[PreloadedLibrary]) -> Result<Vec<PathBuf>, PreloadError> {
    let find = |library: &PreloadedLibrary| {
        let PreloadedLibrary { file, sha256 } = library;
        let found = library_digest(file)?;
        if found != *sha256 {
            return Err(PreloadError::Changed {
                file: file.clone(),
                planned: sha256.clone(),
                found,
            });
        }
        Ok(file.canonicalize().at("find", file)?)
    };
    libraries.iter().map(find).collect()
}

/// Makes sure that a server has loaded its libraries: the loader continues without one that it
/// can't load, and a static program has no loader.
pub(super) fn check_running(instance: &Instance, pid: u32) -> Result<(), ServerFailure> {
    let Some(first) = instance.preload.first() else {
        return Ok(());
    };
    let missing = match allocator::maps(pid) {
        Ok(maps) => instance
            .preload
            .iter()
            .find(|library| !allocator::is_mapped(&maps, library))
            .map(|library| {
                format!(
                    "it did not load {}: the build is linked statically, or the library needs \
                     another processor or C library; the server's log may have the reason",
                    library.display()
                )
            }),
        Err(error) => Some(format!(
            "read its memory map for {}: {error}",
            first.display()
        )),
    };
    match missing {
        None => Ok(()),
        Some(reason) => {
            let task = format!("start {} with preloaded libraries", instance.build.id);
            Err(instance.failure(task, reason))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_and_foreign_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let program = std::env::current_exe().unwrap();
        let file = folder.path().join("x.so");
        let planned = |sha256: String| {
            [PreloadedLibrary {
                file: file.clone(),
                sha256,
            }]
        };
        assert!(matches!(library_digest(&file), Err(PreloadError::Io(_))));
        std::fs::copy(program, &file).unwrap();
        let digest = library_digest(&file).unwrap();
        assert_eq!(find(&planned(digest.clone())).unwrap().len(), 1);
        let changed = check_libraries(&planned("0".repeat(64))).unwrap_err();
        assert!(changed.to_string().contains(&digest), "{changed}");
        std::fs::write(&file, "#!/bin/sh\n").unwrap();
        assert!(matches!(library_digest(&file), Err(PreloadError::Kind(_))));
    }
}
