//! The libraries that a server program needs, and where they are.

use std::path::{Path, PathBuf};

use object::elf::{EM_386, EM_X86_64};

use super::AddError;
use super::probe::Probe;
use super::tree::Tree;
use crate::build::elf::Elf;
use crate::build::fetch::FetchError;
use crate::build::{InstalledSupport, search_path};

/// Rounds of looking for libraries that libraries need.
const ROUNDS: usize = 10;

/// The way to load a program, in the catalogue's terms.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Linking {
    /// The server's own loader, relative to its folder.
    pub(super) loader: Option<PathBuf>,
    /// Folders with libraries of its own, relative to its folder.
    pub(super) libraries: Vec<PathBuf>,
    /// Supports that bring the rest.
    pub(super) support: Vec<String>,
    /// The support with allocators that it can be started with.
    pub(super) allocators: Option<String>,
    /// True where there is nothing to load.
    pub(super) is_static: bool,
}

/// Supports for builds that use the C library of a kind of machine: libraries, and allocators.
struct Supports {
    libraries: &'static str,
    allocators: &'static str,
}

const AMD64: Supports = Supports {
    libraries: "debian-12-amd64",
    allocators: "allocators-debian-12-amd64",
};
const I386: Supports = Supports {
    libraries: "debian-12-i386",
    allocators: "allocators-debian-12-i386",
};

/// Gets a support by its id.
pub(super) type GetSupport<'g, 'c> =
    dyn FnMut(&str) -> Result<InstalledSupport<'c>, FetchError> + 'g;

/// A search for the libraries of one program.
struct Search<'a> {
    probe: &'a Probe<'a>,
    tree: &'a Tree,
    program: PathBuf,
    loader: PathBuf,
    /// Folders of supports.
    foreign: Vec<PathBuf>,
    linking: Linking,
}

/// Finds every library that the program needs: in the server's own folder, in the system, or in a
/// support. What is nowhere comes back.
pub(super) fn find(
    probe: &Probe<'_>,
    tree: &Tree,
    program: &Path,
    elf: &Elf,
    get_support: &mut GetSupport<'_, '_>,
) -> Result<Result<Linking, Vec<String>>, AddError> {
    let Some(interpreter) = &elf.interpreter else {
        return Ok(Ok(Linking {
            is_static: true,
            ..Linking::default()
        }));
    };
    let supports = supports(elf);
    let mut search = Search {
        probe,
        tree,
        program: tree.root.join(program),
        loader: interpreter.clone(),
        foreign: Vec::new(),
        linking: Linking::default(),
    };
    let own = interpreter.file_name().and_then(|name| name.to_str());
    if let Some(own) = own.and_then(|name| tree.find(name)) {
        search.use_own_loader(own);
    } else if let Some(supports) = &supports {
        search.linking.allocators = Some(supports.allocators.to_owned());
        if !interpreter.exists() {
            search.add_support(supports.libraries, get_support)?;
        }
    }
    let mut missing = search.look_into_tree()?;
    let supports = supports.filter(|_| !missing.is_empty() && search.may_be_supported());
    if let Some(supports) = supports {
        // Without them the error below says more than a failed download would.
        let got = search.add_support(supports.libraries, get_support);
        if matches!(got, Err(AddError::Fetch(FetchError::Stopped))) {
            return Err(AddError::Stopped);
        }
        missing = search.look_into_tree()?;
    }
    Ok(if missing.is_empty() {
        Ok(search.linking)
    } else {
        Err(missing)
    })
}

/// The supports for programs of this kind; none for other processors.
fn supports(elf: &Elf) -> Option<Supports> {
    match elf.machine {
        EM_386 => Some(I386),
        EM_X86_64 => Some(AMD64),
        _ => None,
    }
}

impl Search<'_> {
    /// A server with its own loader has its own C library too.
    fn use_own_loader(&mut self, loader: &Path) {
        self.loader = self.tree.root.join(loader);
        self.linking.loader = Some(loader.to_owned());
        let folder = loader.parent().map(Path::to_owned);
        self.linking.libraries.extend(folder);
    }

    /// True where a support may have what is missing: not where there is one already, or where the
    /// C
    /// library is not the system's.
    fn may_be_supported(&self) -> bool {
        self.linking.loader.is_none() && self.linking.support.is_empty()
    }

    fn add_support(
        &mut self,
        id: &str,
        get_support: &mut GetSupport<'_, '_>,
    ) -> Result<(), AddError> {
        let installed = get_support(id)?;
        let folders = installed.support.libraries.iter();
        self.foreign
            .extend(folders.map(|folder| installed.root.join(folder)));
        if let Some(loader) = &installed.support.loader {
            self.loader = installed.root.join(loader);
        }
        self.linking.support.push(id.to_owned());
        Ok(())
    }

    /// Adds folders of the server as long as they have something that is missing, and returns what
    /// they do not have.
    fn look_into_tree(&mut self) -> Result<Vec<String>, AddError> {
        let mut missing = self.missing()?;
        for _ in 0..ROUNDS {
            let before = self.linking.libraries.len();
            for name in &missing {
                let folder = self.tree.find(name).and_then(Path::parent);
                let new =
                    folder.filter(|folder| !self.linking.libraries.iter().any(|l| l == folder));
                self.linking.libraries.extend(new.map(Path::to_owned));
            }
            if self.linking.libraries.len() == before {
                break;
            }
            missing = self.missing()?;
        }
        Ok(missing)
    }

    /// Asks the loader what it does not find, as `ldd(1)` does. Nothing of the program is run.
    fn missing(&self) -> Result<Vec<String>, AddError> {
        let own = self.linking.libraries.iter();
        let own = own.map(|folder| self.tree.root.join(folder));
        let folders: Vec<_> = own.chain(self.foreign.iter().cloned()).collect();
        // Set for the loader alone: whatever else sees it tells its libraries and ends.
        let mut command = self.probe.launcher.command("env");
        command
            .arg("LD_TRACE_LOADED_OBJECTS=1")
            .arg(&self.loader)
            .arg("--library-path")
            .arg(search_path(&folders))
            .arg(&self.program);
        Ok(not_found(&self.probe.output(command)?))
    }
}

/// Libraries, and versions of them, that a loader's listing does not find.
fn not_found(listing: &str) -> Vec<String> {
    let mut missing: Vec<String> = Vec::new();
    for line in listing.lines() {
        let name = match line.split_once(" => not found") {
            Some((name, _)) => Some(name.trim().to_owned()),
            // `PROGRAM: LIBRARY: version `X' not found (required by FILE)`
            None if line.contains("not found (required by") => {
                let version = line.split(['`', '\'']).nth(1);
                version.map(str::to_owned)
            }
            None => None,
        };
        let name = name.filter(|name| !missing.contains(name));
        missing.extend(name);
    }
    missing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listings_tell_what_is_missing() {
        let listing = "\
\tlinux-vdso.so.1 (0x00007ffc)
\tlibaio.so.1 => not found
\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f)
\tlibicuuc.so.78 => not found
\tlibaio.so.1 => not found
/x/mysqld: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.43' not found (required by /x/mysqld)
";
        assert_eq!(
            not_found(listing),
            ["libaio.so.1", "libicuuc.so.78", "GLIBC_2.43"]
        );
        assert!(not_found("\tstatically linked\n").is_empty());
    }
}
