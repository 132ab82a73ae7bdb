//! Folders that belong to one process of Prony and are marked as such. Nothing is emptied that
//! does not carry the mark.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::io_error::{At, IoError};
use crate::owner::Owner;
use crate::roots::{Roots, create_private};

/// The name of the mark. Its first line is the owner.
pub(crate) const MARK: &str = ".prony-owner";
/// How names of folders begin that are not yet what they shall be.
pub(crate) const STAGING: &str = ".staging-";

/// A folder is marked well within this time after it was created.
const MARKING: Duration = Duration::from_mins(1);

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A marked folder; removed when dropped, unless it was published.
#[derive(Debug)]
pub struct OwnedFolder {
    path: PathBuf,
}

impl OwnedFolder {
    /// A folder for a process that is no server build's, beside those of instances: short enough
    /// for a socket in it wherever instances have theirs, and cleared like them after a kill.
    ///
    /// # Errors
    /// When it can't be made.
    pub fn beside_instances(roots: &Roots) -> Result<Self, IoError> {
        Self::create(&roots.instances(), "")
    }

    /// Creates `parent/{prefix}{pid}-{n}`, readable by its owner only, with the mark in it.
    pub(crate) fn create(parent: &Path, prefix: &str) -> Result<Self, IoError> {
        create_private(parent)?;
        let owner = Owner::current()
            .map_err(io::Error::other)
            .at("read", Path::new("/proc/self/stat"))?;
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("{prefix}{}-{number}", owner.pid));
            if path.symlink_metadata().is_ok() {
                // A leftover of an earlier process with the same number.
                continue;
            }
            create_private(&path)?;
            let mark = path.join(MARK);
            fs::write(&mark, format!("{owner}\n")).at("write", &mark)?;
            return Ok(Self { path });
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes it durable and gives it its final name in one step.
    pub(crate) fn publish(self, to: &Path) -> Result<(), IoError> {
        sync_filesystem(&self.path)?;
        fs::rename(&self.path, to).at("publish", to)?;
        if let Some(parent) = to.parent() {
            sync_filesystem(parent)?;
        }
        // It is no longer where it was, so dropping it removes nothing.
        Ok(())
    }
}

impl Drop for OwnedFolder {
    fn drop(&mut self) {
        // What can't be removed now is found as a leftover later.
        let _ = remove_marked(&self.path);
    }
}

/// Takes a published folder out of the way and removes it, if it carries the mark. It loses its
/// name first, so that a removal that is cut short leaves nothing that looks whole.
pub(crate) fn retire(path: &Path) -> io::Result<bool> {
    if !path.join(MARK).is_file() {
        return Ok(false);
    }
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let aside = format!("{STAGING}retired-{}-{number}", std::process::id());
    let aside = path.with_file_name(aside);
    fs::rename(path, &aside)?;
    remove_marked(&aside)
}

/// What is not there any more is what was wanted: another process may remove the same leftover.
fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Removes a folder with everything in it if it carries the mark, or if it is empty. Returns
/// whether it is gone.
pub(crate) fn remove_marked(path: &Path) -> io::Result<bool> {
    let mark = path.join(MARK);
    if !mark.is_file() {
        // A process that was killed between creating and marking leaves an empty folder.
        return Ok(fs::remove_dir(path).is_ok());
    }
    // The mark goes last, so that a removal that is cut short can be taken up again.
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_name() == MARK {
            continue;
        }
        gone(if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())
        } else {
            fs::remove_file(entry.path())
        })?;
    }
    gone(fs::remove_file(mark))?;
    gone(fs::remove_dir(path))?;
    Ok(true)
}

/// Removes the folders in `parent` whose names begin with `prefix` and whose owners are dead.
/// Returns them.
pub(crate) fn remove_abandoned(parent: &Path, prefix: &str) -> Result<Vec<PathBuf>, IoError> {
    let mut removed = Vec::new();
    let entries = match fs::read_dir(parent) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(removed),
        entries => entries.at("read", parent)?,
    };
    for entry in entries {
        let entry = entry.at("read", parent)?;
        let path = entry.path();
        let named = entry.file_name().to_string_lossy().starts_with(prefix);
        if !named || !path.is_dir() {
            continue;
        }
        let abandoned = match owner_of(&path) {
            Some(owner) => !owner.is_alive(),
            None => is_old(&path),
        };
        if abandoned && remove_marked(&path).at("remove", &path)? {
            removed.push(path);
        }
    }
    removed.sort();
    Ok(removed)
}

/// Whether a folder without a readable mark is one that nobody is just about to mark.
fn is_old(path: &Path) -> bool {
    let age = path.metadata().and_then(|meta| meta.modified());
    age.is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age > MARKING))
}

/// The owner in a folder's mark.
pub(crate) fn owner_of(path: &Path) -> Option<Owner> {
    let mark = fs::read_to_string(path.join(MARK)).ok()?;
    mark.lines().next()?.parse().ok()
}

/// Writes everything of the file system that holds `path` to the disk.
pub(crate) fn sync_filesystem(path: &Path) -> Result<(), IoError> {
    let folder = fs::File::open(path).at("open", path)?;
    rustix::fs::syncfs(&folder).at("flush", path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_folders_vanish_and_published_ones_stay() {
        let root = tempfile::tempdir().unwrap();
        let dropped = OwnedFolder::create(root.path(), "a-").unwrap();
        let path = dropped.path().to_owned();
        fs::create_dir(path.join("sub")).unwrap();
        fs::write(path.join("sub/file"), "x").unwrap();
        assert_eq!(owner_of(&path), Some(Owner::current().unwrap()));
        drop(dropped);
        assert!(!path.exists());

        let kept = OwnedFolder::create(root.path(), "a-").unwrap();
        fs::write(kept.path().join("file"), "x").unwrap();
        let end = root.path().join("end");
        kept.publish(&end).unwrap();
        assert!(end.join("file").is_file());
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
    }

    #[test]
    fn only_what_the_dead_left_is_removed() {
        let root = tempfile::tempdir().unwrap();
        let alive = OwnedFolder::create(root.path(), STAGING).unwrap();
        let dead = root.path().join(".staging-dead");
        fs::create_dir_all(dead.join("sub")).unwrap();
        fs::write(dead.join(MARK), "1:1\n").unwrap();
        let other = root.path().join("other");
        fs::create_dir(&other).unwrap();
        fs::write(other.join(MARK), "1:1\n").unwrap();
        let unmarked = root.path().join(".staging-unmarked");
        fs::create_dir_all(unmarked.join("sub")).unwrap();
        let fresh = root.path().join(".staging-fresh");
        fs::create_dir(&fresh).unwrap();
        let forgotten = root.path().join(".staging-forgotten");
        fs::create_dir(&forgotten).unwrap();
        let yesterday = std::time::SystemTime::now() - Duration::from_hours(24);
        fs::File::open(&forgotten)
            .and_then(|folder| folder.set_modified(yesterday))
            .unwrap();
        let removed = remove_abandoned(root.path(), STAGING).unwrap();
        assert_eq!(removed, [dead, forgotten]);
        assert!(fresh.exists());
        assert!(alive.path().exists() && other.exists() && unmarked.exists());
        assert!(
            remove_abandoned(&root.path().join("none"), "")
                .unwrap()
                .is_empty()
        );
    }

    #[test]
    fn only_marked_folders_retire() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("x");
        fs::create_dir_all(folder.join("sub")).unwrap();
        assert!(!retire(&folder).unwrap());
        fs::write(folder.join(MARK), "1:1\n").unwrap();
        assert!(retire(&folder).unwrap());
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_without_the_mark_is_not_emptied() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("precious"), "x").unwrap();
        assert!(!remove_marked(root.path()).unwrap());
        assert!(root.path().join("precious").exists());
    }
}
