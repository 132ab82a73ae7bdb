//! PostgreSQL: dead rows removed, rows frozen, pages marked as visible to all, a checkpoint made.

use std::time::{Duration, Instant};

use prony_client::{ClientError, Connection};
use prony_model::{Dataset, Debt, DebtKind, Engine};

use super::control::ControlConnection;
use super::error::SettleError;
use super::wait;
use crate::admin::statement::StatementError;

const CHECKPOINT: &str = "CHECKPOINT";
const QUIET: &str = "SET log_min_messages = fatal";

/// The error codes of a function, a relation or a column that a version does not have, and of one that
/// the account may not use.
const UNAVAILABLE: [&str; 4] = ["42883", "42P01", "42703", "42501"];
/// The error code of an option that a version does not have.
const SYNTAX_ERROR: &str = "42601";

/// Options of `VACUUM`, from the newest versions to the oldest. Rows are frozen always: newer versions
/// freeze many of them anyway, so that versions would be left in different states. Index entries are
/// removed also where there are few; versions leave that for later since 14.
const OPTIONS: [&str; 3] = [
    "FREEZE, ANALYZE, INDEX_CLEANUP on, PARALLEL 0",
    "FREEZE, ANALYZE, INDEX_CLEANUP on",
    "FREEZE, ANALYZE",
];

/// The time in which counters of dead rows follow what was done: sessions report theirs after one
/// second at the latest, and a collector shows them half a second later.
const COUNTERS_LAG: Duration = Duration::from_secs(2);

/// The statements that read a kind of debt, each with one number as its answer. The first that a
/// version has, and that the account may use, is asked.
const READINGS: [(DebtKind, &[&str]); 5] = [
    (
        DebtKind::DirtyBytes,
        &[
            "SELECT buffers_dirty * current_setting('block_size')::int8 \
             FROM pg_buffercache_summary()",
            "SELECT count(*) * current_setting('block_size')::int8 \
             FROM pg_buffercache WHERE isdirty",
        ],
    ),
    (
        DebtKind::CheckpointAge,
        &[
            "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn) \
             FROM pg_control_checkpoint()",
            "SELECT pg_xlog_location_diff(pg_current_xlog_insert_location(), redo_location) \
             FROM pg_control_checkpoint()",
            // Without that function: from the control file, little-endian.
            "SELECT trunc(pg_xlog_location_diff(pg_current_xlog_insert_location(), '0/0') \
             - sum(get_byte(redo, place) * 256::numeric ^ place)) \
             FROM pg_read_binary_file('global/pg_control', 48, 8) AS redo, \
             generate_series(0, 7) AS place",
        ],
    ),
    (
        DebtKind::DeadRows,
        &["SELECT coalesce(sum(n_dead_tup), 0) FROM pg_stat_user_tables"],
    ),
    (
        DebtKind::NotVisible,
        // Pages that were added and never used have no mark and no contents; they are looked for where
        // few have none.
        &[
            "SELECT coalesce(sum(CASE WHEN unmarked = 0 OR unmarked > 1000 THEN unmarked ELSE \
             (SELECT count(*) FROM pg_visibility_map(relid) WHERE NOT all_visible AND \
             (page_header(get_raw_page(relid::regclass::text, blkno::int))).upper > 0) END), 0) \
             FROM (SELECT relid, pg_relation_size(relid) / current_setting('block_size')::int8 \
             - all_visible AS unmarked FROM pg_stat_user_tables \
             JOIN pg_class ON pg_class.oid = relid AND relkind = 'r' AND relpersistence <> 't', \
             pg_visibility_map_summary(relid)) AS tables",
        ],
    ),
    (
        DebtKind::RunningVacuums,
        &[
            "SELECT count(*) FROM pg_stat_progress_vacuum",
            // Statements of other accounts are hidden from all but superusers.
            "SELECT CASE WHEN current_setting('is_superuser') = 'on' THEN count(*) END \
             FROM pg_stat_activity WHERE query LIKE 'autovacuum:%'",
        ],
    ),
];

/// Vacuums all tables between two checkpoints, and again if the engine is not quiet then. Returns what
/// was not done in time.
///
/// The first checkpoint writes all commits: pages with rows whose commit is not on disk yet get no mark.
pub(super) fn vacuum(
    server: &mut ControlConnection<'_>,
    dataset: &Dataset,
) -> Result<Vec<String>, SettleError> {
    let options = vacuum_options(server)?;
    loop {
        let mut left = server.run("checkpoint", vec![CHECKPOINT.to_owned()])?;
        let parts = dataset.parts();
        let tables = parts.iter().flat_map(Dataset::table_names);
        let statements = tables.map(|table| format!("VACUUM ({options}) {table}"));
        left.extend(server.run("vacuum", statements.collect())?);
        left.extend(server.run("checkpoint", vec![CHECKPOINT.to_owned()])?);
        let within = Instant::now() + COUNTERS_LAG;
        if !left.is_empty() || wait(server, Engine::Heap, within)?.is_empty() || server.is_over() {
            return Ok(left);
        }
    }
}

/// The options that the server understands, found by vacuuming the catalogue of statistics, which
/// every refresh of statistics rewrites.
fn vacuum_options(server: &mut ControlConnection<'_>) -> Result<&'static str, SettleError> {
    keep_out_of_log(&mut server.connection).map_err(|source| StatementError {
        statement: QUIET.to_owned(),
        source,
    })?;
    let (last, newer) = OPTIONS.split_last().unwrap_or((&"", &[]));
    for options in newer {
        match server.ask(&format!("VACUUM ({options}) pg_statistic")) {
            Err(SettleError::Statement(StatementError {
                source: ClientError::Server { code, .. },
                ..
            })) if code.as_str() == SYNTAX_ERROR => {}
            outcome => return outcome.map(|_| *options),
        }
    }
    Ok(last)
}

/// Keeps refused statements out of the server's log, where the account may: what follows is tried until a
/// version has it.
fn keep_out_of_log(connection: &mut Connection) -> Result<(), ClientError> {
    match connection.query(QUIET) {
        Ok(_) | Err(ClientError::Server { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// The work that is put off, as far as the version and its extensions tell it.
pub(super) fn debt(connection: &mut Connection) -> Result<Vec<Debt>, ClientError> {
    keep_out_of_log(connection)?;
    let mut debt = Vec::new();
    for (kind, statements) in READINGS {
        let value = first_number(connection, statements)?;
        debt.extend(value.map(|value| Debt { kind, value }));
    }
    Ok(debt)
}

fn first_number(
    connection: &mut Connection,
    statements: &[&str],
) -> Result<Option<u64>, ClientError> {
    for statement in statements {
        match connection.query(statement) {
            Err(ClientError::Server { code, .. }) if UNAVAILABLE.contains(&code.as_str()) => {}
            answer => return Ok(answer?.single().and_then(|text| text.parse().ok())),
        }
    }
    Ok(None)
}
