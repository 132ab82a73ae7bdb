//! Everything before any clock runs: connections and their prepared statements.

use std::time::Duration;

use prony_client::{Address, ClientError, Connection, Login, Opening};
use prony_model::Backend;

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
}

impl<'a> Opener<'a> {
    /// `programs` are those of the groups.
    pub(crate) fn new(
        job: &'a Job,
        task: &'a DriveTask,
        parts: &'a [Part<'a>],
        programs: &'a [Program],
    ) -> Self {
        Self {
            job,
            task,
            login: job.login(),
            parts,
            programs,
        }
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
        let connect_error = |source| self.error(number, source);
        let mut connection =
            Connection::connect(&self.job.address, &self.login, timeout).map_err(connect_error)?;
        let prepared = prepare(&mut connection, program, number)?;
        let stream = connection.into_stream().map_err(connect_error)?;
        let choices = Choices::new(program, part.seed, number);
        let client = Client::new(group, number, part.reconnect_every, choices, prepared);
        Ok(Link::new(client, stream))
    }

    /// Opens a connection of a client of a group, step by step.
    pub(crate) fn opening(&self, group: usize, number: u32) -> Result<Opening, LoadError> {
        let texts: Vec<String> = texts(&self.programs[group], number)
            .flat_map(|(_, texts)| texts)
            .map(str::to_owned)
            .collect();
        Opening::new(&self.job.address, &self.login, texts)
            .map_err(|source| LoadError::Reconnect { source })
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
    pub(crate) fn error(&self, number: u32, source: ClientError) -> LoadError {
        LoadError::Connect {
            client: number + 1,
            clients: self.task.clients,
            source,
        }
    }
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
