//! The place of a server that is to be added: a folder, or an archive that is unpacked first.

use std::fs;
use std::path::{Path, PathBuf};

use prony_host::{At, IoError, OwnedFolder, Roots};
use prony_model::StopFlag;

use super::AddError;
use crate::build::catalogue::{Origin, Part, Source};
use crate::build::unpack::Unpacking;
use crate::digest;

/// A server's files. What was unpacked goes with it.
pub(super) struct Unpacked {
    /// The folder that the server is in.
    pub(super) root: PathBuf,
    /// The source of its files for the catalogue.
    pub(super) source: Source,
    /// A folder that goes with it.
    pub(super) scratch: OwnedFolder,
}

impl Unpacked {
    /// Looks at a folder, or unpacks an archive.
    pub(super) fn look(roots: &Roots, path: &Path, stop: &StopFlag) -> Result<Self, AddError> {
        let path = path.canonicalize().at("find", path)?;
        let scratch = OwnedFolder::create(&roots.downloads(), "add-")?;
        if path.is_dir() {
            return Ok(Self {
                root: path.clone(),
                source: source(Origin::Path(path)),
                scratch,
            });
        }
        let tree = scratch.path().join("tree");
        let nested = scratch.path().join("nested");
        for folder in [&tree, &nested] {
            fs::create_dir(folder).at("create", folder)?;
        }
        let (sha256, size) = digest::of_file(&path)?;
        let unpacking = Unpacking {
            root: &tree,
            scratch: &nested,
            drop: &[],
            stop,
        };
        unpacking.file(&path, &[])?;
        let mut source = source(Origin::Archive(path));
        source.sha256 = Some(sha256);
        source.size = Some(size);
        let mut root = tree;
        if let Some(top) = only_folder(&root)? {
            root.push(&top);
            source.part.push(Part {
                path: top,
                to: String::new(),
                unpack: None,
            });
        }
        Ok(Self {
            root,
            source,
            scratch,
        })
    }
}

fn source(from: Origin) -> Source {
    Source {
        from,
        sha256: None,
        size: None,
        part: Vec::new(),
        drop: Vec::new(),
    }
}

/// The folder that everything in `folder` is in: archives of releases have such a one.
fn only_folder(folder: &Path) -> Result<Option<String>, IoError> {
    let mut entries = fs::read_dir(folder).at("read", folder)?;
    let first = entries.next().transpose().at("read", folder)?;
    Ok(first
        .filter(|entry| entries.next().is_none() && entry.path().is_dir())
        .and_then(|entry| entry.file_name().into_string().ok())
        // A server whose only folder is `bin` or `usr` is not one folder deeper.
        .filter(|name| !["bin", "sbin", "libexec", "usr"].contains(&name.as_str())))
}
