//! Checks that the rules of a schema make right rows at the size of a dataset.

use crate::{Column, ColumnType, ColumnValue, Dataset, Distribution, ExprError, NumberRule};

/// The reason why a schema can't have a dataset's rows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DatasetError {
    /// The ends of a range are the wrong way round.
    #[error("column `{column}` can't draw from {low}..{high}")]
    Empty {
        /// The column.
        column: String,
        /// The low end.
        low: i64,
        /// The high end.
        high: i64,
    },
    /// A number does not fit its column.
    #[error("column `{column}` can't hold {number}: it has {room}")]
    Wide {
        /// The column.
        column: String,
        /// The number.
        number: i64,
        /// Name of the room that there is.
        room: &'static str,
    },
    /// There are fewer values than rows.
    #[error("column `{column}` has {values} values, and the unique index `{index}` needs {rows}")]
    Few {
        /// The column.
        column: String,
        /// Number of its values.
        values: u64,
        /// The index.
        index: String,
        /// Rows of a table.
        rows: u64,
    },
    /// A further table has no number of rows.
    #[error("table `{table}` can't have {rows} rows")]
    Rows {
        /// The table.
        table: String,
        /// The expression.
        rows: String,
    },
    /// An expression can't be computed.
    #[error("column `{column}`: {source}")]
    Arithmetic {
        /// The column.
        column: String,
        /// The reason.
        source: ExprError,
    },
}

/// Up to this many rows, what is not linear is looked at for each of them: a tenth of a second.
const EXACT_ROWS: u64 = 1_000_000;

impl Dataset {
    /// Checks that all values of all rows can be made, fit their columns, and fill the unique indexes.
    ///
    /// # Errors
    /// When they can't or don't.
    pub fn check(&self) -> Result<(), DatasetError> {
        for table in &self.schema.further {
            if self.eval(&table.rows, 0).ok().is_none_or(|rows| rows < 0) {
                let (table, rows) = (table.name.clone(), table.rows.to_string());
                return Err(DatasetError::Rows { table, rows });
            }
        }
        let parts = self.parts();
        let mut loaded = parts.iter().filter(|part| part.rows > 0);
        loaded.try_for_each(Self::check_part)
    }

    /// The same of the main tables alone.
    fn check_part(&self) -> Result<(), DatasetError> {
        let schema = self.schema.definition();
        for column in &schema.columns {
            let Some(rule) = column.value.number() else {
                continue;
            };
            let (low, high) = self.ends(column, rule)?;
            for number in [low, high] {
                if let Some(room) = self.too_small(column, number) {
                    let column = column.name.clone();
                    return Err(DatasetError::Wide {
                        column,
                        number,
                        room,
                    });
                }
            }
        }
        let mut indexes = schema.indexes.iter().filter(|index| index.unique);
        indexes.try_for_each(|index| self.check_unique(&index.name, &index.columns))
    }

    /// The least and the greatest number of a column.
    fn ends(&self, column: &Column, rule: &NumberRule) -> Result<(i64, i64), DatasetError> {
        let eval = |expr, row| {
            self.eval(expr, row)
                .map_err(|source| DatasetError::Arithmetic {
                    column: column.name.clone(),
                    source,
                })
        };
        match rule {
            NumberRule::Computed(expr) if rule.is_linear() => {
                // A start that does not fit can't be added to.
                eval(expr, 0)?;
                let (first, last) = (eval(expr, 1)?, eval(expr, self.rows)?);
                Ok((first.min(last), first.max(last)))
            }
            NumberRule::Computed(expr) if self.rows > EXACT_ROWS => {
                let scope = |row| move |name: &str| self.value_of(name, row);
                let bounds = expr.bounds(&scope(1), &scope(self.rows));
                bounds.map_err(|source| DatasetError::Arithmetic {
                    column: column.name.clone(),
                    source,
                })
            }
            NumberRule::Computed(expr) => {
                let (mut low, mut high) = (i64::MAX, i64::MIN);
                for row in 1..=self.rows {
                    let number = eval(expr, row)?;
                    (low, high) = (low.min(number), high.max(number));
                }
                Ok((low, high))
            }
            NumberRule::Drawn { range, .. } => {
                let (low, high) = (eval(&range.low, 0)?, eval(&range.high, 0)?);
                if low > high {
                    let column = column.name.clone();
                    return Err(DatasetError::Empty { column, low, high });
                }
                Ok((low, high))
            }
        }
    }

    /// The room of a column, if a number does not fit it.
    fn too_small(&self, column: &Column, number: i64) -> Option<&'static str> {
        let is_wide = match column.kind {
            ColumnType::Number => self.rows >= Self::BIG_ROWS,
            ColumnType::Integer => false,
            _ => true,
        };
        match &column.value {
            ColumnValue::Numbered(text, _) => {
                let digits = number
                    .unsigned_abs()
                    .checked_ilog10()
                    .map_or(1, |log| log + 1);
                let fits = number >= 0 && digits <= text.digits;
                (!fits).then_some("too few digits")
            }
            ColumnValue::DateTime { since, .. } => {
                (!since.has(number)).then_some("the years 1000 to 9999")
            }
            _ => (!is_wide && i32::try_from(number).is_err()).then_some("32 bits"),
        }
    }

    fn check_unique(&self, index: &str, columns: &[String]) -> Result<(), DatasetError> {
        let mut fewest = None;
        for column in columns.iter().filter_map(|name| self.schema.column(name)) {
            let Some(rule) = column.value.number().filter(|rule| rule.is_unique()) else {
                continue;
            };
            let (low, high) = self.ends(column, rule)?;
            let values = match rule {
                NumberRule::Drawn {
                    distribution: Distribution::Unique | Distribution::Sequential,
                    ..
                } => high.abs_diff(low).saturating_add(1),
                _ => self.rows,
            };
            if values >= self.rows {
                return Ok(());
            }
            fewest = Some((column, values));
        }
        // A unique index has such a column, or it was refused when the schema was read.
        fewest.map_or(Ok(()), |(column, values)| {
            Err(DatasetError::Few {
                column: column.name.clone(),
                values,
                index: index.to_owned(),
                rows: self.rows,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Schema, SchemaDefinition};

    /// A dataset of 1000 rows, with `column` beside the key and a unique index on it.
    fn check(column: &str) -> Result<(), String> {
        let mut definition: SchemaDefinition = Schema::FOO.definition().clone();
        definition.name = column.to_owned();
        definition.columns[1] = serde_json::from_str(column).unwrap();
        definition.indexes[0].unique = true;
        let dataset = Dataset {
            schema: Schema::own(definition),
            ..Dataset::sbtest(1, 1000, 1)
        };
        dataset.check().map_err(|error| error.to_string())
    }

    #[test]
    fn those_that_come_with_prony_fit_every_size() {
        for schema in Schema::all_built_in() {
            // Keys that other tables refer to have 32 bits.
            let many = if schema.further.is_empty() {
                3_000_000_000
            } else {
                5_000
            };
            for rows in [1, 1000, many] {
                let dataset = Dataset {
                    schema,
                    ..Dataset::sbtest(1, rows, 1)
                };
                assert_eq!(dataset.check(), Ok(()));
            }
        }
    }

    #[test]
    fn rows_that_do_not_fit_are_refused() {
        for (column, reason) in [
            (
                r#"{"name":"k","type":"integer","from":"5..rows - 999"}"#,
                "column `k` can't draw from 5..1",
            ),
            (
                r#"{"name":"k","type":"integer","value":"row * 3000000"}"#,
                "column `k` can't hold 3000000000: it has 32 bits",
            ),
            (
                r#"{"name":"k","type":"char(9)","text":"{number:3}","value":"row"}"#,
                "column `k` can't hold 1000: it has too few digits",
            ),
            (
                r#"{"name":"k","type":"integer","from":"1..999","distribution":"unique"}"#,
                "column `k` has 999 values, and the unique index `k_{number}` needs 1000",
            ),
            (
                r#"{"name":"k","type":"integer","value":"rwo"}"#,
                "column `k`: `rwo` is not defined",
            ),
        ] {
            assert_eq!(check(column), Err(reason.to_owned()));
        }
        let enough = r#"{"name":"k","type":"integer","from":"1..1000","distribution":"unique"}"#;
        assert_eq!(check(enough), Ok(()));
    }
}
