//! The statements that a client prepares on its connection.

use std::sync::Arc;

use prony_client::{ClientError, Connection, Opening};
use prony_wire::codes::UNSUPPORTED_PS;

use crate::LoadError;
use crate::operations::PreparedIds;
use crate::program::{Encoding, Program, Statement, tables_of_client};
use crate::protocol::PreparedId;

/// The texts of clients 0, 1 and so on, until they repeat.
pub(super) fn all_texts(program: &Program) -> Vec<Arc<[String]>> {
    (0..)
        .zip(&program.tables)
        .map(|(number, _)| {
            let texts = texts(program, number).flat_map(|(_, texts)| texts);
            texts.map(str::to_owned).collect()
        })
        .collect()
}

/// The error of a client that could not connect anew; `opening` knows how far it came.
pub(super) fn opening_error(
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
        None => LoadError::Reconnect(source),
    }
}

/// Fails when the server takes other numbers of parameters than when the client first connected.
pub(super) fn check_params(
    program: &Program,
    number: u32,
    opening: &Opening,
) -> Result<(), LoadError> {
    prepared_statements(program, number)
        .zip(opening.prepared())
        .try_for_each(|(statement, answer)| check_param_count(statement, answer.params))
}

/// The statements that an opening prepared for a client.
pub(super) fn prepared_ids(program: &Program, number: u32, opening: &Opening) -> PreparedIds {
    let mut answers = opening.prepared().iter();
    texts(program, number)
        .map(|(_, texts)| {
            let answers = answers.by_ref().take(texts.len());
            answers.map(|answer| PreparedId::new(answer.id)).collect()
        })
        .collect()
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
pub(super) fn prepare(
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
        ClientError::Server { code, .. } if code == UNSUPPORTED_PS.into() => {
            LoadError::Unpreparable(statement)
        }
        source => LoadError::Prepare { statement, source },
    }
}
