//! The files of an unpacked server.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use prony_host::{At, IoError};

/// Folders that hold much and nothing that is looked for.
const SKIPPED: [&str; 4] = ["mysql-test", "mariadb-test", "sql-bench", "man"];
/// Nothing that is looked for lies deeper.
const DEPTH_MAX: usize = 8;

/// The paths of all files below a folder, relative to it; the shortest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tree {
    pub(super) root: PathBuf,
    files: Vec<PathBuf>,
}

impl Tree {
    /// Looks into every folder. Links are listed and not followed.
    pub(super) fn walk(root: &Path) -> Result<Self, IoError> {
        let mut files = Vec::new();
        walk(root, Path::new(""), DEPTH_MAX, &mut files)?;
        Ok(Self::new(root, files))
    }

    fn new(root: &Path, mut files: Vec<PathBuf>) -> Self {
        files.sort_by_key(|path| (path.components().count(), path.clone()));
        Self {
            root: root.to_owned(),
            files,
        }
    }

    #[cfg(test)]
    pub(super) fn of(files: &[&str]) -> Self {
        Self::new(Path::new("/srv"), files.iter().map(Into::into).collect())
    }

    /// True where this very file is there.
    pub(super) fn has(&self, path: &Path) -> bool {
        self.files.iter().any(|file| file == path)
    }

    /// The file nearest to the top whose path ends with `end`.
    pub(super) fn find(&self, end: &str) -> Option<&Path> {
        let mut files = self.files.iter();
        files.find(|path| path.ends_with(end)).map(PathBuf::as_path)
    }

    /// The folder nearest to the top whose name is `name` and that holds shared libraries.
    pub(super) fn library_folder(&self, name: &str) -> Option<&Path> {
        let mut folders = self
            .files
            .iter()
            .filter(|path| path.extension() == Some(OsStr::new("so")))
            .filter_map(|path| path.parent());
        folders.find(|folder| folder.file_name() == Some(OsStr::new(name)))
    }
}

fn walk(root: &Path, below: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), IoError> {
    let folder = root.join(below);
    for entry in fs::read_dir(&folder).at("read", &folder)? {
        let entry = entry.at("read", &folder)?;
        let path = below.join(entry.file_name());
        let kind = entry.file_type().at("look at", &folder)?;
        if !kind.is_dir() {
            files.push(path);
        } else if depth > 0 && !SKIPPED.iter().any(|name| entry.file_name() == *name) {
            walk(root, &path, depth - 1, files)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_file_is_found() {
        let tree = Tree::of(&["a/b/share/x.sql", "share/x.sql", "lib/plugin/p.so"]);
        assert_eq!(tree.find("x.sql"), Some(Path::new("share/x.sql")));
        assert_eq!(
            tree.find("b/share/x.sql"),
            Some(Path::new("a/b/share/x.sql"))
        );
        assert_eq!(tree.find("y.sql"), None);
        assert_eq!(tree.library_folder("plugin"), Some(Path::new("lib/plugin")));
        assert!(tree.has(Path::new("share/x.sql")));
    }

    #[test]
    fn folders_are_walked() {
        let root = tempfile::tempdir().unwrap();
        for file in ["bin/mysqld", "mysql-test/t/x.test"] {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let tree = Tree::walk(root.path()).unwrap();
        assert_eq!(tree.files, [Path::new("bin/mysqld")]);
    }
}
