//! The work that an engine has put off, as its server reports it.

use prony_client::{ClientError, Connection};
use prony_model::{Debt, DebtKind, Engine};

use super::{monitor, postgres, rocksdb};
use crate::admin::statement::pairs;

/// `ER_SPECIFIC_ACCESS_DENIED_ERROR` and `ER_TABLEACCESS_DENIED_ERROR`.
const DENIED: [&str; 2] = ["1227", "1142"];

/// Reads what the engine still has to do: every kind of debt that this version tells. Two or three
/// short statements; nothing is changed.
///
/// An account without the privilege gets no answer.
///
/// # Errors
/// When the server refuses a statement for another reason, or is gone.
pub fn debt(connection: &mut Connection, engine: Engine) -> Result<Vec<Debt>, ClientError> {
    match read(connection, engine) {
        Err(ClientError::Server { code, .. }) if DENIED.contains(&code.as_str()) => Ok(Vec::new()),
        other => other,
    }
}

fn read(connection: &mut Connection, engine: Engine) -> Result<Vec<Debt>, ClientError> {
    match engine {
        Engine::Innodb => innodb(connection),
        Engine::Rocksdb => rocksdb::debt(connection),
        Engine::Myisam => blocks(connection, "Key_blocks_not_flushed", "key_cache_block_size"),
        Engine::Aria => blocks(
            connection,
            "Aria_pagecache_blocks_not_flushed",
            "aria_block_size",
        ),
        Engine::Heap => postgres::debt(connection),
        // All that it has is in memory.
        Engine::Memory => Ok(Vec::new()),
    }
}

fn innodb(connection: &mut Connection) -> Result<Vec<Debt>, ClientError> {
    let size = number(connection, "VARIABLES", "innodb_page_size")?.unwrap_or(monitor::PAGE_SIZE);
    let answer = connection.query("SHOW ENGINE INNODB STATUS")?;
    // One column in 4.1 and 5.0, three since.
    let text = answer.rows.first().and_then(|row| row.last()?.as_deref());
    let mut debt = monitor::debt(text.unwrap_or_default(), size);
    if debt.iter().all(|debt| debt.kind != DebtKind::ChangeBuffer) {
        let pages = change_buffer_pages(connection)?;
        debt.extend(pages.map(|pages| monitor::change_buffer(pages, size)));
    }
    Ok(debt)
}

/// The size of the change buffer, for versions that keep it out of the monitor (MariaDB 10.6 to
/// 10.11). `Innodb_ibuf_size` would say it too, but has rubbish in its upper half there. Without
/// a change buffer (MariaDB since 11.0) there is no such row.
fn change_buffer_pages(connection: &mut Connection) -> Result<Option<u64>, ClientError> {
    let sql = "SELECT COUNT FROM information_schema.INNODB_METRICS WHERE NAME = 'ibuf_size'";
    match connection.query(sql) {
        Ok(answer) => Ok(answer.single().and_then(|text| text.parse().ok())),
        Err(ClientError::Server { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Blocks that are not written, times the size of a block.
fn blocks(connection: &mut Connection, count: &str, size: &str) -> Result<Vec<Debt>, ClientError> {
    let count = number(connection, "STATUS", count)?;
    let size = number(connection, "VARIABLES", size)?;
    let debt = count.zip(size).map(|(count, size)| Debt {
        kind: DebtKind::DirtyKeyBlocks,
        value: count.saturating_mul(size),
    });
    Ok(debt.into_iter().collect())
}

/// A number of `SHOW VARIABLES` or `SHOW STATUS`; `None` where the server does not have it. The
/// form without `GLOBAL`, which 4.1 does not know of the status.
fn number(connection: &mut Connection, list: &str, name: &str) -> Result<Option<u64>, ClientError> {
    let answer = connection.query(format!("SHOW {list} LIKE '{name}'"))?;
    Ok(pairs(answer).find_map(|(_, value)| value.parse().ok()))
}
