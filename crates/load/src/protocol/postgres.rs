//! Requests of PostgreSQL's protocol.

use std::ops::Range;

use prony_wire::WireError;
use prony_wire::postgres::{
    POSTGRES_MESSAGE_MAX, PostgresExecute, PostgresParam, append_terminate, append_value,
    begin_message, finish_message,
};

use crate::protocol::Shapes;
use crate::values::{Hole, Values};

/// The size that a statement's text must stay below, in bytes: a message has its length and a zero too.
pub(super) const TEXT_SIZE_LIMIT: usize = POSTGRES_MESSAGE_MAX - 5;

/// The most parameters of a prepared statement: the protocol counts them with 16 bits.
pub(super) const PARAMS_MAX: usize = u16::MAX as usize;

/// Makes a request of the text that `append` appends.
#[inline]
pub(super) fn query(request: &mut Vec<u8>, append: impl FnOnce(&mut Vec<u8>)) {
    let start = begin_message(request, b'Q');
    append(request);
    request.push(0);
    finish_message(request, start);
}

pub(super) fn goodbye() -> Vec<u8> {
    let mut bytes = Vec::new();
    append_terminate(&mut bytes);
    bytes
}

/// Bind, Execute and Sync for one statement.
#[derive(Debug)]
pub(crate) struct Execution {
    template: PostgresExecute,
    /// Start of integers of 32 bits, and their slots.
    short: Vec<(usize, usize)>,
    /// The same of 64 bits.
    long: Vec<(usize, usize)>,
    /// Ranges of texts, and their indices.
    texts: Vec<(Range<usize>, usize)>,
    /// The holes in their order, with `true` for integers of 32 bits, where texts have lengths that
    /// change: requests are then made anew each time.
    varying: Option<Vec<(Hole, bool)>>,
}

impl Execution {
    pub(super) fn new(holes: &[Hole], shapes: &Shapes) -> Result<Self, WireError> {
        let params: Vec<PostgresParam> = holes
            .iter()
            .map(|hole| match *hole {
                Hole::Integer(slot) if shapes.short_integers[slot] => PostgresParam::Int4,
                Hole::Integer(_) => PostgresParam::Int8,
                Hole::Text(index) => PostgresParam::Text(shapes.text_sizes[index]),
            })
            .collect();
        let template = PostgresExecute::new(&params)?;
        let (mut short, mut long, mut texts) = (Vec::new(), Vec::new(), Vec::new());
        for (hole, place) in holes.iter().zip(template.values()) {
            match *hole {
                Hole::Integer(slot) if shapes.short_integers[slot] => {
                    short.push((place.start, slot));
                }
                Hole::Integer(slot) => long.push((place.start, slot)),
                Hole::Text(index) => texts.push((place.clone(), index)),
            }
        }
        let varying = shapes.varying.then(|| {
            let is_short = |param: &PostgresParam| *param == PostgresParam::Int4;
            holes
                .iter()
                .copied()
                .zip(params.iter().map(is_short))
                .collect()
        });
        Ok(Self {
            template,
            short,
            long,
            texts,
            varying,
        })
    }

    /// Appends the request that executes statement `id`.
    pub(super) fn append(&self, out: &mut Vec<u8>, id: u32, values: &Values) {
        if let Some(holes) = &self.varying {
            self.template.append_with(out, id, |out| {
                for (hole, is_short) in holes {
                    match *hole {
                        Hole::Integer(slot) if *is_short => {
                            append_value(out, &narrowed(values.integers[slot]));
                        }
                        Hole::Integer(slot) => {
                            append_value(out, &values.integers[slot].to_be_bytes());
                        }
                        Hole::Text(index) => append_value(out, &values.texts[index]),
                    }
                }
            });
            return;
        }
        let start = out.len();
        out.extend_from_slice(self.template.bytes());
        self.repeat(&mut out[start..], id, values);
    }

    /// `true` if a request for the same statement differs from the last one in its values alone.
    pub(super) const fn is_fixed(&self) -> bool {
        self.varying.is_none()
    }

    /// Makes a request for the same statement execute it again, with these values.
    #[inline]
    pub(super) fn repeat(&self, request: &mut [u8], id: u32, values: &Values) {
        PostgresExecute::set_id(request, id);
        for &(start, slot) in &self.short {
            if let Some(place) = request[start..].first_chunk_mut() {
                *place = narrowed(values.integers[slot]);
            }
        }
        for &(start, slot) in &self.long {
            if let Some(place) = request[start..].first_chunk_mut() {
                *place = values.integers[slot].to_be_bytes();
            }
        }
        for (place, index) in &self.texts {
            request[place.clone()].copy_from_slice(&values.texts[*index]);
        }
    }
}

/// An integer whose bounds, known since it was compiled, fit 32 bits.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "its bounds were checked when the statement was compiled"
)]
const fn narrowed(integer: i64) -> [u8; 4] {
    (integer as i32).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes(varying: bool) -> Shapes {
        Shapes {
            short_integers: vec![true, false],
            text_sizes: vec![3],
            varying,
        }
    }

    fn values(first: i64, second: i64, text: &[u8]) -> Values {
        Values {
            integers: vec![first, second],
            texts: vec![text.to_vec()],
        }
    }

    #[test]
    fn requests_repeat_with_other_values() {
        let holes = [Hole::Integer(1), Hole::Text(0), Hole::Integer(0)];
        let fixed = Execution::new(&holes, &shapes(false)).unwrap();
        assert!(fixed.is_fixed());
        let mut repeated = Vec::new();
        fixed.append(&mut repeated, 1, &values(1, 2, b"abc"));
        fixed.repeat(&mut repeated, 77, &values(-5, 1 << 40, b"xyz"));
        let mut expected = Vec::new();
        fixed.append(&mut expected, 77, &values(-5, 1 << 40, b"xyz"));
        assert_eq!(repeated, expected);
        // Texts of varying lengths make the same bytes where they have the same length.
        let varying = Execution::new(&holes, &shapes(true)).unwrap();
        let mut appended = Vec::new();
        varying.append(&mut appended, 77, &values(-5, 1 << 40, b"xyz"));
        assert_eq!(appended, expected);
    }

    #[test]
    fn a_query_ends_with_a_zero() {
        let mut request = Vec::new();
        query(&mut request, |out| out.extend_from_slice(b"BEGIN"));
        assert_eq!(request, b"Q\0\0\0\x0aBEGIN\0");
        assert_eq!(goodbye(), b"X\0\0\0\x04");
    }
}
