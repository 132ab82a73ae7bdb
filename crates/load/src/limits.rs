//! Limits that the system sets to this process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::LoadError;

/// Files that are open besides connections: standard streams, an epoll instance for each thread,
/// and what a look at `/proc` takes.
const OTHER_FILES: u64 = 32;

/// Raises this process's limit of open files as far as it may, and makes sure that so many
/// connections fit.
pub(crate) fn make_room(clients: u32, threads: u32) -> Result<(), LoadError> {
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        let raised = Rlimit {
            current: limit.maximum,
            ..limit
        };
        setrlimit(Resource::Nofile, raised)
            .map_err(LoadError::system("raise the limit of open files"))?;
    }
    check(limit.maximum, clients, threads)
}

/// `limit` is `None` where there is none.
fn check(limit: Option<u64>, clients: u32, threads: u32) -> Result<(), LoadError> {
    let needed = u64::from(clients) + u64::from(threads) + OTHER_FILES;
    match limit {
        Some(limit) if limit < needed => Err(LoadError::OpenFiles {
            clients,
            needed,
            limit,
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_connections_are_noticed_before_they_are_made() {
        assert!(check(None, u32::MAX, 64).is_ok());
        assert!(check(Some(1034), 1000, 2).is_ok());
        let error = check(Some(1033), 1000, 2).unwrap_err().to_string();
        for word in ["1000", "1034", "1033"] {
            assert!(error.contains(word), "{error}");
        }
    }

    #[test]
    fn the_limit_is_raised() {
        make_room(1, 1).unwrap();
        let limit = getrlimit(Resource::Nofile);
        assert_eq!(limit.current, limit.maximum);
    }
}
