//! Classes of server errors, as data.

use serde::{Deserialize, Serialize};

/// What an error of one statement means for the step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ErrorClass {
    /// The operation is rolled back and tried again; its time goes on.
    Retryable,
    /// The operation ends without result and is counted; the next one starts.
    Counted,
    /// The step ends as failed.
    Fatal,
}

impl ErrorClass {
    /// The name as documents have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Retryable => "retryable",
            Self::Counted => "counted",
            Self::Fatal => "fatal",
        }
    }
}

/// Error codes of the MySQL protocol that are not fatal. Source: the servers' error message
/// reference; the names are the servers' own.
const NOT_FATAL: [(u16, ErrorClass); 6] = [
    (1020, ErrorClass::Retryable), // ER_CHECKREAD: record has changed since last read
    (1062, ErrorClass::Counted),   // ER_DUP_ENTRY
    (1205, ErrorClass::Retryable), // ER_LOCK_WAIT_TIMEOUT
    (1213, ErrorClass::Retryable), // ER_LOCK_DEADLOCK
    (1317, ErrorClass::Counted),   // ER_QUERY_INTERRUPTED
    (3024, ErrorClass::Counted),   // ER_QUERY_TIMEOUT
];

/// The class of a server error code of the MySQL protocol. What is not known to be harmless is
/// fatal: a number that rests on unknown errors is not worth printing.
pub fn classify(code: u16) -> ErrorClass {
    NOT_FATAL
        .iter()
        .find(|(known, _)| *known == code)
        .map_or(ErrorClass::Fatal, |(_, class)| *class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_codes_are_fatal() {
        assert_eq!(classify(1213), ErrorClass::Retryable);
        assert_eq!(classify(1062), ErrorClass::Counted);
        assert_eq!(classify(1040), ErrorClass::Fatal);
        assert_eq!(classify(1114), ErrorClass::Fatal);
    }
}
