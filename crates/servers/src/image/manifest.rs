//! The file beside an image's data, `image.json`.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use prony_host::{At, IoError};
use serde::{Deserialize, Serialize};

use super::error::ImageError;
use super::{FORMAT, ImageKey, ImageRecord};
use crate::image::tree::Tree;

/// The manifest's name. When it was modified last is when the image was used last.
pub(super) const FILE: &str = "image.json";

/// Written last, before the image gets its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Manifest {
    format: u32,
    pub(super) key: ImageKey,
    /// The build's id.
    pub(super) build: String,
    /// Milliseconds since 1970, UTC.
    pub(super) made_at_ms: u64,
    pub(super) files: u64,
    pub(super) bytes: u64,
    pub(super) digest: String,
    pub(super) record: ImageRecord,
}

impl Manifest {
    /// Of a data directory that was read whole.
    pub(super) fn new(key: ImageKey, build: String, tree: &Tree, record: ImageRecord) -> Self {
        Self {
            format: FORMAT,
            key,
            build,
            made_at_ms: milliseconds(SystemTime::now()),
            files: tree.files.len() as u64,
            bytes: tree.bytes(),
            digest: tree.digest().unwrap_or_default(),
            record,
        }
    }

    /// The manifest in an image's folder; `None` where it is of another format.
    pub(super) fn read(folder: &Path) -> Option<Self> {
        let text = fs::read_to_string(folder.join(FILE)).ok()?;
        let manifest: Self = serde_json::from_str(&text).ok()?;
        (manifest.format == FORMAT).then_some(manifest)
    }

    pub(super) fn write(&self, folder: &Path) -> Result<(), IoError> {
        let path = folder.join(FILE);
        serde_json::to_vec_pretty(self)
            .map_err(io::Error::other)
            .and_then(|text| fs::write(&path, text))
            .at("write", &path)
    }

    /// Compares these files with those of the image.
    pub(super) fn compare(&self, copied: &Tree) -> Result<(), ImageError> {
        let changed = |what: String| {
            Err(ImageError::Changed {
                key: self.key.clone(),
                what,
            })
        };
        let (files, bytes) = (copied.files.len() as u64, copied.bytes());
        if files != self.files || bytes != self.bytes {
            return changed(format!(
                "it has {files} files of {bytes} bytes and was made with {} of {}",
                self.files, self.bytes
            ));
        }
        match copied.digest() {
            Some(digest) if digest != self.digest => changed(format!(
                "the content of its files was changed: their digest is {digest} and was {}",
                self.digest
            )),
            _ => Ok(()),
        }
    }
}

/// Milliseconds since 1970, UTC.
pub(super) fn milliseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
