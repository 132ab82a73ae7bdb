//! Bringing an engine to a quiet state, and saying what it still has to do.

mod criteria;
mod debt;
mod error;
mod innodb;
mod monitor;
mod session;
mod variables;

use std::time::{Duration, Instant};

use prony_client::{ClientError, Connection};
use prony_model::{Dataset, Engine, Settle, SettleOutcome, StopFlag};

pub use debt::debt;
pub use error::SettleError;
use session::Session;

/// Changes whenever settling means something else: images made before are then not used any more.
pub(crate) const VERSION: u32 = 1;

/// `ER_PARSE_ERROR`.
const PARSE_ERROR: u16 = 1064;

/// Brings the server to a quiet state: the binary log is emptied, the statistics of all tables are
/// refreshed, and the engine does what it has put off. `control` opens a connection of an
/// administrator whose default database is the dataset's.
///
/// What is not reached within `settle.limit_ms` is in the outcome, with its value. It takes at
/// least `settle.idle_ms`.
///
/// # Errors
/// When the server can't be reached or refuses a statement, or the user wishes to stop. Variables
/// that were changed are set back first, as far as the server still takes that.
pub fn settle(
    control: &dyn Fn() -> Result<Connection, ClientError>,
    engine: Engine,
    dataset: &Dataset,
    settle: Settle,
    stop: &StopFlag,
) -> Result<SettleOutcome, SettleError> {
    let begin = Instant::now();
    let limit = Duration::from_millis(settle.limit_ms);
    let mut session = Session::open(control, begin + limit, stop)?;
    reset_binlog(&mut session)?;
    let mut unmet = analyze(&session, dataset)?;
    match engine {
        Engine::Innodb => unmet.extend(innodb::settle(&mut session, dataset)?),
        Engine::Rocksdb | Engine::Myisam | Engine::Aria | Engine::Memory => {}
    }
    let took = begin.elapsed();
    session.sleep(Duration::from_millis(settle.idle_ms).saturating_sub(took))?;
    Ok(SettleOutcome {
        took_ms: milliseconds(took),
        waited_ms: milliseconds(begin.elapsed().saturating_sub(took)),
        unmet,
        debt: session.debt(engine)?,
        levels: Vec::new(),
    })
}

/// Empties the binary log, where there is one.
fn reset_binlog(session: &mut Session<'_>) -> Result<(), SettleError> {
    if session.variable("log_bin")?.as_deref() != Some("ON") {
        return Ok(());
    }
    match session.ask("RESET MASTER") {
        // MySQL 8.4 has another word for it.
        Err(SettleError::Statement {
            source: ClientError::Server {
                code: PARSE_ERROR, ..
            },
            ..
        }) => session.ask("RESET BINARY LOGS AND GTIDS").map(drop),
        other => other.map(drop),
    }
}

/// Refreshes the statistics of all tables. Returns what was not done in time.
fn analyze(session: &Session<'_>, dataset: &Dataset) -> Result<Vec<String>, SettleError> {
    let statements = dataset.table_names();
    let statements = statements.map(|table| format!("ANALYZE TABLE {table}"));
    let left = session.run(statements.collect())?;
    Ok(match left {
        0 => Vec::new(),
        left => vec![format!("statistics: {left} of the tables are not analysed")],
    })
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
