//! Facts that a server tells of itself: its version and its effective variables.

use std::collections::BTreeMap;

use prony_client::{Answer, Connection};

use super::statement::{StatementError, pairs, run};

/// The answer to `SELECT VERSION()`.
///
/// # Errors
/// When the server refuses it, or is gone.
pub fn version(connection: &mut Connection) -> Result<String, StatementError> {
    let answer = run(connection, "SELECT VERSION()")?;
    Ok(answer.single().unwrap_or_default().to_owned())
}

/// The effective variables by name; one without a value is empty.
///
/// # Errors
/// When the server refuses to tell them, or is gone.
pub fn variables(connection: &mut Connection) -> Result<BTreeMap<String, String>, StatementError> {
    let statement = if connection.is_postgresql() {
        "SHOW ALL"
    } else {
        "SHOW GLOBAL VARIABLES"
    };
    run(connection, statement).map(by_name)
}

fn by_name(answer: Answer) -> BTreeMap<String, String> {
    pairs(answer).filter(|(name, _)| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_without_a_value_are_empty() {
        let row =
            |name: &str, value: Option<&str>| vec![Some(name.to_owned()), value.map(str::to_owned)];
        let answer = Answer {
            rows: vec![row("port", Some("0")), row("proxy_user", None), vec![None]],
            ..Answer::default()
        };
        let expected = [("port", "0"), ("proxy_user", "")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(by_name(answer), BTreeMap::from(expected));
    }
}
