//! Looking at images and removing them.

use std::cmp::Reverse;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use prony_host::{At, FileLock, IoError, STAGING, retire};
use serde::Serialize;

use super::manifest::{FILE, Manifest, milliseconds};
use super::tree::{Content, Tree};
use super::{ImageKey, ImageRecord, Images};

/// The facts of an image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ImageFacts {
    /// Its key.
    pub key: ImageKey,
    /// Bytes of its files.
    pub bytes: u64,
    /// The time when it was used last: milliseconds since 1970, UTC.
    pub last_used_ms: u64,
    /// Its origin; `None` where another version of Prony made it, which this one can't use.
    pub made: Option<Made>,
}

/// The origin of an image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Made {
    /// The build's id.
    pub build: String,
    /// Time of the event: milliseconds since 1970, UTC.
    pub at_ms: u64,
    /// Number of its files.
    pub files: u64,
    /// The digest of its files, see [`Image::digest`](super::Image::digest).
    pub digest: String,
    /// The facts that its maker kept with it.
    pub record: ImageRecord,
}

/// The outcome of removing an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removal {
    /// It is gone.
    Removed,
    /// There was none.
    Missing,
    /// A run uses it.
    InUse,
}

impl Images<'_> {
    /// All images, the one that was used last first.
    ///
    /// # Errors
    /// When the cache can't be read.
    pub fn list(&self) -> Result<Vec<ImageFacts>, IoError> {
        let folder = self.roots.images();
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.at("read", &folder)?,
        };
        let mut images = Vec::new();
        for entry in entries {
            let entry = entry.at("read", &folder)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if !name.starts_with(STAGING) && entry.path().join(FILE).is_file() {
                match facts(&entry.path(), ImageKey(name)) {
                    Ok(image) => images.push(image),
                    // Another process has just removed it.
                    Err(_) if !entry.path().join(FILE).is_file() => {}
                    Err(error) => return Err(error),
                }
            }
        }
        images.sort_by_key(|image| (Reverse(image.last_used_ms), image.key.clone()));
        Ok(images)
    }

    /// Removes an image, unless a run uses it.
    ///
    /// # Errors
    /// When a file can't be removed.
    pub fn remove(&self, key: &ImageKey) -> Result<Removal, IoError> {
        let folder = self.roots.images().join(&key.0);
        let file = match File::open(folder.join(FILE)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Removal::Missing),
            file => file.at("open", &folder)?,
        };
        // Held until it is gone, so that no process begins to use it meanwhile.
        let Some(_alone) = FileLock::try_alone(file) else {
            return Ok(Removal::InUse);
        };
        retire(&folder)?;
        Ok(Removal::Removed)
    }

    /// Removes images until those that are left take no more than `limit` bytes: those first that
    /// were used longest ago, and none that is in `keep` or in use. Returns what was removed.
    ///
    /// # Errors
    /// When the cache can't be read or a file can't be removed.
    pub fn trim(&self, limit: u64, keep: &[ImageKey]) -> Result<Vec<ImageFacts>, IoError> {
        let images = self.list()?;
        let mut bytes: u64 = images.iter().map(|image| image.bytes).sum();
        let mut removed = Vec::new();
        for image in images.into_iter().rev() {
            if bytes <= limit {
                break;
            }
            if !keep.contains(&image.key) && self.remove(&image.key)? == Removal::Removed {
                bytes = bytes.saturating_sub(image.bytes);
                removed.push(image);
            }
        }
        Ok(removed)
    }
}

fn facts(folder: &Path, key: ImageKey) -> Result<ImageFacts, IoError> {
    let path = folder.join(FILE);
    let used = fs::metadata(&path)
        .and_then(|facts| facts.modified())
        .at("look at", &path)?;
    let manifest = Manifest::read(folder).filter(|manifest| manifest.key == key);
    let bytes = match &manifest {
        Some(manifest) => manifest.bytes,
        None => bytes_in(folder)?,
    };
    Ok(ImageFacts {
        key,
        bytes,
        last_used_ms: milliseconds(used),
        made: manifest.map(|manifest| Made {
            build: manifest.build,
            at_ms: manifest.made_at_ms,
            files: manifest.files,
            digest: manifest.digest,
            record: manifest.record,
        }),
    })
}

/// Bytes of the files in a folder.
fn bytes_in(folder: &Path) -> Result<u64, IoError> {
    let tree = Tree::walk(folder, &mut |path, _| {
        let size = fs::metadata(path).at("look at", path)?.len();
        Ok(Some(Content { size, crc: None }))
    })?;
    Ok(tree.bytes())
}
