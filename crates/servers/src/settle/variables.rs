//! Server variables that are changed for a while.

use super::error::SettleError;
use super::session::Session;

/// Variables with the values that they had.
#[derive(Debug, Default)]
pub(super) struct Changed {
    before: Vec<(&'static str, String)>,
}

impl Changed {
    /// Sets a global variable if the server has it.
    pub(super) fn set(
        &mut self,
        session: &mut Session<'_>,
        name: &'static str,
        value: &str,
    ) -> Result<(), SettleError> {
        let Some(before) = session.variable(name)? else {
            return Ok(());
        };
        // Kept first, so that it is set back whatever comes of setting it.
        self.before.push((name, before));
        session
            .ask(&format!("SET GLOBAL {name} = {value}"))
            .map(drop)
    }

    /// Sets all of them back, the last first. Returns the first error.
    pub(super) fn restore(self, session: &mut Session<'_>) -> Result<(), SettleError> {
        let mut result = Ok(());
        for (name, value) in self.before.iter().rev() {
            let restored = session.ask(&format!("SET GLOBAL {name} = {value}"));
            result = result.and(restored.map(drop));
        }
        result
    }
}
