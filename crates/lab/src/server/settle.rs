//! Bringing an engine to a quiet state, and reading what it has put off.

use prony_model::{Dataset, Debt, Engine, Settle, SettleOutcome};
use prony_servers::admin::{SettleError, Whose};

use super::Server;
use crate::fault::{Fault, Stop};
use crate::lab::Lab;

/// The settling of a dataset after its load. No minimum idle time: nothing runs alongside.
pub(crate) const AFTER_LOAD: Settle = Settle {
    idle_ms: 0,
    limit_ms: 600_000,
};

/// Refreshes statistics and brings the engine of a running server to a quiet state, as far as the
/// limit lets it.
pub(crate) fn settle(
    lab: &Lab<'_>,
    server: &mut Server,
    engine: Engine,
    dataset: &Dataset,
    how: Settle,
) -> Result<SettleOutcome, Fault> {
    let whose = match server {
        Server::Own(_) => Whose::Own,
        Server::External(_) => Whose::Other,
    };
    let control = || server.connect();
    prony_servers::admin::settle(&control, whose, engine, dataset, how, lab.stop).map_err(|error| {
        match error {
            SettleError::Stopped => Stop::Interrupted.into(),
            error => server.lost(&format!("failed to {error}")),
        }
    })
}

/// Empties the binary log of a server of Prony's own, so that no step begins with the writing back
/// of an earlier step's. Those of others are left alone.
pub(crate) fn empty_binlog(server: &mut Server) -> Result<(), Fault> {
    if matches!(server, Server::External(_)) {
        return Ok(());
    }
    let emptied = server
        .connect()
        .and_then(|mut connection| prony_servers::admin::empty_binlog(&mut connection));
    emptied.map_err(|error| server.lost(&format!("failed to empty the binary log: {error}")))
}

/// Reads what the engine has put off.
pub(crate) fn debt(server: &mut Server, engine: Engine) -> Result<Vec<Debt>, Fault> {
    let read = server
        .connect()
        .and_then(|mut connection| prony_servers::admin::debt(&mut connection, engine));
    read.map_err(|error| {
        server.lost(&format!(
            "failed to read the engine's work left over: {error}"
        ))
    })
}
