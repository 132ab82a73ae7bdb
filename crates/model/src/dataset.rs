//! Datasets, which are loaded before anything is measured.

use serde::{Deserialize, Serialize};

use crate::words::words;
use crate::{Column, ColumnType, Engine, Expr, ExprError, Piece, Schema, SqlTemplate};

/// Data to load: `tables` sets of tables, each with a main table of `rows` rows, and further ones where
/// the schema has them. Its logical content is a pure function of this value and
/// [`Dataset::VERSION`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Dataset {
    /// The columns of its tables and how their values are made.
    #[serde(default)]
    pub schema: Schema,
    /// Number of sets of tables, at least 1.
    pub tables: u32,
    /// Rows of each main table, at least 1; keys are `1..=rows`. Where nothing is loaded, the rows that steps
    /// are to put into it.
    pub rows: u64,
    /// Decides the values of all columns but the key.
    pub seed: u64,
    /// True where the key is the primary key. Otherwise the tables have none, and a secondary index
    /// that is not unique takes its place.
    #[serde(default = "yes")]
    pub primary_key: bool,
    /// The way in which the rows get into the tables.
    #[serde(default, skip_serializing_if = "is_default")]
    pub load: LoadMethod,
    /// True where the tables have their secondary indexes after the load.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub indexes: bool,
}

words! {
    /// Ways of loading a dataset.
    #[derive(Default)]
    pub enum LoadMethod {
        /// The fastest way that the server offers, once for an image where the engine keeps its
        /// rows: past logs and transactions where possible.
        #[default]
        Bulk = "bulk",
        /// `INSERT` statements of many rows over one connection, as the server is configured, in
        /// every trial: the load is measured.
        Inserts = "inserts",
        /// Not at all: the tables are empty, and steps put the rows into them.
        None = "none",
    }
}

/// `true` for the value of plans that name none.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// An index of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableIndex {
    /// Its name; `PRIMARY` for a primary key.
    pub name: String,
    /// Its columns, at least one.
    pub columns: Vec<&'static Column>,
    /// True where no two rows have the same values in them.
    pub unique: bool,
}

const fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_yes(flag: &bool) -> bool {
    *flag
}

impl Dataset {
    /// Version of the definition: changes whenever the same value would give other rows.
    pub const VERSION: u32 = 1;

    /// From this many rows on, a column of type `number` is 64 bits wide. Below it a table may still grow
    /// by 147 million rows before keys of 31 bits end.
    pub const BIG_ROWS: u64 = 2_000_000_000;

    /// The sbtest dataset with its primary key.
    pub const fn sbtest(tables: u32, rows: u64, seed: u64) -> Self {
        Self {
            schema: Schema::SBTEST,
            tables,
            rows,
            seed,
            primary_key: true,
            load: LoadMethod::Bulk,
            indexes: true,
        }
    }

    /// `true` if a data image of a server of Prony's own brings the rows. Otherwise every trial
    /// loads them.
    pub const fn is_in_image(&self, engine: Engine) -> bool {
        !matches!(self.load, LoadMethod::Inserts) && engine.persistent()
    }

    /// Rows of all tables together that are there before the first step.
    pub fn loaded_rows(&self) -> u64 {
        match self.load {
            LoadMethod::None => 0,
            LoadMethod::Bulk | LoadMethod::Inserts => self.rows_total(),
        }
    }

    /// Rows of all tables together, further ones included.
    pub fn rows_total(&self) -> u64 {
        let parts = self.parts();
        let rows = parts.iter().map(Self::rows_of_part);
        rows.fold(0, u64::saturating_add)
    }

    /// Number of all tables, further ones included.
    pub fn tables_total(&self) -> u32 {
        let further = u32::try_from(self.schema.further.len()).unwrap_or(u32::MAX);
        self.tables.saturating_mul(further.saturating_add(1))
    }

    /// Rows of the main tables together.
    pub fn rows_of_part(&self) -> u64 {
        self.rows.saturating_mul(self.tables.into())
    }

    /// The dataset by kinds of table: the first part has the main tables and is the dataset itself,
    /// of which only the main tables are looked at; the others are those of the schema's further
    /// tables, which may have no rows.
    pub fn parts(&self) -> Vec<Self> {
        let whole = self.schema.definition();
        let further = (1_u64..).zip(&whole.further).map(|(place, table)| {
            let rows = self.eval(&table.rows, 0).ok();
            let rows = rows.and_then(|rows| u64::try_from(rows).ok()).unwrap_or(0);
            Self {
                schema: table.schema(whole),
                rows,
                // Columns of different tables have nothing to do with each other.
                seed: self.seed ^ (place << 48),
                load: if rows == 0 {
                    LoadMethod::None
                } else {
                    self.load
                },
                ..*self
            }
        });
        std::iter::once(*self).chain(further).collect()
    }

    /// The names of set `index`, counted from 0: its main table, the further tables and the
    /// procedures, each in the order of the schema.
    pub fn names_of_set(&self, index: u32) -> Vec<String> {
        let schema = self.schema.definition();
        let further = schema.further.iter().map(|table| &table.name);
        let procedures = schema.procedures.iter().map(|procedure| &procedure.name);
        std::iter::once(&schema.table_prefix)
            .chain(further)
            .chain(procedures)
            .map(|name| format!("{name}{}", index + 1))
            .collect()
    }

    /// A text about set `index`, counted from 0, that has no holes but the names of its tables and
    /// procedures; other holes stay as they are.
    pub fn sql_of_set(&self, sql: &SqlTemplate, index: u32) -> String {
        let names = self.names_of_set(index);
        let pieces = sql.pieces().iter().map(|piece| match piece {
            Piece::Text(text) => text.clone(),
            hole => {
                let name = self.schema.place(hole).and_then(|at| names.get(at));
                name.cloned().unwrap_or_else(|| hole.to_string())
            }
        });
        pieces.collect()
    }

    /// The name of main table `index`, counted from 0.
    pub fn table_name(&self, index: u32) -> String {
        format!("{}{}", self.schema.table_prefix(), index + 1)
    }

    /// The names of the main tables, in order.
    pub fn table_names(&self) -> impl Iterator<Item = String> + '_ {
        (0..self.tables).map(|index| self.table_name(index))
    }

    /// The name of the index on the key, where it is not the primary key.
    pub const KEY_INDEX: &'static str = "xid";

    /// All indexes of table `index`, counted from 0: that of the key, and the secondary ones.
    pub fn indexes(&self, index: u32) -> Vec<TableIndex> {
        let definition = self.schema.definition();
        let key = TableIndex {
            name: if self.primary_key {
                "PRIMARY"
            } else {
                Self::KEY_INDEX
            }
            .to_owned(),
            columns: self.schema.column(&definition.key).into_iter().collect(),
            unique: self.primary_key,
        };
        std::iter::once(key)
            .chain(self.secondary_indexes(index))
            .collect()
    }

    /// The secondary indexes of table `index`, counted from 0, that are there before the first step.
    pub fn secondary_indexes(&self, index: u32) -> impl Iterator<Item = TableIndex> + use<> {
        let schema = self.schema;
        let number = (index + 1).to_string();
        let indexes: &[_] = if self.indexes {
            &schema.definition().indexes
        } else {
            &[]
        };
        indexes.iter().map(move |defined| {
            let columns = defined.columns.iter();
            TableIndex {
                name: defined.name.replace("{number}", &number),
                columns: columns.filter_map(|name| schema.column(name)).collect(),
                unique: defined.unique,
            }
        })
    }

    /// A column that is in no index, the last one of them; where there is none, the last column.
    pub fn unindexed_column(&self) -> Option<&'static Column> {
        let definition = self.schema.definition();
        let is_indexed = |column: &&Column| {
            let mut indexes = definition.indexes.iter();
            column.name == definition.key
                || indexes.any(|index| index.columns.contains(&column.name))
        };
        let mut columns = definition.columns.iter().rev();
        columns
            .clone()
            .find(|column| !is_indexed(column))
            .or_else(|| columns.next())
    }

    /// `true` if a column of this type has integers of 32 bits.
    pub const fn is_short(&self, kind: ColumnType) -> bool {
        match kind {
            ColumnType::Integer => true,
            ColumnType::Number => self.rows < Self::BIG_ROWS,
            _ => false,
        }
    }

    /// Computes an expression of `rows` and `tables`, and for the row of that number of `row` and
    /// `rows_before`, which is less by one.
    ///
    /// # Errors
    /// When it has other names, or does not fit 64 bits.
    pub fn eval(&self, expr: &Expr, row: u64) -> Result<i64, ExprError> {
        expr.eval(&|name: &str| self.value_of(name, row))
    }

    /// The value of a name in expressions about the row of this number.
    pub(crate) fn value_of(&self, name: &str, row: u64) -> Option<i64> {
        let number = |count: u64| i64::try_from(count).ok();
        match name {
            "rows" => number(self.rows),
            "tables" => Some(i64::from(self.tables)),
            "row" => number(row),
            "rows_before" => number(row).map(|row| row - 1),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datasets_of_older_plans_are_sbtest_with_its_primary_key() {
        let old = r#"{"tables":2,"rows":10,"seed":1}"#;
        let dataset: Dataset = serde_json::from_str(old).unwrap();
        assert_eq!(dataset, Dataset::sbtest(2, 10, 1));
    }

    /// Otherwise cells of older runs had other fingerprints.
    #[test]
    fn only_a_load_by_inserts_is_written() {
        let bulk = Dataset::sbtest(2, 10, 1);
        let inserts = Dataset {
            load: LoadMethod::Inserts,
            ..bulk
        };
        assert_eq!(serde_json::to_value(bulk).unwrap().get("load"), None);
        let written = serde_json::to_value(inserts).unwrap();
        assert_eq!(written["load"], "inserts");
        assert_eq!(serde_json::from_value::<Dataset>(written).unwrap(), inserts);
    }

    #[test]
    fn an_image_brings_rows_that_are_kept_and_not_measured() {
        let bulk = Dataset::sbtest(2, 10, 1);
        let inserts = Dataset {
            load: LoadMethod::Inserts,
            ..bulk
        };
        assert!(bulk.is_in_image(Engine::Innodb));
        assert!(!bulk.is_in_image(Engine::Memory));
        assert!(!inserts.is_in_image(Engine::Innodb));
    }

    #[test]
    fn names() {
        let mut dataset = Dataset::sbtest(2, 10, 1);
        assert_eq!(
            dataset.table_names().collect::<Vec<_>>(),
            ["sbtest1", "sbtest2"]
        );
        assert_eq!(dataset.indexes(1)[0].name, "PRIMARY");
        assert_eq!(dataset.indexes(1)[1].name, "k_2");
        dataset.primary_key = false;
        assert_eq!(dataset.indexes(0)[0].name, "xid");
    }
}
