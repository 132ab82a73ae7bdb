//! What an engine still has to do, as its server tells.

use prony_client::{ClientError, Connection};
use prony_model::{Debt, Engine};

use super::monitor::Monitor;

/// Reads what the engine still has to do: every kind of debt that this version tells. Two or three
/// short statements; nothing is changed.
///
/// # Errors
/// When the server refuses a statement or is gone.
pub fn debt(connection: &mut Connection, engine: Engine) -> Result<Vec<Debt>, ClientError> {
    match engine {
        Engine::Innodb => innodb(connection),
        Engine::Rocksdb | Engine::Myisam | Engine::Aria | Engine::Memory => Ok(Vec::new()),
    }
}

fn innodb(connection: &mut Connection) -> Result<Vec<Debt>, ClientError> {
    let size = connection.query("SHOW VARIABLES LIKE 'innodb_page_size'")?;
    let size = size
        .rows
        .first()
        .and_then(|row| row.get(1)?.as_deref()?.parse().ok());
    let answer = connection.query("SHOW ENGINE INNODB STATUS")?;
    // One column in 4.1 and 5.0, three since.
    let text = answer.rows.first().and_then(|row| row.last()?.as_deref());
    let monitor = Monitor::parse(text.unwrap_or_default());
    Ok(monitor.debt(size.unwrap_or(Monitor::PAGE_SIZE)))
}
