//! Space that a data directory takes on disk, by purpose of its files.

mod kind;

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use prony_model::Source;

use crate::draft::Draft;
use kind::kind;

/// Unit of `st_blocks` of stat(2).
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

    /// Takes a sample. It reads the size of every file.
    pub(crate) fn sample(&self, draft: &mut Draft) {
        let mut sizes = Sizes::default();
        match add(&mut sizes, &self.folder, Path::new("")) {
            Ok(()) => {
                for (name, size) in NAMES.into_iter().zip(sizes) {
                    draft.put(Source::Files, name, size);
                }
            }
            Err(error) => draft.gap(
                Source::Files,
                &format!("read the sizes of {}: {error}", self.folder.display()),
            ),
        }
    }
}

/// Names of the counters, in the order of [`kind::Kind`].
const NAMES: [&str; 4] = ["data_bytes", "log_bytes", "binlog_bytes", "other_bytes"];

/// Bytes by kind.
type Sizes = [u64; NAMES.len()];

/// Adds all files of the folder `inside` of `folder`. Symbolic links are not followed.
fn add(sizes: &mut Sizes, folder: &Path, inside: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder.join(inside))? {
        let entry = entry?;
        let path = inside.join(entry.file_name());
        // A file may be deleted, or a folder with its files, in the meantime.
        let gone = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        };
        match entry.metadata() {
            Ok(facts) if facts.is_dir() => add(sizes, folder, &path).or_else(gone)?,
            Ok(facts) if facts.is_file() => {
                // A file takes what it holds: not its holes, and not what was set aside behind
                // its end.
                let bytes = facts.len().min(facts.blocks().saturating_mul(BLOCK_BYTES));
                let sum = &mut sizes[kind(&path) as usize];
                *sum = sum.saturating_add(bytes);
            }
            Ok(_) => {}
            Err(error) => gone(error)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_summed_by_kind_without_their_holes() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, bytes: usize| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, vec![1; bytes]).unwrap();
        };
        write("ibdata1", 8192);
        write("prony/t.ibd", 4096);
        write("ib_logfile0", 12288);
        write("binlog.000001", 100);
        write("auto.cnf", 10);
        let sparse = fs::File::create(folder.path().join("prony/s.ibd")).unwrap();
        sparse.set_len(1 << 30).unwrap();
        // A link to what lies elsewhere, and one in a circle.
        std::os::unix::fs::symlink(folder.path(), folder.path().join("prony/loop")).unwrap();
        let mut draft = Draft::default();
        DataFiles::new(folder.path().to_owned()).sample(&mut draft);
        let sizes: Vec<_> = draft
            .values
            .iter()
            .map(|(counter, bytes)| (counter.name.as_ref(), *bytes))
            .collect();
        let expected = [
            ("binlog_bytes", 100),
            ("data_bytes", 8192 + 4096),
            ("log_bytes", 12288),
            ("other_bytes", 10),
        ];
        assert_eq!(sizes, expected);
    }

    #[test]
    fn a_folder_that_is_gone_is_a_gap() {
        let folder = tempfile::tempdir().unwrap();
        let mut draft = Draft::default();
        DataFiles::new(folder.path().join("data")).sample(&mut draft);
        assert!(draft.values.is_empty());
        assert!(draft.gaps[0].reason.starts_with("read the sizes of"));
    }
}
