//! The point query as bytes, with an id to be put in.

use prony_client::PreparedStatement;
use prony_wire::{ExecuteTemplate, HEADER_SIZE, ParamShape, Types, begin_query, finish_packet};

const TEXT: &str = "SELECT c FROM sbtest1 WHERE id = ";
/// The statement that is prepared.
pub(crate) const PREPARED: &str = "SELECT c FROM sbtest1 WHERE id = ?";
/// Digits of the largest id.
const DIGITS_MAX: usize = 20;

/// A framed request.
pub(crate) enum Request {
    /// `COM_STMT_EXECUTE`; the id is its last eight bytes.
    Prepared(Vec<u8>),
    /// `COM_QUERY`; the id's digits are at its end.
    Text {
        bytes: Vec<u8>,
        /// Bytes in front of the digits.
        head: usize,
    },
}

impl Request {
    pub(crate) fn text() -> Self {
        let mut bytes = Vec::new();
        begin_query(&mut bytes);
        bytes.extend_from_slice(TEXT.as_bytes());
        Self::Text {
            head: bytes.len(),
            bytes,
        }
    }

    /// A statement's first execution, which tells the types, or one that follows.
    pub(crate) fn prepared(statement: PreparedStatement, types: Types) -> Self {
        let template = ExecuteTemplate::new(&[ParamShape::Integer], types).unwrap();
        let mut bytes = template.bytes().to_vec();
        bytes[ExecuteTemplate::ID].copy_from_slice(&statement.id.to_le_bytes());
        Self::Prepared(bytes)
    }

    /// The bytes to be sent for this id.
    #[inline]
    pub(crate) fn with(&mut self, id: u64) -> &[u8] {
        match self {
            Self::Prepared(bytes) => {
                if let Some(place) = bytes.last_chunk_mut() {
                    *place = id.to_le_bytes();
                }
                bytes
            }
            Self::Text { bytes, head } => {
                bytes.truncate(*head);
                append_digits(bytes, id);
                finish_packet(bytes, 0, 0);
                bytes
            }
        }
    }

    /// Room for every id, so that the bytes never move.
    pub(crate) fn reserve(&mut self) {
        match self {
            Self::Prepared(_) => {}
            Self::Text { bytes, .. } => bytes.reserve_exact(HEADER_SIZE + DIGITS_MAX),
        }
    }
}

fn append_digits(bytes: &mut Vec<u8>, mut value: u64) {
    let mut digits = [0; DIGITS_MAX];
    let mut start = DIGITS_MAX;
    loop {
        start -= 1;
        digits[start] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            bytes.extend_from_slice(&digits[start..]);
            return;
        }
    }
}
