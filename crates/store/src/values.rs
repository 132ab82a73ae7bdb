//! How times and words are written in columns.

use jiff::Timestamp;
use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A wall-clock time: UTC, RFC 3339, milliseconds, so that texts sort as times do.
pub(crate) struct Time(pub(crate) Timestamp);

impl ToSql for Time {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(format!("{:.3}", self.0).into())
    }
}

impl FromSql for Time {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value
            .as_str()?
            .parse()
            .map(Self)
            .map_err(FromSqlError::other)
    }
}

/// A unit variant, as the word that stands for it in every file of Prony.
pub(crate) struct Word<T>(pub(crate) T);

impl<T: Serialize> ToSql for Word<&T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let invalid = |error| rusqlite::Error::ToSqlConversionFailure(Box::new(error));
        let word: String = serde_json::to_value(self.0)
            .and_then(serde_json::from_value)
            .map_err(invalid)?;
        Ok(word.into())
    }
}

impl<T: DeserializeOwned> FromSql for Word<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        serde_json::from_value(value.as_str()?.into())
            .map(Self)
            .map_err(FromSqlError::other)
    }
}
