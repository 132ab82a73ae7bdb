//! Archives: taking out what is wanted, and nothing that leaves the folder.

mod place;

use std::borrow::Cow;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use bzip2::read::MultiBzDecoder;
use flate2::read::MultiGzDecoder;
use liblzma::read::XzDecoder;
use prony_host::{At, IoError};
use prony_model::StopFlag;
use tar::EntryType;
use zip::ZipArchive;
use zip::result::ZipError;

use crate::build::catalogue::Part;
use place::{Content, PlaceError, Placer, Wanted};

/// The reason that an archive was not unpacked.
#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    /// A file can't be read or written.
    #[error(transparent)]
    Io(#[from] IoError),
    /// It is of no known kind, or damaged.
    #[error("unpack {}: {reason}", archive.display())]
    Format {
        /// The archive.
        archive: PathBuf,
        /// The mistake.
        reason: String,
    },
    /// An entry would be written outside the folder.
    #[error("unpack {}: its entry `{entry}` leads out of the folder: the archive is refused", archive.display())]
    Escape {
        /// The archive.
        archive: PathBuf,
        /// The entry, with its target if it is a link.
        entry: String,
    },
    /// The catalogue wants something that is not there.
    #[error("unpack {}: it holds no `{part}`", archive.display())]
    Missing {
        /// The archive.
        archive: PathBuf,
        /// The part that the catalogue names.
        part: String,
    },
    /// The user wished to stop.
    #[error("stopped")]
    Stopped,
}

/// The target of unpacking, and what is left out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unpacking<'a> {
    /// The folder that everything goes into.
    pub(crate) root: &'a Path,
    /// A folder for archives inside archives.
    pub(crate) scratch: &'a Path,
    /// Patterns of paths below `root` that are left out.
    pub(crate) drop: &'a [String],
    /// Looked at before every entry.
    pub(crate) stop: &'a StopFlag,
}

impl Unpacking<'_> {
    /// Takes `parts` out of a file, or everything if there are none, and returns the parts that
    /// were not there.
    pub(crate) fn file(&self, archive: &Path, parts: &[Part]) -> Result<Vec<String>, UnpackError> {
        self.select(archive, parts, "")
    }

    /// The same for a tar archive that comes in as a stream.
    pub(crate) fn tar_stream(
        &self,
        name: &Path,
        stream: impl Read,
        parts: &[Part],
    ) -> Result<Vec<String>, UnpackError> {
        let mut run = Run::new(self, name, parts, "");
        run.tar(stream)?;
        run.finish()
    }

    /// The same; `prefix` is the place of everything if there are no parts.
    fn select(
        &self,
        archive: &Path,
        parts: &[Part],
        prefix: &str,
    ) -> Result<Vec<String>, UnpackError> {
        let mut file = File::open(archive).at("open", archive)?;
        let mut magic = Vec::new();
        let read = file.by_ref().take(262).read_to_end(&mut magic);
        read.and_then(|_| file.rewind()).at("read", archive)?;
        let mut run = Run::new(self, archive, parts, prefix);
        match magic.as_slice() {
            [b'P', b'K', 3 | 5, ..] => run.zip(file)?,
            [0x1f, 0x8b, ..] => run.tar(MultiGzDecoder::new(file))?,
            [b'B', b'Z', b'h', ..] => run.tar(MultiBzDecoder::new(file))?,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => run.tar(XzDecoder::new_multi_decoder(file))?,
            // The magic of POSIX and GNU tar headers, pax(1).
            [.., b'u', b's', b't', b'a', b'r'] => run.tar(file)?,
            _ => {
                return Err(run.format(
                    "it is neither zip, jar, tar, tar.gz, tar.bz2 nor tar.xz: \
                     unpack it and name the folder, or get it as one of these",
                ));
            }
        }
        run.finish()
    }
}

/// Notes when a stream is at its end. Of a whole tar archive, the reader of its entries stops
/// before that: at a block of zeros, pax(1).
struct Watched<R> {
    stream: R,
    ended: bool,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(buffer)?;
        self.ended |= count == 0 && !buffer.is_empty();
        Ok(count)
    }
}

/// One pass over one archive.
struct Run<'a> {
    unpacking: &'a Unpacking<'a>,
    archive: &'a Path,
    placer: Placer<'a>,
    /// Archives inside this one: where they were put, and the part that wants them.
    nested: Vec<(PathBuf, &'a Part)>,
}

impl<'a> Run<'a> {
    fn new(
        unpacking: &'a Unpacking<'a>,
        archive: &'a Path,
        parts: &'a [Part],
        prefix: &'a str,
    ) -> Self {
        Self {
            unpacking,
            archive,
            placer: Placer::new(unpacking.root, unpacking.drop, parts, prefix),
            nested: Vec::new(),
        }
    }

    fn format(&self, reason: impl fmt::Display) -> UnpackError {
        UnpackError::Format {
            archive: self.archive.to_owned(),
            reason: reason.to_string(),
        }
    }

    /// Of an archive that can't be read to its end.
    fn damaged(&self, error: impl fmt::Display) -> UnpackError {
        self.format(format!(
            "{error}: it is damaged or was cut short; download it again"
        ))
    }

    fn check_stop(&self) -> Result<(), UnpackError> {
        if self.unpacking.stop.requested() {
            return Err(UnpackError::Stopped);
        }
        Ok(())
    }

    fn zip(&mut self, file: File) -> Result<(), UnpackError> {
        let mut zip = ZipArchive::new(file).map_err(|error| self.damaged(error))?;
        for index in 0..zip.len() {
            self.check_stop()?;
            let mut entry = zip.by_index(index).map_err(|error| self.damaged(error))?;
            let name = entry
                .name()
                .map_err(|error| self.damaged(error))?
                .into_owned();
            let mode = entry.unix_mode();
            if entry.is_dir() {
                self.put(&name, Content::Folder)?;
            } else if entry.is_symlink() {
                let mut target = String::new();
                entry
                    .read_to_string(&mut target)
                    .map_err(|error| self.damaged(ZipError::from(error)))?;
                self.put(&name, Content::Link(Path::new(&target)))?;
            } else {
                self.put(&name, Content::File(&mut entry, mode))?;
            }
        }
        Ok(())
    }

    fn tar(&mut self, stream: impl Read) -> Result<(), UnpackError> {
        let mut tar = tar::Archive::new(Watched {
            stream,
            ended: false,
        });
        let entries = tar.entries().map_err(|error| self.damaged(error))?;
        for entry in entries {
            self.check_stop()?;
            let mut entry = entry.map_err(|error| self.damaged(error))?;
            let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            let link = entry.link_name().map_err(|error| self.damaged(error))?;
            let link = link.map(Cow::into_owned).unwrap_or_default();
            let mode = entry.header().mode().ok();
            match entry.header().entry_type() {
                EntryType::Directory => self.put(&name, Content::Folder)?,
                EntryType::Symlink => self.put(&name, Content::Link(&link))?,
                EntryType::Link => self.put(&name, Content::HardLink(&link))?,
                EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {
                    self.put(&name, Content::File(&mut entry, mode))?;
                }
                // Devices and pipes have no place in a server; headers are for the reader.
                _ => {}
            }
        }
        let mut stream = tar.into_inner();
        if stream.ended {
            return Err(self.damaged("it has no end"));
        }
        // Checksums of compressed files come last.
        let read = io::copy(&mut stream, &mut io::sink());
        read.map(drop).map_err(|error| self.damaged(error))
    }

    fn put(&mut self, name: &str, content: Content<'_>) -> Result<(), UnpackError> {
        let path = place::inside(name).ok_or_else(|| self.escape(name.to_owned()))?;
        match self.placer.wanted(&path) {
            Wanted::No => Ok(()),
            Wanted::Nested(part) => {
                let Content::File(reader, _) = content else {
                    return Ok(());
                };
                let number = self.nested.len();
                let scratch = self.unpacking.scratch.join(format!("nested-{number}"));
                let mut file = File::create(&scratch).at("create", &scratch)?;
                place::copy(reader, &mut file, &scratch)
                    .map_err(|error| self.misplaced(name, error))?;
                self.nested.push((scratch, part));
                Ok(())
            }
            Wanted::At(target) => self
                .placer
                .put(&target, content)
                .map_err(|error| self.misplaced(name, error)),
        }
    }

    /// Of the entry `name` that was not put where it belongs.
    fn misplaced(&self, name: &str, error: PlaceError) -> UnpackError {
        match error {
            PlaceError::Escape(target) => self.escape(format!("{name}{target}")),
            PlaceError::Read(error) => self.damaged(error),
            PlaceError::Write(error) => error.into(),
        }
    }

    fn escape(&self, entry: String) -> UnpackError {
        UnpackError::Escape {
            archive: self.archive.to_owned(),
            entry,
        }
    }

    /// Unpacks the archives found inside, and says what was not found.
    fn finish(self) -> Result<Vec<String>, UnpackError> {
        let missing = self.placer.missing();
        for (archive, part) in self.nested {
            let parts = part.unpack.as_deref().unwrap_or_default();
            // A name of its own, so that archives inside it do not overwrite it.
            let scratch = self.unpacking.scratch.join("deeper");
            fs::create_dir_all(&scratch).at("create", &scratch)?;
            let deeper = Unpacking {
                scratch: &scratch,
                ..*self.unpacking
            };
            if let Some(part) = deeper.select(&archive, parts, &part.to)?.pop() {
                return Err(UnpackError::Missing { archive, part });
            }
            fs::remove_file(&archive).at("remove", &archive)?;
        }
        Ok(missing)
    }
}

#[cfg(test)]
mod tests;
