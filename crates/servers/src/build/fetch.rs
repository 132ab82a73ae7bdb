//! Getting the files of a build from where they are.

mod client;
mod deb;
mod maven;
mod npm;
mod pip;
mod url;

use std::io;
use std::path::{Path, PathBuf};

use prony_host::{IoError, Launcher, Roots};
use prony_model::{Allocator, StopFlag};

use crate::build::Artefact;
use crate::build::catalogue::{Origin, Source};
use crate::build::unpack::{UnpackError, Unpacking};
use crate::digest;

/// An event of a fetch, for the user to see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FetchEvent {
    /// Another process fetches the same; this one waits for it.
    Waiting {
        /// The build or support.
        id: String,
    },
    /// Bytes come in. Said some times each second.
    Downloading {
        /// The build or support.
        id: String,
        /// The file that comes in, such as Maven coordinates.
        what: String,
        /// Bytes so far.
        bytes: u64,
        /// Bytes in all, where it is known.
        total: Option<u64>,
    },
    /// The checksum was right; the archive is unpacked.
    Unpacking {
        /// The build or support.
        id: String,
        /// The archive.
        what: String,
    },
}

/// The reason that a build was not fetched.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The catalogue has no build of this name.
    #[error("there is no build `{0}` in the catalogue")]
    Unknown(String),
    /// There is no such allocator for it.
    #[error(
        "{id} can't be started with {}: its catalogue entry names no `allocators` that have it",
        allocator.name()
    )]
    NoAllocator {
        /// The build.
        id: String,
        /// The request.
        allocator: Allocator,
    },
    /// The machine can't run it.
    #[error("{id} runs on Linux on x86-64 only; this is {found}")]
    Platform {
        /// The build.
        id: String,
        /// The machine's own kind.
        found: String,
    },
    /// Its server program is not there.
    #[error("{id} has no program {}: the folder or archive is not that server, or its catalogue entry names another `program`", program.display())]
    NoProgram {
        /// The build.
        id: String,
        /// Its expected place.
        program: PathBuf,
    },
    /// Its server program is made for other machines.
    #[error(
        "{id} can't run here: {} is made for {made_for}, and this machine is {}",
        program.display(),
        std::env::consts::ARCH
    )]
    Processor {
        /// The build.
        id: String,
        /// The program.
        program: PathBuf,
        /// The processor it is made for.
        made_for: String,
    },
    /// A client program is not on `PATH`.
    #[error(
        "{id} is fetched with `{program}`, which is not on PATH: install it (on Debian: apt-get \
         install {package})"
    )]
    MissingProgram {
        /// The build or support.
        id: String,
        /// The program.
        program: &'static str,
        /// The Debian package that has it.
        package: &'static str,
    },
    /// A client program ended with an error.
    #[error("`{program}` failed for {what} ({status}); its output:\n{said}")]
    Client {
        /// The program.
        program: &'static str,
        /// The thing that it was to get.
        what: String,
        /// Its end.
        status: String,
        /// The end of its output.
        said: String,
    },
    /// A client program ended well and did not bring what it should.
    #[error("`{program}` brought no {}", path.display())]
    NotBrought {
        /// The program.
        program: &'static str,
        /// The file that should be there.
        path: PathBuf,
    },
    /// The machine's package configuration names no mirror to take these packages from.
    #[error(
        "{0} comes from a Debian mirror, and the package sources of this machine name none: add one with component main to them, or take the build from an archive or a folder"
    )]
    NoMirror(String),
    /// Coordinates that are no coordinates.
    #[error("`{coordinates}` must look like {form}")]
    Coordinates {
        /// As the catalogue has them.
        coordinates: String,
        /// Their right form.
        form: &'static str,
    },
    /// An address does not answer as it should.
    #[error("download {url}: {reason}")]
    Download {
        /// The address.
        url: String,
        /// The mistake.
        reason: String,
    },
    /// The file is not the one that the catalogue promises.
    #[error(
        "{what} has the SHA-256\n  {found} ({size} bytes), the catalogue expects\n  {expected}: \
         it was refused and nothing was stored; try again, and do not trust it if the checksum \
         stays different"
    )]
    Checksum {
        /// The files that were fetched.
        what: String,
        /// The catalogue's checksum.
        expected: String,
        /// The file's checksum.
        found: String,
        /// The file's size.
        size: u64,
    },
    /// A file can't be read or written.
    #[error(transparent)]
    Io(#[from] IoError),
    /// A process can't be started or watched.
    #[error("run `{program}`: {source}")]
    Run {
        /// The program.
        program: &'static str,
        /// The answer of the operating system.
        source: io::Error,
    },
    /// The archive can't be unpacked.
    #[error(transparent)]
    Unpack(#[from] UnpackError),
    /// A folder without Prony's mark is where the build should be.
    #[error("{} is in the way and was not made by Prony: move it elsewhere", .0.display())]
    InTheWay(PathBuf),
    /// This build was removed right after it was fetched.
    #[error("{0} was fetched and is gone again: does something else clean the cache folder?")]
    Vanished(String),
    /// The user wished to stop.
    #[error("stopped")]
    Stopped,
}

/// Gets the sources of one item into one folder.
pub(crate) struct Getter<'a> {
    /// The folder of the clients' state.
    pub(crate) roots: &'a Roots,
    /// Starts the clients.
    pub(crate) launcher: &'a Launcher,
    /// Looked at some times each second.
    pub(crate) stop: &'a StopFlag,
    /// Told what happens.
    pub(crate) report: &'a mut dyn FnMut(FetchEvent),
    /// The build or support.
    pub(crate) id: &'a str,
    /// A folder for what comes in; the caller removes it.
    pub(crate) downloads: &'a Path,
    /// The folder to unpack into.
    pub(crate) tree: &'a Path,
}

impl Getter<'_> {
    /// Gets one source and says what it consisted of.
    pub(crate) fn get(&mut self, source: &Source) -> Result<Vec<Artefact>, FetchError> {
        let (name, file) = match &source.from {
            Origin::Deb(packages) => return self.debian_packages(source, packages),
            // Used in place: there is nothing to get.
            Origin::Path(_) => return Ok(Vec::new()),
            Origin::Maven(coordinates) => (coordinates.clone(), self.maven(source, coordinates)?),
            Origin::Npm(package) => (package.clone(), self.npm(source, package)?),
            Origin::Pip(origin) => (origin.package.clone(), self.pip(source, origin)?),
            Origin::Url(url) => (url::name(url), self.url(source, url)?),
            Origin::Archive(path) => (path.display().to_string(), path.clone()),
        };
        let (sha256, size) = digest::of_file(&file)?;
        let expected = source.sha256.clone().unwrap_or_default();
        if sha256 != expected {
            return Err(FetchError::Checksum {
                what: name,
                expected,
                found: sha256,
                size,
            });
        }
        self.say_unpacking(&name);
        let missing = self.unpacking(source).file(&file, &source.part)?;
        if let Some(part) = missing.into_iter().next() {
            return Err(UnpackError::Missing {
                archive: file,
                part,
            }
            .into());
        }
        Ok(vec![Artefact {
            name,
            version: String::new(),
            size,
            sha256,
        }])
    }

    fn unpacking<'s>(&'s self, source: &'s Source) -> Unpacking<'s> {
        Unpacking {
            root: self.tree,
            scratch: self.downloads,
            drop: &source.drop,
            stop: self.stop,
        }
    }

    fn say_unpacking(&mut self, what: &str) {
        (self.report)(FetchEvent::Unpacking {
            id: self.id.to_owned(),
            what: what.to_owned(),
        });
    }

    fn say_downloading(&mut self, what: &str, bytes: u64, total: Option<u64>) {
        (self.report)(FetchEvent::Downloading {
            id: self.id.to_owned(),
            what: what.to_owned(),
            bytes,
            total,
        });
    }
}
