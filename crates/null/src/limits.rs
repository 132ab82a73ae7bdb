//! The limit of open files, which is that of connections.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::NullError;

/// Raises this process's limit as far as it may. Returns it.
pub(crate) fn raise() -> Result<u64, NullError> {
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        let raised = Rlimit {
            current: limit.maximum,
            ..limit
        };
        setrlimit(Resource::Nofile, raised)
            .map_err(|errno| NullError::system("raise the limit of open files", errno))?;
    }
    Ok(limit.maximum.unwrap_or(u64::MAX))
}
