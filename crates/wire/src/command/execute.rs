//! A prepared statement to execute, as bytes that are built once and patched for each execution.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_stmt_execute.html>
//!
//! ```text
//! int<1>       0x17
//! int<4>       statement id
//! int<1>       0 (no cursor)
//! int<4>       1 (iterations)
//!                                   only with parameters:
//! string[n]    bitmap of NULLs, (parameters + 7) / 8 bytes
//! int<1>       1 when types follow, else 0
//! int<2> * n   types: kind, and 0x80 in the second byte when unsigned
//! ...          values
//! ```
//! A server keeps the types of a statement's last execution, so they are sent only once.

use std::ops::Range;

use crate::cursor::put_lenenc;
use crate::{HEADER_SIZE, PAYLOAD_MAX, WireError, begin_packet, finish_packet};

const COM_STMT_EXECUTE: u8 = 0x17;
/// `MYSQL_TYPE_LONGLONG`, signed: `int<8>`.
const TYPE_LONGLONG: [u8; 2] = [0x08, 0];
/// `MYSQL_TYPE_VAR_STRING`: `string<lenenc>`.
const TYPE_VAR_STRING: [u8; 2] = [0xfd, 0];

/// Kind and size of one parameter. The size never changes between executions, which is what makes
/// patching possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamShape {
    /// A signed 64-bit integer: 8 bytes, little-endian.
    Integer,
    /// A text of this many bytes.
    Text(usize),
}

/// Presence of parameter types in an execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Types {
    /// As the first execution of a statement on a connection must.
    Sent,
    /// As all later ones may.
    Omitted,
}

/// A framed request with places for the statement id and the values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecuteTemplate {
    bytes: Vec<u8>,
    /// Bytes in front of the values.
    head: usize,
    values: Vec<Range<usize>>,
}

impl ExecuteTemplate {
    /// Position of the statement id: 4 bytes, little-endian.
    pub const ID: Range<usize> = HEADER_SIZE + 1..HEADER_SIZE + 5;

    /// Lays out a request for parameters of these shapes, with zeros for id and values.
    ///
    /// # Errors
    /// When the values do not fit one frame.
    pub fn new(params: &[ParamShape], types: Types) -> Result<Self, WireError> {
        let mut bytes = Vec::new();
        let start = begin_packet(&mut bytes);
        bytes.push(COM_STMT_EXECUTE);
        bytes.extend_from_slice(&0_u32.to_le_bytes());
        bytes.push(0);
        bytes.extend_from_slice(&1_u32.to_le_bytes());
        if !params.is_empty() {
            bytes.resize(bytes.len() + params.len().div_ceil(8), 0);
            bytes.push(u8::from(types == Types::Sent));
            if types == Types::Sent {
                bytes.extend(params.iter().flat_map(ParamShape::type_bytes));
            }
        }
        let head = bytes.len();
        let values = params
            .iter()
            .map(|param| param.append_place(&mut bytes))
            .collect();
        let size = bytes.len();
        if size >= PAYLOAD_MAX {
            let max = PAYLOAD_MAX - 1;
            return Err(WireError::RequestTooLarge { size, max });
        }
        finish_packet(&mut bytes, start, 0);
        Ok(Self {
            bytes,
            head,
            values,
        })
    }

    /// The framed request, to be copied and patched.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Appends the framed request for a statement with the values that `append` appends, in the form
    /// of their parameters: of texts of other lengths than those laid out.
    pub fn append_with(&self, out: &mut Vec<u8>, id: u32, append: impl FnOnce(&mut Vec<u8>)) {
        let start = out.len();
        out.extend_from_slice(&self.bytes[..self.head]);
        out[start..][Self::ID].copy_from_slice(&id.to_le_bytes());
        append(out);
        finish_packet(out, start, 0);
    }

    /// Position of each parameter's value: the 8 bytes of an integer, the bytes of a text.
    pub fn values(&self) -> &[Range<usize>] {
        &self.values
    }
}

/// Appends the value of a parameter that is a text.
pub fn append_text(out: &mut Vec<u8>, text: &[u8]) {
    put_lenenc(out, text.len() as u64);
    out.extend_from_slice(text);
}

impl ParamShape {
    const fn type_bytes(&self) -> [u8; 2] {
        match self {
            Self::Integer => TYPE_LONGLONG,
            Self::Text(_) => TYPE_VAR_STRING,
        }
    }

    fn append_place(&self, bytes: &mut Vec<u8>) -> Range<usize> {
        let size = match *self {
            Self::Integer => 8,
            Self::Text(size) => {
                put_lenenc(bytes, size as u64);
                size
            }
        };
        let start = bytes.len();
        bytes.resize(start + size, 0);
        start..bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cursor::Cursor;
    use crate::split_frame;
    use proptest::prelude::*;

    #[test]
    fn layout_with_types() {
        let template =
            ExecuteTemplate::new(&[ParamShape::Integer, ParamShape::Text(3)], Types::Sent).unwrap();
        let mut bytes = template.bytes().to_vec();
        bytes[ExecuteTemplate::ID].copy_from_slice(&7_u32.to_le_bytes());
        bytes[template.values()[0].clone()].copy_from_slice(&(-2_i64).to_le_bytes());
        bytes[template.values()[1].clone()].copy_from_slice(b"abc");
        let expected = [
            &[0x1c, 0, 0, 0, 0x17, 7, 0, 0, 0, 0, 1, 0, 0, 0][..],
            &[0, 1, 8, 0, 0xfd, 0],
            &[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
            b"\x03abc",
        ]
        .concat();
        assert_eq!(bytes, expected);
    }

    #[test]
    fn texts_of_other_lengths_make_a_request_of_their_own() {
        let template = |size| {
            let shapes = [ParamShape::Integer, ParamShape::Text(size)];
            ExecuteTemplate::new(&shapes, Types::Sent).unwrap()
        };
        let mut bytes = Vec::new();
        template(20).append_with(&mut bytes, 7, |out| {
            out.extend_from_slice(&(-2_i64).to_le_bytes());
            append_text(out, b"abc");
        });
        let short = template(3);
        let mut expected = short.bytes().to_vec();
        expected[ExecuteTemplate::ID].copy_from_slice(&7_u32.to_le_bytes());
        expected[short.values()[0].clone()].copy_from_slice(&(-2_i64).to_le_bytes());
        expected[short.values()[1].clone()].copy_from_slice(b"abc");
        assert_eq!(bytes, expected);
    }

    #[test]
    fn without_parameters_nothing_follows_the_iterations() {
        let template = ExecuteTemplate::new(&[], Types::Sent).unwrap();
        assert_eq!(template.bytes().len(), HEADER_SIZE + 10);
    }

    #[test]
    fn refuses_what_does_not_fit() {
        let huge = [ParamShape::Text(PAYLOAD_MAX)];
        assert!(matches!(
            ExecuteTemplate::new(&huge, Types::Omitted),
            Err(WireError::RequestTooLarge { .. })
        ));
    }

    proptest! {
        /// The request reads back by the description above, and each value stands where it says.
        #[test]
        fn reads_back(sizes in proptest::collection::vec(proptest::option::of(0..400_usize), 1..20), sent: bool) {
            let shapes: Vec<ParamShape> = sizes
                .iter()
                .map(|size| size.map_or(ParamShape::Integer, ParamShape::Text))
                .collect();
            let types = if sent { Types::Sent } else { Types::Omitted };
            let template = ExecuteTemplate::new(&shapes, types).unwrap();
            let (frame, rest) = split_frame(template.bytes()).expect("whole");
            prop_assert!(rest.is_empty());
            let mut cursor = Cursor::new(frame.payload, "test");
            prop_assert_eq!(cursor.u8(), Ok(COM_STMT_EXECUTE));
            cursor.take(9).unwrap();
            cursor.take(shapes.len().div_ceil(8)).unwrap();
            prop_assert_eq!(cursor.u8(), Ok(u8::from(sent)));
            if sent {
                cursor.take(2 * shapes.len()).unwrap();
            }
            for (shape, place) in shapes.iter().zip(template.values()) {
                let size = match *shape {
                    ParamShape::Integer => 8,
                    ParamShape::Text(size) => {
                        prop_assert_eq!(cursor.lenenc(), Ok(size as u64));
                        size
                    }
                };
                let value = cursor.take(size).unwrap();
                prop_assert!(std::ptr::eq(value, &raw const template.bytes()[place.clone()]));
            }
            prop_assert_eq!(cursor.finish(), Ok(()));
        }
    }
}
