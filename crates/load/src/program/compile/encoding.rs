//! A statement's text, compiled to what is left to do for each request.

use std::ops::Range;

use prony_model::Piece;

use crate::program::compile::CompileError;
use crate::program::compile::params::{Found, Params};
use crate::program::encode::{Encoding, Prepared, TextPiece};
use crate::protocol::{Shapes, Wire};
use crate::values::Hole;

/// The most bytes that an integer takes in a statement's text.
const INTEGER_SIZE_MAX: usize = 20;

/// The same of the name of a table or procedure: a word and a number of 32 bits.
const NAME_SIZE_MAX: usize = 64;

/// A piece of a statement whose holes have their values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Filled {
    Sql(String),
    /// The place of a name among those of the set of tables.
    Name(usize),
    Hole(Hole),
    /// The slots of integers, which commas separate.
    List(Range<usize>),
}

impl Params<'_> {
    /// Gives the holes their values; `rows` are those of the statement, with their commas.
    pub(super) fn filled(
        &self,
        pieces: &[Piece],
        rows: &[Filled],
    ) -> Result<Vec<Filled>, CompileError> {
        let mut filled = Vec::with_capacity(pieces.len());
        for piece in pieces {
            match piece {
                Piece::Text(sql) => filled.push(Filled::Sql(sql.clone())),
                Piece::Table | Piece::Further(_) | Piece::Procedure(_) => {
                    filled.push(Filled::Name(self.place(piece)?));
                }
                Piece::Param(name) => filled.push(Filled::Hole(self.value(name)?)),
                Piece::List(name) => filled.push(Filled::List(self.list(name)?)),
                Piece::Rows => filled.extend_from_slice(rows),
            }
        }
        Ok(filled)
    }

    /// The request as text.
    pub(super) fn text_encoding(&self, filled: Vec<Filled>) -> Result<Encoding, CompileError> {
        let sizes = self.shapes().text_sizes;
        let wire = self.wire();
        let size: usize = filled
            .iter()
            .map(|piece| match piece {
                Filled::Sql(sql) => sql.len(),
                Filled::Hole(Hole::Text(index)) => sizes[*index],
                Filled::Name(_) => NAME_SIZE_MAX,
                Filled::Hole(Hole::Integer(_)) => INTEGER_SIZE_MAX,
                Filled::List(slots) => slots.len() * (INTEGER_SIZE_MAX + 1),
            })
            .sum();
        if size >= wire.text_size_limit() {
            return Err(wire.too_large(size).into());
        }
        let pieces = filled.into_iter().map(|piece| match piece {
            Filled::Sql(sql) => TextPiece::Sql(sql.into_bytes()),
            Filled::Name(place) => TextPiece::Name(place),
            Filled::Hole(hole) => TextPiece::Hole(hole),
            Filled::List(slots) => TextPiece::List(slots),
        });
        Ok(Encoding::Text(pieces.collect()))
    }

    /// The request that executes the statement, prepared for each of these sets of tables.
    pub(super) fn prepared_encoding(
        &self,
        filled: &[Filled],
        sets: &[Vec<String>],
    ) -> Result<Encoding, CompileError> {
        let mut holes = Vec::new();
        for piece in filled {
            match piece {
                Filled::Hole(hole) => holes.push(*hole),
                Filled::List(slots) => holes.extend(slots.clone().map(Hole::Integer)),
                Filled::Sql(_) | Filled::Name(_) => {}
            }
        }
        let wire = self.wire();
        let max = wire.params_max();
        if holes.len() > max {
            return Err(CompileError::TooManyParams {
                count: holes.len(),
                max,
            });
        }
        let shapes = self.shapes();
        let sql = sets
            .iter()
            .map(|names| prepared_text(wire, filled, &shapes, names))
            .collect();
        Ok(Encoding::Prepared(Prepared::new(
            wire, sql, &holes, &shapes,
        )?))
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
    fn list(&self, name: &str) -> Result<Range<usize>, CompileError> {
        match self.find(name)? {
            Found::List(slots) => Ok(slots.clone()),
            Found::Integer(_) | Found::Text(_) => Err(CompileError::ValueAsList(name.to_owned())),
        }
    }
}

fn prepared_text(wire: Wire, filled: &[Filled], shapes: &Shapes, names: &[String]) -> String {
    let mut sql = String::new();
    let mut number = 0;
    let mut place = |sql: &mut String, hole| {
        number += 1;
        wire.append_place(sql, number, hole, shapes);
    };
    for piece in filled {
        match piece {
            Filled::Sql(text) => sql.push_str(text),
            Filled::Name(place) => sql.push_str(&names[*place]),
            Filled::Hole(hole) => place(&mut sql, *hole),
            Filled::List(slots) => {
                for slot in slots.clone() {
                    if slot > slots.start {
                        sql.push(',');
                    }
                    place(&mut sql, Hole::Integer(slot));
                }
            }
        }
    }
    sql
}
