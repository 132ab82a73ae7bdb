//! Requests of MySQL's protocol.

use std::ops::Range;

use prony_wire::{
    ExecuteTemplate, PAYLOAD_MAX, ParamShape, Types, WireError, append_quit, append_text,
    begin_query, finish_packet,
};

use crate::protocol::Shapes;
use crate::values::{Hole, Values};

/// The sequence number with which answers to requests of one frame begin.
pub(super) const ANSWER_SEQUENCE: u8 = 1;

/// The size that a statement's text must stay below, in bytes: it shares a frame with the command,
/// and a full frame would have another one after it.
pub(super) const TEXT_SIZE_LIMIT: usize = PAYLOAD_MAX - 1;

/// The most parameters of a prepared statement: the protocol counts them with 16 bits.
pub(super) const PARAMS_MAX: usize = u16::MAX as usize;

/// Makes a request of the text that `append` appends.
#[inline]
pub(super) fn query(request: &mut Vec<u8>, append: impl FnOnce(&mut Vec<u8>)) {
    let start = begin_query(request);
    append(request);
    finish_packet(request, start, 0);
}

pub(super) fn goodbye() -> Vec<u8> {
    let mut bytes = Vec::new();
    append_quit(&mut bytes);
    bytes
}

/// `COM_STMT_EXECUTE` for one statement.
#[derive(Debug)]
pub(crate) struct Execution {
    /// For the first execution on a connection.
    with_types: Box<Layout>,
    without_types: Layout,
    /// The holes in their order, where texts have lengths that change: requests are then made anew
    /// each time.
    varying: Option<Vec<Hole>>,
}

/// A template, and the places of values in it.
#[derive(Debug)]
struct Layout {
    template: ExecuteTemplate,
    /// Start of integers, and their slots.
    integers: Vec<(usize, usize)>,
    /// Ranges of texts, and their indices.
    texts: Vec<(Range<usize>, usize)>,
}

impl Execution {
    pub(super) fn new(holes: &[Hole], shapes: &Shapes) -> Result<Self, WireError> {
        let varying = shapes.varying;
        let shapes: Vec<ParamShape> = holes
            .iter()
            .map(|hole| match *hole {
                Hole::Integer(_) => ParamShape::Integer,
                Hole::Text(index) => ParamShape::Text(shapes.text_sizes[index]),
            })
            .collect();
        Ok(Self {
            with_types: Box::new(Layout::new(holes, &shapes, Types::Sent)?),
            without_types: Layout::new(holes, &shapes, Types::Omitted)?,
            varying: varying.then(|| holes.to_vec()),
        })
    }

    /// Appends the request that executes statement `id`, for the first time or again.
    pub(super) fn append(&self, out: &mut Vec<u8>, id: u32, is_executed: bool, values: &Values) {
        let layout = if is_executed {
            &self.without_types
        } else {
            &self.with_types
        };
        if let Some(holes) = &self.varying {
            layout.template.append_with(out, id, |out| {
                for hole in holes {
                    match *hole {
                        Hole::Integer(slot) => {
                            out.extend_from_slice(&values.integers[slot].to_le_bytes());
                        }
                        Hole::Text(index) => append_text(out, &values.texts[index]),
                    }
                }
            });
            return;
        }
        let start = out.len();
        out.extend_from_slice(layout.template.bytes());
        layout.patch(&mut out[start..], id, values);
    }

    /// `true` if a request for the same statement differs from the last one in its values alone.
    pub(super) const fn is_fixed(&self) -> bool {
        self.varying.is_none()
    }

    /// Makes a request without types, which executed the statement before, execute it again, with
    /// these values.
    #[inline]
    pub(super) fn repeat(&self, request: &mut [u8], id: u32, values: &Values) {
        self.without_types.patch(request, id, values);
    }
}

impl Layout {
    fn new(holes: &[Hole], shapes: &[ParamShape], types: Types) -> Result<Self, WireError> {
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
