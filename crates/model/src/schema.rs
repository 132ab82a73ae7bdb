//! Schemas: the columns and indexes of a dataset's tables, and how the values of rows are made.

mod built_in;
mod check;
mod column;
mod date_time;
mod further;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::{LazyLock, Mutex, PoisonError};

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Piece;

pub use check::DatasetError;
pub use column::{
    Column, ColumnError, ColumnType, ColumnTypeError, ColumnValue, Lengths, LengthsError,
    NumberRule, NumberedText, NumberedTextError, WrittenColumn,
};
pub use date_time::{DateTime, DateTimeError};
pub use further::{Condition, ForeignKey, FurtherTable, Procedure};

/// A schema: one that comes with Prony, or a user's own. There are few in a program, and all plans,
/// tasks and datasets refer to them; they therefore live as long as it, and this is a reference that
/// can be copied.
///
/// It is written as its name if it comes with Prony, and else as its definition.
#[derive(Clone, Copy)]
pub struct Schema(Origin);

#[derive(Clone, Copy)]
enum Origin {
    BuiltIn(&'static LazyLock<SchemaDefinition>),
    Own(&'static SchemaDefinition),
}

/// The definition of a set of tables: a main one, and further ones beside it. A dataset has one such set
/// or several, which are all alike.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchemaDefinition {
    /// Its name, unique among all schemas of a run.
    pub name: String,
    /// One or two sentences for people.
    #[serde(default)]
    pub description: String,
    /// The beginning of the names of its main tables; their numbers follow.
    #[serde(rename = "tables")]
    pub table_prefix: String,
    /// The column that identifies a row: the first one.
    pub key: String,
    /// True where the server can count the key by itself (`AUTO_INCREMENT`).
    #[serde(default)]
    pub counted: bool,
    /// True where the indexes are always there before the rows.
    #[serde(default)]
    pub index_first: bool,
    /// True where MEMORY tables have the indexes of their default, hashes, which no range can be
    /// read from.
    #[serde(default)]
    pub hashed: bool,
    /// The columns in the order of the table, at least the key.
    #[serde(rename = "column")]
    pub columns: Vec<Column>,
    /// The secondary indexes.
    #[serde(rename = "index", default)]
    pub indexes: Vec<IndexDefinition>,
    /// The foreign keys of the main table.
    #[serde(rename = "foreign_key", default, skip_serializing_if = "Vec::is_empty")]
    pub foreign_keys: Vec<ForeignKey>,
    /// The tables beside the main one.
    #[serde(rename = "table", default, skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<FurtherTable>,
    /// The stored procedures.
    #[serde(rename = "procedure", default, skip_serializing_if = "Vec::is_empty")]
    pub procedures: Vec<Procedure>,
    /// What is true after every transaction.
    #[serde(rename = "condition", default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

/// A secondary index.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct IndexDefinition {
    /// Its name; `{number}` in it stands for the number of the table.
    pub name: String,
    /// Its columns, at least one.
    pub columns: Vec<String>,
    /// True where no two rows may have the same values in all of them.
    #[serde(default)]
    pub unique: bool,
}

impl Schema {
    /// The tables of sysbench.
    pub const SBTEST: Self = Self(Origin::BuiltIn(&built_in::SBTEST));
    /// The columns of `sbtest` with the rows of sysbench 0.4.
    pub const SBTEST_04: Self = Self(Origin::BuiltIn(&built_in::SBTEST_04));
    /// Three numbers.
    pub const FOO: Self = Self(Origin::BuiltIn(&built_in::FOO));

    /// The tables of the insert benchmark.
    pub const PURCHASES: Self = Self(Origin::BuiltIn(&built_in::PURCHASES));

    /// Those that come with Prony.
    pub fn all_built_in() -> impl Iterator<Item = Self> + Clone {
        let all = built_in::ALL.iter();
        all.map(|definition| Self(Origin::BuiltIn(definition)))
    }

    /// The texts of the files that define those.
    pub const FILES: &[(&str, &str)] = built_in::FILES;

    /// A schema of the user's own. Equal definitions are kept once.
    pub fn own(definition: SchemaDefinition) -> Self {
        static KEPT: Mutex<Vec<&SchemaDefinition>> = Mutex::new(Vec::new());
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.iter().copied().find(|known| **known == definition);
        Self(Origin::Own(known.unwrap_or_else(|| {
            let new: &'static SchemaDefinition = Box::leak(Box::new(definition));
            kept.push(new);
            new
        })))
    }

    /// The one that comes with Prony and has this name.
    pub fn built_in(name: &str) -> Option<Self> {
        Self::all_built_in().find(|schema| schema.name == name)
    }

    /// True where it comes with Prony.
    pub const fn is_built_in(self) -> bool {
        matches!(self.0, Origin::BuiltIn(_))
    }

    /// Its definition.
    pub fn definition(self) -> &'static SchemaDefinition {
        match self.0 {
            Origin::BuiltIn(definition) => definition,
            Origin::Own(definition) => definition,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        &self.definition().name
    }

    /// The beginning of the names of its tables.
    pub fn table_prefix(self) -> &'static str {
        &self.definition().table_prefix
    }

    /// The column that identifies a row.
    pub fn key_column(self) -> &'static str {
        &self.definition().key
    }

    /// Returns `true` if statements over tables of this schema can run on those of `other`: these have
    /// the same columns, and the same further tables and procedures.
    pub fn has_columns_of(self, other: Self) -> bool {
        fn alike(one: &[Column], other: &[Column]) -> bool {
            let kinds = |columns: &[Column]| -> Vec<_> {
                columns.iter().map(|c| (c.name.clone(), c.kind)).collect()
            };
            kinds(one) == kinds(other)
        }
        let further = |table: &FurtherTable| {
            let mut others = other.further.iter();
            others.any(|other| other.name == table.name && alike(&other.columns, &table.columns))
        };
        alike(&self.columns, &other.columns)
            && self.further.iter().all(further)
            && self.procedures.iter().all(|p| other.procedures.contains(p))
    }

    /// True where a table has a foreign key.
    pub fn has_foreign_keys(self) -> bool {
        let mut further = self.further.iter();
        !self.foreign_keys.is_empty() || further.any(|table| !table.foreign_keys.is_empty())
    }

    /// The place of a name among [`Dataset::names_of_set`](crate::Dataset::names_of_set): the main
    /// table without a name, further tables and procedures by theirs.
    pub fn place(self, piece: &Piece) -> Option<usize> {
        let further = self.further.len();
        match piece {
            Piece::Table => Some(0),
            Piece::Further(name) => {
                let mut tables = self.further.iter();
                tables
                    .position(|table| table.name == *name)
                    .map(|at| 1 + at)
            }
            Piece::Procedure(name) => {
                let mut procedures = self.procedures.iter();
                let place = procedures.position(|procedure| procedure.name == *name);
                place.map(|at| 1 + further + at)
            }
            _ => None,
        }
    }

    /// Columns of numbers, in the order of the table.
    pub fn numbers(self) -> impl Iterator<Item = &'static Column> {
        let columns = self.definition().columns.iter();
        columns.filter(|column| column.kind.is_number())
    }

    /// All other columns, whose values travel as texts, in the order of the table.
    pub fn texts(self) -> impl Iterator<Item = &'static Column> {
        let columns = self.definition().columns.iter();
        columns.filter(|column| !column.kind.is_number())
    }

    /// Names of the columns of numbers.
    pub fn number_columns(self) -> Vec<&'static str> {
        self.numbers().map(|column| column.name.as_str()).collect()
    }

    /// Names of the columns of text.
    pub fn text_columns(self) -> Vec<&'static str> {
        self.texts().map(|column| column.name.as_str()).collect()
    }

    /// A column by its name.
    pub fn column(self, name: &str) -> Option<&'static Column> {
        let mut columns = self.definition().columns.iter();
        columns.find(|column| column.name == name)
    }

    /// Bytes of the values of a row at most, without anything that an engine adds: 4 for an INTEGER,
    /// 8 for a BIGINT or a time, 1 for each character.
    pub fn row_bytes(self) -> u64 {
        let columns = self.definition().columns.iter();
        columns.map(Column::value_bytes).sum()
    }
}

impl Default for Schema {
    fn default() -> Self {
        Self::SBTEST
    }
}

impl Deref for Schema {
    type Target = SchemaDefinition;

    fn deref(&self) -> &SchemaDefinition {
        self.definition()
    }
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.definition(), other.definition())
    }
}

impl Eq for Schema {}

impl Hash for Schema {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Schema").field(&self.name()).finish()
    }
}

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Schema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_built_in() {
            serializer.serialize_str(self.name())
        } else {
            self.definition().serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for Schema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Visitor)
    }
}

struct Visitor;

impl<'de> serde::de::Visitor<'de> for Visitor {
    type Value = Schema;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a schema, or its definition")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Schema, E> {
        Schema::built_in(name).ok_or_else(|| E::custom(format!("no schema is named `{name}`")))
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<Schema, A::Error> {
        let map = serde::de::value::MapAccessDeserializer::new(map);
        SchemaDefinition::deserialize(map).map(Schema::own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_come_with_prony_are_written_by_name() {
        for (schema, name) in [
            (Schema::SBTEST, "sbtest"),
            (Schema::SBTEST_04, "sbtest-0.4"),
            (Schema::FOO, "foo"),
        ] {
            assert_eq!(serde_json::to_value(schema).unwrap(), name);
            assert_eq!(
                serde_json::from_value::<Schema>(name.into()).unwrap(),
                schema
            );
            assert_eq!(schema.name(), name);
        }
        assert!(serde_json::from_str::<Schema>("\"bar\"").is_err());
    }

    #[test]
    fn own_ones_are_written_whole_and_kept_once() {
        let mut definition = Schema::FOO.definition().clone();
        definition.name = "mine".into();
        let own = Schema::own(definition.clone());
        let json = serde_json::to_string(&own).unwrap();
        assert!(json.contains("\"from\":\"1..rows\""), "{json}");
        assert_eq!(serde_json::from_str::<Schema>(&json).unwrap(), own);
        assert_eq!(Schema::own(definition), own);
        assert_ne!(own, Schema::FOO);
        assert!(own.has_columns_of(Schema::FOO));
        assert!(!own.has_columns_of(Schema::SBTEST));
    }

    #[test]
    fn bytes_of_rows() {
        assert_eq!(Schema::SBTEST.row_bytes(), 4 + 4 + 119 + 59);
        assert_eq!(Schema::SBTEST_04.row_bytes(), 4 + 4 + 50);
        assert_eq!(Schema::FOO.row_bytes(), 3 * 4);
    }
}
