//! A statement's text, compiled to what is left to do for each request.

use prony_model::Piece;

use crate::program::compile::params::{Found, Params};
use crate::program::compile::{CompileError, WIRE};
use crate::program::encode::{Encoding, Prepared, TextPiece};
use crate::values::Hole;

/// The most bytes that an integer takes in a statement's text.
const INTEGER_SIZE_MAX: usize = 20;

impl Params<'_> {
    /// The request as text.
    pub(super) fn text_encoding(&self, pieces: &[Piece]) -> Result<Encoding, CompileError> {
        let compiled = pieces
            .iter()
            .map(|piece| {
                Ok(match piece {
                    Piece::Text(sql) => TextPiece::Sql(sql.as_bytes().to_vec()),
                    Piece::Table => TextPiece::Table,
                    Piece::Param(name) => TextPiece::Hole(self.value(name)?),
                    Piece::List(name) => TextPiece::List(self.list(name)?),
                })
            })
            .collect::<Result<Vec<_>, CompileError>>()?;
        let sizes = self.text_sizes();
        let size: usize = compiled
            .iter()
            .map(|piece| match piece {
                TextPiece::Sql(sql) => sql.len(),
                TextPiece::Hole(Hole::Text(index)) => sizes[*index],
                // Table names are a word and a number of 32 bits.
                TextPiece::Table | TextPiece::Hole(Hole::Integer(_)) => INTEGER_SIZE_MAX,
                TextPiece::List(slots) => slots.len() * (INTEGER_SIZE_MAX + 1),
            })
            .sum();
        if size >= WIRE.text_size_limit() {
            return Err(WIRE.too_large(size).into());
        }
        Ok(Encoding::Text(compiled))
    }

    /// The request that executes the statement, prepared for each of `tables`.
    pub(super) fn prepared_encoding(
        &self,
        pieces: &[Piece],
        tables: &[String],
    ) -> Result<Encoding, CompileError> {
        let mut holes = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Param(name) => holes.push(self.value(name)?),
                Piece::List(name) => holes.extend(self.list(name)?.map(Hole::Integer)),
                Piece::Text(_) | Piece::Table => {}
            }
        }
        let max = WIRE.params_max();
        if holes.len() > max {
            return Err(CompileError::TooManyParams {
                count: holes.len(),
                max,
            });
        }
        let sql = tables
            .iter()
            .map(|table| self.prepared_text(pieces, table))
            .collect::<Result<_, _>>()?;
        Ok(Encoding::Prepared(Prepared::new(
            WIRE,
            sql,
            &holes,
            &self.text_sizes(),
        )?))
    }

    fn prepared_text(&self, pieces: &[Piece], table: &str) -> Result<String, CompileError> {
        let mut sql = String::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) => sql.push_str(text),
                Piece::Table => sql.push_str(table),
                Piece::Param(_) => sql.push('?'),
                Piece::List(name) => sql.push_str(&vec!["?"; self.list(name)?.len()].join(",")),
            }
        }
        Ok(sql)
    }

    /// The value with this name.
    fn value(&self, name: &str) -> Result<Hole, CompileError> {
        match self.find(name)? {
            Found::Integer(slot) => Ok(Hole::Integer(*slot)),
            Found::Text(index) => Ok(Hole::Text(*index)),
            Found::List(_) => Err(CompileError::ListAsValue(name.to_owned())),
        }
    }

    /// The slots of the list with this name.
    fn list(&self, name: &str) -> Result<std::ops::Range<usize>, CompileError> {
        match self.find(name)? {
            Found::List(slots) => Ok(slots.clone()),
            Found::Integer(_) | Found::Text(_) => Err(CompileError::ValueAsList(name.to_owned())),
        }
    }
}
