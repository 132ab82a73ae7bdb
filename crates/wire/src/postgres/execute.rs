//! A prepared statement to execute, as bytes that are built once and patched for each execution.
//!
//! Three messages in one write: Bind, Execute, Sync.
//!
//! ```text
//! 'B' int<4>           length
//! string<NUL>          portal, unnamed
//! string<NUL>          statement: `s` and eight hexadecimal digits
//! int<2>               number of formats: none where all are texts, 1 where all are equal
//! int<2> * n           formats: 1 for integers in binary, 0 for texts
//! int<2>               number of values
//! int<4>, bytes * n    length and bytes of each
//! int<2> 1, int<2> 1   the columns of all rows in binary, as MySQL has them in executions
//! 'E' int<4> 9         portal, unnamed; int<4> 0: all rows
//! 'S' int<4> 4
//! ```

use std::fmt::Write as _;
use std::ops::Range;

use super::{POSTGRES_MESSAGE_MAX, begin_message, finish_message};
use crate::WireError;

/// What follows the values: the format of rows, Execute and Sync.
const TAIL: [u8; 19] = [
    0, 1, 0, 1, // rows in binary
    b'E', 0, 0, 0, 9, 0, 0, 0, 0, 0, // all rows of the unnamed portal
    b'S', 0, 0, 0, 4,
];
/// Bytes of it that belong to the first message.
const ROW_FORMAT_SIZE: usize = 4;

/// Kind and size of one parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PostgresParam {
    /// `int4`: 4 bytes, the most significant first.
    Int4,
    /// `int8`: 8 bytes, likewise.
    Int8,
    /// A text of this many bytes.
    Text(usize),
}

/// A framed request with places for the statement's number and the values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostgresExecute {
    bytes: Vec<u8>,
    /// Bytes in front of the values.
    head: usize,
    values: Vec<Range<usize>>,
}

impl PostgresExecute {
    /// Position of the statement's number: eight hexadecimal digits.
    pub const ID: Range<usize> = 7..15;

    /// Lays out a request for parameters of these shapes, with zeros for number and values.
    ///
    /// # Errors
    /// If the values do not fit one message.
    pub fn new(params: &[PostgresParam]) -> Result<Self, WireError> {
        let mut bytes = Vec::new();
        let start = begin_message(&mut bytes, b'B');
        bytes.push(0);
        bytes.extend_from_slice(statement_name(0).as_bytes());
        bytes.push(0);
        append_formats(&mut bytes, params);
        append_count(&mut bytes, params.len());
        let head = bytes.len();
        let values = params
            .iter()
            .map(|param| param.append_place(&mut bytes))
            .collect();
        bytes.extend_from_slice(&TAIL[..ROW_FORMAT_SIZE]);
        let size = bytes.len();
        if size >= POSTGRES_MESSAGE_MAX {
            let max = POSTGRES_MESSAGE_MAX;
            return Err(WireError::RequestTooLarge { size, max });
        }
        finish_message(&mut bytes, start);
        bytes.extend_from_slice(&TAIL[ROW_FORMAT_SIZE..]);
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

    /// Position of each parameter's value.
    pub fn values(&self) -> &[Range<usize>] {
        &self.values
    }

    /// Appends the framed request for a statement with the values that `append` appends, each with
    /// [`append_value`]: of texts of other lengths than those laid out.
    pub fn append_with(&self, out: &mut Vec<u8>, id: u32, append: impl FnOnce(&mut Vec<u8>)) {
        let start = out.len();
        out.extend_from_slice(&self.bytes[..self.head]);
        Self::set_id(&mut out[start..], id);
        append(out);
        out.extend_from_slice(&TAIL[..ROW_FORMAT_SIZE]);
        finish_message(out, start + 1);
        out.extend_from_slice(&TAIL[ROW_FORMAT_SIZE..]);
    }

    /// Makes a request execute the statement of this number.
    #[inline]
    pub fn set_id(request: &mut [u8], id: u32) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        for (index, place) in request[Self::ID].iter_mut().enumerate() {
            *place = DIGITS[(id >> (28 - 4 * index)) as usize & 15];
        }
    }
}

/// The name of the statement with this number, as [`PostgresExecute::set_id`] writes it.
pub fn statement_name(id: u32) -> String {
    let mut name = String::with_capacity(9);
    // Writing to a String cannot fail.
    let _ = write!(name, "s{id:08x}");
    name
}

/// Appends the value of a parameter.
pub fn append_value(out: &mut Vec<u8>, bytes: &[u8]) {
    // Shapes were checked against the greatest message.
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(bytes);
}

fn append_formats(bytes: &mut Vec<u8>, params: &[PostgresParam]) {
    let formats = params.iter().map(PostgresParam::format);
    let integers = formats.clone().filter(|format| *format == 1).count();
    if integers == 0 {
        append_count(bytes, 0);
    } else if integers == params.len() {
        append_count(bytes, 1);
        bytes.extend_from_slice(&[0, 1]);
    } else {
        append_count(bytes, params.len());
        bytes.extend(formats.flat_map(|format| [0, format]));
    }
}

fn append_count(bytes: &mut Vec<u8>, count: usize) {
    // The caller's statements have at most as many parameters as 16 bits count.
    let count = u16::try_from(count).unwrap_or(u16::MAX);
    bytes.extend_from_slice(&count.to_be_bytes());
}

impl PostgresParam {
    /// 1 for binary, 0 for text.
    const fn format(&self) -> u8 {
        match self {
            Self::Int4 | Self::Int8 => 1,
            Self::Text(_) => 0,
        }
    }

    fn append_place(&self, bytes: &mut Vec<u8>) -> Range<usize> {
        let size = match *self {
            Self::Int4 => 4,
            Self::Int8 => 8,
            Self::Text(size) => size,
        };
        let length = u32::try_from(size).unwrap_or(u32::MAX);
        bytes.extend_from_slice(&length.to_be_bytes());
        let start = bytes.len();
        bytes.resize(start + size, 0);
        start..bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn layout_of_integers_and_texts() {
        let params = [PostgresParam::Int4, PostgresParam::Text(3)];
        let layout = PostgresExecute::new(&params).unwrap();
        let mut bytes = layout.bytes().to_vec();
        PostgresExecute::set_id(&mut bytes, 0x1f);
        bytes[layout.values()[0].clone()].copy_from_slice(&(-2_i32).to_be_bytes());
        bytes[layout.values()[1].clone()].copy_from_slice(b"abc");
        let expected = [
            &b"B\0\0\0\x2a\0s0000001f\0"[..],
            b"\0\x02\0\x01\0\0\0\x02",
            b"\0\0\0\x04\xff\xff\xff\xfe\0\0\0\x03abc",
            b"\0\x01\0\x01",
            b"E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04",
        ]
        .concat();
        assert_eq!(bytes, expected);
    }

    #[test]
    fn equal_formats_are_sent_once() {
        let size = |params: &[PostgresParam]| PostgresExecute::new(params).unwrap().bytes().len();
        assert_eq!(size(&[]), 39);
        assert_eq!(size(&[PostgresParam::Int4]), 39 + 2 + 8);
        assert_eq!(
            size(&[PostgresParam::Int4; 2]) - size(&[PostgresParam::Int4]),
            8
        );
        assert_eq!(
            size(&[PostgresParam::Text(1); 2]) - size(&[PostgresParam::Text(1)]),
            5
        );
    }

    proptest! {
        /// Appended values make the request that is laid out for their sizes.
        #[test]
        fn appended_values_are_framed(id: u32, texts in proptest::collection::vec(".{0,40}", 0..9)) {
            let shapes: Vec<_> = texts.iter().map(|text| PostgresParam::Text(text.len())).collect();
            let layout = PostgresExecute::new(&shapes).unwrap();
            let mut expected = layout.bytes().to_vec();
            PostgresExecute::set_id(&mut expected, id);
            for (place, text) in layout.values().iter().zip(&texts) {
                expected[place.clone()].copy_from_slice(text.as_bytes());
            }
            let other: Vec<_> = texts.iter().map(|_| PostgresParam::Text(50)).collect();
            let mut appended = b"before".to_vec();
            PostgresExecute::new(&other).unwrap().append_with(&mut appended, id, |out| {
                for text in &texts {
                    append_value(out, text.as_bytes());
                }
            });
            prop_assert_eq!(&appended[6..], expected.as_slice());
            let name = statement_name(id);
            prop_assert_eq!(&expected[6..15], name.as_bytes());
        }
    }
}
