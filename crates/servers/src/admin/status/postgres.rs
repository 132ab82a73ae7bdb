//! The views `pg_stat_…`. Which of them a version has, and with which columns, is asked of the server.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use prony_client::{Answer, ClientError, Connection};
use prony_model::{Counter, Source};
use serde_json::Value;

use crate::admin::statement::pairs;

/// The transactions of the database: a reading is one.
pub(super) const TRANSACTIONS: Counter = Counter::new(Source::Postgres, "database.xact_commit");

/// Bytes of WAL since the server was made. It never lags.
const WAL: &str = "wal.insert_bytes";

/// A session publishes its own counts after a statement, unless it has done so within a second before.
const PUBLISHED_AFTER: Duration = Duration::from_millis(1_100);

/// Until 14 a collector passes counts on within half a second. It has this setting.
const COLLECTOR: &str = "stats_temp_directory";
const COLLECTED_AFTER: Duration = Duration::from_millis(600);

/// Views: what names begin with, the view, and which of its rows. Those of several rows are summed.
const VIEWS: [(&str, &str, &str); 8] = [
    (
        "'database'",
        "pg_stat_database",
        "WHERE datname = current_database()",
    ),
    ("'tables'", "pg_stat_user_tables", ""),
    ("'tables'", "pg_statio_user_tables", ""),
    ("'indexes'", "pg_stat_user_indexes", ""),
    ("'bgwriter'", "pg_stat_bgwriter", ""),
    ("'checkpointer'", "pg_stat_checkpointer", ""),
    ("'wal'", "pg_stat_wal", ""),
    ("'io.' || replace(object, ' ', '_')", "pg_stat_io", ""),
];

/// Functions that tell the end of WAL, each with the one that subtracts places of it; a version has one pair.
const WAL_END: [(&str, &str); 2] = [
    ("pg_current_wal_insert_lsn", "pg_wal_lsn_diff"),
    ("pg_current_xlog_insert_location", "pg_xlog_location_diff"),
];

/// Columns that are numbers of objects, which 9.3 does not write as texts.
const OBJECTS: [&str; 3] = ["datid", "indexrelid", "relid"];

/// Columns that are no counters of the server's work: pages found in memory are counted for each
/// session elsewhere, and here those of the reading too.
const LEFT_OUT: [&str; 1] = ["io.relation.hits"];

/// A session that does not count itself, but for its transactions.
#[derive(Debug)]
pub(super) struct Reader {
    statement: String,
    /// Until counts that were published can be read.
    lag: Duration,
    /// When it published its counts.
    published: Instant,
    /// Transactions that a reading adds to those that the next one shows.
    pub(super) own_transactions: u64,
}

impl Reader {
    pub(super) fn new(connection: &mut Connection) -> Result<Self, ClientError> {
        match connection.query("SET track_counts = off") {
            // For superusers only; what a reading costs is then in the counters.
            Ok(_) | Err(ClientError::Server { .. }) => {}
            Err(error) => return Err(error),
        }
        let known = connection.query(
            "SELECT viewname, '' FROM pg_views WHERE schemaname = 'pg_catalog' \
             UNION SELECT proname, '' FROM pg_proc UNION SELECT name, '' FROM pg_settings",
        )?;
        let known: Vec<String> = pairs(known).map(|(name, _)| name).collect();
        let has = |name: &str| known.iter().any(|known| known == name);
        let mut reader = Self {
            statement: statement(has),
            lag: if has(COLLECTOR) {
                COLLECTED_AFTER
            } else {
                Duration::ZERO
            },
            published: Instant::now(),
            own_transactions: 0,
        };
        let mut transactions = || -> Result<_, ClientError> {
            Ok(reader.read(connection)?.get(&TRANSACTIONS).copied())
        };
        // This publishes all that came before it.
        transactions()?;
        // 15 publishes nothing of a session that has counted nothing but its transactions.
        let shown = transactions()? < transactions()?;
        reader.own_transactions = shown.into();
        Ok(reader)
    }

    /// Reads all views by one statement, and publishes that it did. Counts that others have published
    /// before are in it.
    pub(super) fn read(
        &mut self,
        connection: &mut Connection,
    ) -> Result<BTreeMap<Counter, u64>, ClientError> {
        let left = PUBLISHED_AFTER.saturating_sub(self.published.elapsed());
        thread::sleep(left.max(self.lag));
        let answer = connection.query(&self.statement)?;
        self.published = Instant::now();
        Ok(sums(answer))
    }
}

/// The statement that reads what the server `has`: rows of a name and of an object in JSON, whose keys
/// are columns.
fn statement(has: impl Fn(&str) -> bool) -> String {
    let views = VIEWS.iter().filter(|(_, view, _)| has(view));
    let views = views.map(|(name, view, rows)| {
        format!("SELECT {name}, row_to_json(v)::text FROM {view} AS v {rows}")
    });
    let wal = WAL_END.iter().filter(|(end, _)| has(end));
    let wal = wal.map(|(end, less)| format!("SELECT '{WAL}', {less}({end}(), '0/0')::text"));
    views.chain(wal).collect::<Vec<_>>().join(" UNION ALL ")
}

fn sums(answer: Answer) -> BTreeMap<Counter, u64> {
    let mut sums = BTreeMap::new();
    let mut add = |name: String, value: u64| {
        let source = Source::Postgres;
        let name = Cow::Owned(name);
        let sum: &mut u64 = sums.entry(Counter { source, name }).or_default();
        *sum = sum.saturating_add(value);
    };
    for (name, json) in pairs(answer) {
        match serde_json::from_str(&json) {
            Ok(Value::Object(columns)) => {
                for (column, value) in columns {
                    let name = format!("{name}.{column}");
                    // Times are fractions of milliseconds, if they are not 0.
                    let is_left_out = column.ends_with("_time")
                        || OBJECTS.contains(&column.as_str())
                        || LEFT_OUT.contains(&name.as_str());
                    if let Some(value) = value.as_u64().filter(|_| !is_left_out) {
                        add(name, value);
                    }
                }
            }
            Ok(value) => {
                if let Some(value) = value.as_u64() {
                    add(name, value);
                }
            }
            Err(_) => {}
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_of_all_rows_are_summed() {
        let row = |name: &str, json: &str| vec![Some(name.to_owned()), Some(json.to_owned())];
        let answer = Answer {
            rows: vec![
                row("tables", r#"{"relid":1,"n_tup_upd":7,"last_vacuum":null}"#),
                row(
                    "tables",
                    r#"{"relid":"2","n_tup_upd":5,"total_vacuum_time":0}"#,
                ),
                row("io.relation", r#"{"reads":3,"hits":9,"write_time":0.5}"#),
                row("wal.insert_bytes", "18446744073709551615"),
            ],
            ..Answer::default()
        };
        let found: Vec<_> = sums(answer)
            .into_iter()
            .map(|(counter, value)| (counter.to_string(), value))
            .collect();
        let expected = [
            ("postgres.io.relation.reads", 3),
            ("postgres.tables.n_tup_upd", 12),
            ("postgres.wal.insert_bytes", u64::MAX),
        ];
        assert_eq!(
            found,
            expected.map(|(name, value)| (name.to_owned(), value))
        );
    }

    #[test]
    fn views_that_a_version_lacks_are_not_read() {
        let has = |name: &str| ["pg_stat_wal", "pg_current_wal_insert_lsn"].contains(&name);
        assert_eq!(
            statement(has),
            "SELECT 'wal', row_to_json(v)::text FROM pg_stat_wal AS v  UNION ALL \
             SELECT 'wal.insert_bytes', pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::text"
        );
    }
}
