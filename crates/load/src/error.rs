//! What can go wrong with a job.

use std::io;

use prony_client::ClientError;
use prony_model::ErrorCode;

use crate::{BackendError, ProtocolError, StatementError};

/// What is wrong with a job before anything is connected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JobError {
    /// A number that must not be 0.
    #[error("run the job: {field} must be at least 1")]
    Zero {
        /// Which.
        field: &'static str,
    },
    /// A value for a parameter that the workload does not have.
    #[error("set parameter `{name}`: workload `{workload}` does not define it")]
    UnknownParameter {
        /// The parameter.
        name: String,
        /// The workload.
        workload: String,
    },
    /// A time and a number of operations.
    #[error(
        "warm up: by time or by operations, not both; leave out `warmup_operations`, or `warmup_ms` \
         and `ramp_ms`"
    )]
    TwoWarmups,
    /// The workload makes no sense.
    #[error("compile workload `{workload}`: failed to {source}")]
    Workload {
        /// Its name.
        workload: String,
        /// Which statement, and why.
        source: Box<StatementError>,
    },
}

/// Why a job failed. Fits after "failed to …".
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The job makes no sense.
    #[error(transparent)]
    Job(#[from] JobError),
    /// The backend that the job asks for can't be had.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// The system does not let this process open enough connections.
    #[error(
        "connect {clients} clients: that takes {needed} open files, and the system allows this \
         process {limit}; raise the hard limit (`ulimit -Hn`) or use fewer clients"
    )]
    OpenFiles {
        /// How many clients there are to be.
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
        /// How many there are to be.
        clients: u32,
        /// Why.
        source: ClientError,
    },
    /// A client could not connect anew.
    #[error("connect anew: failed to {source}")]
    Reconnect {
        /// Why.
        source: ClientError,
    },
    /// A statement could not be prepared.
    #[error("prepare statement `{statement}`: failed to {source}")]
    Prepare {
        /// Its name.
        statement: String,
        /// Why.
        source: ClientError,
    },
    /// A kind of statement that the server can't prepare.
    #[error(
        "prepare statement `{statement}`: the server can't prepare this kind; set `text_only` in \
         its workload to send it as text"
    )]
    Unpreparable {
        /// Its name.
        statement: String,
    },
    /// The server takes another number of parameters than the statement has holes.
    #[error(
        "prepare statement `{statement}`: the server counts {found} parameters, expected \
         {expected}; is there a `?` in its text?"
    )]
    ParamCount {
        /// Its name.
        statement: String,
        /// Holes of its text.
        expected: usize,
        /// What the server counts.
        found: u16,
    },
    /// The server refused a statement with an error that is fatal.
    #[error("run `{statement}`: the server answered with error {code} ({sqlstate}): {message}")]
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
        "run `{statement}`: still refused after {seconds:.1} s of retries, at last with error \
         {code}: {message}"
    )]
    Retries {
        /// The statement's name.
        statement: String,
        /// How long the operation took so far.
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
        /// How long.
        seconds: f64,
    },
    /// The server does not keep to the protocol.
    #[error("run `{statement}`: failed to {source}")]
    Protocol {
        /// The statement under way.
        statement: String,
        /// What is wrong with its bytes.
        source: ProtocolError,
    },
    /// The server answered more than it was asked.
    #[error("run `{statement}`: the server sent {bytes} bytes after its answer")]
    Surplus {
        /// The statement under way.
        statement: String,
        /// How many.
        bytes: usize,
    },
    /// The system failed to carry bytes.
    #[error("talk to the server about `{statement}`: {source}")]
    Socket {
        /// The statement under way.
        statement: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The system refused something else.
    #[error("{action}: {source}")]
    System {
        /// What was tried.
        action: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// A thread of the generator ended without a result.
    #[error("finish: a thread of the load generator ended early")]
    Thread,
    /// A histogram could not be made or written.
    #[error("record latencies: {reason}")]
    Histogram {
        /// Why.
        reason: String,
    },
    /// The input holds no job.
    #[error("read the job from the input: {reason}")]
    NoJob {
        /// Why.
        reason: String,
    },
    /// Nobody controls the generator any more.
    #[error("run the job to its end: the controlling process closed the generator's input")]
    Abandoned,
    /// The line that begins the measured time can't be read.
    #[error("wait for the line that begins the measured time: {source}")]
    Input {
        /// The system's reason.
        source: io::Error,
    },
    /// Nobody reads the messages any more.
    #[error("write a message: {source}")]
    Output {
        /// The system's reason.
        source: io::Error,
    },
    /// A statement of the fill failed.
    #[error("{action}: failed to {source}")]
    Fill {
        /// What was being done.
        action: String,
        /// Why.
        source: ClientError,
    },
    /// The server made a table with another engine than asked for.
    #[error("create {table}: the server took engine {found} for {wanted}; is it enabled?")]
    OtherEngine {
        /// The table.
        table: String,
        /// The engine asked for.
        wanted: &'static str,
        /// The engine that it has.
        found: String,
    },
    /// A server's answer to a sum is no number.
    #[error("sum up {table}: the server answered `{found}` to {sum}, expected a whole number")]
    Sum {
        /// The table.
        table: String,
        /// What was asked, as SQL.
        sum: String,
        /// The server's answer.
        found: String,
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
        /// What was compared, as SQL.
        sum: String,
        /// The server's side.
        found: String,
        /// The dataset's side.
        expected: String,
    },
}
