//! Server variables that are changed for a while.

use super::error::SettleError;
use super::session::Session;

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
        session: &mut Session<'_>,
        name: &str,
        value: &str,
    ) -> Result<(), SettleError> {
        let Some(before) = session.variable(name)? else {
            return Ok(());
        };
        let undo = format!("SET GLOBAL {name} = {before}");
        self.run(session, &format!("SET GLOBAL {name} = {value}"), undo)
    }

    /// Runs a statement that `undo` takes back.
    pub(super) fn run(
        &mut self,
        session: &mut Session<'_>,
        statement: &str,
        undo: String,
    ) -> Result<(), SettleError> {
        // Kept first, so that it is taken back whatever comes of it.
        self.undo.push(undo);
        session.ask(statement).map(drop)
    }

    /// Sets everything back, on a connection of its own, because another may have failed. Returns
    /// the first error.
    pub(super) fn restore(self, session: &Session<'_>) -> Result<(), SettleError> {
        if self.undo.is_empty() {
            return Ok(());
        }
        let mut session = session.again()?;
        let mut result = Ok(());
        for statement in self.undo.iter().rev() {
            result = result.and(session.ask(statement).map(drop));
        }
        result
    }
}
