//! The libraries that a server program needs, and where they are.

use std::path::{Path, PathBuf};

use object::elf::{EM_386, EM_X86_64};

use super::AddError;
use super::probe::Probe;
use super::tree::Tree;
use crate::build::catalogue::Entry;
use crate::build::elf::Elf;
use crate::build::fetch::FetchError;
use crate::build::{InstalledSupport, search_path};

/// Rounds of looking for libraries that libraries need.
const ROUNDS: usize = 10;

/// Supports for builds that use the C library of a kind of machine: libraries, and allocators.
type Supports = [&'static str; 2];

const AMD64: Supports = ["debian-12-amd64", "allocators-debian-12-amd64"];
const I386: Supports = ["debian-12-i386", "allocators-debian-12-i386"];

/// Gets a support by its id.
pub(super) type GetSupport<'g, 'c> =
    dyn FnMut(&str) -> Result<InstalledSupport<'c>, FetchError> + 'g;

/// A search for the libraries of one program.
struct Search<'a> {
    probe: &'a Probe<'a>,
    tree: &'a Tree,
    loader: PathBuf,
    /// Folders of supports.
    foreign: Vec<PathBuf>,
    entry: &'a mut Entry,
}

/// Finds every library that the program of an entry needs: in the server's own folder, in the system,
/// or in a support. The entry says it then. What is nowhere comes back.
pub(super) fn find(
    probe: &Probe<'_>,
    tree: &Tree,
    entry: &mut Entry,
    elf: &Elf,
    get_support: &mut GetSupport<'_, '_>,
) -> Result<Vec<String>, AddError> {
    let Some(interpreter) = &elf.interpreter else {
        // There is nothing to load, and nothing can be loaded before it.
        entry.lacks.push("allocator".to_owned());
        return Ok(Vec::new());
    };
    let supports = supports(elf);
    let mut search = Search {
        probe,
        tree,
        loader: interpreter.clone(),
        foreign: Vec::new(),
        entry,
    };
    let own = interpreter.file_name().and_then(|name| name.to_str());
    if let Some(own) = own.and_then(|name| tree.find(name)) {
        // A server with its own loader has its own C library too.
        search.loader = tree.root.join(own);
        search.entry.loader = Some(own.to_owned());
        search
            .entry
            .libraries
            .extend(own.parent().map(Path::to_owned));
    } else if let Some([libraries, allocators]) = supports {
        search.entry.allocators = Some(allocators.to_owned());
        if !interpreter.exists() {
            search.add_support(libraries, get_support)?;
        }
    }
    let mut missing = search.look_into_tree()?;
    // Not where there is a support already, or where the C library is not the system's.
    let may_help = search.entry.loader.is_none() && search.entry.support.is_empty();
    if let Some([libraries, _]) = supports.filter(|_| !missing.is_empty() && may_help) {
        // Without them the error below says more than a failed download would.
        let got = search.add_support(libraries, get_support);
        if got.is_err() && probe.stop.requested() {
            return Err(AddError::Stopped);
        }
        missing = search.look_into_tree()?;
    }
    Ok(missing)
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
    fn add_support(
        &mut self,
        id: &str,
        get_support: &mut GetSupport<'_, '_>,
    ) -> Result<(), AddError> {
        let installed = get_support(id)?;
        self.foreign.extend(installed.libraries());
        if let Some(loader) = installed.loader() {
            self.loader = loader;
        }
        self.entry.support.push(id.to_owned());
        Ok(())
    }

    /// Adds folders of the server as long as they have something that is missing, and returns what
    /// they do not have.
    fn look_into_tree(&mut self) -> Result<Vec<String>, AddError> {
        let mut missing = self.missing()?;
        for _ in 0..ROUNDS {
            let libraries = &mut self.entry.libraries;
            let before = libraries.len();
            for name in &missing {
                let folder = self.tree.find(name).and_then(Path::parent);
                let new = folder.filter(|folder| !libraries.iter().any(|known| known == folder));
                libraries.extend(new.map(Path::to_owned));
            }
            if libraries.len() == before {
                break;
            }
            missing = self.missing()?;
        }
        Ok(missing)
    }

    /// Asks the loader what it does not find, as `ldd(1)` does. Nothing of the program is run.
    fn missing(&self) -> Result<Vec<String>, AddError> {
        let own = self.entry.libraries.iter();
        let own = own.map(|folder| self.tree.root.join(folder));
        let folders: Vec<_> = own.chain(self.foreign.iter().cloned()).collect();
        // Set for the loader alone: whatever else sees it tells its libraries and ends.
        let mut command = self.probe.launcher.command("env");
        command
            .arg("LD_TRACE_LOADED_OBJECTS=1")
            .arg(&self.loader)
            .arg("--library-path")
            .arg(search_path(&folders))
            .arg(self.tree.root.join(&self.entry.program));
        Ok(not_found(&self.probe.output(command)?))
    }
}

/// Libraries, and versions of them, that a loader's listing does not find.
fn not_found(listing: &str) -> Vec<String> {
    let mut missing: Vec<String> = Vec::new();
    for line in listing.lines() {
        let name = match line.split_once(" => not found") {
            Some((name, _)) => Some(name.trim()),
            // `PROGRAM: LIBRARY: version `X' not found (required by FILE)`
            None if line.contains("not found (required by") => line.split(['`', '\'']).nth(1),
            None => None,
        };
        let new = name.filter(|name| !missing.iter().any(|known| known == name));
        missing.extend(new.map(str::to_owned));
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
