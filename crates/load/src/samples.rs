//! Statements of a workload as text, for those who want to ask the server about them.

use std::collections::BTreeMap;

use prony_client::Connection;
use prony_model::{Dataset, Family, Workload};

use crate::choices::Choices;
use crate::dataset::marks;
use crate::job::{check_dataset, check_parameters};
use crate::program::{Encoding, Scope, append_sql};
use crate::{JobError, LoadError};

/// The client whose statements are the samples.
const CLIENT: u32 = 0;

/// One sample of each statement of a workload, by the statement's name: SQL with drawn values, as
/// a client sends it where nothing is prepared. `BEGIN` and `COMMIT` are left out. The same
/// arguments give the same texts, but for keys that move: `connection` is asked
/// where these are, and without one they are those of the load.
///
/// # Errors
/// When `parameters` has a name that the workload does not define, the workload can't be compiled, or
/// the server does not say where the keys are.
pub fn sample_statements(
    family: Family,
    connection: Option<&mut Connection>,
    workload: &Workload,
    parameters: &BTreeMap<String, i64>,
    dataset: &Dataset,
    seed: u64,
) -> Result<Vec<(String, String)>, LoadError> {
    check_dataset(dataset)?;
    check_parameters(workload, parameters)?;
    let scope = Scope::of_text(family, workload, parameters, dataset, seed);
    let scope = match connection {
        Some(connection) if workload.uses_marks() => {
            scope.with_marks(marks::read(connection, dataset)?)
        }
        _ => scope.with_marks_of_load(),
    };
    let program = scope
        .compile(false)
        .map_err(JobError::compiling(workload))?;
    let mut choices = Choices::new(&program, CLIENT);
    let mut all_values = program.new_values();
    let mut samples = Vec::with_capacity(program.statements.len());
    for (statement, values) in program.statements.iter().zip(&mut all_values) {
        // Everything is text here, whatever the workload says.
        let Encoding::Text(pieces) = &statement.encoding else {
            continue;
        };
        choices.choose(&program, statement, 0, values);
        let mut sql = Vec::new();
        append_sql(pieces, &mut sql, &program.tables[choices.table()], values);
        let sql = String::from_utf8_lossy(&sql).into_owned();
        samples.push((statement.name.clone(), sql));
    }
    Ok(samples)
}
