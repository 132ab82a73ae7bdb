//! InnoDB: changed pages written back, the checkpoint moved up, old row versions purged, buffered
//! index changes merged.

use prony_model::{Dataset, DebtKind, Engine};

use super::changed::Changed;
use super::control::ControlConnection;
use super::error::SettleError;
use crate::admin::tables::read_index;

/// Variables that make the server write back and purge all it can, where a version has them, in an
/// order in which no server refuses one: the low-water mark is never above the mark, and the
/// capacity never above its maximum.
const HURRY: [(&str, &str); 6] = [
    // From here on pages are written back although no query waits for it; 0 of the second means all.
    ("innodb_max_dirty_pages_pct_lwm", "0"),
    ("innodb_max_dirty_pages_pct", "0"),
    ("innodb_idle_flush_pct", "100"),
    // Pages in a second. The disk is the limit.
    ("innodb_io_capacity_max", "20000"),
    ("innodb_io_capacity", "20000"),
    // The history list is cut after every batch, not after 128.
    ("innodb_purge_rseg_truncate_frequency", "1"),
];

/// Makes the server do at once what it puts off.
pub(super) fn hurry(
    server: &mut ControlConnection<'_>,
    changed: &mut Changed,
) -> Result<(), SettleError> {
    HURRY
        .iter()
        .try_for_each(|(name, value)| changed.set(server, name, value))
}

/// Has the buffered changes of secondary indexes merged, by reading the pages that they belong to:
/// not every version merges them by itself.
pub(super) fn merge_change_buffer(
    server: &mut ControlConnection<'_>,
    dataset: &Dataset,
) -> Result<Vec<String>, SettleError> {
    let debt = server.debt(Engine::Innodb)?;
    let buffered = debt.iter().find(|debt| debt.kind == DebtKind::ChangeBuffer);
    if buffered.is_none_or(|debt| debt.value == 0) {
        return Ok(Vec::new());
    }
    let mut statements = Vec::new();
    for part in dataset.parts() {
        for table in 0..part.tables {
            let name = part.table_name(table);
            let indexes = part.secondary_indexes(table);
            statements.extend(indexes.filter_map(|index| read_index(&name, &index)));
        }
    }
    server.run("merge of the change buffer", statements)
}
