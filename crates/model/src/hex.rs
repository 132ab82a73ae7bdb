//! Blobs as hexadecimal text, so that a histogram is one JSON string and not thousands of numbers.

use std::fmt::Write as _;

use serde::{Deserialize, Deserializer, Serializer, de::Error};

/// Writes bytes as lower-case hexadecimal digits.
///
/// # Errors
/// As the serializer's.
pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    serializer.serialize_str(&text)
}

/// Reads what [`serialize`] wrote.
///
/// # Errors
/// When the text is no even number of hexadecimal digits.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse(&text).ok_or_else(|| D::Error::custom("expected an even number of hexadecimal digits"))
}

fn parse(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_hexadecimal_digits_only() {
        assert_eq!(parse("00ff10"), Some(vec![0, 255, 16]));
        assert_eq!(parse(""), Some(vec![]));
        for bad in ["0", "0g", "é0"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
