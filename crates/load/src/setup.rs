//! Everything before any clock runs: connections and their prepared statements.

use std::time::Duration;

use prony_client::{ClientError, Connection};

use crate::choices::Choices;
use crate::client::{Client, PreparedId, PreparedIds};
use crate::program::{Encoding, Program, tables_of_client};
use crate::worker::Link;
use crate::{DriveTask, Job, LoadError};

/// `ER_UNSUPPORTED_PS`: this command is not supported in the prepared statement protocol yet.
const UNSUPPORTED_PS: u16 = 1295;

/// Connects every client and prepares its statements.
pub(crate) fn connect_clients(
    job: &Job,
    task: &DriveTask,
    program: &Program,
) -> Result<Vec<Link>, LoadError> {
    let login = job.login();
    let timeout = Duration::from_millis(task.stall_ms);
    (0..task.clients)
        .map(|number| {
            let connect_error = |source| LoadError::Connect {
                client: number + 1,
                clients: task.clients,
                source,
            };
            let mut connection =
                Connection::connect(&job.address, &login, timeout).map_err(connect_error)?;
            let prepared = prepare(&mut connection, program, number)?;
            let stream = connection.into_stream().map_err(connect_error)?;
            let choices = Choices::new(program, task.seed, number);
            let client = Client::new(choices, prepared);
            Ok(Link::new(client, stream))
        })
        .collect()
}

/// Prepares each statement for each table that the client may send it to.
fn prepare(
    connection: &mut Connection,
    program: &Program,
    number: u32,
) -> Result<PreparedIds, LoadError> {
    program
        .statements
        .iter()
        .map(|statement| {
            let Encoding::Prepared(prepared) = &statement.encoding else {
                return Ok(Vec::new());
            };
            tables_of_client(statement, number, program.tables.len())
                .into_iter()
                .map(|table| {
                    let answer = connection
                        .prepare(&prepared.sql[table])
                        .map_err(|source| explain(&statement.name, source))?;
                    if usize::from(answer.params) != prepared.params() {
                        return Err(LoadError::ParamCount {
                            statement: statement.name.clone(),
                            expected: prepared.params(),
                            found: answer.params,
                        });
                    }
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
