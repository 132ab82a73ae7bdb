//! The definition of a column, of which only the name is read.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_query_response_text_resultset_column_definition.html>
//!
//! ```text
//! string<lenenc>  catalogue, always "def"
//! string<lenenc>  database
//! string<lenenc>  table, as aliased
//! string<lenenc>  table
//! string<lenenc>  name, as aliased
//! ...             name, and a fixed part: character set, length, type, flags, decimals
//! ```

use crate::WireError;
use crate::cursor::Cursor;

/// The name of the column, as aliased in the statement.
///
/// # Errors
/// When the bytes are no column definition.
pub fn column_name(payload: &[u8]) -> Result<&[u8], WireError> {
    let mut cursor = Cursor::new(payload, "column definition");
    for _ in 0..4 {
        cursor.lenenc_bytes()?;
    }
    cursor.lenenc_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn finds_the_name() {
        let bytes = b"\x03def\x04test\x01t\x07sbtest1\x01k\x01k\x0c\x08\0\x0b\0\0\0\x03\0\0\0\0\0";
        assert_eq!(column_name(bytes), Ok(&b"k"[..]));
        assert!(column_name(&bytes[..10]).is_err());
    }

    proptest! {
        /// Arbitrary bytes never panic.
        #[test]
        fn never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = column_name(&bytes);
        }
    }
}
