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
use std::io;
use std::path::{Path, PathBuf};

use prony_host::{At, ChildSetup, Launcher, Roots, retire};
use prony_model::{Engine, Family, StopFlag, Version};

use crate::build::ServerBuild;
use crate::build::catalogue::{Bootstrap, Catalogue, Entry, Position, Shutdown};
use crate::build::depot::Depot;
use crate::build::elf::Elf;
use crate::build::fetch::FetchEvent;
use crate::instance::verify::verify;
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
        let added = self.try_add(new, report);
        // Whatever fails when the user wishes to stop.
        match added {
            Err(_) if self.stop.requested() => Err(AddError::Stopped),
            added => added,
        }
    }

    fn try_add(
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
        let build = self.roots.builds().join(&entry.id);
        let added = self.try_out(entry, rocksdb, file, report);
        if added.is_err() {
            // A folder that can't be removed does no harm: the next build of this name replaces it.
            let _ = retire(&build);
        }
        added
    }

    /// Everything that can be known without starting the server. Returns the options that would
    /// load MyRocks beside it.
    fn describe(
        &self,
        new: &NewServer<'_>,
        unpacked: &Unpacked,
        report: &mut dyn FnMut(FetchEvent),
    ) -> Result<(Entry, Option<Vec<String>>), AddError> {
        let tree = Tree::walk(&unpacked.root)?;
        let program =
            shape::program(&tree).ok_or_else(|| AddError::NoServer(new.path.to_owned()))?;
        let elf = check_program(new.path, &tree, &program)?;
        let probe = Probe {
            launcher: self.launcher,
            stop: self.stop,
            scratch: unpacked.scratch.path(),
            limit: probe::LIMIT,
        };
        let depot = Depot::new(self.roots, self.catalogue, self.launcher);
        let mut entry = skeleton(&program);
        let missing = linking::find(&probe, &tree, &mut entry, &elf, &mut |id| {
            depot.fetch_support(id, self.stop, report)
        })?;
        if !missing.is_empty() {
            let archive = !new.path.is_dir();
            return Err(AddError::libraries(new.path, &program, &missing, archive));
        }
        let supports = entry.support.iter();
        let supports = supports.map(|id| depot.fetch_support(id, self.stop, report));
        let supports = supports.collect::<Result<_, _>>()?;
        let build = ServerBuild::assemble(&entry, tree.root.clone(), Vec::new(), supports);
        let ask = |words: &[&str]| {
            let mut command = build.command(self.launcher, ChildSetup::default(), &[]);
            command.arg(ASKED_ALONE).args(words);
            probe.output(command)
        };
        let answer = ask(&["--version"])?;
        let (family, version, text) = said_version(&answer).ok_or_else(|| AddError::Version {
            path: new.path.to_owned(),
            program: program.clone(),
            said: answer.trim().to_owned(),
        })?;
        let help = ask(&["--verbose", "--help"])?;
        let help = Help(&help);
        entry.id = self.id(new, family, version)?;
        (entry.family, entry.version) = (family, version);
        text.clone_into(&mut entry.version_text);
        entry.bootstrap = shape::bootstrap(&tree, help)
            .ok_or_else(|| AddError::NoBootstrap(new.path.to_owned()))?;
        entry.locations = shape::locations(&tree, &program, help);
        if !help.encrypts() {
            entry.lacks.push("tls".to_owned());
        }
        entry.source = vec![unpacked.source.clone()];
        Ok((entry, shape::rocksdb(&tree)))
    }

    /// The name of the entry, which must be new.
    fn id(
        &self,
        new: &NewServer<'_>,
        family: Family,
        version: Version,
    ) -> Result<String, AddError> {
        let own = || format!("{family}-{version}");
        let id = new.id.map_or_else(own, str::to_owned);
        match self.catalogue.get(&id) {
            Some(_) => Err(AddError::Exists(id)),
            None => Ok(id),
        }
    }

    /// Starts the server, completes the entry with what is seen, verifies it, and writes it.
    fn try_out(
        &self,
        mut entry: Entry,
        rocksdb: Option<Vec<String>>,
        file: PathBuf,
        report: &mut dyn FnMut(FetchEvent),
    ) -> Result<Added, AddError> {
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
                Err(error) if self.stop.requested() => return Err(error),
                Err(error) => notes.push(format!(
                    "its MyRocks plugin is left out, because it failed to {error}"
                )),
            }
        }
        let comment = seen.comment;
        let what = if comment.is_empty() {
            &entry.version_text
        } else {
            &comment
        };
        let note = format!("Added by `prony servers add`: {what}.");
        let text = text::text(&entry, &note).map_err(io::Error::other);
        write(&file, &text.at("write", &file)?)?;
        Ok(Added {
            entry,
            file,
            comment,
            notes,
        })
    }

    fn verify(&self, entry: &Entry, report: &mut dyn FnMut(FetchEvent)) -> Result<(), AddError> {
        let build = self.fetch(entry, report)?;
        let catalogue = self.catalogue.with_entry(entry.clone())?;
        verify(self.roots, &catalogue, self.launcher, &build, self.stop)?;
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

/// An entry without what is found out of its files and its program.
fn skeleton(program: &Path) -> Entry {
    Entry {
        id: String::new(),
        family: Family::Mysql,
        version: Version::new(0, 0, 0),
        version_text: String::new(),
        // The engine of the system tables of most versions; it is there in all.
        engines: vec![Engine::Myisam],
        engine_options: BTreeMap::new(),
        lacks: Vec::new(),
        caution: None,
        compiled: None,
        no_valgrind: None,
        program: program.to_owned(),
        loader: None,
        libraries: Vec::new(),
        support: Vec::new(),
        allocators: None,
        bootstrap: Bootstrap::InitializeInsecure,
        shutdown: Shutdown::Signal,
        locations: BTreeMap::new(),
        source: Vec::new(),
        position: Position::default(),
    }
}

/// Reads `PROGRAM  Ver VERSION for SYSTEM on PROCESSOR (COMMENT)`.
fn said_version(said: &str) -> Option<(Family, Version, &str)> {
    let (_, rest) = said.lines().find_map(|line| line.split_once("  Ver "))?;
    let text = rest.split(" for ").next().unwrap_or(rest).trim();
    let text = text.strip_suffix("-log").unwrap_or(text);
    let family = if rest.contains("MariaDB") {
        Family::Mariadb
    } else {
        Family::Mysql
    };
    Some((family, Version::from_server(text).ok()?, text))
}

/// Writes the catalogue file, which must be new. It is there whole or not at all.
fn write(file: &Path, text: &str) -> Result<(), AddError> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).at("create", folder)?;
    }
    // No name that is read as a catalogue file.
    let half = file.with_extension(format!("toml-{}", std::process::id()));
    let written = match fs::write(&half, text).at("write", &half) {
        Ok(()) if file.exists() => Err(AddError::FileExists(file.to_owned())),
        written => written
            .and_then(|()| fs::rename(&half, file).at("create", file))
            .map_err(AddError::from),
    };
    if written.is_err() {
        // Files that can't be removed are never read.
        let _ = fs::remove_file(&half);
    }
    written
}

#[cfg(test)]
mod tests;
