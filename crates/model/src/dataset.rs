//! Datasets, which are loaded before anything is measured.

use serde::{Deserialize, Serialize};

use crate::Engine;
use crate::words::words;

/// Data to load: `tables` tables of `rows` rows each. Its logical content is a pure function of
/// this value and [`Dataset::VERSION`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Dataset {
    /// The columns of its tables and how their values are made.
    #[serde(default)]
    pub schema: Schema,
    /// Number of tables, at least 1.
    pub tables: u32,
    /// Rows of each table, at least 1; keys are `1..=rows`.
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
    }
}

/// `true` for the value of plans that name none.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

words! {
    /// Definitions of tables.
    #[derive(Default)]
    pub enum Schema {
        /// `id` (the key), `k` (indexed), `c` of 119 characters, `pad` of 59.
        #[default]
        Sbtest = "sbtest",
        /// The columns of `sbtest` with the rows of sysbench 0.4: `k` is 0 in all of them, `c` and `pad`
        /// have one value each, and the index on `k` is made before the rows.
        Sbtest04 = "sbtest-0.4",
        /// `i` (the key), `k` (indexed), `l`: three numbers.
        Foo = "foo",
    }
}

/// An index of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableIndex {
    /// Its name; `PRIMARY` for a primary key.
    pub name: String,
    /// Its only column.
    pub column: &'static str,
}

const fn yes() -> bool {
    true
}

impl Schema {
    /// The beginning of the names of its tables.
    pub const fn table_prefix(self) -> &'static str {
        match self {
            Self::Sbtest | Self::Sbtest04 => "sbtest",
            Self::Foo => "foo",
        }
    }

    /// Returns `true` if statements over tables of this schema can run on those of `other`: the columns
    /// are the same.
    pub fn has_columns_of(self, other: Self) -> bool {
        self.table_prefix() == other.table_prefix()
    }

    /// The column that identifies a row.
    pub const fn key_column(self) -> &'static str {
        match self {
            Self::Sbtest | Self::Sbtest04 => "id",
            Self::Foo => "i",
        }
    }

    /// Columns of numbers, the key first.
    pub const fn number_columns(self) -> &'static [&'static str] {
        match self {
            Self::Sbtest | Self::Sbtest04 => &["id", "k"],
            Self::Foo => &["i", "k", "l"],
        }
    }

    /// Bytes of the values of a row, without anything that an engine adds: 4 for an INTEGER, 8 for
    /// a BIGINT, 1 for each character.
    pub const fn row_bytes(self) -> u64 {
        match self {
            Self::Sbtest => 4 + 4 + 119 + 59,
            Self::Sbtest04 => 4 + 4 + 50,
            Self::Foo => 3 * 8,
        }
    }

    /// Columns of text.
    pub const fn text_columns(self) -> &'static [&'static str] {
        match self {
            Self::Sbtest | Self::Sbtest04 => &["c", "pad"],
            Self::Foo => &[],
        }
    }
}

impl Dataset {
    /// Version of the definition: changes whenever the same value would give other rows.
    pub const VERSION: u32 = 1;

    /// The sbtest dataset with its primary key.
    pub const fn sbtest(tables: u32, rows: u64, seed: u64) -> Self {
        Self {
            schema: Schema::Sbtest,
            tables,
            rows,
            seed,
            primary_key: true,
            load: LoadMethod::Bulk,
        }
    }

    /// `true` if a data image of a server of Prony's own brings the rows. Otherwise every trial
    /// loads them.
    pub const fn is_in_image(&self, engine: Engine) -> bool {
        matches!(self.load, LoadMethod::Bulk) && engine.persistent()
    }

    /// Rows of all tables together.
    pub fn rows_total(&self) -> u64 {
        self.rows.saturating_mul(self.tables.into())
    }

    /// The name of table `index`, counted from 0.
    pub fn table_name(&self, index: u32) -> String {
        format!("{}{}", self.schema.table_prefix(), index + 1)
    }

    /// The names of all tables, in order.
    pub fn table_names(&self) -> impl Iterator<Item = String> + '_ {
        (0..self.tables).map(|index| self.table_name(index))
    }

    /// The name of the secondary index on `k` of table `index`, counted from 0.
    pub fn secondary_index_name(index: u32) -> String {
        format!("k_{}", index + 1)
    }

    /// The name of the index on the key, where it is not the primary key.
    pub const KEY_INDEX: &'static str = "xid";

    /// Both indexes of table `index`, counted from 0: that of the key, and that on `k`.
    pub fn indexes(&self, index: u32) -> [TableIndex; 2] {
        let key = if self.primary_key {
            "PRIMARY"
        } else {
            Self::KEY_INDEX
        };
        [
            TableIndex {
                name: key.to_owned(),
                column: self.schema.key_column(),
            },
            TableIndex {
                name: Self::secondary_index_name(index),
                column: "k",
            },
        ]
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
