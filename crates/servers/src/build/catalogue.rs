//! The catalogue: the server builds that there are, and how each is fetched and started.

mod entry;
pub(crate) mod error;
mod parse;

use std::fs;
use std::path::Path;

use prony_host::At;
use prony_model::{BuildFacts, Config, Family, IntentFacts};

pub use entry::{
    Bootstrap, DebOrigin, Dependencies, Entry, Origin, Part, PipOrigin, Shutdown, Source, Support,
};

pub use error::CatalogueError;

pub(crate) use entry::{Position, version_matches};

use crate::config::intents::Intents;
use parse::CatalogueFile;

/// The catalogue files that Prony brings along, with their names.
const EMBEDDED: [(&str, &str); 3] = [
    ("mysql.toml", include_str!("../../../../catalog/mysql.toml")),
    (
        "mariadb.toml",
        include_str!("../../../../catalog/mariadb.toml"),
    ),
    (
        "postgresql.toml",
        include_str!("../../../../catalog/postgresql.toml"),
    ),
];

/// The knowledge about server builds and configuration, before anything is fetched.
#[derive(Debug, Clone)]
pub struct Catalogue {
    entries: Vec<Entry>,
    supports: Vec<Support>,
    pub(crate) intents: Intents,
}

impl Catalogue {
    /// The catalogue that Prony brings along.
    ///
    /// # Errors
    /// When the embedded files contradict themselves; a test makes sure that they do not.
    pub fn embedded() -> Result<Self, CatalogueError> {
        let mut catalogue = Self {
            entries: Vec::new(),
            supports: Vec::new(),
            intents: Intents::embedded()?,
        };
        for (name, text) in EMBEDDED {
            catalogue.merge(parse::parse(Path::new(name), text)?);
        }
        catalogue.check_references()?;
        Ok(catalogue)
    }

    /// Adds the `*.toml` files of a folder, in the order of their names. An entry replaces the
    /// one that had its id. Relative paths in them are relative to the folder.
    ///
    /// # Errors
    /// When the folder or a file can't be read or a file is not a catalogue file.
    pub fn with_user_dir(mut self, folder: &Path) -> Result<Self, CatalogueError> {
        let mut files = Vec::new();
        for item in fs::read_dir(folder).at("read", folder)? {
            files.push(item.at("read", folder)?.path());
        }
        files.retain(|path| path.extension().is_some_and(|end| end == "toml"));
        files.sort();
        for path in files {
            let text = fs::read_to_string(&path).at("read", &path)?;
            self.merge(parse::parse(&path, &text)?);
        }
        self.check_references()?;
        Ok(self)
    }

    /// The same with one more entry, in place of one with its id.
    pub(crate) fn with_entry(&self, entry: Entry) -> Result<Self, CatalogueError> {
        parse::check(&entry)?;
        let mut catalogue = self.clone();
        catalogue.merge(CatalogueFile {
            build: vec![entry],
            ..CatalogueFile::default()
        });
        catalogue.check_references()?;
        Ok(catalogue)
    }

    /// Every entry, in the order of the files.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entry with this id.
    pub fn get(&self, id: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.id == id)
    }

    /// The support libraries with this id.
    pub fn support(&self, id: &str) -> Option<&Support> {
        self.supports.iter().find(|support| support.id == id)
    }

    /// The builds that experiments are checked against.
    pub fn facts(&self) -> Vec<BuildFacts> {
        self.entries.iter().map(Entry::facts).collect()
    }

    /// Bytes of memory that a configuration gives to a server of a family, as far as intents say so.
    pub fn memory(&self, family: Family, config: &Config) -> u64 {
        self.intents.memory(family, config)
    }

    /// The intents that experiments are checked against.
    pub fn intent_facts(&self) -> Vec<IntentFacts> {
        self.intents.facts()
    }

    fn merge(&mut self, file: CatalogueFile) {
        for support in file.support {
            self.supports.retain(|known| known.id != support.id);
            self.supports.push(support);
        }
        for entry in file.build {
            match self.entries.iter_mut().find(|known| known.id == entry.id) {
                Some(known) => *known = entry,
                None => self.entries.push(entry),
            }
        }
    }

    /// Support libraries may be in another file than the build that wants them, and intents are.
    fn check_references(&self) -> Result<(), CatalogueError> {
        for entry in &self.entries {
            let (id, Position { file, line }) = (&entry.id, &entry.position);
            let known = |name: &&String| self.intents.get(name).is_some();
            if let Some(unknown) = entry.lacks.iter().find(|name| !known(name)) {
                let names = self.intents.names().join(", ");
                let reason =
                    format!("`{id}` lacks `{unknown}`, which is no intent; there are {names}");
                return Err(CatalogueError::at(file, *line, reason));
            }
            let mut supports = entry.support.iter().chain(&entry.allocators);
            if let Some(unknown) = supports.find(|id| self.support(id).is_none()) {
                let reason = format!("`{id}` wants the support `{unknown}`, which no file has");
                return Err(CatalogueError::at(file, *line, reason));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
