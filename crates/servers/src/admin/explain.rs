//! Execution plans: a server's answers to `EXPLAIN`.

use std::collections::BTreeMap;

use prony_client::{Answer, ClientError, Connection};
use prony_wire::codes;

use super::statement::{StatementError, run};

/// Chooses between a table and a tree where a version has it. The table is what all have.
const FORMAT: &str = "explain_format";

/// The statements that are explained. Versions word what they say of an `INSERT` differently, and
/// mean the same.
const EXPLAINED: [&str; 4] = ["select", "update", "delete", "with"];

/// A connection on which execution plans come as tables.
pub struct Explainer {
    connection: Connection,
}

impl Explainer {
    /// On this connection to a server with these variables.
    ///
    /// # Errors
    /// When the server refuses to answer with tables, or is gone.
    pub fn new(
        mut connection: Connection,
        variables: &BTreeMap<String, String>,
    ) -> Result<Self, StatementError> {
        if variables.contains_key(FORMAT) {
            let set = format!("SET SESSION {FORMAT} = 'TRADITIONAL'");
            run(&mut connection, &set)?;
        }
        Ok(Self { connection })
    }

    /// The execution plan of a statement; `None` for statements of kinds that are not explained, or
    /// not by this version: before MySQL 5.6 and MariaDB 10.0 these are all but `SELECT`.
    ///
    /// # Errors
    /// When the server refuses it, or is gone.
    pub fn explain(&mut self, sql: &str) -> Result<Option<Answer>, StatementError> {
        if !is_explained(sql) {
            return Ok(None);
        }
        let explain = if self.connection.is_postgresql() {
            "EXPLAIN (COSTS OFF)"
        } else {
            "EXPLAIN"
        };
        match run(&mut self.connection, &format!("{explain} {sql}")) {
            Err(StatementError {
                source: ClientError::Server { code, .. },
                ..
            }) if code == codes::PARSE_ERROR.into() => Ok(None),
            outcome => outcome.map(Some),
        }
    }
}

/// Of several statements in one text the others would run.
fn is_explained(sql: &str) -> bool {
    if sql.contains(';') {
        return false;
    }
    let verb = sql.split_whitespace().next().unwrap_or_default();
    EXPLAINED.contains(&verb.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::is_explained;

    #[test]
    fn only_statements_that_look_for_rows_are_explained() {
        for (sql, explained) in [
            ("SELECT 1", true),
            ("  update t SET a = 1", true),
            ("DELETE FROM t", true),
            ("WITH x AS (SELECT 1) SELECT * FROM x", true),
            ("INSERT INTO t VALUES (1)", false),
            ("BEGIN", false),
            ("SELECT 1; DELETE FROM t", false),
            ("", false),
        ] {
            assert_eq!(is_explained(sql), explained, "{sql}");
        }
    }
}
