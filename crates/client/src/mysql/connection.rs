//! An open connection to a server of MySQL or MariaDB.

#[cfg(test)]
mod tests;

use std::fmt;
use std::time::Duration;

use prony_wire::{
    Eof, ErrPacket, FirstPacket, LOCAL_ROWS, append_close, append_prepare, append_query,
    append_shutdown, column_name, text_row,
};

use super::ERR;
use super::greet::log_in;
use super::preparing::Preparing;
use super::transport::Transport;
use crate::{Address, Answer, ClientError, Login, PreparedStatement, Socket, Stream};

/// A connection to a server. Dropping it says goodbye to the server.
pub(crate) struct Connection {
    /// Gone after an error that leaves the conversation out of step.
    transport: Option<Transport>,
    server_version: String,
    id: u32,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("server_version", &self.server_version)
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl Connection {
    /// See [`crate::Connection::connect`].
    pub(crate) fn connect(
        address: &Address,
        login: &Login,
        timeout: Duration,
    ) -> Result<Self, ClientError> {
        Self::open(Transport::connect(address, timeout)?, address, login)
    }

    pub(crate) fn open(
        transport: Transport,
        address: &Address,
        login: &Login,
    ) -> Result<Self, ClientError> {
        let (transport, greeted) = log_in(transport, address, login)?;
        Ok(Self {
            transport: Some(transport),
            server_version: greeted.server_version,
            id: greeted.connection_id,
        })
    }

    /// See [`crate::Connection::server_version`].
    pub(crate) fn server_version(&self) -> &str {
        &self.server_version
    }

    /// See [`crate::Connection::connection_id`].
    pub(crate) const fn connection_id(&self) -> u32 {
        self.id
    }

    /// See [`crate::Connection::socket`].
    pub(crate) fn socket(&self) -> Option<&Socket> {
        self.transport.as_ref().map(Transport::socket)
    }

    /// See [`crate::Connection::set_timeout`].
    pub(crate) fn set_timeout(&mut self, timeout: Option<Duration>) -> Result<(), ClientError> {
        self.exchange(|transport| transport.set_timeout(timeout))
    }

    /// See [`crate::Connection::query`].
    pub(crate) fn query(&mut self, sql: &[u8]) -> Result<Answer, ClientError> {
        self.exchange(|transport| {
            transport.request(|out| append_query(out, sql))?;
            receive_answer(transport)
        })
    }

    /// See [`crate::Connection::load_rows`].
    pub(crate) fn load_rows(
        &mut self,
        sql: &str,
        next: &mut dyn FnMut(&mut Vec<u8>),
    ) -> Result<Answer, ClientError> {
        self.exchange(|transport| {
            transport.request(|out| append_query(out, sql.as_bytes()))?;
            let first = transport.receive()?;
            if first.first() != Some(&LOCAL_ROWS) {
                return receive_answer_from(first, transport);
            }
            let mut rows = Vec::new();
            loop {
                rows.clear();
                next(&mut rows);
                transport.reply(&rows)?;
                if rows.is_empty() {
                    return receive_answer(transport);
                }
            }
        })
    }

    /// See [`crate::Connection::prepare`].
    pub(crate) fn prepare(&mut self, sql: &str) -> Result<PreparedStatement, ClientError> {
        self.exchange(|transport| {
            transport.request(|out| append_prepare(out, sql.as_bytes()))?;
            receive_prepared(transport)
        })
    }

    /// See [`crate::Connection::execute`].
    pub(crate) fn execute(&mut self, request: &[u8]) -> Result<Answer, ClientError> {
        self.exchange(|transport| {
            transport.send(request, 1)?;
            receive_answer(transport)
        })
    }

    /// See [`crate::Connection::close`].
    pub(crate) fn close(&mut self, statement: PreparedStatement) -> Result<(), ClientError> {
        self.exchange(|transport| {
            let mut bytes = Vec::new();
            append_close(&mut bytes, statement.id);
            transport.send(&bytes, 0)
        })
    }

    /// See [`crate::Connection::shutdown`].
    pub(crate) fn shutdown(mut self) -> Result<(), ClientError> {
        self.exchange(|transport| {
            transport.request(append_shutdown)?;
            let packet = transport.receive()?;
            match packet.first() {
                Some(&ERR) => Err(ClientError::refused(ErrPacket::parse(&packet)?)),
                _ => Ok(()),
            }
        })
    }

    /// See [`crate::Connection::into_stream`].
    pub(crate) fn into_stream(mut self) -> Result<Stream, ClientError> {
        self.transport
            .take()
            .map(Transport::into_stream)
            .ok_or(ClientError::Closed)
    }

    /// Runs a part of the conversation, and closes the connection when it is out of step after.
    fn exchange<T>(
        &mut self,
        part: impl FnOnce(&mut Transport) -> Result<T, ClientError>,
    ) -> Result<T, ClientError> {
        let transport = self.transport.as_mut().ok_or(ClientError::Closed)?;
        let result = part(transport);
        if result.as_ref().is_err_and(ClientError::breaks_connection) {
            self.transport = None;
        }
        result
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(transport) = &mut self.transport {
            transport.quit();
        }
    }
}

/// Receives all results of a statement; see [`Answer`] for what of them is returned.
fn receive_answer(transport: &mut Transport) -> Result<Answer, ClientError> {
    let first = transport.receive()?;
    receive_answer_from(first, transport)
}

/// The same, the first packet being there already.
fn receive_answer_from(
    mut first: Vec<u8>,
    transport: &mut Transport,
) -> Result<Answer, ClientError> {
    let mut rows = Vec::new();
    loop {
        let (mut answer, more_results) = match FirstPacket::parse(&first)? {
            FirstPacket::Err(error) => return Err(ClientError::refused(error)),
            FirstPacket::Ok(ok) => {
                let answer = Answer {
                    affected: ok.affected,
                    last_insert_id: ok.last_insert_id,
                    warnings: ok.warnings,
                    ..Answer::default()
                };
                (answer, ok.more_results())
            }
            FirstPacket::Columns(count) => receive_rows(transport, count)?,
        };
        rows.append(&mut answer.rows);
        if !more_results {
            return Ok(Answer { rows, ..answer });
        }
        first = transport.receive()?;
    }
}

/// Receives column definitions and rows; tells whether another result follows.
fn receive_rows(transport: &mut Transport, count: u64) -> Result<(Answer, bool), ClientError> {
    let mut answer = Answer::default();
    for _ in 0..count {
        let packet = transport.receive()?;
        answer.columns.push(text(column_name(&packet)?));
    }
    Eof::parse(&transport.receive()?)?;
    loop {
        let packet = transport.receive()?;
        match packet.first() {
            Some(&ERR) => return Err(ClientError::refused(ErrPacket::parse(&packet)?)),
            Some(&first) if Eof::is_eof(first, packet.len()) => {
                let eof = Eof::parse(&packet)?;
                answer.warnings = eof.warnings;
                return Ok((answer, eof.more_results()));
            }
            _ => {
                let row = text_row(&packet, answer.columns.len())?;
                let values = row.into_iter().map(|value| value.map(text)).collect();
                answer.rows.push(values);
            }
        }
    }
}

fn receive_prepared(transport: &mut Transport) -> Result<PreparedStatement, ClientError> {
    let mut answer = Preparing::default();
    loop {
        let packet = transport.receive()?;
        if let Some(statement) = answer.take(&packet)? {
            return Ok(statement);
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
