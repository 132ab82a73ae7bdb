//! Workloads: named kinds of statement or transaction, with their parameters.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::text::written_as_text;
use crate::words::words;
use crate::{
    DateTime, Distribution, Expr, ExprRange, Family, Lengths, NumberedText, Schema, Sql,
    SqlTemplate, Thousandths,
};

/// A named kind of load. One **operation** of it runs every statement in order, `repeat` times
/// each, inside one transaction where `transaction` is set and the engine has them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workload {
    /// Its name, unique among all workload files.
    pub name: String,
    /// The kind of statement that it stands for, for summaries.
    pub group: Group,
    /// Its effect on the tables.
    pub effect: Effect,
    /// The schema of the tables that it works on.
    #[serde(default)]
    pub schema: Schema,
    /// One or two sentences for lists and reports.
    pub description: String,
    /// Names usable in expressions, with their values, such as `range = 100`. A step may set
    /// other values.
    pub parameters: BTreeMap<String, i64>,
    /// True where an operation is one transaction (`BEGIN` … `COMMIT`).
    pub transaction: bool,
    /// The form in which its rate is shown to people.
    pub display: Display,
    /// True where statements are always sent as text, even where the target prepares.
    pub text_only: bool,
    /// Rows that each table must have at least; an expression of `parameters`. `None` where what
    /// the statements draw says it all.
    #[serde(default)]
    pub needs_rows: Option<Expr>,
    /// The statements of an operation, at least one.
    pub statements: Vec<Statement>,
}

impl Workload {
    /// True where an operation runs one of the statements, drawn by weight, instead of all.
    pub fn is_mix(&self) -> bool {
        let mut statements = self.statements.iter();
        statements.any(|statement| statement.weight.is_some())
    }

    /// True where a statement uses the marks of its table.
    pub fn uses_marks(&self) -> bool {
        self.statements.iter().any(Statement::uses_marks)
    }

    /// True where operations go through the tables, each of them once.
    pub fn goes_through_tables(&self) -> bool {
        let mut statements = self.statements.iter();
        statements.any(|statement| statement.table == TableChoice::Each)
    }

    /// Rows that an operation reads by going through whole tables of `rows` rows, where that is all
    /// that it does: its statements have no parameters and take long. `None` elsewhere.
    pub fn scanned_rows(&self, rows: u64) -> Option<u64> {
        let scans = self.display == Display::Milliseconds
            && !self.is_mix()
            && self.statements.iter().all(|s| s.params.is_empty());
        scans.then(|| {
            let runs = self.statements.iter().map(|s| u64::from(s.repeat));
            runs.sum::<u64>() * rows
        })
    }

    /// The name of its first statement without a text for servers of this family.
    pub fn without_sql(&self, family: Family) -> Option<&str> {
        let mut statements = self.statements.iter();
        let without = statements.find(|statement| statement.sql.of(family).is_none());
        without.map(|statement| statement.name.as_str())
    }

    /// Its statements with the texts for servers of this family alone.
    pub fn statements_for(&self, family: Family) -> Vec<Statement> {
        let mut statements = self.statements.clone();
        for statement in &mut statements {
            statement.sql.only_of(family);
        }
        statements
    }

    /// Makes answers right that find fewer rows than the dataset has, because others have deleted
    /// some. Statements that add rows do so all the same.
    pub fn expect_missing_rows(&mut self) {
        for statement in &mut self.statements {
            if statement.change.rows > 0 {
                continue;
            }
            let counts = [&mut statement.expect.rows, &mut statement.expect.affected];
            for count in counts.into_iter().flatten() {
                count.min = 0;
            }
        }
    }
}

words! {
    /// Kinds of workload, for grouping in summaries.
    pub enum Group {
        /// One row by key.
        Point = "point",
        /// Several rows by a list of keys.
        InList = "in-list",
        /// Neighbouring rows, or all of them.
        Range = "range",
        /// Ranges with a sum, sort or count.
        Aggregate = "aggregate",
        /// Changes rows.
        Write = "write",
        /// Reads and changes rows.
        Mixed = "mixed",
    }
}

words! {
    /// The effect of a workload on the tables.
    pub enum Effect {
        /// Nothing: reads only.
        None = "none",
        /// More rows.
        Grow = "grow",
        /// Fewer rows.
        Shrink = "shrink",
        /// Other values in the same rows.
        Rewrite = "rewrite",
    }
}

words! {
    /// The form in which the rate of a workload is shown to people. Stored counts are the same for
    /// all.
    pub enum Display {
        /// Queries per second.
        Rate = "rate",
        /// Operations per second, called transactions: for the classic mixes.
        Transactions = "transactions",
        /// Mean milliseconds per operation, for statements that take long.
        Milliseconds = "milliseconds",
    }
}

/// One statement of an operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statement {
    /// Its name within the workload, for histograms and counters.
    pub name: String,
    /// The text with its holes.
    pub sql: Sql,
    /// The rows that stand at `{row:list}` in `sql`; `None` where it has no such hole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<RowList>,
    /// Number of times that an operation runs it, at least 1, each with new parameter values on the
    /// same table.
    pub repeat: u32,
    /// The table that it goes to.
    pub table: TableChoice,
    /// The parameters and the making of their values, in the order in which they are drawn; later
    /// ones may refer to earlier ones. Every hole of `sql` has its parameter here.
    pub params: Vec<Param>,
    /// The counts of a right answer.
    pub expect: Expect,
    /// Rows of a right answer where parameters decide their number, such as `range + 1` or
    /// `1..range`. Planning computes it into `expect.rows` of each step's copy of the workload.
    #[serde(default)]
    pub expect_rows: Option<ExprRange>,
    /// The same of the rows changed.
    #[serde(default)]
    pub expect_affected: Option<ExprRange>,
    /// The amounts that each row that it changes adds to the table's sums.
    #[serde(default)]
    pub change: Change,
    /// Its share in a mix: where one statement of a workload has a weight all have, at least 1, and
    /// an operation runs one of them, drawn by weight, instead of all.
    #[serde(default)]
    pub weight: Option<u32>,
}

/// Rows of a statement, such as those that an `INSERT` adds, with commas between them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowList {
    /// One row with its holes, such as `({k}, {c})`.
    pub sql: SqlTemplate,
    /// Number of rows: made of the workload's parameters, `rows` and `tables`; at least 1.
    pub count: Expr,
}

impl Statement {
    /// The names, in expressions of its parameters, of the lowest and the highest key of the table
    /// that it goes to, which move as clients insert and delete.
    pub const MARKS: [&str; 2] = ["lowest_key", "highest_key"];

    /// True where it uses the marks of its table.
    pub fn uses_marks(&self) -> bool {
        let mut names = self.params.iter().flat_map(|param| param.generator.names());
        names.any(|name| Self::MARKS.contains(&name))
    }

    /// The values of its parameters that are made once for it, in order: those in `sql`, and those
    /// that these are computed from. All others are made for each of its rows.
    pub fn fixed_params(&self) -> Vec<&Param> {
        if self.row.is_none() {
            return self.params.iter().collect();
        }
        let mut fixed: BTreeSet<&str> = self.sql.texts().flat_map(SqlTemplate::params).collect();
        // An expression uses earlier parameters only.
        for param in self.params.iter().rev() {
            if fixed.contains(param.name.as_str()) {
                fixed.extend(param.generator.names());
            }
        }
        let params = self.params.iter();
        params
            .filter(|param| fixed.contains(param.name.as_str()))
            .collect()
    }
}

/// The amounts that every row that a statement changes adds to its table, so that work can be
/// counted in the table afterwards.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Rows: 1 for an insert, -1 for a delete.
    pub rows: i64,
    /// The amount added to the sum of a column of numbers, by name; 0 for a column of numbers or
    /// text that keeps its values. A column that the workload changes in another way is named by
    /// none of its statements.
    pub sums: BTreeMap<String, i64>,
}

words! {
    /// The table of the dataset that a statement goes to.
    pub enum TableChoice {
        /// Uniformly random, drawn once for the statement's repetitions in an operation.
        Random = "random",
        /// Client number modulo number of tables.
        ByClient = "by-client",
        /// Each table in turn, over all clients of a step together: with as many operations as there
        /// are tables, every table once.
        Each = "each",
        /// The table of the statement before in the same operation, and also its values: this
        /// statement's `params` begin with those of the one before, and they get what they got
        /// there, in its last repetition. Never on the first statement; `repeat` is then 1.
        Previous = "previous",
    }
}

/// One parameter of a statement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Param {
    /// The name of the hole, and of the value in later expressions.
    pub name: String,
    /// The making of its values.
    pub generator: Generator,
}

/// The making of a parameter's values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Generator {
    /// A whole number in `low..=high`.
    Draw {
        /// Lowest value.
        low: Expr,
        /// Highest value, included.
        high: Expr,
        /// The likelihood of each value.
        distribution: Distribution,
        /// Number of values drawn, for a list; `None` for a single value. Made of the
        /// workload's parameters, `rows` and `tables`; at least 1.
        #[serde(default)]
        count: Option<Expr>,
    },
    /// A whole number computed from earlier parameters, the workload's parameters, `rows` and
    /// `tables`.
    Derived(Expr),
    /// A text in which every `#` becomes a random digit.
    Digits(String),
    /// A text of a random length, whose first part is random letters; the others are `a`.
    Letters {
        /// The lengths, all equally likely.
        lengths: Lengths,
        /// The share of random letters.
        random: Thousandths,
    },
    /// A text that is made from a number, which is computed as [`Derived`](Self::Derived).
    Numbered {
        /// The text with a place for the number.
        text: NumberedText,
        /// The number. Of a negative one the sign is left out, of one that is too long the front.
        number: Expr,
    },
    /// A date with a time: seconds after a moment, which are computed as [`Derived`](Self::Derived).
    DateTime {
        /// The moment 0.
        since: DateTime,
        /// Seconds after it.
        seconds: Expr,
    },
}

impl Generator {
    /// The names in its expressions.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.expressions().flat_map(Expr::names)
    }

    /// Its expressions.
    pub fn expressions(&self) -> impl Iterator<Item = &Expr> {
        let exprs = match self {
            Self::Draw {
                low, high, count, ..
            } => [Some(low), Some(high), count.as_ref()],
            Self::Derived(expr)
            | Self::Numbered { number: expr, .. }
            | Self::DateTime { seconds: expr, .. } => [Some(expr), None, None],
            Self::Digits(_) | Self::Letters { .. } => [None; 3],
        };
        exprs.into_iter().flatten()
    }
}

/// The counts of a right answer; `None` leaves that count open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expect {
    /// Rows returned.
    pub rows: Option<CountRange>,
    /// Rows changed, as the server reports them.
    pub affected: Option<CountRange>,
}

/// A range of counts, written `1` or `0..1` (both ends included).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CountRange {
    /// Lowest count.
    pub min: u64,
    /// Highest count, included.
    pub max: u64,
}

/// Said of a text that is not a range of counts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a count: write a whole number such as 1, or a range such as 0..1")]
pub struct CountRangeError(pub String);

impl CountRange {
    /// True where `count` lies in the range.
    pub const fn contains(self, count: u64) -> bool {
        self.min <= count && count <= self.max
    }
}

impl FromStr for CountRange {
    type Err = CountRangeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |part: &str| {
            part.trim()
                .parse()
                .map_err(|_| CountRangeError(text.to_owned()))
        };
        let (min, max) = match text.split_once("..") {
            Some((low, high)) => (number(low)?, number(high)?),
            None => (number(text)?, number(text)?),
        };
        if min > max {
            return Err(CountRangeError(text.to_owned()));
        }
        Ok(Self { min, max })
    }
}

written_as_text!(CountRange, CountRangeError);

impl fmt::Display for CountRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.min == self.max {
            write!(f, "{}", self.min)
        } else {
            write!(f, "{}..{}", self.min, self.max)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_through_whole_tables_is_a_scan() {
        let json = r#"{
            "name": "scan", "group": "range", "effect": "none", "description": "",
            "parameters": {}, "transaction": false, "display": "milliseconds", "text_only": true,
            "statements": [
                {"name": "one", "sql": "SELECT 1", "repeat": 1, "table": "random", "params": [],
                 "expect": {}},
                {"name": "two", "sql": "SELECT 2", "repeat": 2, "table": "random", "params": [],
                 "expect": {}}
            ]
        }"#;
        let scan: Workload = serde_json::from_str(json).unwrap();
        assert_eq!(scan.scanned_rows(1000), Some(3000));
        let mut short = scan.clone();
        short.display = Display::Rate;
        assert_eq!(short.scanned_rows(1000), None);
        let mut part = scan;
        part.statements[1].params.push(Param {
            name: "c".into(),
            generator: Generator::Digits("###".into()),
        });
        assert_eq!(part.scanned_rows(1000), None);
    }

    #[test]
    fn what_stands_outside_of_rows_is_made_once() {
        let derived = |text: &str| Generator::Derived(text.parse().unwrap());
        let param = |name: &str, generator| Param {
            name: name.into(),
            generator,
        };
        let statement = Statement {
            name: "s".into(),
            sql: "INSERT INTO {table} /* {b} */ VALUES {row:list}"
                .parse()
                .unwrap(),
            row: Some(RowList {
                sql: "({b}, {d})".parse().unwrap(),
                count: "2".parse().unwrap(),
            }),
            repeat: 1,
            table: TableChoice::Random,
            params: vec![
                param("a", Generator::Digits("#".into())),
                param("b", derived("1")),
                param("c", derived("b")),
                param("d", derived("b + c")),
            ],
            expect: Expect::default(),
            expect_rows: None,
            expect_affected: None,
            change: Change::default(),
            weight: None,
        };
        let fixed: Vec<_> = statement.fixed_params().iter().map(|p| &p.name).collect();
        assert_eq!(fixed, ["b"]);
    }

    #[test]
    fn count_ranges() {
        assert_eq!("1".parse(), Ok(CountRange { min: 1, max: 1 }));
        assert_eq!("0..1".parse(), Ok(CountRange { min: 0, max: 1 }));
        for bad in ["", "any", "2..1", "-1", "1...2"] {
            assert!(bad.parse::<CountRange>().is_err(), "{bad}");
        }
        assert!(CountRange { min: 0, max: 1 }.contains(1));
        assert!(!CountRange { min: 0, max: 1 }.contains(2));
    }
}
