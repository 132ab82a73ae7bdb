//! Whether a workload can run on a dataset at given parameters, and what its answers then are.

use std::collections::BTreeMap;

use prony_model::{CountRange, Dataset, Expr, ExprError, Generator, Statement, Workload};

/// Why a workload can't run as asked.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Misfit {
    #[error("`{workload}` can't draw `{param}` from {bounds}: that is {low}..{high} at {values}")]
    Empty {
        workload: String,
        param: String,
        bounds: String,
        low: i64,
        high: i64,
        values: String,
    },
    #[error("`{workload}` can't answer with {expr} rows: that is {rows} at {values}")]
    Negative {
        workload: String,
        expr: String,
        rows: i64,
        values: String,
    },
    #[error("`{workload}`: {source}")]
    Arithmetic { workload: String, source: ExprError },
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
/// When a range to draw from is empty, or when a count of rows is negative.
pub(super) fn resolve(
    workload: &Workload,
    dataset: &Dataset,
    parameters: &BTreeMap<String, i64>,
) -> Result<Workload, Misfit> {
    let constants = Constants {
        workload: &workload.name,
        dataset,
        parameters,
    };
    let mut resolved = workload.clone();
    for statement in &mut resolved.statements {
        constants.check_bounds(statement)?;
        if let Some(expr) = &statement.expect_rows {
            statement.expect.rows = Some(CountRange {
                min: constants.rows(&expr.low)?,
                max: constants.rows(&expr.high)?,
            });
        }
    }
    Ok(resolved)
}

impl Constants<'_> {
    fn check_bounds(&self, statement: &Statement) -> Result<(), Misfit> {
        for param in &statement.params {
            let Generator::Draw { low, high, .. } = &param.generator else {
                continue;
            };
            let (from, to) = (self.eval(low)?, self.eval(high)?);
            if from > to {
                return Err(Misfit::Empty {
                    workload: self.workload.to_owned(),
                    param: param.name.clone(),
                    bounds: format!("{low}..{high}"),
                    low: from,
                    high: to,
                    values: self.values(&[low, high]),
                });
            }
        }
        Ok(())
    }

    fn rows(&self, expr: &Expr) -> Result<u64, Misfit> {
        let rows = self.eval(expr)?;
        u64::try_from(rows).map_err(|_| Misfit::Negative {
            workload: self.workload.to_owned(),
            expr: expr.to_string(),
            rows,
            values: self.values(&[expr]),
        })
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
            "rows" => i64::try_from(self.dataset.rows).ok(),
            "tables" => Some(i64::from(self.dataset.tables)),
            _ => self.parameters.get(name).copied(),
        }
    }

    /// What the names in the expressions stand for: `rows = 50, range = 100`.
    fn values(&self, exprs: &[&Expr]) -> String {
        let mut names: Vec<_> = exprs.iter().flat_map(|expr| expr.names()).collect();
        names.dedup();
        let values: Vec<_> = names
            .into_iter()
            .filter_map(|name| Some(format!("{name} = {}", self.value(name)?)))
            .collect();
        values.join(", ")
    }
}
