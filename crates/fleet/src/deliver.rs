//! Delivery of a part: from the disk of its host into the shared folder, as a whole.

use std::fmt;
use std::fs::{self, File};
use std::path::Path;

use prony_store::Store;

use crate::error::{At as _, FleetError};
use crate::folder::{RunFolder, draft_of};

/// The name of a part: its blocks, attempt and host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartName<'a> {
    /// Its blocks, counted from 0.
    pub blocks: &'a [u32],
    /// Number of the attempt at them.
    pub attempt: u32,
    /// Name of its host.
    pub host_name: &'a str,
}

impl PartName<'_> {
    /// The part of its name that all attempts at these blocks share: `b0003`, or `b0003-0006`.
    pub fn of_blocks(blocks: &[u32]) -> String {
        let number = |block: Option<&u32>| format!("{:04}", block.map_or(0, |block| block + 1));
        match blocks {
            [_] | [] => format!("b{}", number(blocks.first())),
            _ => format!("b{}-{}", number(blocks.first()), number(blocks.last())),
        }
    }
}

impl fmt::Display for PartName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let blocks = Self::of_blocks(self.blocks);
        write!(f, "{blocks}.{}.{}", self.attempt, self.host_name)
    }
}

/// Copies a part, and the files of its trials from `artefacts`, into the run's folder. It appears there
/// as a whole or not at all. Where it `continues` earlier attempts of the same host, it contains them, and
/// their parts are removed.
///
/// # Errors
/// When the folder can't be written.
pub fn deliver(
    folder: &RunFolder,
    store: &Store,
    artefacts: &Path,
    (name, continues): (&PartName<'_>, bool),
) -> Result<(), FleetError> {
    let parts = folder.parts();
    let local = artefacts.with_extension("delivery");
    remove_file(&local)?;
    store.write_copy(&local)?;
    let target = parts.join(format!("{name}.sqlite"));
    let beside = parts.join(name.to_string());
    if artefacts.is_dir() {
        copy_folder(artefacts, &beside.join("artefacts"))?;
    }
    let draft = draft_of(&target);
    fs::copy(&local, &draft).at("write", &draft)?;
    File::open(&draft)
        .and_then(|file| file.sync_all())
        .at("write", &draft)?;
    fs::rename(&draft, &target).at("write", &target)?;
    File::open(&parts)
        .and_then(|folder| folder.sync_all())
        .at("write", &parts)?;
    remove_file(&local)?;
    let earlier = if continues { name.attempt } else { 0 };
    for attempt in 0..earlier {
        let earlier = PartName {
            attempt,
            ..name.clone()
        };
        remove_file(&parts.join(format!("{earlier}.sqlite")))?;
    }
    Ok(())
}

fn remove_file(path: &Path) -> Result<(), FleetError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error).at("remove", path),
        _ => Ok(()),
    }
}

fn copy_folder(from: &Path, to: &Path) -> Result<(), FleetError> {
    fs::create_dir_all(to).at("make", to)?;
    for entry in fs::read_dir(from).at("read", from)? {
        let entry = entry.at("read", from)?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            copy_folder(&source, &target)?;
        } else {
            fs::copy(&source, &target).at("write", &target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_by_block() {
        let name = |blocks: &[u32], attempt| {
            let host_name = "n7";
            PartName {
                blocks,
                attempt,
                host_name,
            }
            .to_string()
        };
        assert_eq!(name(&[2], 0), "b0003.0.n7");
        assert_eq!(name(&[2, 3, 5], 101), "b0003-0006.101.n7");
    }
}
