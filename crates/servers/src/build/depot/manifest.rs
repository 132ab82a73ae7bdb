//! The record beside a fetched item. It is the last file to be written before the item
//! gets its name, and an item without a right one is not there.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use prony_host::{At, IoError};
use serde::{Deserialize, Serialize};

use super::{Item, TREE, recipe};
use crate::build::Artefact;
use crate::build::fetch::FetchError;

const FILE: &str = "manifest.json";
/// Changes whenever the layout of an item's folder does.
const FORMAT: u32 = 1;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Manifest {
    format: u32,
    id: String,
    /// A hash of what the catalogue wanted.
    recipe: String,
    /// The files that were fetched.
    pub(super) artefacts: Vec<Artefact>,
    /// The program, if the build is a folder of the user's own.
    pub(super) user_program: Option<UserProgram>,
}

/// A program in a folder of the user's own, known again by size and time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct UserProgram {
    size: u64,
    inode: u64,
    changed_s: i64,
    changed_ns: i64,
}

impl Manifest {
    pub(super) fn new(
        item: &Item<'_>,
        artefacts: Vec<Artefact>,
        user_program: Option<UserProgram>,
    ) -> Self {
        Self {
            format: FORMAT,
            id: item.id.to_owned(),
            recipe: recipe(item.source),
            artefacts,
            user_program,
        }
    }

    /// The manifest of an item that is whole and what the catalogue wants.
    pub(super) fn read(item: &Item<'_>) -> Option<Self> {
        let folder = item.folder();
        let text = fs::read_to_string(folder.join(FILE)).ok()?;
        let manifest: Self = serde_json::from_str(&text).ok()?;
        let right = manifest.format == FORMAT
            && manifest.id == item.id
            && manifest.recipe == recipe(item.source)
            && folder.join(TREE).is_dir();
        right.then_some(manifest)
    }

    pub(super) fn write(&self, folder: &Path) -> Result<(), FetchError> {
        let path = folder.join(FILE);
        let text = serde_json::to_string_pretty(self)
            .map_err(std::io::Error::other)
            .at("write", &path)?;
        Ok(fs::write(&path, text + "\n").at("write", &path)?)
    }
}

impl UserProgram {
    /// Looks at the program as it is now.
    pub(super) fn look(path: &Path) -> Result<Self, IoError> {
        let meta = fs::metadata(path).at("look at", path)?;
        Ok(Self {
            size: meta.size(),
            inode: meta.ino(),
            changed_s: meta.mtime(),
            changed_ns: meta.mtime_nsec(),
        })
    }
}
