//! What a schema has beside its main table: further tables, foreign keys, procedures and conditions.

use serde::{Deserialize, Serialize};

use super::{Column, IndexDefinition, Schema, SchemaDefinition};
use crate::{Expr, Family, Sql};

/// A table that stands beside the main one in each set of tables of a dataset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FurtherTable {
    /// The beginning of its names, and its name in `{table:name}`.
    pub name: String,
    /// Rows of it that are loaded, made of `rows` and `tables`; 0 or more.
    pub rows: Expr,
    /// The column that identifies a row: the first one.
    pub key: String,
    /// True where the server can count the key by itself.
    #[serde(default, skip_serializing_if = "is_false")]
    pub counted: bool,
    /// The columns in the order of the table, at least the key.
    #[serde(rename = "column")]
    pub columns: Vec<Column>,
    /// The secondary indexes.
    #[serde(rename = "index", default, skip_serializing_if = "Vec::is_empty")]
    pub indexes: Vec<IndexDefinition>,
    /// The foreign keys.
    #[serde(rename = "foreign_key", default, skip_serializing_if = "Vec::is_empty")]
    pub foreign_keys: Vec<ForeignKey>,
}

/// A column whose values are keys of another table of the same set. Only InnoDB and PostgreSQL
/// have them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignKey {
    /// The column.
    pub column: String,
    /// The name of the other table, whose key it is.
    pub references: String,
    /// True where rows go together with those that they refer to (`ON DELETE CASCADE`); otherwise the
    /// server refuses to delete those.
    #[serde(default, skip_serializing_if = "is_false")]
    pub cascade: bool,
}

/// A stored procedure, made for each set of tables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Procedure {
    /// The beginning of its names, and its name in `{procedure:name}`.
    pub name: String,
    /// Its definition from behind the name on: `(parameter INTEGER) BEGIN … END`; that of a function in
    /// the words of PostgreSQL.
    pub sql: Sql,
}

/// A sentence about a set of tables that is true after every transaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// Its name.
    pub name: String,
    /// A query that answers with one number: how often the sentence is violated.
    pub sql: Sql,
}

impl SchemaDefinition {
    /// The first procedure or condition without a text for servers of this family: its kind and its name.
    pub fn without_sql(&self, family: Family) -> Option<(&'static str, &str)> {
        let procedures = (self.procedures.iter()).map(|p| ("procedure", &p.name, &p.sql));
        let conditions = (self.conditions.iter()).map(|c| ("condition", &c.name, &c.sql));
        let mut all = procedures.chain(conditions);
        let (kind, name, _) = all.find(|(_, _, sql)| sql.of(family).is_none())?;
        Some((kind, name))
    }
}

impl FurtherTable {
    /// Its own schema, as part of `whole`.
    pub(crate) fn schema(&self, whole: &SchemaDefinition) -> Schema {
        Schema::own(SchemaDefinition {
            name: format!("{}.{}", whole.name, self.name),
            description: String::new(),
            table_prefix: self.name.clone(),
            key: self.key.clone(),
            counted: self.counted,
            index_first: whole.index_first,
            hashed: whole.hashed,
            columns: self.columns.clone(),
            indexes: self.indexes.clone(),
            foreign_keys: self.foreign_keys.clone(),
            further: Vec::new(),
            procedures: Vec::new(),
            conditions: Vec::new(),
        })
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}
