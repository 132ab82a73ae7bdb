//! A workload, compiled for one step: everything decided that does not change from one statement
//! to the next. Clients share it and only read it.

mod compile;
mod encode;
mod linear;
mod text;

pub use compile::{CompileError, StatementError};
pub(crate) use compile::{Scope, tables_of_client};
pub(crate) use encode::{Encoding, append_sql};

use std::ops::Range;
use std::sync::Arc;

use prony_model::{Expect, TableChoice};

use crate::program::linear::Linear;
use crate::program::text::TextRule;
use crate::protocol::Wire;
use crate::values::Values;
use crate::values::distribution::Sampler;
use crate::values::draws::Draws;
use crate::values::marks::{Mark, Marks};

/// A compiled workload.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) statements: Vec<Statement>,
    /// The names of each set of the dataset's tables, by their places in the schema.
    pub(crate) tables: Vec<Vec<String>>,
    /// `true` if an operation is `BEGIN` … `COMMIT`.
    pub(crate) transaction: bool,
    /// Statements that a completed operation had answered, `BEGIN` and `COMMIT` included.
    pub(crate) queries_per_operation: u64,
    /// `true` if a statement begins with the values of the one before.
    pub(crate) repeats_values: bool,
    /// The protocol that it is compiled for.
    pub(crate) wire: Wire,
    /// Decides, with the number of a client, every drawn value.
    pub(crate) seed: u64,
    /// Number of parameters that go through their range in an order.
    pub(crate) ordered: usize,
    /// Sums of the weights up to each statement, if an operation is one statement of a mix. Empty
    /// where an operation runs all statements.
    pub(crate) mix: Vec<u64>,
    /// The marks of all tables, which all groups share; `None` where no statement uses one.
    pub(crate) marks: Option<Arc<Marks>>,
    /// The place of the next table, where statements go through the tables: its number of operations
    /// before.
    pub(crate) table_place: usize,
    /// Clients that share the tables.
    pub(crate) clients: u32,
}

/// A compiled statement.
#[derive(Debug)]
pub(crate) struct Statement {
    pub(crate) name: String,
    pub(crate) repeat: u32,
    /// Its choice of table; `None` if its text names no table.
    pub(crate) table: Option<TableChoice>,
    /// `true` if its values begin with those of the statement before.
    pub(crate) repeats_values: bool,
    /// `true` if the first two of its integers are the marks of its table.
    pub(crate) uses_marks: bool,
    /// The mark of its table that each row moves which it changes.
    pub(crate) moves: Option<Mark>,
    pub(crate) expect: Expect,
    pub(crate) encoding: Encoding,
    /// In the order in which values are drawn.
    params: Vec<Param>,
    texts: Vec<TextRule>,
    /// Number of integers among `params`.
    integers: usize,
}

/// Rules for the values.
#[derive(Debug)]
enum Param {
    /// Integers, each one of a number of values from `low` on.
    Uniform {
        slots: Range<usize>,
        low: Linear,
        count: Linear,
    },
    /// The same of one integer whose range never changes: what most statements draw.
    UniformFixed { slot: usize, low: i64, count: u64 },
    /// Integers by another distribution, from `low` on.
    Drawn {
        slots: Range<usize>,
        low: Linear,
        sampler: Sampler,
        /// Its place among the program's parameters that go through their range in an order.
        place: usize,
    },
    /// An integer, computed.
    Derived { slot: usize, sum: Linear },
    /// A text.
    Text { index: usize },
}

impl Program {
    /// Room for the values of every statement.
    pub(crate) fn new_values(&self) -> Vec<Values> {
        self.statements.iter().map(Statement::new_values).collect()
    }

    /// Indices and names of the kinds of statement that are recorded.
    pub(crate) fn kinds(&self, connects: bool) -> impl Iterator<Item = (usize, &str)> {
        let control = [
            (self.begin_kind(), "begin", self.transaction),
            (self.commit_kind(), "commit", self.transaction),
            (self.connect_kind(), "connect", connects),
        ];
        let statements = self.statements.iter().enumerate();
        statements
            .map(|(index, statement)| (index, statement.name.as_str()))
            .chain(
                control
                    .into_iter()
                    .filter_map(|(index, name, used)| used.then_some((index, name))),
            )
    }

    /// Upper bound of the number of kinds.
    pub(crate) fn kinds_max(&self) -> usize {
        self.connect_kind() + 1
    }

    /// Position of the record of `BEGIN`.
    pub(crate) fn begin_kind(&self) -> usize {
        self.statements.len()
    }

    /// Position of the record of `COMMIT`.
    pub(crate) fn commit_kind(&self) -> usize {
        self.statements.len() + 1
    }

    /// Position of the record of connecting.
    pub(crate) fn connect_kind(&self) -> usize {
        self.statements.len() + 2
    }

    /// Returns `true` if an operation runs the next statement after this one.
    #[inline]
    pub(crate) fn goes_on_after(&self, index: usize) -> bool {
        self.mix.is_empty() && index + 1 < self.statements.len()
    }
}

impl Program {
    /// Notes the rows that a statement has changed in a table, by its index.
    #[inline]
    pub(crate) fn note_change(&self, statement: usize, table: usize, rows: u64) {
        if let (Some(marks), Some(mark)) = (&self.marks, self.statements[statement].moves) {
            marks.advance(table, mark, rows);
        }
    }
}

impl Statement {
    fn new_values(&self) -> Values {
        Values {
            integers: vec![0; self.integers],
            texts: self.texts.iter().map(TextRule::longest).collect(),
        }
    }

    /// Draws new values for every parameter.
    #[inline]
    pub(crate) fn draw(&self, draws: &mut Draws, values: &mut Values) {
        for param in &self.params {
            match param {
                Param::UniformFixed { slot, low, count } => {
                    values.integers[*slot] = low.wrapping_add(draws.below(*count).cast_signed());
                }
                Param::Uniform { slots, low, count } => {
                    // Between marks there may be nothing, if all rows of a table are gone.
                    let count = count.eval(&values.integers).max(1).cast_unsigned();
                    let low = low.eval(&values.integers);
                    for value in &mut values.integers[slots.clone()] {
                        *value = low.wrapping_add(draws.below(count).cast_signed());
                    }
                }
                Param::Drawn {
                    slots,
                    low,
                    sampler,
                    place,
                } => {
                    let low = low.eval(&values.integers);
                    for value in &mut values.integers[slots.clone()] {
                        let step = sampler.sample(draws, *place).cast_signed();
                        *value = low.wrapping_add(step);
                    }
                }
                Param::Derived { slot, sum } => {
                    values.integers[*slot] = sum.eval(&values.integers);
                }
                Param::Text { index } => {
                    let Values { integers, texts } = values;
                    self.texts[*index].make(integers, draws, &mut texts[*index]);
                }
            }
        }
    }
}
