//! Errors of a job.

use std::io;

use prony_client::ClientError;
use prony_model::ErrorCode;

use crate::{BackendError, JobError, ProtocolError};

/// Reason why a job failed. Fits after "failed to …".
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The job makes no sense.
    #[error(transparent)]
    Job(#[from] JobError),
    /// The backend that the job requests is unavailable.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// The system does not let this process open enough connections.
    #[error(
        "connect {clients} clients: this needs {needed} open files, and the limit of this process \
         is {limit}; raise the hard limit (`ulimit -Hn`) or use fewer clients"
    )]
    OpenFiles {
        /// Requested number of clients.
        clients: u32,
        /// Files that have to be open.
        needed: u64,
        /// The hard limit.
        limit: u64,
    },
    /// A client could not connect.
    #[error("connect client {client} of {clients}: failed to {source}")]
    Connect {
        /// Number of the client, counted from 1.
        client: u32,
        /// Requested number of clients.
        clients: u32,
        /// The cause.
        source: ClientError,
    },
    /// A client could not connect anew.
    #[error("reconnect: failed to {0}")]
    Reconnect(#[source] ClientError),
    /// A statement could not be prepared.
    #[error("prepare statement `{statement}`: failed to {source}")]
    Prepare {
        /// Its name.
        statement: String,
        /// The cause.
        source: ClientError,
    },
    /// A kind of statement that the server can't prepare.
    #[error(
        "prepare statement `{0}`: the server can't prepare this kind; set `text_only` in \
         its workload to send it as text"
    )]
    Unpreparable(String),
    /// The server takes another number of parameters than the statement has holes.
    #[error(
        "prepare statement `{statement}`: the server found {found} parameters, expected \
         {expected}; does its text contain a `?`"
    )]
    ParamCount {
        /// Its name.
        statement: String,
        /// Holes of its text.
        expected: usize,
        /// Number that the server counted.
        found: u16,
    },
    /// The server refused a statement with an error that is fatal.
    #[error("run `{statement}`: the server answered with error {}: {message}", code.with_state(sqlstate))]
    Server {
        /// The statement's name.
        statement: String,
        /// The server's error code.
        code: ErrorCode,
        /// Five characters.
        sqlstate: String,
        /// The server's own words.
        message: String,
    },
    /// An operation was retried for too long.
    #[error(
        "run `{statement}`: it was refused for {seconds:.1} s of retries, last with error {code}: \
         {message}"
    )]
    Retries {
        /// The statement's name.
        statement: String,
        /// Time of the operation so far.
        seconds: f64,
        /// The server's last error code.
        code: ErrorCode,
        /// The server's last words.
        message: String,
    },
    /// The server closed a connection.
    #[error("run `{statement}`: the server closed the connection")]
    Closed {
        /// The statement under way.
        statement: String,
    },
    /// The server says nothing.
    #[error("run `{statement}`: the server was silent for {seconds:.1} s")]
    Stalled {
        /// The statement under way.
        statement: String,
        /// Length of the silence.
        seconds: f64,
    },
    /// The server does not keep to the protocol.
    #[error("run `{statement}`: failed to {source}")]
    Protocol {
        /// The statement under way.
        statement: String,
        /// The problem in its bytes.
        source: ProtocolError,
    },
    /// The server answered more than it was asked.
    #[error("run `{statement}`: the server sent {bytes} bytes after its answer")]
    Surplus {
        /// The statement under way.
        statement: String,
        /// Number of bytes.
        bytes: usize,
    },
    /// The system failed to carry bytes.
    #[error("send or receive `{statement}`: {source}")]
    Socket {
        /// The statement under way.
        statement: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The system refused something else.
    #[error("{action}: {source}")]
    System {
        /// The attempted action.
        action: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// A thread of the generator ended without a result.
    #[error("finish: a thread of the load generator ended early")]
    Thread,
    /// A histogram could not be made or written.
    #[error("record latencies: {0}")]
    Histogram(String),
    /// The input holds no job.
    #[error("read the job from the input: {0}")]
    NoJob(String),
    /// The controlling process is gone.
    #[error("run the job to its end: the controlling process closed the generator's input")]
    Abandoned,
    /// The line that begins the measured time can't be read.
    #[error("wait for the line that begins the measured time: {0}")]
    Input(#[source] io::Error),
    /// The reader of the messages is gone.
    #[error("write a message: {0}")]
    Output(#[source] io::Error),
    /// A statement of the fill failed.
    #[error("{action}: failed to {source}")]
    Fill {
        /// The current action.
        action: String,
        /// The cause.
        source: ClientError,
    },
    /// The server made a table with another engine than asked for.
    #[error(
        "create {table}: the server used engine {found} instead of {wanted}; enable {wanted} in the server"
    )]
    OtherEngine {
        /// The table.
        table: String,
        /// The engine asked for.
        wanted: &'static str,
        /// The engine that it has.
        found: String,
    },
    /// A server's answer to a sum is no number.
    #[error(
        "compute the sum of {table}: the server answered `{found}` to {sum}, expected a whole number"
    )]
    Sum {
        /// The table.
        table: String,
        /// The query, as SQL.
        sum: String,
        /// The server's answer.
        found: String,
    },
    /// A condition's answer is no number.
    #[error(
        "check the condition `{condition}`: the server answered `{found}`, expected one whole number, \
         which says how often it is violated"
    )]
    Condition {
        /// Its name.
        condition: String,
        /// The server's answer.
        found: String,
    },
    /// The keys of a table are no numbers.
    #[error(
        "read the keys of {table}: the lowest and the highest are no whole numbers, which \
         `lowest_key` and `highest_key` of a workload need"
    )]
    Keys {
        /// The table.
        table: String,
    },
    /// A table's rows are not those of the dataset.
    #[error(
        "verify {table}: {sum} of rows {first} to {last} is {found} on the server, expected \
         {expected}"
    )]
    Verify {
        /// The table.
        table: String,
        /// The first row compared.
        first: u64,
        /// The last row compared.
        last: u64,
        /// The compared expression, as SQL.
        sum: String,
        /// The server's side.
        found: String,
        /// The dataset's side.
        expected: String,
    },
}

impl LoadError {
    /// Explains that the system refused an action.
    pub(crate) fn system<E: Into<io::Error>>(action: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::System {
            action,
            source: source.into(),
        }
    }

    /// A statement of a fill or a check that failed.
    pub(crate) fn fill(action: impl Into<String>, source: ClientError) -> Self {
        let action = action.into();
        Self::Fill { action, source }
    }
}
