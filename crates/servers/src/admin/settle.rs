//! Settling: an engine is brought to a quiet state, and what it still has to do is read.
//!
//! Variables that a version has make the engine do at once what it would do later; it is then
//! watched until it is quiet. Versions are not compared: a variable that a server does not have is
//! left alone, and a figure that it does not report is no criterion.

mod changed;
mod control;
mod criteria;
mod debt;
mod error;
mod innodb;
mod monitor;
mod postgres;
mod rocksdb;

use std::path::Path;
use std::time::{Duration, Instant};

use prony_client::{ClientError, Connection};
use prony_host::sync_filesystem;
use prony_model::{Dataset, DebtKind, Engine, Family, Settle, SettleOutcome, StopFlag};
use prony_wire::codes;

use super::statement::{StatementError, pairs};
use changed::Changed;
use control::ControlConnection;
pub use debt::debt;
pub use error::SettleError;

/// Changes whenever settling means something else: images made before are then no longer used.
pub(crate) const VERSION: u32 = 1;

const RESET: &str = "RESET MASTER";

/// Looks at the engine, one after the other, at which it must be quiet: it may only have paused.
const QUIET_LOOKS: u32 = 3;

/// The side that a server belongs to, which decides what settling may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// Prony's own: everything may be done that makes it quiet.
    Own,
    /// Somebody else's: its binary log and its variables are left alone. Settling refreshes
    /// statistics and waits until the criteria that can be read are met. PostgreSQL is not waited for.
    Other,
}

/// Brings the server to a quiet state: the binary log is emptied, the statistics of all tables are
/// refreshed, the engine does what it has put off, and the file system of its data is on disk.
/// `control` opens a connection of an administrator whose default database is the dataset's.
///
/// The outcome holds every criterion that is not met within `settle.limit_ms`. Settling takes at
/// least `settle.idle_ms`.
///
/// # Errors
/// When the server can't be reached or refuses a statement, or the user wishes to stop. Variables
/// that were changed are set back first, as far as the server still takes that.
pub fn settle(
    control: &dyn Fn() -> Result<Connection, ClientError>,
    whose: Whose,
    engine: Engine,
    dataset: &Dataset,
    settle: Settle,
    stop: &StopFlag,
) -> Result<SettleOutcome, SettleError> {
    let begin = Instant::now();
    let limit = Duration::from_millis(settle.limit_ms);
    let mut server = ControlConnection::open(control, begin + limit, stop)?;
    let unmet = match whose {
        Whose::Other => {
            let mut unmet = analyze(&mut server, dataset)?;
            let until = match engine {
                // Checkpoints come by the clock and vacuums by thresholds that its administrator set.
                Engine::Heap => Instant::now(),
                _ => server.end,
            };
            unmet.extend(wait(&mut server, engine, until)?);
            unmet
        }
        Whose::Own => {
            empty_binlog(&mut server.connection).map_err(|source| StatementError {
                statement: RESET.to_owned(),
                source,
            })?;
            let mut changed = Changed::default();
            let quiet = quieten(&mut server, engine, dataset, &mut changed);
            let restored = changed.restore(&server);
            let unmet = quiet?;
            restored?;
            write_files(&mut server)?;
            unmet
        }
    };
    let took = begin.elapsed();
    server.sleep(Duration::from_millis(settle.idle_ms).saturating_sub(took))?;
    Ok(SettleOutcome {
        took_ms: milliseconds(took),
        waited_ms: milliseconds(begin.elapsed().saturating_sub(took)),
        unmet,
        debt: server.debt(engine)?,
        levels: rocksdb::levels(&mut server, engine)?,
    })
}

/// Does all that is done while variables are changed. Returns what was not reached in time.
fn quieten(
    server: &mut ControlConnection<'_>,
    engine: Engine,
    dataset: &Dataset,
    changed: &mut Changed,
) -> Result<Vec<String>, SettleError> {
    if engine == Engine::Innodb {
        // Before the statistics are written: what is written then is purged with the rest.
        innodb::hurry(server, changed)?;
    }
    let mut unmet = match engine {
        // The same statement refreshes the statistics.
        Engine::Heap => postgres::vacuum(server, dataset)?,
        _ => analyze(server, dataset)?,
    };
    match engine {
        Engine::Innodb => unmet.extend(innodb::merge_change_buffer(server, dataset)?),
        Engine::Rocksdb => unmet.extend(rocksdb::flush_and_compact(server, changed)?),
        Engine::Myisam => unmet.extend(flush_key_blocks(server)?),
        // Setting it makes a checkpoint, which writes every page, and drops none from memory.
        Engine::Aria => changed.set(server, "aria_checkpoint_interval", "1")?,
        Engine::Memory | Engine::Heap => {}
    }
    unmet.extend(wait(server, engine, server.end)?);
    Ok(unmet)
}

/// Empties the binary log of a server of one's own, where there is one.
///
/// # Errors
/// When the server refuses it or is gone.
pub fn empty_binlog(connection: &mut Connection) -> Result<(), ClientError> {
    if connection.is_postgresql() {
        return Ok(());
    }
    let answer = connection.query("SHOW GLOBAL VARIABLES LIKE 'log_bin'")?;
    if !pairs(answer).any(|(_, value)| value == "ON") {
        return Ok(());
    }
    match connection.query(RESET) {
        // MySQL 8.4 has another word for it.
        Err(ClientError::Server { code, .. }) if code == codes::PARSE_ERROR.into() => {
            connection.query("RESET BINARY LOGS AND GTIDS").map(drop)
        }
        other => other.map(drop),
    }
}

/// Refreshes the statistics of all tables; nothing of it goes to the binary log. Returns what was
/// not done in time.
fn analyze(
    server: &mut ControlConnection<'_>,
    dataset: &Dataset,
) -> Result<Vec<String>, SettleError> {
    let parts = dataset.parts();
    let tables = parts.iter().flat_map(Dataset::table_names);
    let statements = tables.map(|table| match server.connection.family() {
        Family::Postgresql => format!("ANALYZE {table}"),
        Family::Mysql | Family::Mariadb => format!("ANALYZE LOCAL TABLE {table}"),
    });
    let statements = statements.collect();
    server.run("statistics", statements)
}

/// Writes the blocks of the key cache that wait to be written. Only where there are some, because
/// it empties the key cache too, and the next step would pay for filling it.
fn flush_key_blocks(server: &mut ControlConnection<'_>) -> Result<Vec<String>, SettleError> {
    let debt = server.debt(Engine::Myisam)?;
    let waits = |debt: &prony_model::Debt| debt.kind == DebtKind::DirtyKeyBlocks && debt.value > 0;
    let flush = debt
        .iter()
        .any(waits)
        .then(|| "FLUSH LOCAL TABLES".to_owned());
    server.run("flush of the key cache", flush.into_iter().collect())
}

/// Waits until the engine is quiet, or the time is over. Returns what is not as it should be.
fn wait(
    server: &mut ControlConnection<'_>,
    engine: Engine,
    until: Instant,
) -> Result<Vec<String>, SettleError> {
    let mut quiet_looks = 0;
    loop {
        let unmet = criteria::unmet(engine, &server.debt(engine)?);
        quiet_looks = if unmet.is_empty() { quiet_looks + 1 } else { 0 };
        if quiet_looks == QUIET_LOOKS || server.is_over() || Instant::now() >= until {
            return Ok(unmet);
        }
        server.sleep(control::POLL)?;
    }
}

/// Has the system write what it still keeps of the server's files in memory. Engines that leave
/// this to the system would else have it done in the next step. The folder of somebody else's
/// server may be closed to this user.
fn write_files(server: &mut ControlConnection<'_>) -> Result<(), SettleError> {
    let name = match server.connection.family() {
        Family::Postgresql => "data_directory",
        Family::Mysql | Family::Mariadb => "datadir",
    };
    if let Some(folder) = server.variable(name)? {
        let _ = sync_filesystem(Path::new(&folder));
    }
    Ok(())
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
