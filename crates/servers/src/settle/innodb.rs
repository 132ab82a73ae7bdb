//! InnoDB: changed pages written back, the checkpoint moved up, old row versions purged, buffered
//! index changes merged.

use prony_model::{Dataset, Engine};

use super::criteria::unmet;
use super::error::SettleError;
use super::session::Session;
use super::variables::Changed;

/// Variables that make the server write back all it can, where a version has them, in the order in
/// which they are set: none may be above the one before it at any time.
const WRITE_BACK: [(&str, &str); 5] = [
    ("innodb_max_dirty_pages_pct_lwm", "0"),
    ("innodb_max_dirty_pages_pct", "0"),
    ("innodb_idle_flush_pct", "100"),
    ("innodb_io_capacity_max", "20000"),
    ("innodb_io_capacity", "20000"),
];

/// Settles the engine. Returns what was not reached in time.
pub(super) fn settle(
    session: &mut Session<'_>,
    _dataset: &Dataset,
) -> Result<Vec<String>, SettleError> {
    let mut changed = Changed::default();
    let waited = write_back(session, &mut changed);
    let restored = changed.restore(session);
    let unmet = waited?;
    restored?;
    Ok(unmet)
}

fn write_back(
    session: &mut Session<'_>,
    changed: &mut Changed,
) -> Result<Vec<String>, SettleError> {
    for (name, value) in WRITE_BACK {
        changed.set(session, name, value)?;
    }
    loop {
        let unmet = unmet(Engine::Innodb, &session.debt(Engine::Innodb)?);
        if unmet.is_empty() || session.is_over() {
            return Ok(unmet);
        }
        session.pause()?;
    }
}
