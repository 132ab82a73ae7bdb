//! Copying folders: by sharing blocks where the file system can, else byte by byte.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use prony_host::{At, IoError, create_private};

use crate::image::tree::{Content, Tree, pass};

/// Copies a folder with its files and sub-folders to `to`, which must not exist yet. Everything
/// is readable by its owner only. Links are not followed and not copied. Returns what was copied,
/// without checksums where blocks are shared.
pub(crate) fn tree(from: &Path, to: &Path) -> Result<Tree, IoError> {
    // Until the file system has refused to share blocks.
    let mut sharing = true;
    create_private(to)?;
    Tree::walk(from, &mut |path, is_folder| {
        let target = to.join(path.strip_prefix(from).unwrap_or(path));
        if is_folder {
            create_private(&target).map(|()| None)
        } else {
            copy_file(path, &target, &mut sharing).map(Some)
        }
    })
}

fn copy_file(from: &Path, to: &Path, sharing: &mut bool) -> Result<Content, IoError> {
    let mut source = File::open(from).at("open", from)?;
    let mut target = File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(to)
        .at("create", to)?;
    // One refusal is enough to know that this file system does not share blocks.
    *sharing = *sharing && rustix::fs::ioctl_ficlone(&target, &source).is_ok();
    if !*sharing {
        return pass(&mut source, &mut target).at("write", to);
    }
    let size = target.metadata().at("look at", to)?.len();
    Ok(Content { size, crc: None })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn copies_are_equal_and_private() {
        let folder = tempfile::tempdir().unwrap();
        let from = folder.path().join("from");
        let deep = from.join("a/b");
        fs::create_dir_all(&deep).unwrap();
        fs::write(deep.join("file"), vec![7; 300_000]).unwrap();
        fs::write(from.join("empty"), "").unwrap();
        std::os::unix::fs::symlink("/etc", from.join("link")).unwrap();
        let to = folder.path().join("to");
        tree(&from, &to).unwrap();
        let copied = to.join("a/b/file");
        assert_eq!(fs::read(&copied).unwrap(), vec![7; 300_000]);
        let mode = fs::metadata(&copied).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(to.join("empty").is_file());
        assert!(!to.join("link").exists());
        assert!(tree(&from, &to).is_err(), "it exists already");
    }
}
