//! A row of a text result.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_query_response_text_resultset_row.html>
//!
//! ```text
//! for each column: 0xfb for NULL, or string<lenenc>
//! ```

use crate::WireError;
use crate::cursor::Cursor;

/// The values of a row of `columns` columns.
///
/// # Errors
/// When the packet has fewer or more values.
pub fn text_row(payload: &[u8], columns: usize) -> Result<Vec<Option<&[u8]>>, WireError> {
    let mut cursor = Cursor::new(payload, "row");
    let row = (0..columns)
        .map(|_| cursor.lenenc_bytes_or_null())
        .collect::<Result<_, _>>()?;
    cursor.finish()?;
    Ok(row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cursor::put_lenenc;
    use proptest::prelude::*;

    proptest! {
        /// Values read back as written, NULLs included; any shorter packet is refused.
        #[test]
        fn round_trip(values in proptest::collection::vec(
            proptest::option::of(proptest::collection::vec(any::<u8>(), 0..300)), 0..6)
        ) {
            let mut bytes = Vec::new();
            for value in &values {
                match value {
                    None => bytes.push(0xfb),
                    Some(text) => {
                        put_lenenc(&mut bytes, text.len() as u64);
                        bytes.extend_from_slice(text);
                    }
                }
            }
            let expected: Vec<Option<&[u8]>> = values.iter().map(Option::as_deref).collect();
            prop_assert_eq!(text_row(&bytes, values.len()), Ok(expected));
            for end in 0..bytes.len() {
                prop_assert!(text_row(&bytes[..end], values.len()).is_err());
            }
            bytes.push(0);
            prop_assert!(text_row(&bytes, values.len()).is_err());
        }

        /// Arbitrary bytes never panic.
        #[test]
        fn never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..40), columns in 0..9_usize) {
            let _ = text_row(&bytes, columns);
        }
    }
}
