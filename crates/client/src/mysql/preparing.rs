//! The server's answer to a statement that it is to prepare, packet by packet.

use prony_wire::{Eof, ErrPacket, PreparedStatement, column_name};

use super::ERR;
use crate::ClientError;

/// Reads the answer, over any transport.
#[derive(Debug, Default)]
pub(crate) struct Preparing {
    /// Content of the first packet.
    statement: Option<PreparedStatement>,
    /// Definitions still to come, and then an EOF packet: of the columns, and last, because they
    /// come first, of the parameters. Where there are none there is no EOF packet either.
    definitions: Vec<u16>,
}

impl Preparing {
    /// Takes the next packet of the answer; returns the statement when it was the last.
    pub(crate) fn take(&mut self, packet: &[u8]) -> Result<Option<PreparedStatement>, ClientError> {
        if packet.first() == Some(&ERR) {
            return Err(ClientError::refused(ErrPacket::parse(packet)?));
        }
        match self.definitions.last_mut() {
            None => self.begin(packet)?,
            Some(0) => {
                Eof::parse(packet)?;
                self.definitions.pop();
            }
            Some(left) => {
                // All that matters of a definition is that it is one.
                column_name(packet)?;
                *left -= 1;
            }
        }
        Ok(self.statement.filter(|_| self.definitions.is_empty()))
    }

    fn begin(&mut self, packet: &[u8]) -> Result<(), ClientError> {
        let statement = PreparedStatement::parse(packet)?;
        self.statement = Some(statement);
        let definitions = [statement.columns, statement.params];
        self.definitions
            .extend(definitions.into_iter().filter(|count| *count > 0));
        Ok(())
    }
}
