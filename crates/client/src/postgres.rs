//! A small blocking connection to a PostgreSQL server, for control statements.

use std::io::{self, BufReader, ErrorKind, Read as _, Write as _};
use std::time::Duration;

use prony_wire::postgres::{
    HEADER_SIZE, Message, Refused, append_query, append_startup, append_terminate, read_header,
};

use crate::{Address, Answer, ClientError, Socket};

/// Room that is made for a message before it came.
const RESERVE_MAX: usize = 1 << 16;

/// A connection to a PostgreSQL server. Dropping it says goodbye to the server.
///
/// It proves nothing: the server must trust the account, as those do that Prony starts, over their unix
/// socket, which lies in a folder that only its owner may enter.
#[derive(Debug)]
pub struct PostgresConnection {
    /// Gone after an error that leaves the conversation out of step.
    stream: Option<BufReader<Socket>>,
    timeout: Duration,
}

impl PostgresConnection {
    /// Connects and logs in. `timeout` is the longest silence of the server that is put up with, now and in
    /// statements.
    ///
    /// # Errors
    /// When nobody listens, the server refuses or is silent, or wants the account proved.
    pub fn connect(
        address: &Address,
        user: &str,
        database: &str,
        timeout: Duration,
    ) -> Result<Self, ClientError> {
        let socket = Socket::connect(address, timeout).map_err(|source| ClientError::Connect {
            address: address.clone(),
            source,
        })?;
        let limited = socket.set_timeouts(Some(timeout));
        limited.map_err(|source| ClientError::Io { source })?;
        let mut connection = Self {
            stream: Some(BufReader::new(socket)),
            timeout,
        };
        let mut startup = Vec::new();
        append_startup(&mut startup, user, database);
        connection.send(&startup)?;
        let opened = connection.receive_answer("open the connection");
        // Whatever it was, the server closes the connection after it.
        opened.inspect_err(|_| connection.stream = None)?;
        Ok(connection)
    }

    /// Sends statements and waits for the whole answer: the rows of all, and the changes of the last.
    ///
    /// # Errors
    /// When the server refuses a statement, is silent for too long or gone, or does not keep to the protocol.
    /// After all but a refusal the connection is closed.
    pub fn query(&mut self, sql: &str) -> Result<Answer, ClientError> {
        let mut request = Vec::new();
        append_query(&mut request, sql.as_bytes());
        let answer = self
            .send(&request)
            .and_then(|()| self.receive_answer("run the statement"));
        if answer.as_ref().is_err_and(ClientError::breaks_connection) {
            self.stream = None;
        }
        answer
    }

    fn send(&mut self, bytes: &[u8]) -> Result<(), ClientError> {
        let stream = self.stream.as_mut().ok_or(ClientError::Closed)?;
        let sent = stream.get_mut().write_all(bytes);
        sent.map_err(|source| explain(source, self.timeout))
    }

    /// Receives until the next statement may come.
    fn receive_answer(&mut self, task: &'static str) -> Result<Answer, ClientError> {
        let timeout = self.timeout;
        let stream = self.stream.as_mut().ok_or(ClientError::Closed)?;
        let mut answer = Answer::default();
        let mut refusal = None;
        loop {
            let (tag, content) = match receive(stream) {
                Ok(message) => message?,
                // A refused login has no other end.
                Err(source) => {
                    return Err(refusal.unwrap_or_else(|| explain(source, timeout)));
                }
            };
            match Message::parse(tag, &content)? {
                Message::ProofRequired(kind) => return Err(proof_required(kind)),
                Message::Columns(names) => answer.columns = names.into_iter().map(text).collect(),
                Message::Row(values) => {
                    let values = values.into_iter().map(|value| value.map(text));
                    answer.rows.push(values.collect());
                }
                Message::Done(words) => answer.affected = affected(&text(words)),
                Message::Refused(reason) => refusal = Some(refused(task, &reason)),
                Message::Ready => return refusal.map_or(Ok(answer), Err),
                Message::LoggedIn | Message::Other => {}
            }
        }
    }
}

impl Drop for PostgresConnection {
    fn drop(&mut self) {
        let mut bytes = Vec::new();
        append_terminate(&mut bytes);
        // A server that is gone needs no goodbye.
        let _ = self.send(&bytes);
    }
}

/// Tag and content of the next message.
fn receive(
    stream: &mut BufReader<Socket>,
) -> io::Result<Result<(u8, Vec<u8>), prony_wire::WireError>> {
    let mut header = [0; HEADER_SIZE];
    stream.read_exact(&mut header)?;
    let (tag, length) = match read_header(header) {
        Ok(header) => header,
        Err(error) => return Ok(Err(error)),
    };
    // Memory is taken for what came, and not for all that is only announced.
    let mut content = Vec::with_capacity(length.min(RESERVE_MAX));
    let read = stream.take(length as u64).read_to_end(&mut content)?;
    if read < length {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    Ok(Ok((tag, content)))
}

/// Rows that a statement changed: the last number of its words. `SELECT 5` changed nothing.
fn affected(words: &str) -> u64 {
    let last = || words.rsplit(' ').next()?.parse().ok();
    if words.starts_with("SELECT") {
        return 0;
    }
    last().unwrap_or(0)
}

fn refused(task: &'static str, reason: &Refused<'_>) -> ClientError {
    ClientError::Server {
        task,
        code: 0,
        sqlstate: text(reason.code),
        message: text(reason.message),
    }
}

fn proof_required(kind: u32) -> ClientError {
    ClientError::Authentication {
        wanted: match kind {
            3 => "a password in clear".to_owned(),
            5 => "a password by MD5".to_owned(),
            10 => "a password by SCRAM".to_owned(),
            kind => format!("authentication of kind {kind}"),
        },
        remedy: "the method `trust` in pg_hba.conf",
    }
}

fn explain(source: io::Error, timeout: Duration) -> ClientError {
    match source.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => ClientError::Timeout { after: timeout },
        ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => {
            ClientError::Closed
        }
        _ => ClientError::Io { source },
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
