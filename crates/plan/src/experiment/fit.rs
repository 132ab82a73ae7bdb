//! `true` if a workload can run on a dataset at given parameters, and what its answers then are.

use std::collections::BTreeMap;

use prony_model::{
    CountRange, Dataset, Expr, ExprError, ExprRange, Family, Generator, Param, Piece, SqlTemplate,
    Statement, Workload,
};

/// Most values of one prepared statement: the protocol has 16 bits for their number.
const VALUES_MAX: u64 = 65_535;

/// The reason why a workload can't run as asked.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Misfit {
    #[error("`{workload}` works on tables of {wanted}, and this dataset has tables of {found}")]
    Schema {
        workload: String,
        wanted: &'static str,
        found: &'static str,
    },
    /// Other rows or parameters mend it.
    #[error("`{workload}` {problem}")]
    Rows { workload: String, problem: String },
    /// Other parameters mend it, and rows have nothing to do with it.
    #[error("`{workload}` {problem}")]
    Parameters { workload: String, problem: String },
    #[error(
        "`{workload}` has no SQL for {family}, the family of `{server}` (statement `{statement}`)"
    )]
    NoSql {
        workload: String,
        statement: String,
        family: Family,
        /// A target of the family.
        server: String,
    },
    #[error("`{workload}`: {source}")]
    Arithmetic { workload: String, source: ExprError },
}

impl Misfit {
    /// Part of the dataset in the problem, for a label at its rows; `None` if it has none.
    pub(super) fn about(&self, dataset: &Dataset) -> Option<String> {
        match self {
            Self::Schema { found, .. } => Some(format!("tables of {found}")),
            Self::Parameters { .. } | Self::NoSql { .. } => None,
            _ => Some(format!("with {} rows", dataset.rows)),
        }
    }

    /// The remedy.
    pub(crate) fn help(&self) -> String {
        match self {
            Self::Schema { wanted, .. } => format!(
                "write schema = \"{wanted}\" in [dataset], or choose another workload: \
                 `prony workloads list` shows the schema of each"
            ),
            Self::NoSql { family, .. } => format!(
                "leave it out, or leave out the servers of {family}; a workload of your own can have \
                 words for them: sql = {{ any = \"…\", {family} = \"…\" }}"
            ),
            Self::Parameters { .. } => "set other `parameters` in the step".to_owned(),
            _ => "raise `rows`, or set other `parameters` in the step".to_owned(),
        }
    }
}

/// The values that expressions of one step refer to.
struct Constants<'a> {
    workload: &'a str,
    dataset: &'a Dataset,
    parameters: &'a BTreeMap<String, i64>,
}

/// The workload with the counts of right answers computed.
///
/// # Errors
/// When it is for tables of another schema, when it needs more rows, when a range to draw from is
/// empty, when a list has no values or too many, or when a count of rows is negative.
pub(crate) fn resolve(
    workload: &Workload,
    dataset: &Dataset,
    parameters: &BTreeMap<String, i64>,
) -> Result<Workload, Misfit> {
    if !workload.schema.has_columns_of(dataset.schema) {
        return Err(Misfit::Schema {
            workload: workload.name.clone(),
            wanted: workload.schema.name(),
            found: dataset.schema.name(),
        });
    }
    let constants = Constants {
        workload: &workload.name,
        dataset,
        parameters,
    };
    constants.check_rows(workload)?;
    let mut resolved = workload.clone();
    for statement in &mut resolved.statements {
        constants.check_bounds(statement)?;
        let values = constants.values_of(statement)?;
        if values > VALUES_MAX && !workload.text_only {
            return Err(Misfit::Parameters {
                workload: workload.name.clone(),
                problem: format!(
                    "can't send {values} values with `{}`: a prepared statement takes at most \
                     {VALUES_MAX}",
                    statement.name
                ),
            });
        }
        if let Some(range) = &statement.expect_rows {
            statement.expect.rows = Some(constants.count_range(range)?);
        }
        if let Some(range) = &statement.expect_affected {
            statement.expect.affected = Some(constants.count_range(range)?);
        }
    }
    Ok(resolved)
}

/// Checks that a workload has statements for a server, which is of this family.
///
/// # Errors
/// When a statement has neither a text of the family's own nor a common one.
pub(crate) fn check_family(
    workload: &Workload,
    server: &str,
    family: Family,
) -> Result<(), Misfit> {
    let without = workload.without_sql(family);
    without.map_or(Ok(()), |statement| {
        Err(Misfit::NoSql {
            workload: workload.name.clone(),
            statement: statement.to_owned(),
            family,
            server: server.to_owned(),
        })
    })
}

impl Constants<'_> {
    fn check_rows(&self, workload: &Workload) -> Result<(), Misfit> {
        let Some(expr) = &workload.needs_rows else {
            return Ok(());
        };
        let needed = self.eval(expr)?;
        if u64::try_from(needed).is_ok_and(|needed| needed > self.dataset.rows) {
            let problem = format!("needs {expr} rows in each table: that is {needed}");
            return Err(self.misfit(&problem, &[expr]));
        }
        Ok(())
    }

    fn check_bounds(&self, statement: &Statement) -> Result<(), Misfit> {
        for param in &statement.params {
            let Generator::Draw { low, high, .. } = &param.generator else {
                continue;
            };
            let (from, to) = (self.eval(low)?, self.eval(high)?);
            if from > to {
                let name = &param.name;
                let problem =
                    format!("can't draw `{name}` from {low}..{high}: that is {from}..{to}");
                return Err(self.misfit(&problem, &[low, high]));
            }
        }
        Ok(())
    }

    /// The number of values that an execution of the statement sends.
    fn values_of(&self, statement: &Statement) -> Result<u64, Misfit> {
        let of_rows = match &statement.row {
            Some(row) => {
                let count = self.positive(&row.count, "rows for `{row:list}`")?;
                self.values_in(statement, &row.sql)?.saturating_mul(count)
            }
            None => 0,
        };
        let texts = statement.sql.texts();
        let mut values = texts.map(|sql| self.values_in(statement, sql));
        let most = values.try_fold(0, |most: u64, values| Ok(most.max(values?)))?;
        Ok(most.saturating_add(of_rows))
    }

    fn values_in(&self, statement: &Statement, sql: &SqlTemplate) -> Result<u64, Misfit> {
        sql.pieces()
            .iter()
            .try_fold(0_u64, |sum, piece| match piece {
                Piece::Text(_)
                | Piece::Table
                | Piece::Further(_)
                | Piece::Procedure(_)
                | Piece::Rows => Ok(sum),
                Piece::Param(_) => Ok(sum.saturating_add(1)),
                Piece::List(name) => {
                    let params = statement.params.iter();
                    let mut lists = params.filter(|param| param.name == *name);
                    lists.try_fold(sum, |sum, list| {
                        Ok(sum.saturating_add(self.list_count(list)?))
                    })
                }
            })
    }

    /// The number of values of a list.
    fn list_count(&self, param: &Param) -> Result<u64, Misfit> {
        let Generator::Draw {
            count: Some(expr), ..
        } = &param.generator
        else {
            return Ok(0);
        };
        self.positive(expr, &format!("values for the list `{}`", param.name))
    }

    /// A number of things that must be at least 1.
    fn positive(&self, expr: &Expr, what: &str) -> Result<u64, Misfit> {
        let count = self.eval(expr)?;
        match u64::try_from(count) {
            Ok(count) if count > 0 => Ok(count),
            _ => Err(Misfit::Parameters {
                workload: self.workload.to_owned(),
                problem: format!(
                    "can't draw {expr} {what}: that is {count}{}",
                    self.values(&[expr])
                ),
            }),
        }
    }

    fn count_range(&self, range: &ExprRange) -> Result<CountRange, Misfit> {
        let (low, high) = (self.rows(&range.low)?, self.rows(&range.high)?);
        if low > high {
            let problem = format!("can't answer with {range} rows: that is {low}..{high}");
            return Err(self.misfit(&problem, &[&range.low, &range.high]));
        }
        Ok(CountRange {
            min: low,
            max: high,
        })
    }

    fn rows(&self, expr: &Expr) -> Result<u64, Misfit> {
        let rows = self.eval(expr)?;
        u64::try_from(rows).map_err(|_| {
            let problem = format!("can't answer with {expr} rows: that is {rows}");
            self.misfit(&problem, &[expr])
        })
    }

    fn misfit(&self, problem: &str, exprs: &[&Expr]) -> Misfit {
        Misfit::Rows {
            workload: self.workload.to_owned(),
            problem: format!("{problem}{}", self.values(exprs)),
        }
    }

    fn eval(&self, expr: &Expr) -> Result<i64, Misfit> {
        expr.eval(&|name: &str| self.value(name))
            .map_err(|source| Misfit::Arithmetic {
                workload: self.workload.to_owned(),
                source,
            })
    }

    fn value(&self, name: &str) -> Option<i64> {
        match name {
            // The marks of tables as they are after the load.
            "rows" | "highest_key" => i64::try_from(self.dataset.rows).ok(),
            "lowest_key" => Some(1),
            "tables" => Some(i64::from(self.dataset.tables)),
            _ => self.parameters.get(name).copied(),
        }
    }

    /// Values of the names in the expressions: ` at rows = 50, range = 100`; empty if there are
    /// none.
    fn values(&self, exprs: &[&Expr]) -> String {
        let mut names: Vec<&str> = Vec::new();
        for name in exprs.iter().flat_map(|expr| expr.names()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let values: Vec<_> = names
            .into_iter()
            .filter_map(|name| Some(format!("{name} = {}", self.value(name)?)))
            .collect();
        if values.is_empty() {
            return String::new();
        }
        format!(" at {}", values.join(", "))
    }
}
