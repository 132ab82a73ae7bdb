//! SQL that families of servers can have in words of their own.

use std::collections::BTreeMap;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Family, SqlTemplate, TemplateError};

/// The text of a statement: one that all families understand, texts of single families, or both. A family
/// without a text of its own has the common one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Sql {
    any: Option<SqlTemplate>,
    own: BTreeMap<Family, SqlTemplate>,
}

/// A statement without any text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the statement has no text")]
pub struct NoSqlError;

impl Sql {
    /// A text for all families, texts of single ones, or both.
    ///
    /// # Errors
    /// If there is none.
    pub fn new(
        any: Option<SqlTemplate>,
        own: BTreeMap<Family, SqlTemplate>,
    ) -> Result<Self, NoSqlError> {
        if any.is_none() && own.is_empty() {
            return Err(NoSqlError);
        }
        Ok(Self { any, own })
    }

    /// The text for a family; `None` where the family has none.
    pub fn of(&self, family: Family) -> Option<&SqlTemplate> {
        self.own.get(&family).or(self.any.as_ref())
    }

    /// All texts, the common one first.
    pub fn texts(&self) -> impl Iterator<Item = &SqlTemplate> {
        self.any.iter().chain(self.own.values())
    }

    /// The text for a family alone; unchanged where the family has none.
    pub(crate) fn only_of(&mut self, family: Family) {
        if let Some(sql) = self.of(family) {
            *self = sql.clone().into();
        }
    }
}

impl From<SqlTemplate> for Sql {
    fn from(sql: SqlTemplate) -> Self {
        Self {
            any: Some(sql),
            own: BTreeMap::new(),
        }
    }
}

impl FromStr for Sql {
    type Err = TemplateError;

    /// Reads a text for all families.
    fn from_str(sql: &str) -> Result<Self, TemplateError> {
        sql.parse::<SqlTemplate>().map(Self::from)
    }
}

/// SQL as files have it: a text, or a table of texts.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    One(SqlTemplate),
    Several {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        any: Option<SqlTemplate>,
        #[serde(flatten)]
        own: BTreeMap<Family, SqlTemplate>,
    },
}

impl TryFrom<Written> for Sql {
    type Error = NoSqlError;

    fn try_from(written: Written) -> Result<Self, NoSqlError> {
        match written {
            Written::One(sql) => Ok(sql.into()),
            Written::Several { any, own } => Self::new(any, own),
        }
    }
}

impl From<Sql> for Written {
    fn from(sql: Sql) -> Self {
        match (sql.any, sql.own) {
            (Some(any), own) if own.is_empty() => Self::One(any),
            (any, own) => Self::Several { any, own },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Sql, serde_json::Error> {
        serde_json::from_str(json)
    }

    #[test]
    fn common_text_is_written_as_text() {
        let json = r#""SELECT 1""#;
        let sql = read(json).unwrap();
        assert_eq!(serde_json::to_string(&sql).unwrap(), json);
        for family in Family::ALL {
            assert_eq!(sql.of(family).unwrap().to_string(), "SELECT 1");
        }
    }

    #[test]
    fn families_have_their_own_text_or_the_common_one() {
        let json = r#"{"any":"OPTIMIZE TABLE {table}","postgresql":"VACUUM FULL {table}"}"#;
        let sql = read(json).unwrap();
        assert_eq!(serde_json::to_string(&sql).unwrap(), json);
        let of = |family| sql.of(family).unwrap().to_string();
        assert_eq!(of(Family::Mysql), "OPTIMIZE TABLE {table}");
        assert_eq!(of(Family::Postgresql), "VACUUM FULL {table}");
        let mut only = sql.clone();
        only.only_of(Family::Mariadb);
        assert_eq!(
            serde_json::to_value(&only).unwrap(),
            "OPTIMIZE TABLE {table}"
        );
    }

    #[test]
    fn families_can_be_left_out() {
        let sql = read(r#"{"mysql":"CHECK TABLE {table}"}"#).unwrap();
        assert!(sql.of(Family::Mysql).is_some());
        assert_eq!(sql.of(Family::Postgresql), None);
    }

    #[test]
    fn something_must_be_written() {
        for bad in ["{}", r#"{"any":""}"#, r#"{"oracle":"SELECT 1"}"#, "1"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
