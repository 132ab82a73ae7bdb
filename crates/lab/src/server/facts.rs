//! The facts that a server reports of itself: its version and its effective variables.

use std::collections::BTreeMap;

use prony_servers::admin;

use super::{ExternalAccess, Server};
use crate::fault::Fault;

/// Effective variables by name, and what else is compared between servers under names that
/// begin with `prony.`.
pub(crate) type Variables = BTreeMap<String, String>;

/// The memory allocator that the server's process has mapped.
const ALLOCATOR: &str = "prony.allocator";

/// The compiler's level of optimisation, where the catalogue knows it.
const COMPILED: &str = "prony.compiled";

/// The variable in which some versions of MariaDB report the allocator they were linked with.
const LINKED_ALLOCATOR: &str = "version_malloc_library";

impl ExternalAccess {
    /// Reads the effective variables of a server whose database may not be there yet.
    pub(crate) fn variables(&self) -> Result<Variables, Fault> {
        let mut connection = self.connect().map_err(|error| self.refused(&error))?;
        admin::variables(&mut connection).map_err(|error| self.refused(&error))
    }
}

impl Server {
    /// Reads its version.
    pub(crate) fn version(&self) -> Result<String, Fault> {
        self.control(admin::version)
    }

    /// Reads its effective variables.
    pub(crate) fn variables(&self) -> Result<Variables, Fault> {
        let mut variables = self.control(admin::variables)?;
        if let Self::Own(running) = self {
            let allocator = running.allocator().map_err(|error| {
                Fault::failed(format!("failed to read the server's maps: {error}"))
            })?;
            // A statically linked one shows in no map; servers that can be built so report it.
            let linked = variables.get(LINKED_ALLOCATOR).map(String::as_str);
            let allocator = match linked {
                Some("bundled jemalloc") => "jemalloc".to_owned(),
                _ => allocator,
            };
            variables.insert(ALLOCATOR.to_owned(), allocator);
            let compiled = running.build().facts.compiled.clone();
            variables.extend(compiled.map(|compiled| (COMPILED.to_owned(), compiled)));
        }
        Ok(variables)
    }
}
