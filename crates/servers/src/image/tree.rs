//! The files of a folder: paths, sizes, and checksums of the content.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use prony_host::{At, IoError};

use crate::digest::{each_chunk, hex_of};

/// The files of a folder by their paths relative to it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tree {
    pub(crate) files: BTreeMap<String, Content>,
}

/// The content of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Content {
    pub(crate) size: u64,
    /// CRC-32 of IEEE 802.3; `None` where the content was not read.
    pub(crate) crc: Option<u32>,
}

impl Tree {
    /// Reads every file of a folder. Links are not followed.
    pub(crate) fn read(folder: &Path) -> Result<Self, IoError> {
        let mut tree = Self::default();
        tree.add_folder(folder, "")?;
        Ok(tree)
    }

    fn add_folder(&mut self, folder: &Path, prefix: &str) -> Result<(), IoError> {
        for entry in fs::read_dir(folder).at("read", folder)? {
            let entry = entry.at("read", folder)?;
            let path = entry.path();
            let kind = entry.file_type().at("look at", &path)?;
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if kind.is_dir() {
                self.add_folder(&path, &format!("{name}/"))?;
            } else if kind.is_file() {
                let mut file = File::open(&path).at("open", &path)?;
                let content = pass(&mut file, &mut io::sink()).at("read", &path)?;
                self.files.insert(name, content);
            }
        }
        Ok(())
    }

    /// Bytes of all files.
    pub(crate) fn bytes(&self) -> u64 {
        self.files.values().map(|content| content.size).sum()
    }

    /// A digest of paths, sizes and checksums; `None` where a content was not read.
    pub(crate) fn digest(&self) -> Option<String> {
        let line = |(path, content): (&String, &Content)| {
            Some(format!("{} {:08x} {path}\n", content.size, content.crc?))
        };
        let list: String = self.files.iter().map(line).collect::<Option<_>>()?;
        Some(hex_of(list.as_bytes()))
    }
}

/// Copies everything from one to the other, and tells what it was.
pub(crate) fn pass(from: &mut impl Read, to: &mut impl Write) -> io::Result<Content> {
    let mut hasher = crc32fast::Hasher::new();
    let size = each_chunk(from, |chunk| {
        hasher.update(chunk);
        to.write_all(chunk)
    })?;
    let crc = Some(hasher.finalize());
    Ok(Content { size, crc })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_tells_names_sizes_and_contents_apart() {
        let digest = |files: &[(&str, &str)]| {
            let folder = tempfile::tempdir().unwrap();
            for (path, text) in files {
                let path = folder.path().join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            Tree::read(folder.path()).unwrap().digest().unwrap()
        };
        let one = digest(&[("a/b", "x"), ("c", "yz")]);
        assert_eq!(one, digest(&[("c", "yz"), ("a/b", "x")]));
        assert_ne!(one, digest(&[("a/b", "x"), ("c", "yy")]));
        assert_ne!(one, digest(&[("a/b", "x"), ("d", "yz")]));
        assert_ne!(one, digest(&[("a/b", "x")]));
    }

    #[test]
    fn checksums_are_those_of_ieee_802_3() {
        let content = pass(&mut &b"123456789"[..], &mut io::sink()).unwrap();
        assert_eq!(content.crc, Some(0xcbf4_3926));
        assert_eq!(content.size, 9);
    }
}
