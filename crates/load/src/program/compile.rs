//! From a workload to a program. Whatever can be wrong with a workload is found here, before
//! anything is connected.

mod encoding;
mod params;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use prony_model::{Dataset, ExprError, Piece, Protocol, TableChoice, Workload};

use crate::DriveTask;
use crate::program::compile::params::Params;
use crate::program::{Program, Statement};
use crate::protocol::{ProtocolError, Wire};

/// The only protocol so far.
const WIRE: Wire = Wire::Mysql;

/// Errors of a statement of a workload. Fits after "failed to …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// It would never run.
    #[error("run the statement 0 times: repeat must be at least 1")]
    NoRepeat,
    /// A hole of its text has no parameter.
    #[error("fill `{{{0}}}`: no parameter has this name")]
    NoParam(String),
    /// A list stands where one value should.
    #[error("fill `{{{0}}}`: it is a list; write `{{{0}:list}}`")]
    ListAsValue(String),
    /// One value stands where a list should.
    #[error("fill `{{{0}:list}}`: it is not a list; write `{{{0}}}`, or give it a `count`")]
    ValueAsList(String),
    /// An expression names a list.
    #[error("compute parameter `{name}`: `{list}` is a list, not a number")]
    ListInExpression {
        /// The parameter with the expression.
        name: String,
        /// The list.
        list: String,
    },
    /// An expression does something with a drawn value that it may do with constants only.
    #[error(
        "compute parameter `{name}`: `{factor}` is drawn for each statement; it can only be \
         multiplied with a constant"
    )]
    NotLinear {
        /// The parameter with the expression.
        name: String,
        /// The drawn value.
        factor: String,
    },
    /// A list is empty or out of all proportion.
    #[error("create list `{name}` of {count} values: 1 to {max} are possible")]
    ListLength {
        /// The parameter.
        name: String,
        /// Values that it is to have.
        count: i64,
        /// The most that it can have.
        max: usize,
    },
    /// A range depends on drawn values where it must not.
    #[error(
        "draw parameter `{0}`: its range depends on drawn values, which is possible with the \
         uniform distribution only"
    )]
    ChangingRange(String),
    /// More parameters than the protocol can count.
    #[error(
        "prepare it with {count} parameters: at most {max} are possible; make its lists shorter, \
         or set `text_only` in the workload"
    )]
    TooManyParams {
        /// Parameters of its text.
        count: usize,
        /// The most that are possible.
        max: usize,
    },
    /// Two values have the same name.
    #[error("name a parameter `{0}`: the name is already used")]
    NameTaken(String),
    /// An expression of a parameter can't be computed.
    #[error("compute parameter `{name}`: {source}")]
    Expression {
        /// The parameter.
        name: String,
        /// The cause.
        source: ExprError,
    },
    /// The lowest value of a parameter can be above the highest.
    #[error("draw parameter `{name}`: its range can be empty, because low can exceed high by {by}")]
    EmptyRange {
        /// The parameter.
        name: String,
        /// The greatest excess.
        by: i128,
    },
    /// The values of a parameter may not fit 64 bits.
    #[error("hold parameter `{0}`: its values need more than 63 bits")]
    OutOfRange(String),
    /// A statement of a mix is none that an operation can run alone.
    #[error(
        "mix it with others: every statement of a mix needs a weight of at least 1, must not be \
         repeated, and must choose its own table"
    )]
    Mix,
    /// The statement may not fit one packet.
    #[error(transparent)]
    TooLarge(#[from] ProtocolError),
}

/// The wrong statement, and the error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{source} (statement `{statement}`)")]
pub struct StatementError {
    /// Its name.
    pub statement: String,
    /// Description of the problem.
    pub source: CompileError,
}

impl StatementError {
    fn of(statement: &prony_model::Statement, source: CompileError) -> Self {
        let statement = statement.name.clone();
        Self { statement, source }
    }
}

impl Program {
    /// Compiles the workload of a task's group, by its index.
    ///
    /// # Errors
    /// When a name is not defined or taken twice, a range can be empty, or values do not fit.
    pub(crate) fn compile(task: &DriveTask, group: usize) -> Result<Self, StatementError> {
        let seed = task.seed_of(group);
        let group = &task.groups[group];
        let scope = Scope {
            workload: &group.workload,
            parameters: &group.parameters,
            dataset: &task.dataset,
            protocol: task.protocol,
            clients: group.clients,
            seed,
        };
        scope.compile(task.transactional)
    }
}

/// Names known before any value is drawn.
pub(crate) struct Scope<'a> {
    pub(crate) workload: &'a Workload,
    /// Values of the step; those not named keep the workload's own.
    pub(crate) parameters: &'a BTreeMap<String, i64>,
    pub(crate) dataset: &'a Dataset,
    /// Protocol of statements, unless the workload insists on text.
    pub(crate) protocol: Protocol,
    /// Clients that share the values of a range where none may come twice.
    pub(crate) clients: u32,
    /// Decides the order of such values.
    pub(crate) seed: u64,
}

impl<'a> Scope<'a> {
    /// One client's, as text.
    pub(crate) const fn of_text(
        workload: &'a Workload,
        parameters: &'a BTreeMap<String, i64>,
        dataset: &'a Dataset,
        seed: u64,
    ) -> Self {
        Self {
            workload,
            parameters,
            dataset,
            protocol: Protocol::Text,
            clients: 1,
            seed,
        }
    }

    /// Compiles the workload, with its `BEGIN` and `COMMIT` where they are `transactional`.
    ///
    /// # Errors
    /// As [`Program::compile`].
    pub(crate) fn compile(&self, transactional: bool) -> Result<Program, StatementError> {
        let tables: Vec<String> = self.dataset.table_names().collect();
        let mut places = Places::default();
        let statements = self
            .workload
            .statements
            .iter()
            .map(|statement| {
                compile_statement(statement, self, &tables, &mut places)
                    .map_err(|source| StatementError::of(statement, source))
            })
            .collect::<Result<Vec<_>, _>>()?;
        let transaction = self.workload.transaction && transactional;
        let mix = self.mix()?;
        let inner: u64 = if mix.is_empty() {
            statements.iter().map(|s| u64::from(s.repeat)).sum()
        } else {
            1
        };
        Ok(Program {
            repeats_values: statements.iter().any(|s| s.repeats_values),
            statements,
            tables,
            transaction,
            wire: WIRE,
            seed: self.seed,
            queries_per_operation: inner + if transaction { 2 } else { 0 },
            ordered: places.next,
            mix,
        })
    }

    /// The sums of the weights up to each statement of a mix.
    fn mix(&self) -> Result<Vec<u64>, StatementError> {
        let statements = &self.workload.statements;
        if statements.iter().all(|s| s.weight.is_none()) {
            return Ok(Vec::new());
        }
        let mut sum = 0;
        statements
            .iter()
            .map(|statement| {
                let alone = statement.repeat == 1 && statement.table != TableChoice::Previous;
                match statement.weight {
                    Some(weight) if weight > 0 && alone => {
                        sum += u64::from(weight);
                        Ok(sum)
                    }
                    _ => Err(StatementError::of(statement, CompileError::Mix)),
                }
            })
            .collect()
    }

    /// The step's parameters, the workload's where the step says nothing, `rows` and `tables`.
    fn known(&self, name: &str) -> Option<i64> {
        match name {
            "rows" => i64::try_from(self.dataset.rows).ok(),
            "tables" => Some(i64::from(self.dataset.tables)),
            _ => [self.parameters, &self.workload.parameters]
                .iter()
                .find_map(|parameters| parameters.get(name).copied()),
        }
    }

    fn protocol(&self) -> Protocol {
        if self.workload.text_only {
            Protocol::Text
        } else {
            self.protocol
        }
    }
}

/// Places of the parameters that go through their range in an order.
#[derive(Debug, Default)]
struct Places {
    /// The first that is free.
    next: usize,
    /// Those of the statement before, which come first in a statement that begins with its values.
    previous: Vec<usize>,
}

fn compile_statement(
    statement: &prony_model::Statement,
    scope: &Scope<'_>,
    tables: &[String],
    places: &mut Places,
) -> Result<Statement, CompileError> {
    if statement.repeat == 0 {
        return Err(CompileError::NoRepeat);
    }
    let repeats_values = statement.table == TableChoice::Previous;
    if !repeats_values {
        places.previous.clear();
    }
    let mut params = Params::new(scope, places);
    for param in &statement.params {
        params.add(param)?;
    }
    let pieces = statement.sql.pieces();
    let names_table = pieces.contains(&Piece::Table);
    let encoding = match scope.protocol() {
        Protocol::Text => params.text_encoding(pieces)?,
        Protocol::Prepared if names_table => params.prepared_encoding(pieces, tables)?,
        Protocol::Prepared => params.prepared_encoding(pieces, &[String::new()])?,
    };
    let (params, texts, integers) = params.finish();
    Ok(Statement {
        name: statement.name.clone(),
        repeat: statement.repeat,
        table: names_table.then_some(statement.table),
        repeats_values,
        expect: statement.expect,
        encoding,
        integers,
        params,
        texts,
    })
}

/// The tables that a client's statements may go to, as indices.
pub(crate) fn tables_of_client(statement: &Statement, client: u32, tables: usize) -> Vec<usize> {
    match statement.table {
        None => vec![0],
        Some(TableChoice::Random | TableChoice::Previous) => (0..tables).collect(),
        Some(TableChoice::ByClient) => {
            let tables = tables as u64;
            vec![usize::try_from(u64::from(client) % tables).unwrap_or(0)]
        }
    }
}
