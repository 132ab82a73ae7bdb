//! From values to the bytes of a request.

use std::ops::Range;

use prony_wire::{ExecuteTemplate, ParamShape, Types, begin_query, finish_packet};

use crate::program::Values;
use crate::values::digits::append_integer;

/// How a statement becomes a request.
#[derive(Debug)]
pub(crate) enum Encoding {
    /// `COM_STMT_EXECUTE`.
    Prepared(Prepared),
    /// `COM_QUERY`: the pieces of its text.
    Text(Vec<TextPiece>),
}

/// A statement to be prepared on each connection, and its executions.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// The text with `?` for parameters, for each table that it may go to.
    pub(crate) sql: Vec<String>,
    with_types: Layout,
    without_types: Layout,
    /// Number of parameters.
    params: usize,
}

/// A template, and what goes where in it.
#[derive(Debug)]
struct Layout {
    template: ExecuteTemplate,
    /// Where integers begin, and their slots.
    integers: Vec<(usize, usize)>,
    /// Where texts lie, and their indices.
    texts: Vec<(Range<usize>, usize)>,
}

/// A piece of a statement's text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TextPiece {
    Sql(Vec<u8>),
    Table,
    Hole(Hole),
    /// The slots of integers, which commas separate.
    List(Range<usize>),
}

/// Which value goes into a hole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hole {
    /// Slot of an integer.
    Integer(usize),
    /// Index among the texts.
    Text(usize),
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
    /// Lays out the requests for texts of the given sizes.
    ///
    /// # Errors
    /// When the values do not fit one frame.
    pub(crate) fn new(
        sql: Vec<String>,
        holes: &[Hole],
        text_sizes: &[usize],
    ) -> Result<Self, prony_wire::WireError> {
        let shapes: Vec<ParamShape> = holes
            .iter()
            .map(|hole| match *hole {
                Hole::Integer(_) => ParamShape::Integer,
                Hole::Text(index) => ParamShape::Text(text_sizes[index]),
            })
            .collect();
        Ok(Self {
            sql,
            with_types: Layout::new(holes, &shapes, Types::Sent)?,
            without_types: Layout::new(holes, &shapes, Types::Omitted)?,
            params: holes.len(),
        })
    }

    /// Number of parameters.
    pub(crate) const fn params(&self) -> usize {
        self.params
    }

    /// Appends the request that executes statement `id`.
    pub(crate) fn append(&self, out: &mut Vec<u8>, id: u32, types: Types, values: &Values) {
        let layout = match types {
            Types::Sent => &self.with_types,
            Types::Omitted => &self.without_types,
        };
        let start = out.len();
        out.extend_from_slice(layout.template.bytes());
        layout.patch(&mut out[start..], id, values);
    }

    /// Makes a request without types, which executed the statement before, execute it again, with
    /// these values.
    #[inline]
    pub(crate) fn repeat(&self, request: &mut [u8], id: u32, values: &Values) {
        self.without_types.patch(request, id, values);
    }
}

impl Layout {
    fn new(
        holes: &[Hole],
        shapes: &[ParamShape],
        types: Types,
    ) -> Result<Self, prony_wire::WireError> {
        let template = ExecuteTemplate::new(shapes, types)?;
        let (mut integers, mut texts) = (Vec::new(), Vec::new());
        for (hole, place) in holes.iter().zip(template.values()) {
            match *hole {
                Hole::Integer(slot) => integers.push((place.start, slot)),
                Hole::Text(index) => texts.push((place.clone(), index)),
            }
        }
        Ok(Self {
            template,
            integers,
            texts,
        })
    }

    #[inline]
    fn patch(&self, request: &mut [u8], id: u32, values: &Values) {
        request[ExecuteTemplate::ID].copy_from_slice(&id.to_le_bytes());
        for &(start, slot) in &self.integers {
            if let Some(place) = request[start..].first_chunk_mut() {
                *place = values.integers[slot].to_le_bytes();
            }
        }
        for (place, index) in &self.texts {
            request[place.clone()].copy_from_slice(&values.texts[*index]);
        }
    }
}

/// Appends the request that runs the text.
pub(crate) fn append_text(pieces: &[TextPiece], out: &mut Vec<u8>, table: &str, values: &Values) {
    let start = begin_query(out);
    append_sql(pieces, out, table, values);
    finish_packet(out, start, 0);
}

/// Appends the text itself. In its values, texts carry their quotes already.
#[inline]
pub(crate) fn append_sql(pieces: &[TextPiece], out: &mut Vec<u8>, table: &str, values: &Values) {
    for piece in pieces {
        match piece {
            TextPiece::Sql(sql) => out.extend_from_slice(sql),
            TextPiece::Table => out.extend_from_slice(table.as_bytes()),
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
