//! From a workload to a program. Whatever can be wrong with a workload is found here, before
//! anything is connected.

mod encoding;
mod params;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use prony_model::{Dataset, ExprError, Family, Protocol, SqlTemplate, TableChoice, Workload};

use crate::DriveTask;
use crate::program::compile::params::Params;
use crate::program::{Program, Statement};
use crate::protocol::{ProtocolError, Wire};
use crate::values::marks::{Mark, Marks};

/// The most rows of a statement: more would fill several of the largest packets.
const ROWS_MAX: i64 = 1 << 20;

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
    /// It has neither a common text nor one for the server's family.
    #[error("run it on {0}: it has no SQL for servers of this family")]
    NoSql(Family),
    /// The schema has no further table or procedure of this name.
    #[error("name `{{{0}}}`: the schema has none of this name")]
    NoName(String),
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
    /// A statement has no rows, or more than a request can hold.
    #[error("repeat its row {0} times: 1 to {ROWS_MAX} are possible")]
    Rows(i64),
    /// A hole that only the statement itself can have.
    #[error("fill `{0}` in a row: only `sql` of the statement has it")]
    NotInRow(&'static str),
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
    pub(crate) fn compile(
        family: Family,
        task: &DriveTask,
        group: usize,
        marks: Option<&Arc<Marks>>,
    ) -> Result<Self, StatementError> {
        let seed = task.seed_of(group);
        let group = &task.groups[group];
        let scope = Scope {
            family,
            workload: &group.workload,
            parameters: &group.parameters,
            dataset: &task.dataset,
            protocol: task.protocol,
            clients: group.clients,
            seed,
            marks: marks.cloned(),
        };
        scope.compile(task.transactional)
    }
}

/// Names known before any value is drawn.
pub(crate) struct Scope<'a> {
    /// The family of the server, which decides the statements' text and protocol.
    pub(crate) family: Family,
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
    /// The marks of the tables.
    pub(crate) marks: Option<Arc<Marks>>,
}

impl<'a> Scope<'a> {
    /// One client's, as text.
    pub(crate) const fn of_text(
        family: Family,
        workload: &'a Workload,
        parameters: &'a BTreeMap<String, i64>,
        dataset: &'a Dataset,
        seed: u64,
    ) -> Self {
        Self {
            family,
            workload,
            parameters,
            dataset,
            protocol: Protocol::Text,
            clients: 1,
            seed,
            marks: None,
        }
    }

    /// The same with marks of the tables that are those of a dataset as it was loaded.
    pub(crate) fn with_marks_of_load(self) -> Self {
        let keys = [1, i64::try_from(self.dataset.rows).unwrap_or(i64::MAX)];
        let tables = 0..self.dataset.tables;
        self.with_marks(Marks::new(tables.map(|_| keys)))
    }

    /// The same with these marks of the tables.
    pub(crate) fn with_marks(mut self, marks: Marks) -> Self {
        self.marks = Some(Arc::new(marks));
        self
    }

    /// Compiles the workload, with its `BEGIN` and `COMMIT` where they are `transactional`.
    ///
    /// # Errors
    /// As [`Program::compile`].
    pub(crate) fn compile(&self, transactional: bool) -> Result<Program, StatementError> {
        let sets = 0..self.dataset.tables;
        let tables: Vec<_> = sets.map(|set| self.dataset.names_of_set(set)).collect();
        let mut places = Places::default();
        let goes_through = self.workload.goes_through_tables();
        places.next = usize::from(goes_through);
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
            wire: self.wire(),
            seed: self.seed,
            queries_per_operation: inner + if transaction { 2 } else { 0 },
            ordered: places.next,
            mix,
            marks: self.marks.clone(),
            table_place: 0,
            clients: self.clients,
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

    const fn wire(&self) -> Wire {
        Wire::of(self.family)
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
    tables: &[Vec<String>],
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
    let uses_marks = statement.uses_marks();
    if uses_marks {
        params.add_marks();
    }
    let fixed = statement.fixed_params();
    for param in &fixed {
        params.add(param)?;
    }
    let of_rows = params.rows(statement, &fixed)?;
    let sql = statement.sql.of(scope.family);
    let sql = sql.ok_or(CompileError::NoSql(scope.family))?;
    let pieces = params.filled(sql.pieces(), &of_rows)?;
    // Servers of all families get the same values, and tables are drawn like values.
    let names_table = statement.sql.texts().any(SqlTemplate::names_tables);
    let encoding = match scope.protocol() {
        Protocol::Text => params.text_encoding(pieces)?,
        Protocol::Prepared if names_table => params.prepared_encoding(&pieces, tables)?,
        Protocol::Prepared => params.prepared_encoding(&pieces, &[Vec::new()])?,
    };
    let moves = match statement.change.rows {
        1 => Some(Mark::Highest),
        // Who deletes other rows than the lowest moves no mark.
        -1 if uses_marks => Some(Mark::Lowest),
        _ => None,
    };
    let (params, texts, integers) = params.finish();
    Ok(Statement {
        name: statement.name.clone(),
        repeat: statement.repeat,
        table: names_table.then_some(statement.table),
        repeats_values,
        uses_marks,
        moves,
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
        Some(TableChoice::Random | TableChoice::Each | TableChoice::Previous) => {
            (0..tables).collect()
        }
        Some(TableChoice::ByClient) => {
            let tables = tables as u64;
            vec![usize::try_from(u64::from(client) % tables).unwrap_or(0)]
        }
    }
}
