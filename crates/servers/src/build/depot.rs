//! Builds on this machine: which there are, and getting the others.

mod manifest;

use std::path::{Path, PathBuf};

use prony_host::{
    Acquired, At, FileLock, Launcher, OwnedFolder, Roots, STAGING, create_private,
    remove_abandoned, retire,
};
use prony_model::{Allocator, StopFlag};

use crate::build::catalogue::{Catalogue, Entry, Origin, Source, Support};
use crate::build::elf::Elf;
use crate::build::fetch::{FetchError, FetchEvent, Getter};
use crate::build::{Artefact, InstalledSupport, Preload, ServerBuild};
use manifest::{Manifest, UserProgram};

/// The builds under one cache folder.
#[derive(Debug, Clone, Copy)]
pub struct Depot<'a> {
    roots: &'a Roots,
    catalogue: &'a Catalogue,
    launcher: &'a Launcher,
}

/// Something that is fetched into a folder of its own.
struct Item<'a> {
    /// Its id.
    id: &'a str,
    /// The folder that holds the folders of its kind.
    shelf: PathBuf,
    source: &'a [Source],
    /// The server program that must be in it, relative to its folder.
    program: Option<&'a Path>,
}

/// The folder of an item's files, below its own.
const TREE: &str = "tree";

impl<'a> Depot<'a> {
    /// The depot of `roots`, filled from `catalogue`.
    pub fn new(roots: &'a Roots, catalogue: &'a Catalogue, launcher: &'a Launcher) -> Self {
        Self {
            roots,
            catalogue,
            launcher,
        }
    }

    /// The build if it is here whole, as the catalogue wants it today.
    pub fn installed(&self, id: &str) -> Option<ServerBuild> {
        let entry = self.catalogue.get(id)?;
        let manifest = Manifest::read(&self.build_item(entry))?;
        let supports = entry
            .support
            .iter()
            .map(|id| self.installed_support(id))
            .collect::<Option<Vec<_>>>()?;
        let root = match entry.user_folder() {
            None => self.build_item(entry).folder().join(TREE),
            Some(folder) => {
                manifest.user_program.filter(|known| {
                    UserProgram::look(&folder.join(&entry.program)).is_ok_and(|now| now == *known)
                })?;
                folder.clone()
            }
        };
        let artefacts = manifest.artefacts;
        Some(ServerBuild::assemble(entry, root, artefacts, supports))
    }

    /// Gets the build, and the support libraries that it wants. What is here already is returned
    /// at once, without any child process. Nothing that looks whole is left behind by a fetch
    /// that fails or is killed. `report` is called from this thread, some times each second.
    ///
    /// # Errors
    /// When the build is not in the catalogue, the machine can't run it, a client program is
    /// missing or fails, the checksum is another, the disk is full, or the user wishes to stop.
    pub fn fetch(
        &self,
        id: &str,
        stop: &StopFlag,
        report: &mut dyn FnMut(FetchEvent),
    ) -> Result<ServerBuild, FetchError> {
        if let Some(build) = self.installed(id) {
            return Ok(build);
        }
        let entry = self
            .catalogue
            .get(id)
            .ok_or_else(|| FetchError::Unknown(id.to_owned()))?;
        check_platform(entry, (std::env::consts::OS, std::env::consts::ARCH))?;
        for support in &entry.support {
            self.fetch_support(support, stop, report)?;
        }
        let program = entry
            .user_folder()
            .map(|folder| folder.join(&entry.program));
        self.install(&self.build_item(entry), program.as_deref(), stop, report)?;
        self.installed(id)
            .ok_or_else(|| FetchError::Vanished(id.to_owned()))
    }

    /// The build, to be started with `allocator`: gets the library if it is not here. A build that
    /// has the allocator that it was linked with comes back as it is.
    ///
    /// # Errors
    /// When the catalogue names no such allocator for the build, or as [`Self::fetch`].
    pub fn with_allocator(
        &self,
        mut build: ServerBuild,
        allocator: Allocator,
        stop: &StopFlag,
        report: &mut dyn FnMut(FetchEvent),
    ) -> Result<ServerBuild, FetchError> {
        if allocator == Allocator::Built {
            return Ok(build);
        }
        let entry = self.catalogue.get(&build.id);
        let support = entry
            .and_then(|entry| self.catalogue.support(entry.allocators.as_ref()?))
            .filter(|support| support.preload.contains_key(&allocator))
            .ok_or_else(|| FetchError::NoAllocator {
                id: build.id.clone(),
                allocator,
            })?;
        let installed = self.fetch_support(&support.id, stop, report)?;
        let library = installed.root.join(&support.preload[&allocator]);
        build.preload = Some(Preload {
            allocator,
            library: library.canonicalize().at("find", &library)?,
        });
        let folders = support.libraries.iter();
        build
            .libraries
            .extend(folders.map(|folder| installed.root.join(folder)));
        build.artefacts.extend(installed.artefacts);
        Ok(build)
    }

    /// Gets libraries if they are not here.
    pub(crate) fn fetch_support(
        &self,
        id: &str,
        stop: &StopFlag,
        report: &mut dyn FnMut(FetchEvent),
    ) -> Result<InstalledSupport<'a>, FetchError> {
        if let Some(installed) = self.installed_support(id) {
            return Ok(installed);
        }
        let unknown = || FetchError::Unknown(id.to_owned());
        let support = self.catalogue.support(id).ok_or_else(unknown)?;
        self.install(&self.support_item(support), None, stop, report)?;
        self.installed_support(id)
            .ok_or_else(|| FetchError::Vanished(id.to_owned()))
    }

    /// Gets one item while holding its lock. Of a folder of the user's own, `program` is noted.
    fn install(
        &self,
        item: &Item<'_>,
        program: Option<&Path>,
        stop: &StopFlag,
        report: &mut dyn FnMut(FetchEvent),
    ) -> Result<(), FetchError> {
        let locks = self.roots.locks();
        create_private(&locks)?;
        let lock = locks.join(format!("{}.lock", item.id));
        let mut told = || {
            report(FetchEvent::Waiting {
                id: item.id.to_owned(),
            });
        };
        let Acquired::Held(_lock) = FileLock::acquire(&lock, stop, &mut told)? else {
            return Err(FetchError::Stopped);
        };
        if let Some(program) = program {
            check_program(item.id, program, program)?;
        }
        let user_program = program.map(UserProgram::look).transpose()?;
        let current = Manifest::read(item).is_some_and(|known| known.user_program == user_program);
        if current {
            // Another process got it while this one waited.
            return Ok(());
        }
        let prefix = format!("{STAGING}{}-", item.id);
        remove_abandoned(&item.shelf, &prefix)?;
        let staging = OwnedFolder::create(&item.shelf, &prefix)?;
        let mut artefacts = self.get_sources(item, staging.path(), stop, report)?;
        if let (Some(inside), None) = (item.program, program) {
            check_program(item.id, &staging.path().join(TREE).join(inside), inside)?;
        }
        artefacts.extend(program.map(program_artefact).transpose()?);
        Manifest::new(item, artefacts, user_program).write(staging.path())?;
        let target = item.folder();
        if target.exists() && !retire(&target)? {
            return Err(FetchError::InTheWay(target));
        }
        Ok(staging.publish(&target)?)
    }

    fn get_sources(
        &self,
        item: &Item<'_>,
        staging: &Path,
        stop: &StopFlag,
        report: &mut dyn FnMut(FetchEvent),
    ) -> Result<Vec<Artefact>, FetchError> {
        let tree = staging.join(TREE);
        create_private(&tree)?;
        let downloads = OwnedFolder::create(&self.roots.downloads(), &format!("{}-", item.id))?;
        let mut getter = Getter {
            roots: self.roots,
            launcher: self.launcher,
            stop,
            report,
            id: item.id,
            downloads: downloads.path(),
            tree: &tree,
        };
        let mut artefacts = Vec::new();
        for source in item.source {
            artefacts.extend(getter.get(source)?);
        }
        Ok(artefacts)
    }

    fn installed_support(&self, id: &str) -> Option<InstalledSupport<'a>> {
        let support = self.catalogue.support(id)?;
        let item = self.support_item(support);
        let manifest = Manifest::read(&item)?;
        Some(InstalledSupport {
            support,
            root: item.folder().join(TREE),
            artefacts: manifest.artefacts,
        })
    }

    fn build_item(&self, entry: &'a Entry) -> Item<'a> {
        Item {
            id: &entry.id,
            shelf: self.roots.builds(),
            source: &entry.source,
            program: Some(&entry.program),
        }
    }

    fn support_item(&self, support: &'a Support) -> Item<'a> {
        Item {
            id: &support.id,
            shelf: self.roots.support(),
            source: &support.source,
            program: None,
        }
    }
}

impl Item<'_> {
    /// Its place when it is whole.
    fn folder(&self) -> PathBuf {
        self.shelf.join(self.id)
    }
}

/// Every build that registries have is one for Linux on x86-64; what the user brings along may be
/// for any machine.
fn check_platform(entry: &Entry, (os, arch): (&str, &str)) -> Result<(), FetchError> {
    let brought = |source: &Source| {
        matches!(
            source.from,
            Origin::Url(_) | Origin::Archive(_) | Origin::Path(_)
        )
    };
    if (os, arch) == ("linux", "x86_64") || entry.source.iter().all(brought) {
        return Ok(());
    }
    Err(FetchError::Platform {
        id: entry.id.clone(),
        found: format!("{os} on {arch}"),
    })
}

/// Makes sure that there is a program and that it is one for this machine. `name` is what the user
/// knows it by.
fn check_program(id: &str, path: &Path, name: &Path) -> Result<(), FetchError> {
    if !path.is_file() {
        return Err(FetchError::NoProgram {
            id: id.to_owned(),
            program: name.to_owned(),
        });
    }
    let arch = std::env::consts::ARCH;
    match Elf::read(path).at("read", path)? {
        Some(elf) if !elf.runs_on(arch) => Err(FetchError::Processor {
            id: id.to_owned(),
            program: name.to_owned(),
            made_for: elf.processor(),
        }),
        _ => Ok(()),
    }
}

/// A program of the user's own, as what its build consists of.
fn program_artefact(program: &Path) -> Result<Artefact, FetchError> {
    let (sha256, size) = crate::digest::of_file(program)?;
    Ok(Artefact {
        name: program.display().to_string(),
        version: String::new(),
        size,
        sha256,
    })
}

/// The sources of an item as text: another recipe is another build.
fn recipe(sources: &[Source]) -> String {
    let fetched: Vec<_> = sources
        .iter()
        .filter(|source| !matches!(source.from, Origin::Path(_)))
        .collect();
    crate::digest::hex_of(format!("{fetched:?}").as_bytes())
}

#[cfg(test)]
mod tests;
