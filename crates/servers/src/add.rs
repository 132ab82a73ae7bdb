//! A server that the user has, as an unpacked folder or an archive: what it is, how it is started,
//! and its catalogue entry.

mod error;
mod first_start;
mod linking;
mod place;
mod probe;
mod shape;
mod text;
mod tree;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use prony_host::{At, Launcher, Placement, Roots, retire};
use prony_model::{Engine, Family, StopFlag, Version};

use crate::build::ServerBuild;
use crate::build::catalogue::{Bootstrap, Catalogue, Entry, Position, Shutdown};
use crate::build::depot::Depot;
use crate::build::elf::Elf;
use crate::build::fetch::FetchEvent;
use crate::instance::verify::verify;
use linking::Linking;
use place::Unpacked;
use probe::Probe;
use shape::Help;
use tree::Tree;

pub use error::AddError;

/// Options that hold for every question to an unknown program.
const ASKED_ALONE: &str = "--no-defaults";

/// A server to be added, and the catalogue that it is added to.
#[derive(Debug, Clone, Copy)]
pub struct NewServer<'a> {
    /// An unpacked server, or an archive with one.
    pub path: &'a Path,
    /// The name of its catalogue entry; made of family and version if there is none.
    pub id: Option<&'a str>,
    /// The catalogue folder that the entry is written to; made if it is not there.
    pub catalogue: &'a Path,
}

/// A server that was added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Added {
    /// Its catalogue entry.
    pub entry: Entry,
    /// The file with the entry.
    pub file: PathBuf,
    /// Its own description, such as `MySQL Community Server - GPL`; may be empty.
    pub comment: String,
    /// Parts that were left out, with the reasons.
    pub notes: Vec<String>,
}

/// Adds servers to a catalogue.
#[derive(Debug, Clone, Copy)]
pub struct Adder<'a> {
    /// The folders of builds and instances.
    pub roots: &'a Roots,
    /// The known builds, the intents, and the libraries that builds share.
    pub catalogue: &'a Catalogue,
    /// Starts the server.
    pub launcher: &'a Launcher,
    /// Looked at some times each second.
    pub stop: &'a StopFlag,
}

/// A program's description of itself.
struct VersionAnswer {
    family: Family,
    version: Version,
    version_text: String,
}

/// The build in the cache; removed again unless everything went well.
struct Tentative<'a> {
    roots: &'a Roots,
    id: String,
    kept: bool,
}

impl Adder<'_> {
    /// Looks at a server, starts it with the baseline to see which engines it has, uses every one
    /// of them, and writes its catalogue entry. A folder is used in place and never changed.
    ///
    /// # Errors
    /// When there is no server in it, this machine can't run it, libraries are missing, it can't
    /// be bootstrapped or started, or the entry can't be written. Nothing is left behind then.
    pub fn add(
        &self,
        new: &NewServer<'_>,
        report: &mut dyn FnMut(FetchEvent),
    ) -> Result<Added, AddError> {
        let unpacked = Unpacked::look(self.roots, new.path, self.stop)?;
        let (entry, rocksdb) = self.describe(new, &unpacked, report)?;
        self.catalogue.with_entry(entry.clone())?;
        let file = new.catalogue.join(format!("{}.toml", entry.id));
        if file.exists() {
            return Err(AddError::FileExists(file));
        }
        // What was unpacked to be looked at makes room for the build.
        drop(unpacked);
        let mut tentative = Tentative {
            roots: self.roots,
            id: entry.id.clone(),
            kept: false,
        };
        let (entry, comment, notes) = self.try_out(entry, rocksdb, report)?;
        let what = if comment.is_empty() {
            &entry.version_text
        } else {
            &comment
        };
        write(
            &file,
            &text::text(&entry, &format!("Added by `prony servers add`: {what}.")),
        )?;
        tentative.kept = true;
        Ok(Added {
            entry,
            file,
            comment,
            notes,
        })
    }

    /// Everything that can be known without starting the server. Returns the options that would
    /// load MyRocks beside it.
    fn describe(
        &self,
        new: &NewServer<'_>,
        unpacked: &Unpacked,
        report: &mut dyn FnMut(FetchEvent),
    ) -> Result<(Entry, Option<Vec<String>>), AddError> {
        let tree = Tree::walk(unpacked.root())?;
        let program =
            shape::program(&tree).ok_or_else(|| AddError::NoServer(new.path.to_owned()))?;
        let elf = check_program(new.path, &tree, &program)?;
        let probe = Probe {
            launcher: self.launcher,
            stop: self.stop,
            scratch: unpacked.scratch(),
            limit: probe::LIMIT,
        };
        let depot = Depot::new(self.roots, self.catalogue, self.launcher);
        let linking = linking::find(&probe, &tree, &program, &elf, &mut |id| {
            depot.fetch_support(id, self.stop, report)
        })?
        .map_err(|missing| AddError::libraries(new.path, &program, &missing, !new.path.is_dir()))?;
        let mut entry = skeleton(&program, linking);
        let supports = entry.support.iter();
        let supports = supports.map(|id| depot.fetch_support(id, self.stop, report));
        let supports = supports.collect::<Result<_, _>>()?;
        let build = ServerBuild::assemble(&entry, tree.root.clone(), Vec::new(), supports);
        let ask = |words: &[&str]| {
            let mut command = build.command(self.launcher, Placement::default(), &[]);
            command.arg(ASKED_ALONE).args(words);
            probe.output(command)
        };
        let said = said_version(&ask(&["--version"])?).map_err(|said| AddError::Version {
            path: new.path.to_owned(),
            program: program.clone(),
            said,
        })?;
        let help = ask(&["--verbose", "--help"])?;
        let help = Help(&help);
        entry.id = self.id(new, &said)?;
        entry.family = said.family;
        entry.version = said.version;
        entry.version_text = said.version_text;
        entry.bootstrap = shape::bootstrap(&tree, help)
            .ok_or_else(|| AddError::NoBootstrap(new.path.to_owned()))?;
        entry.locations = shape::locations(&tree, &program, help);
        if !help.encrypts() {
            entry.lacks.push("tls".to_owned());
        }
        entry.source = vec![unpacked.source()];
        Ok((entry, shape::rocksdb(&tree)))
    }

    /// The name of the entry, which must be new.
    fn id(&self, new: &NewServer<'_>, said: &VersionAnswer) -> Result<String, AddError> {
        let own = || format!("{}-{}", said.family, said.version);
        let id = new.id.map_or_else(own, str::to_owned);
        match self.catalogue.get(&id) {
            Some(_) => Err(AddError::Exists(id)),
            None => Ok(id),
        }
    }

    /// Starts the server, completes the entry with what is seen, and verifies it. Returns what the
    /// server says of itself, and what was left out.
    fn try_out(
        &self,
        mut entry: Entry,
        rocksdb: Option<Vec<String>>,
        report: &mut dyn FnMut(FetchEvent),
    ) -> Result<(Entry, String, Vec<String>), AddError> {
        let mut notes = Vec::new();
        let build = self.fetch(&entry, report)?;
        let seen = first_start::first_start(self, &build)?;
        entry.version_text = seen.version_text;
        entry.engines = seen.engines;
        entry.shutdown = seen.shutdown;
        self.verify(&entry, report)?;
        let has = entry.engines.contains(&Engine::Rocksdb);
        if let Some(options) = rocksdb.filter(|_| !has) {
            let mut with = entry.clone();
            with.engines.push(Engine::Rocksdb);
            with.engine_options.insert(Engine::Rocksdb, options);
            match self.verify(&with, report) {
                Ok(()) => entry = with,
                Err(AddError::Stopped) => return Err(AddError::Stopped),
                Err(error) => notes.push(format!(
                    "its MyRocks plugin is left out, because it failed to {error}"
                )),
            }
        }
        Ok((entry, seen.comment, notes))
    }

    fn verify(&self, entry: &Entry, report: &mut dyn FnMut(FetchEvent)) -> Result<(), AddError> {
        let build = self.fetch(entry, report)?;
        let catalogue = self.catalogue.with_entry(entry.clone())?;
        let verified = verify(self.roots, &catalogue, self.launcher, &build, self.stop);
        if self.stop.requested() {
            return Err(AddError::Stopped);
        }
        verified?;
        Ok(())
    }

    /// The build of an entry as it stands.
    fn fetch(
        &self,
        entry: &Entry,
        report: &mut dyn FnMut(FetchEvent),
    ) -> Result<ServerBuild, AddError> {
        let catalogue = self.catalogue.with_entry(entry.clone())?;
        let depot = Depot::new(self.roots, &catalogue, self.launcher);
        Ok(depot.fetch(&entry.id, self.stop, report)?)
    }
}

/// Looks at the program without running it.
fn check_program(path: &Path, tree: &Tree, program: &Path) -> Result<Elf, AddError> {
    let full = tree.root.join(program);
    match Elf::read(&full).at("read", &full)? {
        None => Err(AddError::no_program(path, program)),
        Some(elf) if elf.runs_on(std::env::consts::ARCH) => Ok(elf),
        Some(elf) => Err(AddError::processor(path, program, &elf.processor())),
    }
}

/// An entry with what its files tell, and without what only the program tells.
fn skeleton(program: &Path, linking: Linking) -> Entry {
    Entry {
        id: String::new(),
        family: Family::Mysql,
        version: Version::new(0, 0, 0),
        version_text: String::new(),
        // The engine of the system tables of most versions; it is there in all.
        engines: vec![Engine::Myisam],
        engine_options: BTreeMap::new(),
        lacks: if linking.is_static {
            vec!["allocator".to_owned()]
        } else {
            Vec::new()
        },
        program: program.to_owned(),
        loader: linking.loader,
        libraries: linking.libraries,
        support: linking.support,
        allocators: linking.allocators,
        bootstrap: Bootstrap::InitializeInsecure,
        shutdown: Shutdown::Signal,
        locations: BTreeMap::new(),
        source: Vec::new(),
        position: Position::default(),
    }
}

/// Reads `PROGRAM  Ver VERSION for SYSTEM on PROCESSOR (COMMENT)`. What can't be read comes back.
fn said_version(said: &str) -> Result<VersionAnswer, String> {
    let other = || said.trim().to_owned();
    let line = said.lines().find_map(|line| line.split_once("  Ver "));
    let (_, rest) = line.ok_or_else(other)?;
    let text = rest.split(" for ").next().unwrap_or(rest).trim();
    let text = text.strip_suffix("-log").unwrap_or(text);
    let family = if rest.contains("MariaDB") {
        Family::Mariadb
    } else {
        Family::Mysql
    };
    Ok(VersionAnswer {
        family,
        version: Version::from_server(text).map_err(|_| other())?,
        version_text: text.to_owned(),
    })
}

/// Writes the catalogue file, which must be new. It is there whole or not at all.
fn write(file: &Path, text: &str) -> Result<(), AddError> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).at("create", folder)?;
    }
    // No name that is read as a catalogue file.
    let half = file.with_extension(format!("toml-{}", std::process::id()));
    let written = fs::write(&half, text).at("write", &half);
    let written = match written {
        Ok(()) if file.exists() => Err(AddError::FileExists(file.to_owned())),
        Ok(()) => fs::rename(&half, file)
            .at("create", file)
            .map_err(AddError::from),
        Err(error) => Err(error.into()),
    };
    if written.is_err() {
        // What can't be removed is read by nobody.
        let _ = fs::remove_file(&half);
    }
    written
}

impl Drop for Tentative<'_> {
    fn drop(&mut self) {
        if !self.kept {
            // What can't be removed is in nobody's way: the next build of this name replaces it.
            let _ = retire(&self.roots.builds().join(&self.id));
        }
    }
}

#[cfg(test)]
mod tests;
