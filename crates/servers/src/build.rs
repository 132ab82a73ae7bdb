//! Server builds: which there are, how they are fetched and unpacked, and one on this machine.

pub(crate) mod catalogue;
pub(crate) mod depot;
pub(crate) mod elf;
pub(crate) mod fetch;
mod glob;
pub(crate) mod unpack;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::mem;
use std::path::{Path, PathBuf};
use std::process::Command;

use prony_host::{ChildSetup, Launcher, guard::preload_list};
use prony_model::{Allocator, BuildFacts};
use serde::{Deserialize, Serialize};

use crate::digest::hex_of;
use catalogue::{Bootstrap, Entry, Shutdown, Support, version_matches};

/// An unpacked server build, ready to be started. Never changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerBuild {
    /// The catalogue's name for it.
    pub id: String,
    /// The catalogue's promises.
    pub facts: BuildFacts,
    /// The answer to `SELECT VERSION()`, without `-log`; a `*` at the end stands for any rest.
    pub version_text: String,
    /// A hash of everything it consists of, support libraries included; of a folder of the user's
    /// own, of its server program only. A preloaded allocator is not part of it: it changes nothing
    /// of what is stored.
    pub content_hash: String,
    /// Everything that was fetched for it, support libraries included.
    pub artefacts: Vec<Artefact>,
    /// The folder that it is in.
    pub root: PathBuf,
    pub(crate) program: PathBuf,
    pub(crate) loader: Option<PathBuf>,
    pub(crate) libraries: Vec<PathBuf>,
    pub(crate) bootstrap: Bootstrap,
    pub(crate) shutdown: Shutdown,
    /// An allocator to start it with in place of the one it was linked with.
    pub(crate) preload: Option<Preload>,
    pub(crate) locations: BTreeMap<String, PathBuf>,
}

/// One fetched file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artefact {
    /// Its coordinates or package name.
    pub name: String,
    /// Its exact version, empty where the name says it.
    pub version: String,
    /// Bytes.
    pub size: u64,
    /// SHA-256 in hexadecimal digits.
    pub sha256: String,
}

/// A memory allocator on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Preload {
    pub(crate) allocator: Allocator,
    /// The library, without links in its path.
    pub(crate) library: PathBuf,
}

/// A support on this machine.
pub(crate) struct InstalledSupport<'a> {
    pub(crate) support: &'a Support,
    pub(crate) root: PathBuf,
    pub(crate) artefacts: Vec<Artefact>,
}

impl InstalledSupport<'_> {
    /// Its folders with libraries.
    pub(crate) fn libraries(&self) -> impl Iterator<Item = PathBuf> {
        let folders = self.support.libraries.iter();
        folders.map(|folder| self.root.join(folder))
    }

    /// Its loader, if it has one.
    pub(crate) fn loader(&self) -> Option<PathBuf> {
        Some(self.root.join(self.support.loader.as_ref()?))
    }
}

impl ServerBuild {
    /// Puts together what was fetched for `entry` into `root`.
    pub(crate) fn assemble(
        entry: &Entry,
        root: PathBuf,
        mut artefacts: Vec<Artefact>,
        supports: Vec<InstalledSupport<'_>>,
    ) -> Self {
        let mut libraries: Vec<_> = entry.libraries.iter().map(|path| root.join(path)).collect();
        let mut loader = entry.loader.as_ref().map(|path| root.join(path));
        for installed in supports {
            libraries.extend(installed.libraries());
            loader = loader.or_else(|| installed.loader());
            artefacts.extend(installed.artefacts);
        }
        let parts: Vec<_> = entry.source.iter().map(|source| &source.part).collect();
        let hashes: Vec<_> = artefacts.iter().map(|artefact| &artefact.sha256).collect();
        Self {
            id: entry.id.clone(),
            facts: entry.facts(),
            version_text: entry.version_text.clone(),
            content_hash: hex_of(format!("{parts:?} {hashes:?}").as_bytes()),
            artefacts,
            program: root.join(&entry.program),
            loader,
            libraries,
            bootstrap: entry.bootstrap.clone(),
            shutdown: entry.shutdown,
            preload: None,
            // Without `.` in them: some old servers take it literally.
            locations: entry
                .locations
                .iter()
                .map(|(option, path)| (option.clone(), root.join(path).components().collect()))
                .collect(),
            root,
        }
    }

    /// True where `answer` is what this build says to `SELECT VERSION()`.
    pub fn answers_with(&self, answer: &str) -> bool {
        version_matches(&self.version_text, answer)
    }

    /// A command that runs the server program, placed like that, with the libraries that are meant
    /// for it alone. `wrapper` is a program that runs it, and its arguments; usually there is none.
    pub(crate) fn command(
        &self,
        launcher: &Launcher,
        mut setup: ChildSetup,
        wrapper: &[OsString],
    ) -> Command {
        let allocator = self.preload.as_ref().map(|preload| &preload.library);
        setup.preload.extend(allocator.cloned());
        let begin = |program: &Path, setup: &ChildSetup| {
            let Some((tool, arguments)) = wrapper.split_first() else {
                return launcher.command_with(program, setup);
            };
            let mut command = launcher.command_with(tool, setup);
            command.args(arguments).arg(program);
            command
        };
        let mut command;
        if let Some(loader) = &self.loader {
            // The loader preloads, and not what runs it: a wrapper has another C library.
            let preload = mem::take(&mut setup.preload);
            command = begin(loader, &setup);
            command
                .arg("--library-path")
                .arg(search_path(&self.libraries));
            if !preload.is_empty() {
                command.arg("--preload").arg(preload_list(&preload));
            }
            command.arg(&self.program);
        } else {
            command = begin(&self.program, &setup);
            if !self.libraries.is_empty() {
                command.env("LD_LIBRARY_PATH", search_path(&self.libraries));
            }
        }
        command
    }
}

/// Folders as the loader takes them, `ld.so(8)`.
pub(crate) fn search_path(folders: &[PathBuf]) -> OsString {
    let folders: Vec<_> = folders.iter().map(|folder| folder.as_os_str()).collect();
    folders.join(OsStr::new(":"))
}
