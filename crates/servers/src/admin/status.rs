//! The counters that a server keeps of itself.

mod postgres;

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

/// A session that reads the counters that a server keeps of itself.
#[derive(Debug)]
pub struct StatusReader {
    connection: Connection,
    /// `None` for servers that are none of PostgreSQL.
    postgres: Option<postgres::Reader>,
}

impl StatusReader {
    /// Reads over a connection. A session of PostgreSQL takes three seconds to get ready.
    ///
    /// Where the server `pauses` while the session is open, the session is made to survive that. A server
    /// that waits for no longer than a limit is interrupted by each pause (signal(7), "Interruption of
    /// system calls and library functions by stop signals"), and drops a connection after
    /// `net_retry_count` interruptions.
    ///
    /// # Errors
    /// When the server refuses, or is gone.
    pub fn open(mut connection: Connection, pauses: bool) -> Result<Self, ClientError> {
        let postgres = if connection.is_postgresql() {
            Some(postgres::Reader::new(&mut connection)?)
        } else {
            None
        };
        if pauses && postgres.is_none() {
            connection.query("SET SESSION net_retry_count = 1000000")?;
        }
        Ok(Self {
            connection,
            postgres,
        })
    }

    /// Reads the counters, by name in lower case.
    ///
    /// These are `SHOW GLOBAL STATUS`, and `information_schema.INNODB_METRICS` where there is one that the
    /// account may read. Two statements, three where the version does not know the word `GLOBAL`; they
    /// count in the server's counters themselves. Of PostgreSQL they are those of the views that the
    /// version has, read by one statement.
    ///
    /// Values that are no whole numbers from 0 to 2^64 − 1 are left out: words such as `ON`, times,
    /// fractions, and the negative numbers that some counters have while nothing is known.
    ///
    /// # Errors
    /// When the server refuses to tell its status, or is gone.
    pub fn read(&mut self) -> Result<BTreeMap<Counter, u64>, ClientError> {
        match &mut self.postgres {
            Some(reader) => reader.read(&mut self.connection),
            None => status(&mut self.connection),
        }
    }

    /// The counter of transactions, and how many each reading adds to it, which the next one shows; `None`
    /// where a reading adds to other counters too.
    pub fn own_transactions(&self) -> Option<(Counter, u64)> {
        let reader = self.postgres.as_ref()?;
        Some((postgres::TRANSACTIONS, reader.own_transactions))
    }
}

fn status(connection: &mut Connection) -> Result<BTreeMap<Counter, u64>, ClientError> {
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
