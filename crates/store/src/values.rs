//! Values of columns: times, words, counters, JSON.

use std::error::Error;
use std::str::FromStr;

use jiff::Timestamp;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};
use rusqlite::{Row, ToSql};
use serde::Serialize;
use serde::de::value::{Error as ValueError, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer as _};

/// A wall-clock time: UTC, RFC 3339, milliseconds, so that texts sort as times do.
pub(crate) struct Time(pub(crate) Timestamp);

impl ToSql for Time {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(format!("{:.3}", self.0).into())
    }
}

impl FromSql for Time {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Parsed::column_result(value).map(|Parsed(at)| Self(at))
    }
}

/// A value that is written as text.
pub(crate) struct Parsed<T>(pub(crate) T);

impl<T: FromStr<Err: Error + Send + Sync + 'static>> FromSql for Parsed<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let parsed = value.as_str()?.parse();
        parsed.map(Self).map_err(FromSqlError::other)
    }
}

/// The value of a counter: its 64 bits. SQLite knows signed numbers only, and servers have counters
/// of 2⁶³ and more, be it because one went below 0; such a value reads as itself minus 2⁶⁴.
pub(crate) struct Bits(pub(crate) u64);

impl ToSql for Bits {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.cast_signed().into())
    }
}

impl FromSql for Bits {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_i64().map(|value| Self(value.cast_unsigned()))
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
        let word: StrDeserializer<'_, ValueError> = value.as_str()?.into_deserializer();
        T::deserialize(word).map(Self).map_err(FromSqlError::other)
    }
}

/// A value as JSON.
pub(crate) struct Json<T>(pub(crate) T);

impl<T: Serialize> ToSql for Json<&T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        serde_json::to_string(self.0)
            .map(Into::into)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
    }
}

impl<T: DeserializeOwned> FromSql for Json<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        serde_json::from_str(value.as_str()?)
            .map(Self)
            .map_err(FromSqlError::other)
    }
}

pub(crate) fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    row.get(column).map(|Time(at)| at)
}

pub(crate) fn word<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    row.get(column).map(|Word(variant)| variant)
}

pub(crate) fn json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    row.get(column).map(|Json(value)| value)
}
