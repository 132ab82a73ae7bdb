//! Server variables that are changed for a while.

use super::control::ControlConnection;
use super::error::SettleError;

/// The way back from everything that was changed.
#[derive(Debug, Default)]
pub(super) struct Changed {
    /// Statements, to be run from the last to the first.
    undo: Vec<String>,
}

impl Changed {
    /// Sets a global variable of numbers if the server has it.
    pub(super) fn set(
        &mut self,
        server: &mut ControlConnection<'_>,
        name: &str,
        value: &str,
    ) -> Result<(), SettleError> {
        let Some(before) = server.variable(name)? else {
            return Ok(());
        };
        let undo = format!("SET GLOBAL {name} = {before}");
        self.run(server, &format!("SET GLOBAL {name} = {value}"), undo)
    }

    /// Runs a statement that `undo` takes back.
    pub(super) fn run(
        &mut self,
        server: &mut ControlConnection<'_>,
        statement: &str,
        undo: String,
    ) -> Result<(), SettleError> {
        // Kept first, so that it is taken back whatever comes of it.
        self.undo.push(undo);
        server.ask(statement).map(drop)
    }

    /// Sets everything back, on a connection of its own, because another may have failed. Returns
    /// the first error.
    pub(super) fn restore(self, server: &ControlConnection<'_>) -> Result<(), SettleError> {
        if self.undo.is_empty() {
            return Ok(());
        }
        let mut server = server.again()?;
        let mut result = Ok(());
        for statement in self.undo.iter().rev() {
            result = result.and(server.ask(statement).map(drop));
        }
        result
    }
}
