//! A workload, compiled for one step: everything decided that does not change from one statement
//! to the next. Clients share it and only read it.

mod compile;
mod encode;
mod linear;

pub use compile::{CompileError, StatementError};
pub(crate) use compile::{Scope, tables_of_client};
pub(crate) use encode::{Encoding, append_sql, append_text};
use prony_model::{Expect, TableChoice};

use crate::digits::DigitPattern;
use crate::program::linear::Linear;
use crate::random::ClientRandom;

/// A compiled workload.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) statements: Vec<Statement>,
    /// Names of the dataset's tables.
    pub(crate) tables: Vec<String>,
    /// Whether an operation is `BEGIN` … `COMMIT`.
    pub(crate) transaction: bool,
    /// Statements that a completed operation had answered, `BEGIN` and `COMMIT` included.
    pub(crate) queries_per_operation: u64,
}

/// A compiled statement.
#[derive(Debug)]
pub(crate) struct Statement {
    pub(crate) name: String,
    pub(crate) repeat: u32,
    /// Which table it goes to; `None` where its text names no table.
    pub(crate) table: Option<TableChoice>,
    pub(crate) expect: Expect,
    pub(crate) encoding: Encoding,
    /// In the order in which values are drawn.
    params: Vec<Param>,
    texts: Vec<DigitPattern>,
    /// Number of integers among `params`.
    integers: usize,
}

/// How the next value is made.
#[derive(Debug)]
enum Param {
    /// The next integer, drawn: so many values from `low` on.
    Uniform { low: Linear, count: Linear },
    /// The next integer, computed.
    Derived(Linear),
    /// The next text.
    Digits,
}

/// The values of one statement's parameters. Made once for each thread and reused.
#[derive(Debug)]
pub(crate) struct Values {
    pub(crate) integers: Vec<i64>,
    /// Texts, of which only the digits change.
    pub(crate) texts: Vec<Vec<u8>>,
}

impl Program {
    /// Room for the values of every statement.
    pub(crate) fn new_values(&self) -> Vec<Values> {
        self.statements.iter().map(Statement::new_values).collect()
    }

    /// Names of all kinds of statement, in the order in which they are recorded.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = &str> {
        let control: &[&str] = if self.transaction {
            &["begin", "commit"]
        } else {
            &[]
        };
        self.statements
            .iter()
            .map(|statement| statement.name.as_str())
            .chain(control.iter().copied())
    }

    /// The table that a client's statement goes to this time; `previous` is that of the statement
    /// before.
    pub(crate) fn choose_table(
        &self,
        statement: &Statement,
        client: u32,
        previous: usize,
        random: &mut ClientRandom,
    ) -> usize {
        let tables = self.tables.len() as u64;
        let index = match statement.table {
            Some(TableChoice::Random) => random.below(tables),
            Some(TableChoice::ByClient) => u64::from(client) % tables,
            Some(TableChoice::Previous) => return previous,
            None => 0,
        };
        usize::try_from(index).unwrap_or(0)
    }
}

impl Statement {
    fn new_values(&self) -> Values {
        Values {
            integers: vec![0; self.integers],
            texts: self.texts.iter().map(|p| p.text().to_vec()).collect(),
        }
    }

    /// Whether it begins with the values of the statement before.
    pub(crate) fn repeats_values(&self) -> bool {
        self.table == Some(TableChoice::Previous)
    }

    /// Draws new values for every parameter.
    pub(crate) fn draw(&self, random: &mut ClientRandom, values: &mut Values) {
        let mut integer = 0;
        let mut text = 0;
        for param in &self.params {
            match param {
                Param::Digits => {
                    self.texts[text].fill(&mut values.texts[text], || random.next());
                    text += 1;
                    continue;
                }
                Param::Derived(sum) => values.integers[integer] = sum.eval(&values.integers),
                Param::Uniform { low, count } => {
                    let count = count.eval(&values.integers).cast_unsigned();
                    let step = random.below(count).cast_signed();
                    values.integers[integer] = low.eval(&values.integers).wrapping_add(step);
                }
            }
            integer += 1;
        }
    }
}
