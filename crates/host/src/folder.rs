//! Folders that belong to one process of Prony and are marked as such. Nothing is emptied that
//! does not carry the mark.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::io_error::{At, IoError, gone};
use crate::owner::{Owner, OwnerState, Site};
use crate::roots::{Roots, create_private};

/// The name of the mark. Its first line is the owner.
pub const MARK: &str = ".prony-owner";
/// The beginning of the names of folders that are not yet complete.
pub const STAGING: &str = ".staging-";

/// A folder is marked well within this time after it was created.
const MARKING: Duration = Duration::from_mins(1);

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A marked folder; removed when dropped, unless it was published.
#[derive(Debug)]
pub struct OwnedFolder {
    path: PathBuf,
}

/// The folders of others, as far as they were looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Abandoned {
    /// Those that were removed, because their owners are dead.
    pub removed: Vec<PathBuf>,
    /// Those that were left alone, because their owners can't be judged from here.
    pub elsewhere: Vec<(PathBuf, Owner)>,
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
    ///
    /// # Errors
    /// When it can't be made. Nothing is left of it then.
    pub fn create(parent: &Path, prefix: &str) -> Result<Self, IoError> {
        Self::create_with(parent, prefix, mark)
    }

    fn create_with(
        parent: &Path,
        prefix: &str,
        mark: impl Fn(&Path, &Owner) -> Result<(), IoError>,
    ) -> Result<Self, IoError> {
        create_private(parent)?;
        let owner = current()?;
        let mut builder = DirBuilder::new();
        builder.mode(0o700);
        let path = unused(parent, prefix, |path| {
            builder.create(path).at("create", path)
        })?;
        if let Err(error) = mark(&path, &owner) {
            // The error to report is that of the mark.
            let _ = fs::remove_dir_all(&path);
            return Err(error);
        }
        Ok(Self { path })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes it durable and gives it its final name in one step.
    ///
    /// # Errors
    /// When it can't be written or moved.
    pub fn publish(self, to: &Path) -> Result<(), IoError> {
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

fn current() -> Result<Owner, IoError> {
    Owner::current()
        .map_err(io::Error::other)
        .at("read", Path::new("/proc/self/stat"))
}

fn mark(folder: &Path, owner: &Owner) -> Result<(), IoError> {
    let mark = folder.join(MARK);
    fs::write(&mark, format!("{owner}\n")).at("write", &mark)
}

/// Takes a published folder out of the way and removes it, if it carries the mark; returns `false`
/// if it does not. It loses its name first, so that a removal that is cut short leaves nothing that
/// looks whole.
///
/// # Errors
/// When it can't be moved or removed.
pub fn retire(path: &Path) -> Result<bool, IoError> {
    if !path.join(MARK).is_file() {
        return Ok(false);
    }
    let owner = current()?;
    let prefix = format!("{STAGING}retired-");
    let parent = path.parent().unwrap_or(Path::new(""));
    let aside = unused(parent, &prefix, |aside| {
        fs::rename(path, aside).at("move", path)
    })?;
    // Its maker may be gone, or on another host: it is this process that removes it. Without room
    // for the new mark the old one does.
    let _ = mark(&aside, &owner);
    remove_marked(&aside)
}

/// Takes `{prefix}{pid}-{n}` in a folder, with the first number that is not taken: by a leftover,
/// or by a process with the same number in another container.
fn unused(
    parent: &Path,
    prefix: &str,
    take: impl Fn(&Path) -> Result<(), IoError>,
) -> Result<PathBuf, IoError> {
    use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty};
    let pid = std::process::id();
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = parent.join(format!("{prefix}{pid}-{number}"));
        match take(&path).map_err(|error| (error.source.kind(), error)) {
            Err((AlreadyExists | DirectoryNotEmpty, _)) => {}
            Err((_, error)) => return Err(error),
            Ok(()) => return Ok(path),
        }
    }
}

/// Removes a folder with everything in it if it carries the mark, or if it is empty. Returns
/// `true` if it is gone.
fn remove_marked(path: &Path) -> Result<bool, IoError> {
    let mark = path.join(MARK);
    if !mark.is_file() {
        // A process that was killed between creating and marking leaves an empty folder.
        return Ok(fs::remove_dir(path).is_ok());
    }
    empty(path).at("remove", path)?;
    // The mark goes last, so that a removal that is cut short can be taken up again.
    gone(fs::remove_file(mark)).at("remove", path)?;
    gone(fs::remove_dir(path)).at("remove", path)?;
    Ok(true)
}

/// Removes everything in a folder but its mark.
fn empty(path: &Path) -> io::Result<()> {
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
    Ok(())
}

/// Removes the folders in `parent` whose names begin with `prefix` and whose owners are dead.
/// Folders of owners that can't be judged from here are left alone.
///
/// # Errors
/// When a folder can't be read or removed.
pub fn remove_abandoned(parent: &Path, prefix: &str) -> Result<Abandoned, IoError> {
    remove_abandoned_from(&Site::here(), parent, prefix)
}

fn remove_abandoned_from(here: &Site, parent: &Path, prefix: &str) -> Result<Abandoned, IoError> {
    let mut abandoned = Abandoned::default();
    let entries = match fs::read_dir(parent) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(abandoned),
        entries => entries.at("read", parent)?,
    };
    for entry in entries {
        let entry = entry.at("read", parent)?;
        let path = entry.path();
        let named = entry.file_name().to_string_lossy().starts_with(prefix);
        if !named || !path.is_dir() {
            continue;
        }
        let dead = match read_mark(&path) {
            Mark::Owner(owner) => match owner.state(here) {
                OwnerState::Alive => false,
                OwnerState::Dead => true,
                OwnerState::Elsewhere => {
                    abandoned.elsewhere.push((path, owner));
                    continue;
                }
            },
            Mark::Unfinished => is_old(&path),
            Mark::Unknown => false,
        };
        if dead && remove_marked(&path)? {
            abandoned.removed.push(path);
        }
    }
    abandoned.removed.sort();
    abandoned.elsewhere.sort_by_key(|(path, _)| path.clone());
    Ok(abandoned)
}

/// The mark of a folder.
#[derive(Debug, PartialEq, Eq)]
enum Mark {
    /// It names this owner.
    Owner(Owner),
    /// There is none, or its line has no end: its writing was cut short, or is not yet done.
    Unfinished,
    /// It is complete and in another form, as another version of Prony may write it.
    Unknown,
}

fn read_mark(folder: &Path) -> Mark {
    let text = match fs::read_to_string(folder.join(MARK)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Mark::Unfinished,
        Err(_) => return Mark::Unknown,
    };
    match text.split_once('\n') {
        None => Mark::Unfinished,
        Some((line, _)) => line.parse().map_or(Mark::Unknown, Mark::Owner),
    }
}

/// True for a folder without a complete mark that no process is about to mark.
fn is_old(path: &Path) -> bool {
    let age = path.metadata().and_then(|meta| meta.modified());
    age.is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age > MARKING))
}

/// Writes everything of the file system that holds `path` to the disk.
///
/// # Errors
/// When it can't be opened or written.
pub fn sync_filesystem(path: &Path) -> Result<(), IoError> {
    let folder = fs::File::open(path).at("open", path)?;
    rustix::fs::syncfs(&folder).at("flush", path)
}

#[cfg(test)]
mod tests;
