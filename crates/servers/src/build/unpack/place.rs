//! Putting one entry of an archive in its place.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::{Component, Path};

use prony_host::{At, IoError, create_private};

use crate::build::catalogue::Part;
use crate::build::glob;
use crate::digest::each_chunk;

/// The kind of an entry, with its content.
pub(super) enum Content<'a> {
    /// A folder.
    Folder,
    /// A file with its permission bits, if the archive keeps them.
    File(&'a mut dyn Read, Option<u32>),
    /// A symbolic link to this path.
    Link(&'a Path),
    /// Another name of this earlier entry.
    HardLink(&'a Path),
}

/// The target of an entry.
pub(super) enum Wanted<'a> {
    /// Nowhere.
    No,
    /// To this path below the root.
    At(String),
    /// It is an archive itself, wanted by this part.
    Nested(&'a Part),
}

/// The reason that an entry was not put.
#[derive(Debug, thiserror::Error)]
pub(super) enum PlaceError {
    /// It would lie outside the folder. The text is what to add to the entry's name.
    #[error("it leads out of the folder{0}")]
    Escape(String),
    /// The archive can't be read on.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// The place can't be written.
    #[error(transparent)]
    Write(#[from] IoError),
}

/// Puts entries of one archive below a folder.
pub(super) struct Placer<'a> {
    root: &'a Path,
    drop: &'a [String],
    parts: Vec<(&'a Part, bool)>,
    prefix: &'a str,
}

impl<'a> Placer<'a> {
    pub(super) fn new(
        root: &'a Path,
        drop: &'a [String],
        parts: &'a [Part],
        prefix: &'a str,
    ) -> Self {
        Self {
            root,
            drop,
            parts: parts.iter().map(|part| (part, false)).collect(),
            prefix,
        }
    }

    /// The target of the entry that the archive calls `path`.
    pub(super) fn wanted(&mut self, path: &str) -> Wanted<'a> {
        let target = if self.parts.is_empty() {
            join(self.prefix, path)
        } else {
            let found = self
                .parts
                .iter_mut()
                .find_map(|(part, found)| Some((*part, below(&part.path, path)?, found)));
            let Some((part, rest, found)) = found else {
                return Wanted::No;
            };
            *found = true;
            match (rest, &part.unpack) {
                ("", Some(_)) => return Wanted::Nested(part),
                ("", None) => join(&part.to, path.rsplit('/').next().unwrap_or(path)),
                (rest, _) => join(&part.to, rest),
            }
        };
        let mut patterns = self.drop.iter();
        if patterns.any(|pattern| glob::covers(pattern, &target)) {
            return Wanted::No;
        }
        Wanted::At(target)
    }

    /// The parts that no entry was of.
    pub(super) fn missing(&self) -> Vec<String> {
        self.parts
            .iter()
            .filter(|(_, found)| !found)
            .map(|(part, _)| part.path.clone())
            .collect()
    }

    /// Puts an entry at `target` below the root, in place of what may be there.
    pub(super) fn put(&mut self, target: &str, content: Content<'_>) -> Result<(), PlaceError> {
        let path = self.root.join(target);
        match content {
            // A folder is made when something is put into it: a part's own entry has no name here.
            Content::Folder => Ok(()),
            Content::File(reader, mode) => {
                self.make_parents(target)?;
                remove_old(&path)?;
                write_file(&path, reader, mode)
            }
            Content::Link(to) => {
                if !stays_inside(target, to) {
                    return Err(PlaceError::Escape(format!(" -> {}", to.display())));
                }
                self.make_parents(target)?;
                remove_old(&path)?;
                Ok(symlink(to, &path).at("create", &path)?)
            }
            Content::HardLink(to) => {
                let escape = || PlaceError::Escape(format!(" = {}", to.display()));
                let first = inside(&to.to_string_lossy()).ok_or_else(escape)?;
                let Wanted::At(first) = self.wanted(&first) else {
                    return Err(escape());
                };
                self.make_parents(&first)?;
                let first = self.root.join(first);
                // Another name of a link leads elsewhere than the link.
                if fs::read_link(&first).is_ok_and(|to| !stays_inside(target, &to)) {
                    return Err(escape());
                }
                self.make_parents(target)?;
                remove_old(&path)?;
                Ok(fs::hard_link(first, &path).at("create", &path)?)
            }
        }
    }

    /// Creates the folders above `target`. None of them may be a link: what is written through a
    /// link is not where its name says.
    fn make_parents(&self, target: &str) -> Result<(), PlaceError> {
        let mut folder = self.root.to_owned();
        let parents = Path::new(target).parent().unwrap_or(Path::new(""));
        for name in parents {
            folder.push(name);
            match folder.symlink_metadata() {
                Ok(meta) if meta.is_dir() => {}
                Ok(_) => return Err(PlaceError::Escape(String::new())),
                Err(_) => create_private(&folder)?,
            }
        }
        Ok(())
    }
}

/// The rest of `path` below `folder`; empty if it is the same.
fn below<'p>(folder: &str, path: &'p str) -> Option<&'p str> {
    let rest = path.strip_prefix(folder.trim_end_matches('/'))?;
    match rest.strip_prefix('/') {
        None if !rest.is_empty() => None,
        stripped => Some(stripped.unwrap_or_default()),
    }
}

fn join(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        folder => format!("{}/{name}", folder.trim_end_matches('/')),
    }
}

/// The plain form of an entry's name; `None` if it leads out of the folder.
pub(super) fn inside(name: &str) -> Option<String> {
    let mut plain = Vec::new();
    for part in Path::new(name).components() {
        match part {
            Component::Normal(part) => plain.push(part.to_str()?),
            Component::CurDir => {}
            _ => return None,
        }
    }
    Some(plain.join("/"))
}

/// True where a link at `target` to `to` stays below the root. Only leading `..` are allowed:
/// behind a name they would be counted from wherever that name leads.
fn stays_inside(target: &str, to: &Path) -> bool {
    let depth = Path::new(target).components().count() - 1;
    let mut ups = 0;
    let mut down = false;
    for part in to.components() {
        match part {
            Component::ParentDir if down => return false,
            Component::ParentDir => ups += 1,
            Component::Normal(_) => down = true,
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return false,
        }
    }
    ups <= depth
}

fn remove_old(path: &Path) -> Result<(), IoError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error).at("replace", path),
        _ => Ok(()),
    }
}

/// Programs are made executable whatever the archive says: many zips lose that bit. Nobody but
/// the owner may write.
fn write_file(path: &Path, reader: &mut dyn Read, mode: Option<u32>) -> Result<(), PlaceError> {
    let mut head = Vec::new();
    reader.take(4).read_to_end(&mut head)?;
    let program = head.starts_with(b"\x7fELF") || head.starts_with(b"#!");
    let executable = program || mode.is_some_and(|mode| mode & 0o111 != 0);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(if executable { 0o755 } else { 0o644 })
        .open(path)
        .at("create", path)?;
    file.write_all(&head).at("write", path)?;
    copy(reader, &mut file, path)
}

/// Tells errors of the archive from errors of the disk.
pub(super) fn copy(reader: &mut dyn Read, file: &mut File, path: &Path) -> Result<(), PlaceError> {
    each_chunk(reader, |chunk| {
        Ok(file.write_all(chunk).at("write", path)?)
    })
    .map(drop)
}
