//! Scheduling groups of an external server and of the load generator.

use prony_client::Connection;
use prony_model::SchedulingGroups;
use prony_probe::{Root, peer_process, scheduling_group};

use super::ExternalAccess;
use crate::fault::Fault;

impl ExternalAccess {
    /// Reads the scheduling groups of the server and of the load generator, which is in that of
    /// this process.
    pub(crate) fn scheduling_groups(&self) -> Result<SchedulingGroups, Fault> {
        let root = Root::live();
        let connection = self.connect().map_err(|error| self.refused(&error))?;
        let generator = scheduling_group(&root, std::process::id())
            .map_err(|error| Fault::failed(format!("failed to {error}")))?;
        Ok(SchedulingGroups {
            server: server_group(&root, &connection),
            generator: generator.to_string(),
        })
    }
}

/// Scheduling group of the server at the other end, or the reason why it is unknown.
fn server_group(root: &Root, connection: &Connection) -> Result<String, String> {
    let socket = connection.socket().ok_or("use a closed connection")?;
    let pid = peer_process(root, socket).map_err(|error| error.to_string())?;
    let group = scheduling_group(root, pid).map_err(|error| error.to_string())?;
    Ok(group.to_string())
}
