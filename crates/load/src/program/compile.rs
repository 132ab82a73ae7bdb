//! From a workload to a program. Whatever can be wrong with a workload is found here, before
//! anything is connected.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use prony_model::{
    Dataset, Distribution, ExprError, Generator, Piece, Protocol, TableChoice, Workload,
};
use prony_wire::{PAYLOAD_MAX, WireError};

use crate::DriveTask;
use crate::digits::DigitPattern;
use crate::program::encode::{Encoding, Hole, Prepared, TextPiece};
use crate::program::linear::{Bounds, Linear};
use crate::program::{Param, Program, Statement};

/// The most bytes that an integer takes in a statement's text.
const INTEGER_SIZE_MAX: usize = 20;

/// What is wrong with a statement of a workload. Fits after "failed to …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// It would never run.
    #[error("run the statement 0 times: repeat must be at least 1")]
    NoRepeat,
    /// A hole of its text has no parameter.
    #[error("fill `{{{0}}}`: no parameter has this name")]
    NoParam(String),
    /// A list, or a distribution that the generator does not know yet.
    #[error("draw parameter `{0}`: the generator knows single uniform values only")]
    NotYet(String),
    /// Two values have the same name.
    #[error("name a parameter `{0}`: the name is taken")]
    NameTaken(String),
    /// An expression of a parameter can't be computed.
    #[error("compute parameter `{name}`: {source}")]
    Expression {
        /// The parameter.
        name: String,
        /// Why.
        source: ExprError,
    },
    /// The lowest value of a parameter can be above the highest.
    #[error("draw parameter `{name}`: its range can be empty, for low can exceed high by {by}")]
    EmptyRange {
        /// The parameter.
        name: String,
        /// The greatest excess.
        by: i128,
    },
    /// The values of a parameter may not fit 64 bits.
    #[error("hold parameter `{0}`: its values need more than 63 bits")]
    OutOfRange(String),
    /// The statement may not fit one packet.
    #[error(transparent)]
    TooLarge(#[from] WireError),
}

/// Which statement is wrong, and how.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{source} (statement `{statement}`)")]
pub struct StatementError {
    /// Its name.
    pub statement: String,
    /// What is wrong.
    pub source: CompileError,
}

impl Program {
    /// Compiles the workload of a task.
    ///
    /// # Errors
    /// When a name is not defined or taken twice, a range can be empty, or values do not fit.
    pub(crate) fn compile(task: &DriveTask) -> Result<Self, StatementError> {
        let scope = Scope {
            workload: &task.workload,
            parameters: &task.parameters,
            dataset: &task.dataset,
            protocol: task.protocol,
        };
        scope.compile(task.transactional)
    }
}

/// What is known before any value is drawn.
pub(crate) struct Scope<'a> {
    pub(crate) workload: &'a Workload,
    /// Values of the step; those not named keep the workload's own.
    pub(crate) parameters: &'a BTreeMap<String, i64>,
    pub(crate) dataset: &'a Dataset,
    /// How statements are sent, unless the workload insists on text.
    pub(crate) protocol: Protocol,
}

impl Scope<'_> {
    /// Compiles the workload, with its `BEGIN` and `COMMIT` where they are `transactional`.
    ///
    /// # Errors
    /// As [`Program::compile`].
    pub(crate) fn compile(&self, transactional: bool) -> Result<Program, StatementError> {
        let tables: Vec<String> = self.dataset.table_names().collect();
        let statements = self
            .workload
            .statements
            .iter()
            .map(|statement| {
                compile_statement(statement, self, &tables).map_err(|source| StatementError {
                    statement: statement.name.clone(),
                    source,
                })
            })
            .collect::<Result<Vec<_>, _>>()?;
        let transaction = self.workload.transaction && transactional;
        let inner: u64 = statements.iter().map(|s| u64::from(s.repeat)).sum();
        Ok(Program {
            statements,
            tables,
            transaction,
            queries_per_operation: inner + if transaction { 2 } else { 0 },
        })
    }

    /// The step's parameters, the workload's where the step says nothing, `rows` and `tables`.
    fn known(&self, name: &str) -> Option<i64> {
        match name {
            "rows" => i64::try_from(self.dataset.rows).ok(),
            "tables" => Some(i64::from(self.dataset.tables)),
            _ => {
                let stepped = self.parameters.get(name);
                stepped
                    .or_else(|| self.workload.parameters.get(name))
                    .copied()
            }
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

/// The parameters of a statement, as far as they are compiled.
#[derive(Default)]
struct Compiled {
    params: Vec<Param>,
    /// Names of the integers, and their bounds.
    integers: Vec<String>,
    bounds: Vec<Bounds>,
    /// Names of the texts, and their patterns.
    text_names: Vec<String>,
    texts: Vec<DigitPattern>,
}

fn compile_statement(
    statement: &prony_model::Statement,
    scope: &Scope<'_>,
    tables: &[String],
) -> Result<Statement, CompileError> {
    if statement.repeat == 0 {
        return Err(CompileError::NoRepeat);
    }
    let protocol = scope.protocol();
    let mut compiled = Compiled::default();
    for param in &statement.params {
        compiled.add(param, scope, protocol)?;
    }
    let pieces = statement.sql.pieces();
    let names_table = pieces.contains(&Piece::Table);
    let encoding = match protocol {
        Protocol::Text => compiled.text_encoding(pieces)?,
        Protocol::Prepared if names_table => compiled.prepared_encoding(pieces, tables)?,
        Protocol::Prepared => compiled.prepared_encoding(pieces, &[String::new()])?,
    };
    Ok(Statement {
        name: statement.name.clone(),
        repeat: statement.repeat,
        table: names_table.then_some(statement.table),
        expect: statement.expect,
        encoding,
        integers: compiled.integers.len(),
        params: compiled.params,
        texts: compiled.texts,
    })
}

impl Compiled {
    fn add(
        &mut self,
        param: &prony_model::Param,
        scope: &Scope<'_>,
        protocol: Protocol,
    ) -> Result<(), CompileError> {
        let name = &param.name;
        if scope.known(name).is_some() || self.hole(name).is_some() {
            return Err(CompileError::NameTaken(name.clone()));
        }
        let reduce = |expr| {
            Linear::new(expr, &|name| scope.known(name), &self.integers).map_err(|source| {
                CompileError::Expression {
                    name: name.clone(),
                    source,
                }
            })
        };
        let (compiled, bounds) = match &param.generator {
            Generator::Digits(pattern) => {
                self.add_digits(name, pattern, protocol);
                return Ok(());
            }
            Generator::Derived(expr) => {
                let sum = reduce(expr)?;
                let bounds = sum.bounds(&self.bounds);
                (Param::Derived(sum), bounds)
            }
            Generator::Draw {
                low,
                high,
                distribution: Distribution::Uniform,
                count: None,
            } => self.compile_draw(name, reduce(low)?, &reduce(high)?)?,
            Generator::Draw { .. } => return Err(CompileError::NotYet(name.clone())),
        };
        if !bounds.fit_i64() {
            return Err(CompileError::OutOfRange(name.clone()));
        }
        self.params.push(compiled);
        self.integers.push(name.clone());
        self.bounds.push(bounds);
        Ok(())
    }

    fn compile_draw(
        &self,
        name: &str,
        low: Linear,
        high: &Linear,
    ) -> Result<(Param, Bounds), CompileError> {
        let out_of_range = || CompileError::OutOfRange(name.to_owned());
        let count = Linear::count(&low, high).ok_or_else(out_of_range)?;
        let counts = count.bounds(&self.bounds);
        if counts.min < 1 {
            return Err(CompileError::EmptyRange {
                name: name.to_owned(),
                by: 1 - counts.min,
            });
        }
        if !counts.fit_i64() {
            return Err(out_of_range());
        }
        let bounds = Bounds {
            min: low.bounds(&self.bounds).min,
            max: high.bounds(&self.bounds).max,
        };
        Ok((Param::Uniform { low, count }, bounds))
    }

    fn add_digits(&mut self, name: &str, pattern: &str, protocol: Protocol) {
        let text = match protocol {
            Protocol::Prepared => pattern.as_bytes().to_vec(),
            Protocol::Text => quote(pattern),
        };
        self.params.push(Param::Digits);
        self.text_names.push(name.to_owned());
        self.texts.push(DigitPattern::new(&text));
    }

    /// The value with this name.
    fn hole(&self, name: &str) -> Option<Hole> {
        let among = |names: &[String]| names.iter().position(|other| other == name);
        among(&self.integers)
            .map(Hole::Integer)
            .or_else(|| among(&self.text_names).map(Hole::Text))
    }

    fn find(&self, name: &str) -> Result<Hole, CompileError> {
        self.hole(name)
            .ok_or_else(|| CompileError::NoParam(name.to_owned()))
    }

    fn text_sizes(&self) -> Vec<usize> {
        self.texts.iter().map(|text| text.text().len()).collect()
    }

    fn text_encoding(&self, pieces: &[Piece]) -> Result<Encoding, CompileError> {
        let compiled = pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(sql) => Ok(TextPiece::Sql(sql.as_bytes().to_vec())),
                Piece::Table => Ok(TextPiece::Table),
                Piece::Param(name) => self.find(name).map(TextPiece::Hole),
                Piece::List(name) => Err(CompileError::NotYet(name.clone())),
            })
            .collect::<Result<Vec<_>, _>>()?;
        let sizes = self.text_sizes();
        let size: usize = compiled
            .iter()
            .map(|piece| match piece {
                TextPiece::Sql(sql) => sql.len(),
                TextPiece::Hole(Hole::Text(index)) => sizes[*index],
                // Table names are a word and a number of 32 bits.
                TextPiece::Table | TextPiece::Hole(Hole::Integer(_)) => INTEGER_SIZE_MAX,
            })
            .sum();
        if size + 1 >= PAYLOAD_MAX {
            let max = PAYLOAD_MAX - 1;
            return Err(WireError::RequestTooLarge { size, max }.into());
        }
        Ok(Encoding::Text(compiled))
    }

    fn prepared_encoding(
        &self,
        pieces: &[Piece],
        tables: &[String],
    ) -> Result<Encoding, CompileError> {
        let holes = pieces
            .iter()
            .filter_map(|piece| match piece {
                Piece::Param(name) => Some(self.find(name)),
                Piece::List(name) => Some(Err(CompileError::NotYet(name.clone()))),
                Piece::Text(_) | Piece::Table => None,
            })
            .collect::<Result<Vec<_>, _>>()?;
        let sql = tables
            .iter()
            .map(|table| {
                pieces
                    .iter()
                    .map(|piece| match piece {
                        Piece::Text(sql) => sql.as_str(),
                        Piece::Table => table,
                        Piece::Param(_) | Piece::List(_) => "?",
                    })
                    .collect()
            })
            .collect();
        Ok(Encoding::Prepared(Prepared::new(
            sql,
            holes,
            &self.text_sizes(),
        )?))
    }
}

/// A text as SQL writes it, in the servers' default mode.
fn quote(text: &str) -> Vec<u8> {
    let mut quoted = vec![b'\''];
    for byte in text.bytes() {
        if matches!(byte, b'\'' | b'\\') {
            quoted.push(byte);
        }
        quoted.push(byte);
    }
    quoted.push(b'\'');
    quoted
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
