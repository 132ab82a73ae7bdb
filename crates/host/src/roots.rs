//! The places of Prony's files.

use std::env;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::io_error::{At, IoError, gone};

/// The folder that everything fetched and every instance lives under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roots {
    /// An absolute path. Created, readable by its owner only, when it is first needed.
    pub cache: PathBuf,
}

/// No cache folder could be found.
#[derive(Debug, thiserror::Error)]
pub enum RootsError {
    /// None of the variables is set.
    #[error("find a cache folder: set PRONY_CACHE (or HOME) to a folder that you may write to")]
    NoHome,
    /// The path has no absolute form, because the working folder can't be read.
    #[error("find a cache folder: {} has no absolute form: {source}", path.display())]
    NotAbsolute {
        /// The path as it was given.
        path: PathBuf,
        /// The answer of the operating system.
        source: io::Error,
    },
}

impl Roots {
    /// `$PRONY_CACHE`, else `$XDG_CACHE_HOME/prony`, else `~/.cache/prony`.
    ///
    /// # Errors
    /// When none of the variables is set, or a relative path can't be made absolute.
    pub fn from_environment() -> Result<Self, RootsError> {
        Self::from_variables(|name| env::var_os(name))
    }

    fn from_variables(get: impl Fn(&str) -> Option<OsString>) -> Result<Self, RootsError> {
        let value = |name| get(name).filter(|value| !value.is_empty());
        let set = |name| value(name).map(PathBuf::from);
        let path = set("PRONY_CACHE")
            .or_else(|| set("XDG_CACHE_HOME").map(|cache| cache.join("prony")))
            .or_else(|| set("HOME").map(|home| home.join(".cache/prony")))
            .ok_or(RootsError::NoHome)?;
        let cache = std::path::absolute(&path)
            .map_err(|source| RootsError::NotAbsolute { path, source })?;
        Ok(Self { cache })
    }

    /// Unpacked server builds.
    pub fn builds(&self) -> PathBuf {
        self.cache.join("builds")
    }

    /// Libraries that builds share.
    pub fn support(&self) -> PathBuf {
        self.cache.join("support")
    }

    /// Files on their way in; empty between fetches.
    pub fn downloads(&self) -> PathBuf {
        self.cache.join("downloads")
    }

    /// State of the package clients.
    pub fn clients(&self) -> PathBuf {
        self.cache.join("clients")
    }

    /// Certificates of servers that encrypt.
    pub fn certificates(&self) -> PathBuf {
        self.cache.join("certificates")
    }

    /// Data directories after load, by key.
    pub fn images(&self) -> PathBuf {
        self.cache.join("images")
    }

    /// Variables of servers, as each read them last.
    pub fn variables(&self) -> PathBuf {
        self.cache.join("variables")
    }

    /// The calibrations of this host.
    pub fn calibration(&self) -> PathBuf {
        self.cache.join("calibration.json")
    }

    /// Folders of server instances.
    pub fn instances(&self) -> PathBuf {
        self.cache.join("instances")
    }

    /// Lock files.
    pub fn locks(&self) -> PathBuf {
        self.cache.join("locks")
    }
}

/// Creates a folder and its parents, for the owner only. One that is there already is left as it is.
///
/// # Errors
/// When it can't be made.
pub fn create_private(folder: &Path) -> Result<(), IoError> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .at("create", folder)
}

/// Writes a file that only its owner may read.
///
/// # Errors
/// When it can't be written.
pub fn write_private(path: &Path, bytes: &[u8]) -> Result<(), IoError> {
    // Replaced as a whole, so that the permissions are right from the first byte on.
    gone(fs::remove_file(path)).at("replace", path)?;
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .and_then(|mut file| file.write_all(bytes))
        .at("write", path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(variables: &[(&str, &str)]) -> Result<PathBuf, RootsError> {
        Roots::from_variables(|name| {
            let found = variables.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| OsString::from(value))
        })
        .map(|roots| roots.cache)
    }

    #[test]
    fn the_most_special_variable_wins() {
        let home = ("HOME", "/home/u");
        let xdg = ("XDG_CACHE_HOME", "/xdg");
        let own = ("PRONY_CACHE", "/own");
        assert_eq!(cache(&[home]).unwrap(), Path::new("/home/u/.cache/prony"));
        assert_eq!(cache(&[home, xdg]).unwrap(), Path::new("/xdg/prony"));
        assert_eq!(cache(&[home, xdg, own]).unwrap(), Path::new("/own"));
        assert_eq!(
            cache(&[home, ("PRONY_CACHE", "")]).unwrap(),
            Path::new("/home/u/.cache/prony")
        );
        assert!(cache(&[("PRONY_CACHE", "here")]).unwrap().is_absolute());
        assert!(matches!(cache(&[]), Err(RootsError::NoHome)));
    }
}
