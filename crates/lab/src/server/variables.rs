//! The effective variables of a server.

use std::collections::BTreeMap;

use prony_client::Answer;

use super::{ExternalAccess, Server};
use crate::fault::Fault;

/// Effective variables by name, and what else is compared between servers under names that
/// begin with `prony.`.
pub(crate) type Variables = BTreeMap<String, String>;

const SHOW_VARIABLES: &str = "SHOW GLOBAL VARIABLES";

/// The memory allocator that the server's process has mapped.
const ALLOCATOR: &str = "prony.allocator";

/// The variable in which some versions of MariaDB report the allocator they were linked with.
const LINKED_ALLOCATOR: &str = "version_malloc_library";

impl ExternalAccess {
    /// Reads the effective variables of a server whose database may not be there yet.
    pub(crate) fn variables(&self) -> Result<Variables, Fault> {
        self.connect()
            .and_then(|mut connection| connection.query(SHOW_VARIABLES))
            .map(named)
            .map_err(|error| self.refused(&error))
    }
}

impl Server {
    /// Reads its effective variables.
    pub(crate) fn variables(&self) -> Result<Variables, Fault> {
        let mut variables = named(self.control(SHOW_VARIABLES)?);
        if let Server::Own(running) = self {
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
        }
        Ok(variables)
    }
}

fn named(answer: Answer) -> Variables {
    let rows = answer.rows.into_iter();
    rows.filter_map(|row| {
        let mut cells = row.into_iter();
        Some((cells.next()??, cells.next()?.unwrap_or_default()))
    })
    .collect()
}
