//! The counters that a server keeps of itself.

use std::borrow::Cow;
use std::collections::BTreeMap;

use prony_client::{Answer, ClientError, Connection};
use prony_model::{Counter, Source};
use prony_wire::codes;

use super::statement::pairs;

/// Metrics that are counted; what a version says about that itself has other names in others. Who
/// may not ask, and whose version has none, gets an error.
const METRICS: &str = "SELECT NAME, COUNT FROM information_schema.INNODB_METRICS \
                       WHERE TIME_ENABLED IS NOT NULL AND TIME_DISABLED IS NULL";

/// Reads the counters that the server keeps of itself: `SHOW GLOBAL STATUS`, and
/// `information_schema.INNODB_METRICS` where there is one that the account may read, by name in
/// lower case. Two statements, three where the version does not know the word `GLOBAL`; they count
/// in the server's counters themselves.
///
/// Values that are no whole numbers from 0 to 2^64 − 1 are left out: words such as `ON`, times,
/// fractions, and the negative numbers that some counters have while nothing is known.
///
/// # Errors
/// When the server refuses to tell its status, or is gone.
pub fn status(connection: &mut Connection) -> Result<BTreeMap<Counter, u64>, ClientError> {
    if connection.is_postgresql() {
        return Ok(BTreeMap::new());
    }
    let answer = match connection.query("SHOW GLOBAL STATUS") {
        // 4.1 has only one kind.
        Err(ClientError::Server { code, .. }) if code == codes::PARSE_ERROR.into() => {
            connection.query("SHOW STATUS")
        }
        other => other,
    }?;
    let mut counters: BTreeMap<_, _> = values(Source::Status, answer).collect();
    match connection.query(METRICS) {
        Ok(answer) => counters.extend(values(Source::Innodb, answer)),
        Err(ClientError::Server { .. }) => {}
        Err(error) => return Err(error),
    }
    Ok(counters)
}

/// Lets a connection survive that its server is paused while it waits for a statement. A server that
/// waits for no longer than a limit is interrupted by each pause (signal(7), "Interruption of system
/// calls and library functions by stop signals"), and drops a connection after `net_retry_count`
/// interruptions.
///
/// # Errors
/// When the server refuses, or is gone.
pub fn survive_pauses(connection: &mut Connection) -> Result<(), ClientError> {
    if connection.is_postgresql() {
        return Ok(());
    }
    connection
        .query("SET SESSION net_retry_count = 1000000")
        .map(drop)
}

/// The numbers in an answer of names and values.
fn values(source: Source, answer: Answer) -> impl Iterator<Item = (Counter, u64)> {
    pairs(answer).filter_map(move |(name, value)| {
        let name = Cow::Owned(name.to_lowercase());
        Some((Counter { source, name }, value.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_numbers_are_taken() {
        let said = [
            ("Questions", Some("7")),
            ("Ssl_version", Some("")),
            ("Compression", Some("OFF")),
            ("Last_query_cost", Some("0.000000")),
            ("Wsrep_local_index", Some("18446744073709551615")),
            ("Wsrep_cluster_conf_id", Some("-1")),
            ("Rpl_status", None),
        ];
        let row = |(name, value): (&str, Option<&str>)| {
            vec![Some(name.to_owned()), value.map(str::to_owned)]
        };
        let answer = Answer {
            rows: said.into_iter().map(row).collect(),
            ..Answer::default()
        };
        let found: Vec<_> = values(Source::Status, answer)
            .map(|(counter, value)| (counter.to_string(), value))
            .collect();
        let expected = [
            ("status.questions".to_owned(), 7),
            ("status.wsrep_local_index".to_owned(), u64::MAX),
        ];
        assert_eq!(found, expected);
    }
}
