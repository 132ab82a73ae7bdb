//! From values to the text of a statement, and its prepared form.

use std::ops::Range;

use crate::protocol::{Execution, ProtocolError, Shapes, Wire};
use crate::values::digits::append_integer;
use crate::values::{Hole, Values};

/// The form in which a statement is sent.
#[derive(Debug)]
pub(crate) enum Encoding {
    /// Prepared on each connection, and executed.
    Prepared(Prepared),
    /// As text: its pieces.
    Text(Vec<TextPiece>),
}

/// A statement to be prepared on each connection, and its executions.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// The text with places for parameters, for each set of tables that it may go to.
    pub(crate) sql: Vec<String>,
    pub(crate) execution: Execution,
    /// Number of parameters.
    params: usize,
}

/// A piece of a statement's text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TextPiece {
    Sql(Vec<u8>),
    /// The place of a name among those of the set of tables.
    Name(usize),
    Hole(Hole),
    /// The slots of integers, which commas separate.
    List(Range<usize>),
}

impl Encoding {
    /// Number of parameters that are bound: none in texts.
    pub(crate) fn params(&self) -> usize {
        match self {
            Self::Prepared(prepared) => prepared.params(),
            Self::Text(_) => 0,
        }
    }
}

impl Prepared {
    /// Lays out the requests for values of these forms.
    ///
    /// # Errors
    /// When the values do not fit one request.
    pub(crate) fn new(
        wire: Wire,
        sql: Vec<String>,
        holes: &[Hole],
        shapes: &Shapes,
    ) -> Result<Self, ProtocolError> {
        Ok(Self {
            sql,
            execution: Execution::new(wire, holes, shapes)?,
            params: holes.len(),
        })
    }

    /// Number of parameters.
    pub(crate) const fn params(&self) -> usize {
        self.params
    }
}

/// Appends the text itself, with the names of a set of tables. In its values, texts carry their quotes already.
#[inline]
pub(crate) fn append_sql(
    pieces: &[TextPiece],
    out: &mut Vec<u8>,
    names: &[String],
    values: &Values,
) {
    for piece in pieces {
        match piece {
            TextPiece::Sql(sql) => out.extend_from_slice(sql),
            TextPiece::Name(place) => out.extend_from_slice(names[*place].as_bytes()),
            TextPiece::Hole(Hole::Integer(index)) => append_integer(out, values.integers[*index]),
            TextPiece::Hole(Hole::Text(index)) => out.extend_from_slice(&values.texts[*index]),
            TextPiece::List(slots) => append_list(out, &values.integers[slots.clone()]),
        }
    }
}

fn append_list(out: &mut Vec<u8>, integers: &[i64]) {
    for (index, integer) in integers.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        append_integer(out, *integer);
    }
}
