//! An open connection to a server of PostgreSQL.

use std::io::{ErrorKind, Read as _, Write as _};
use std::sync::Arc;
use std::time::Duration;

use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;
use prony_wire::WireError;
use prony_wire::postgres::{
    POSTGRES_HEADER_SIZE, POSTGRES_MESSAGE_MAX, append_terminate, begin_message, finish_message,
    statement_name,
};

use super::answer::{Answered, Answering, Preparing};
use super::messages::{Inbox, append};
use super::opening::Opening;
use crate::{
    Address, Answer, ClientError, Encryption, Login, OpeningProgress, PreparedStatement, Socket,
    Stream, TlsStream,
};

/// Bytes that are received at once.
const CHUNK_SIZE: usize = 1 << 13;

/// A connection to a server of PostgreSQL. Dropping it says goodbye to the server.
#[derive(Debug)]
pub(crate) struct Connection {
    /// Gone after an error that leaves the conversation out of step.
    line: Option<Line>,
    server_version: String,
    process_id: u32,
    /// The number of the next statement that is prepared.
    next_statement: u32,
}

/// What carries the messages of both sides.
#[derive(Debug)]
struct Line {
    stream: Stream,
    timeout: Option<Duration>,
    inbox: Inbox,
}

impl Connection {
    /// See [`crate::Connection::connect`].
    pub(crate) fn connect(
        address: &Address,
        login: &Login,
        timeout: Duration,
    ) -> Result<Self, ClientError> {
        let socket = Socket::connect(address, timeout).map_err(|source| ClientError::Connect {
            address: address.clone(),
            source,
        })?;
        Self::open(socket, address, login, timeout)
    }

    /// Logs in over a socket on which nothing was said yet.
    pub(crate) fn open(
        socket: Socket,
        address: &Address,
        login: &Login,
        timeout: Duration,
    ) -> Result<Self, ClientError> {
        let mut line = Line {
            stream: Stream::Plain(socket),
            timeout: None,
            inbox: Inbox::new(POSTGRES_MESSAGE_MAX),
        };
        line.set_timeout(Some(timeout))?;
        let mut opening = Opening::new(address, login, Arc::new([]));
        let mut out = Vec::new();
        opening.begin(&mut out)?;
        loop {
            line.send(&out)?;
            out.clear();
            let mut chunk = [0; CHUNK_SIZE];
            let count = line.receive(&mut chunk)?;
            match opening.feed(&chunk[..count], &mut out)? {
                OpeningProgress::More => {}
                OpeningProgress::Encrypt => {
                    line = line.encrypt(address, login)?;
                    opening.encrypted(&mut out)?;
                }
                OpeningProgress::Done => break,
            }
        }
        let (server_version, process_id) = opening.session();
        Ok(Self {
            line: Some(line),
            server_version,
            process_id,
            next_statement: 0,
        })
    }

    /// See [`crate::Connection::server_version`].
    pub(crate) fn server_version(&self) -> &str {
        &self.server_version
    }

    /// See [`crate::Connection::connection_id`].
    pub(crate) const fn connection_id(&self) -> u32 {
        self.process_id
    }

    /// See [`crate::Connection::socket`].
    pub(crate) fn socket(&self) -> Option<&Socket> {
        self.line.as_ref().map(|line| line.stream.socket())
    }

    /// See [`crate::Connection::set_timeout`].
    pub(crate) fn set_timeout(&mut self, timeout: Option<Duration>) -> Result<(), ClientError> {
        self.exchange(|line| line.set_timeout(timeout))
    }

    /// See [`crate::Connection::query`].
    pub(crate) fn query(&mut self, sql: &[u8]) -> Result<Answer, ClientError> {
        self.exchange(|line| {
            line.send_query(sql)?;
            line.receive_answer()
        })
    }

    /// See [`crate::Connection::load_rows`].
    pub(crate) fn load_rows(
        &mut self,
        sql: &str,
        next: &mut dyn FnMut(&mut Vec<u8>),
    ) -> Result<Answer, ClientError> {
        self.exchange(|line| {
            line.send_query(sql.as_bytes())?;
            let mut answering = Answering::default();
            loop {
                match line.next_answered(&mut answering)? {
                    Answered::More => {}
                    Answered::Done(answer) => return Ok(answer),
                    Answered::RowsWanted => break,
                }
            }
            let mut bytes = Vec::new();
            loop {
                bytes.clear();
                let start = begin_message(&mut bytes, b'd');
                next(&mut bytes);
                if bytes.len() == POSTGRES_HEADER_SIZE {
                    break;
                }
                finish_message(&mut bytes, start);
                line.send(&bytes)?;
            }
            bytes.clear();
            append(&mut bytes, |out| {
                frontend::copy_done(out);
                Ok(())
            })?;
            line.send(&bytes)?;
            line.receive_rest(&mut answering)
        })
    }

    /// See [`crate::Connection::prepare`].
    pub(crate) fn prepare(&mut self, sql: &str) -> Result<PreparedStatement, ClientError> {
        let id = self.next_statement;
        self.next_statement += 1;
        self.exchange(|line| {
            let mut request = Vec::new();
            let mut answer = Preparing::begin(id, sql, &mut request)?;
            line.send(&request)?;
            loop {
                if let Some(statement) = answer.take(&line.next()?)? {
                    return Ok(statement);
                }
            }
        })
    }

    /// See [`crate::Connection::execute`].
    pub(crate) fn execute(&mut self, request: &[u8]) -> Result<Answer, ClientError> {
        self.exchange(|line| {
            line.send(request)?;
            line.receive_answer()
        })
    }

    /// See [`crate::Connection::close`].
    pub(crate) fn close(&mut self, statement: PreparedStatement) -> Result<(), ClientError> {
        let name = statement_name(statement.id);
        self.exchange(|line| {
            let mut request = Vec::new();
            append(&mut request, |out| {
                frontend::close(b'S', &name, out)?;
                frontend::sync(out);
                Ok(())
            })?;
            line.send(&request)?;
            line.receive_answer().map(drop)
        })
    }

    /// See [`crate::Connection::into_stream`].
    pub(crate) fn into_stream(mut self) -> Result<Stream, ClientError> {
        let line = self.line.take().ok_or(ClientError::Closed)?;
        match line.inbox.len() {
            0 => Ok(line.stream),
            bytes => Err(WireError::Surplus { bytes }.into()),
        }
    }

    /// Runs a part of the conversation, and closes the connection when it is out of step after.
    fn exchange<T>(
        &mut self,
        part: impl FnOnce(&mut Line) -> Result<T, ClientError>,
    ) -> Result<T, ClientError> {
        let line = self.line.as_mut().ok_or(ClientError::Closed)?;
        let result = part(line);
        if result.as_ref().is_err_and(ClientError::breaks_connection) {
            self.line = None;
        }
        result
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(line) = &mut self.line {
            let mut bytes = Vec::new();
            append_terminate(&mut bytes);
            // A server that is gone needs no goodbye.
            let _ = line.send(&bytes);
        }
    }
}

impl Line {
    fn set_timeout(&mut self, timeout: Option<Duration>) -> Result<(), ClientError> {
        let limited = self.stream.socket().set_timeouts(timeout);
        limited.map_err(|source| ClientError::Io { source })?;
        self.timeout = timeout;
        Ok(())
    }

    fn encrypt(self, address: &Address, login: &Login) -> Result<Self, ClientError> {
        let begin = || match self.stream {
            Stream::Plain(socket) => {
                let encryption = Encryption::new(address, &login.tls)?;
                let stream = TlsStream::connect(socket, &encryption)?;
                Ok(Stream::Tls(Box::new(stream)))
            }
            encrypted @ Stream::Tls(_) => Ok(encrypted),
        };
        let stream = begin().map_err(|source| ClientError::Tls {
            address: address.clone(),
            source,
        })?;
        Ok(Self { stream, ..self })
    }

    fn send(&mut self, bytes: &[u8]) -> Result<(), ClientError> {
        let sent = self.stream.write_all(bytes);
        sent.and_then(|()| self.stream.flush())
            .map_err(|source| ClientError::broken(source, self.timeout))
    }

    fn send_query(&mut self, sql: &[u8]) -> Result<(), ClientError> {
        let mut request = Vec::with_capacity(sql.len() + POSTGRES_HEADER_SIZE + 1);
        let start = begin_message(&mut request, b'Q');
        request.extend_from_slice(sql);
        request.push(0);
        finish_message(&mut request, start);
        self.send(&request)
    }

    /// Receives what there is.
    fn receive(&mut self, chunk: &mut [u8]) -> Result<usize, ClientError> {
        loop {
            match self.stream.read(chunk) {
                Ok(0) => return Err(ClientError::Closed),
                Ok(count) => return Ok(count),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(source) => return Err(ClientError::broken(source, self.timeout)),
            }
        }
    }

    /// The next message of the server.
    fn next(&mut self) -> Result<Message, ClientError> {
        loop {
            if let Some(message) = self.inbox.take()? {
                return Ok(message);
            }
            let mut chunk = [0; CHUNK_SIZE];
            let count = self.receive(&mut chunk)?;
            self.inbox.put(&chunk[..count]);
        }
    }

    fn next_answered(&mut self, answering: &mut Answering) -> Result<Answered, ClientError> {
        match self.next() {
            Ok(message) => answering.take(&message),
            // The server may have given the reason.
            Err(closed @ ClientError::Closed) => Err(answering.refused().unwrap_or(closed)),
            Err(error) => Err(error),
        }
    }

    fn receive_answer(&mut self) -> Result<Answer, ClientError> {
        self.receive_rest(&mut Answering::default())
    }

    fn receive_rest(&mut self, answering: &mut Answering) -> Result<Answer, ClientError> {
        loop {
            match self.next_answered(answering)? {
                Answered::Done(answer) => return Ok(answer),
                Answered::More => {}
                // A COPY that has no rows to send.
                Answered::RowsWanted => self.send_no_rows()?,
            }
        }
    }

    /// Ends a `COPY` that was run as a query.
    fn send_no_rows(&mut self) -> Result<(), ClientError> {
        let mut bytes = Vec::new();
        append(&mut bytes, |out| {
            frontend::copy_fail("no rows are sent", out)
        })?;
        self.send(&bytes)
    }
}
