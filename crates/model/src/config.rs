//! Configuration as an experiment states it: intents, and raw options beside them.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::words::words;
use crate::{Engine, Family};

words! {
    /// Values of the settings that an experiment does not ask for.
    #[derive(Default)]
    pub enum Baseline {
        /// Those of the catalogue, equal for all versions.
        #[default]
        Common = "common",
        /// Those of each version itself, except the few that Prony needs to run servers side by side.
        Shipped = "shipped",
    }
}

impl Baseline {
    /// `true` for [`Self::Common`].
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde passes a reference"
    )]
    fn is_common(&self) -> bool {
        *self == Self::Common
    }
}

/// The configuration that a target asks of its server. Rendering it for one version is the business
/// of `servers`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Config {
    /// Values of all other settings. Stored only if it is not the common baseline.
    #[serde(default, skip_serializing_if = "Baseline::is_common")]
    pub baseline: Baseline,
    /// Intents by name, such as `buffer_pool`. Every name is in the intent table.
    pub intents: BTreeMap<String, IntentValue>,
    /// Server options passed through as written, without leading dashes.
    pub raw: BTreeMap<String, String>,
}

/// The value of an intent, already of the kind that the intent wants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IntentValue {
    /// On or off.
    Flag(bool),
    /// A count.
    Number(u64),
    /// A size in bytes.
    Bytes(u64),
    /// A word, such as a character set.
    Text(String),
}

/// The kind of value that an intent takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IntentKind {
    /// `true` or `false`.
    Flag,
    /// A whole number, 0 or more.
    Number,
    /// A size: a whole number of bytes or a text such as `"512M"`.
    Bytes,
    /// One of a few words, or free text where `choices` is empty.
    Text,
}

/// One row of the intent table, which configurations are checked against.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntentFacts {
    /// The key in an experiment's `config`.
    pub name: String,
    /// The kind of its value.
    pub kind: IntentKind,
    /// The allowed words of a text intent; empty means any.
    pub choices: Vec<String>,
    /// One sentence for help and error messages.
    pub description: String,
    /// The families whose servers have such a thing, each with its value in the common baseline; `None`
    /// leaves it to the server.
    pub baselines: BTreeMap<Family, Option<IntentValue>>,
    /// Engines whose plans show the value even if no target asks for one.
    pub summary: Vec<Engine>,
}

/// The reason why a value does not fit its intent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IntentValueError {
    /// The text is not a size.
    #[error("`{0}` is not a size: write a whole number of bytes or a text such as \"512M\"")]
    NotBytes(String),
    /// The size does not fit 64 bits.
    #[error("the size `{0}` is too large")]
    TooLarge(String),
}

impl IntentValue {
    /// Reads a size such as `4096`, `"64K"`, `"512M"` or `"2G"` (powers of 1024).
    ///
    /// # Errors
    /// When the text is not a whole number with at most one of the suffixes K, M, G, T, or when
    /// the size does not fit 64 bits.
    pub fn parse_bytes(text: &str) -> Result<Self, IntentValueError> {
        let (digits, shift) = match text.as_bytes().last() {
            Some(b'K' | b'k') => (&text[..text.len() - 1], 10),
            Some(b'M' | b'm') => (&text[..text.len() - 1], 20),
            Some(b'G' | b'g') => (&text[..text.len() - 1], 30),
            Some(b'T' | b't') => (&text[..text.len() - 1], 40),
            _ => (text, 0),
        };
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(IntentValueError::NotBytes(text.to_owned()));
        }
        digits
            .parse::<u64>()
            .ok()
            .and_then(|number| number.checked_mul(1 << shift))
            .map(Self::Bytes)
            .ok_or_else(|| IntentValueError::TooLarge(text.to_owned()))
    }
}

/// As people read it: `on`, `off`, `64`, `512M`, `latin1`. Sizes are exact, in the largest unit
/// that leaves a whole number.
impl fmt::Display for IntentValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(true) => f.write_str("on"),
            Self::Flag(false) => f.write_str("off"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Bytes(bytes) => size(*bytes, f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

fn size(bytes: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let unit = [(40, "T"), (30, "G"), (20, "M"), (10, "K")]
        .into_iter()
        .find(|(shift, _)| bytes > 0 && bytes.is_multiple_of(1 << shift));
    match unit {
        Some((shift, letter)) => write!(f, "{}{letter}", bytes >> shift),
        None => write!(f, "{bytes}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (text, bytes) in [("0", 0), ("4096", 4096), ("64K", 65536), ("2G", 2 << 30)] {
            assert_eq!(
                IntentValue::parse_bytes(text),
                Ok(IntentValue::Bytes(bytes))
            );
        }
        for bad in ["", "M", "1.5G", "-1", "12Q", "1 G"] {
            assert!(
                matches!(
                    IntentValue::parse_bytes(bad),
                    Err(IntentValueError::NotBytes(_))
                ),
                "{bad}"
            );
        }
        assert!(matches!(
            IntentValue::parse_bytes("99999999999T"),
            Err(IntentValueError::TooLarge(_))
        ));
    }

    #[test]
    fn values_as_people_read_them() {
        for (value, text) in [
            (IntentValue::Flag(true), "on"),
            (IntentValue::Flag(false), "off"),
            (IntentValue::Number(65536), "65536"),
            (IntentValue::Bytes(0), "0"),
            (IntentValue::Bytes(1000), "1000"),
            (IntentValue::Bytes(65536), "64K"),
            (IntentValue::Bytes(1536 << 20), "1536M"),
            (IntentValue::Bytes(2 << 30), "2G"),
            (IntentValue::Text("latin1".to_owned()), "latin1"),
        ] {
            assert_eq!(value.to_string(), text);
            if let IntentValue::Bytes(_) = value {
                assert_eq!(IntentValue::parse_bytes(text), Ok(value));
            }
        }
    }
}
