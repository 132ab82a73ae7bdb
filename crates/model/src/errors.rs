//! Server errors: their codes and what each means for the load.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::text::written_as_text;
use crate::words::words;

words! {
    /// The meaning of an error of one statement for the step.
    pub enum ErrorClass {
        /// The operation is rolled back and tried again; its time goes on.
        Retryable = "retryable",
        /// The operation ends without result and is counted; the next one starts.
        Counted = "counted",
        /// The step ends as failed.
        Fatal = "fatal",
    }
}

/// The longest code that a family has: five characters, for a number of the MySQL protocol
/// (16 bits) and for a code of SQLSTATE alike.
const CODE_LENGTH_MAX: usize = 5;

/// A server's error code as text: a number in MySQL and MariaDB (`1213`), five characters of
/// SQLSTATE in PostgreSQL (`40P01`). Small enough to be copied and counted without allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ErrorCode {
    /// ASCII letters and digits, then zeros.
    bytes: [u8; CODE_LENGTH_MAX],
}

/// A text that is no error code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no error code: one to five letters and digits are")]
pub struct ErrorCodeError {
    text: String,
}

impl ErrorCode {
    /// The code, and in brackets the SQL state that came with it where that says something else.
    pub fn with_state(self, sqlstate: &str) -> String {
        if self.as_str() == sqlstate {
            return sqlstate.to_owned();
        }
        format!("{self} ({sqlstate})")
    }

    /// True where a row has a key that another row has.
    pub fn is_duplicate_key(self) -> bool {
        matches!(self.as_str(), "1062" | "23505")
    }

    /// The code as text.
    pub fn as_str(&self) -> &str {
        let length = self.bytes.iter().take_while(|byte| **byte != 0).count();
        std::str::from_utf8(&self.bytes[..length]).unwrap_or_default()
    }
}

impl From<u16> for ErrorCode {
    fn from(number: u16) -> Self {
        let mut bytes = [0; CODE_LENGTH_MAX];
        let mut rest = number;
        let length = number.checked_ilog10().map_or(1, |log| log as usize + 1);
        for byte in bytes[..length].iter_mut().rev() {
            *byte = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        Self { bytes }
    }
}

impl FromStr for ErrorCode {
    type Err = ErrorCodeError;

    fn from_str(text: &str) -> Result<Self, ErrorCodeError> {
        let is_code = (1..=CODE_LENGTH_MAX).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !is_code {
            let text = text.to_owned();
            return Err(ErrorCodeError { text });
        }
        let mut bytes = [0; CODE_LENGTH_MAX];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        Ok(Self { bytes })
    }
}

written_as_text!(ErrorCode, ErrorCodeError);

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Error codes that are not fatal. Source: the servers' error message reference, and appendix A of
/// the manual of PostgreSQL; the names are the servers' own.
const NOT_FATAL: [(&str, ErrorClass); 11] = [
    ("1020", ErrorClass::Retryable), // ER_CHECKREAD: record has changed since last read
    ("1062", ErrorClass::Counted),   // ER_DUP_ENTRY
    ("1205", ErrorClass::Retryable), // ER_LOCK_WAIT_TIMEOUT
    ("1213", ErrorClass::Retryable), // ER_LOCK_DEADLOCK
    ("1317", ErrorClass::Counted),   // ER_QUERY_INTERRUPTED
    ("3024", ErrorClass::Counted),   // ER_QUERY_TIMEOUT
    ("23505", ErrorClass::Counted),  // unique_violation
    ("40001", ErrorClass::Retryable), // serialization_failure
    ("40P01", ErrorClass::Retryable), // deadlock_detected
    ("55P03", ErrorClass::Retryable), // lock_not_available
    ("57014", ErrorClass::Counted),  // query_canceled
];

/// The class of a server error. A code that is not known to be harmless is fatal: a number that
/// rests on unknown errors is not worth printing.
pub fn classify(code: ErrorCode) -> ErrorClass {
    NOT_FATAL
        .iter()
        .find(|(known, _)| *known == code.as_str())
        .map_or(ErrorClass::Fatal, |(_, class)| *class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_codes_are_fatal() {
        for (code, class) in [
            (1213, ErrorClass::Retryable),
            (1062, ErrorClass::Counted),
            (1040, ErrorClass::Fatal),
            (1114, ErrorClass::Fatal),
        ] {
            assert_eq!(classify(code.into()), class, "{code}");
        }
        for (code, class) in [
            ("40P01", ErrorClass::Retryable),
            ("23505", ErrorClass::Counted),
            ("53300", ErrorClass::Fatal),
        ] {
            assert_eq!(classify(code.parse().unwrap()), class, "{code}");
        }
    }

    #[test]
    fn duplicate_keys_have_a_code_in_each_family() {
        for (code, is_duplicate) in [("1062", true), ("23505", true), ("1213", false)] {
            let code: ErrorCode = code.parse().unwrap();
            assert_eq!(code.is_duplicate_key(), is_duplicate, "{code}");
        }
    }

    #[test]
    fn codes_are_numbers_or_letters() {
        for number in [0, 7, 10, 1062, u16::MAX] {
            assert_eq!(ErrorCode::from(number).to_string(), number.to_string());
        }
        let deadlock: ErrorCode = "40P01".parse().unwrap();
        let json = serde_json::to_string(&deadlock).unwrap();
        assert_eq!(json, "\"40P01\"");
        assert_eq!(serde_json::from_str::<ErrorCode>(&json).unwrap(), deadlock);
        for text in ["", "123456", "4 01", "ä"] {
            assert!(text.parse::<ErrorCode>().is_err(), "{text}");
        }
    }
}
