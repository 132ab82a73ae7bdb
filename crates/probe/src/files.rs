//! What a data directory takes on disk, by what its files are for.

mod kind;

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use prony_model::Source;

use crate::draft::Draft;
use kind::{Kind, kind};

/// What `st_blocks` of stat(2) counts in.
const BLOCK_BYTES: u64 = 512;

/// Reads the sizes of a data directory.
#[derive(Debug)]
pub(crate) struct DataFiles {
    folder: PathBuf,
}

impl DataFiles {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Takes a sample. It looks at every file.
    pub(crate) fn sample(&self, draft: &mut Draft) {
        let mut sizes = Sizes::default();
        match sizes.add(&self.folder, Path::new("")) {
            Ok(()) => {
                draft.put(Source::Files, "data_bytes", sizes.data);
                draft.put(Source::Files, "log_bytes", sizes.log);
                draft.put(Source::Files, "binlog_bytes", sizes.binlog);
                draft.put(Source::Files, "other_bytes", sizes.other);
            }
            Err(error) => draft.gap(
                Source::Files,
                &format!("read the sizes of {}: {error}", self.folder.display()),
            ),
        }
    }
}

/// Bytes by kind.
#[derive(Debug, Default, PartialEq, Eq)]
struct Sizes {
    data: u64,
    log: u64,
    binlog: u64,
    other: u64,
}

impl Sizes {
    /// Adds all files of the folder `inside` of `folder`. Symbolic links are not followed.
    fn add(&mut self, folder: &Path, inside: &Path) -> io::Result<()> {
        for entry in fs::read_dir(folder.join(inside))? {
            let entry = entry?;
            let path = inside.join(entry.file_name());
            // A file may be deleted, or a folder with its files, while we look.
            let gone = |error: io::Error| match error.kind() {
                io::ErrorKind::NotFound => Ok(()),
                _ => Err(error),
            };
            match entry.metadata() {
                Ok(facts) if facts.is_dir() => self.add(folder, &path).or_else(gone)?,
                Ok(facts) if facts.is_file() => self.count(kind(&path), &facts),
                Ok(_) => {}
                Err(error) => gone(error)?,
            }
        }
        Ok(())
    }

    /// A file takes what it holds: not its holes, and not what was set aside behind its end.
    fn count(&mut self, kind: Kind, facts: &fs::Metadata) {
        let bytes = facts.len().min(facts.blocks().saturating_mul(BLOCK_BYTES));
        let sum = match kind {
            Kind::Data => &mut self.data,
            Kind::Log => &mut self.log,
            Kind::Binlog => &mut self.binlog,
            Kind::Other => &mut self.other,
        };
        *sum = sum.saturating_add(bytes);
    }
}
