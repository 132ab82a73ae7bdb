//! Everything before any clock runs: connections and their prepared statements.

use std::sync::Arc;
use std::time::Duration;

use prony_client::{
    Address, ClientError, Connection, Encryption, Login, Opening, Socket, Stream, TlsError,
};
use prony_model::{Backend, Tls};

use crate::choices::Choices;
use crate::client::{Client, PreparedId, PreparedIds};
use crate::part::Part;
use crate::program::{Encoding, Program, Statement, tables_of_client};
use crate::worker::Link;
use crate::{DriveTask, Job, LoadError};

/// `ER_UNSUPPORTED_PS`: this command is not supported in the prepared statement protocol yet.
const UNSUPPORTED_PS: u16 = 1295;

/// Opens connections for the clients of a task.
pub(crate) struct Opener<'a> {
    job: &'a Job,
    task: &'a DriveTask,
    login: Login,
    parts: &'a [Part<'a>],
    programs: &'a [Program],
    /// How clients encrypt who connect anew.
    encryption: Option<Encryption>,
    /// What clients prepare when they connect anew, by group; where a client keeps to a table, by
    /// its number modulo the number of tables.
    texts: Vec<Vec<Arc<[String]>>>,
}

impl<'a> Opener<'a> {
    /// `programs` are those of the groups.
    ///
    /// # Errors
    /// When what the server's certificate is to be verified with can't be read.
    pub(crate) fn new(
        job: &'a Job,
        task: &'a DriveTask,
        parts: &'a [Part<'a>],
        programs: &'a [Program],
    ) -> Result<Self, LoadError> {
        let connects_anew = parts.iter().any(|part| part.reconnect_every.is_some());
        let encryption = (connects_anew && job.tls != Tls::Off)
            .then(|| Encryption::new(&job.address, &job.tls))
            .transpose()
            .map_err(|source| encryption_error(job, source))?;
        Ok(Self {
            job,
            task,
            login: job.login(),
            parts,
            programs,
            encryption,
            texts: programs.iter().map(all_texts).collect(),
        })
    }

    /// What drives the connections.
    pub(crate) const fn backend(&self) -> Backend {
        self.task.backend
    }

    /// Where the server listens.
    pub(crate) const fn address(&self) -> &Address {
        &self.job.address
    }

    /// Clients of a group.
    pub(crate) fn clients(&self, group: usize) -> u32 {
        self.parts[group].clients
    }

    /// Connects every client of every group and prepares its statements; group after group.
    pub(crate) fn connect_all(&self) -> Result<Vec<Link>, LoadError> {
        let mut links = Vec::new();
        for (group, part) in self.parts.iter().enumerate() {
            for number in 0..part.clients {
                links.push(self.connect(group, number)?);
            }
        }
        Ok(links)
    }

    fn connect(&self, group: usize, number: u32) -> Result<Link, LoadError> {
        let (part, program) = (&self.parts[group], &self.programs[group]);
        let timeout = Duration::from_millis(self.task.stall_ms);
        let connect_error = |source| self.error(group, number, source);
        let mut connection =
            Connection::connect(&self.job.address, &self.login, timeout).map_err(connect_error)?;
        let prepared = prepare(&mut connection, program, number)?;
        let stream = connection.into_stream().map_err(connect_error)?;
        let choices = Choices::new(program, part.seed, number);
        let client = Client::new(group, number, part.reconnect_every, choices, prepared);
        Ok(Link::new(client, stream))
    }

    /// Opens a connection of a client of a group over a fresh socket, step by step.
    pub(crate) fn opening(
        &self,
        group: usize,
        number: u32,
        socket: Socket,
    ) -> Result<(Opening, Stream), LoadError> {
        let texts = &self.texts[group];
        let texts = &texts[number as usize % texts.len()];
        let opening = Opening::new(&self.job.address, &self.login, Arc::clone(texts));
        let stream = Stream::new(socket, self.encryption.as_ref())
            .map_err(|source| encryption_error(self.job, source))?;
        Ok((opening, stream))
    }

    /// The statements that an opening prepared for a client of a group.
    pub(crate) fn prepared(&self, group: usize, number: u32, opening: &Opening) -> PreparedIds {
        let mut answers = opening.prepared().iter();
        texts(&self.programs[group], number)
            .map(|(_, texts)| {
                let answers = answers.by_ref().take(texts.len());
                answers.map(|answer| PreparedId::new(answer.id)).collect()
            })
            .collect()
    }

    /// What to say when client `number` of a group could not connect.
    pub(crate) fn error(&self, group: usize, number: u32, source: ClientError) -> LoadError {
        LoadError::Connect {
            client: number + 1,
            clients: self.clients(group),
            source,
        }
    }
}

fn encryption_error(job: &Job, source: TlsError) -> LoadError {
    let address = job.address.clone();
    let source = ClientError::Tls { address, source };
    LoadError::Reconnect { source }
}

/// The texts of clients 0, 1 and so on, until they repeat.
fn all_texts(program: &Program) -> Vec<Arc<[String]>> {
    (0..)
        .zip(&program.tables)
        .map(|(number, _)| {
            let texts = texts(program, number).flat_map(|(_, texts)| texts);
            texts.map(str::to_owned).collect()
        })
        .collect()
}

/// What to say when a client could not connect anew: `opening` tells how far it came.
pub(crate) fn opening_error(
    program: &Program,
    number: u32,
    opening: &Opening,
    source: ClientError,
) -> LoadError {
    let statement = opening
        .preparing()
        .and_then(|index| prepared_statements(program, number).nth(index));
    match statement {
        Some(statement) => explain(&statement.name, source),
        None => LoadError::Reconnect { source },
    }
}

/// Fails when the server takes other numbers of parameters than when the client first connected.
pub(crate) fn check_params(
    program: &Program,
    number: u32,
    opening: &Opening,
) -> Result<(), LoadError> {
    prepared_statements(program, number)
        .zip(opening.prepared())
        .try_for_each(|(statement, answer)| check_param_count(statement, answer.params))
}

/// The statements that a client prepares, each as often as it has texts.
fn prepared_statements(program: &Program, number: u32) -> impl Iterator<Item = &Statement> {
    texts(program, number).flat_map(|(statement, texts)| texts.into_iter().map(move |_| statement))
}

fn check_param_count(statement: &Statement, found: u16) -> Result<(), LoadError> {
    let expected = statement.encoding.params();
    if usize::from(found) == expected {
        return Ok(());
    }
    Err(LoadError::ParamCount {
        statement: statement.name.clone(),
        expected,
        found,
    })
}

/// For each statement of a program, the texts that a client prepares: one for each table that it
/// may go to. None where statements go as text.
fn texts(program: &Program, number: u32) -> impl Iterator<Item = (&Statement, Vec<&str>)> {
    program.statements.iter().map(move |statement| {
        let Encoding::Prepared(prepared) = &statement.encoding else {
            return (statement, Vec::new());
        };
        let tables = tables_of_client(statement, number, program.tables.len());
        let texts = tables.into_iter().map(|table| prepared.sql[table].as_str());
        (statement, texts.collect())
    })
}

/// Prepares each statement for each table that the client may send it to.
fn prepare(
    connection: &mut Connection,
    program: &Program,
    number: u32,
) -> Result<PreparedIds, LoadError> {
    texts(program, number)
        .map(|(statement, texts)| {
            texts
                .into_iter()
                .map(|sql| {
                    let answer = connection
                        .prepare(sql)
                        .map_err(|source| explain(&statement.name, source))?;
                    check_param_count(statement, answer.params)?;
                    Ok(PreparedId::new(answer.id))
                })
                .collect()
        })
        .collect()
}

fn explain(statement: &str, source: ClientError) -> LoadError {
    let statement = statement.to_owned();
    match source {
        ClientError::Server {
            code: UNSUPPORTED_PS,
            ..
        } => LoadError::Unpreparable { statement },
        source => LoadError::Prepare { statement, source },
    }
}
