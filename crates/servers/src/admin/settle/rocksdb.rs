//! MyRocks: memtables flushed, level 0 compacted, compactions ended.

use prony_client::{Answer, ClientError, Connection};
use prony_model::{Debt, DebtKind, Engine, Level};

use super::changed::Changed;
use super::control::ControlConnection;
use super::error::SettleError;
use crate::admin::statement::pairs;

/// The column family of the engine's own dictionary. Refreshing statistics writes to it; no
/// statement of a workload reads it.
const OWN_FAMILY: &str = "__system__";
const STATS: &str = "SELECT CF_NAME, STAT_TYPE, VALUE FROM information_schema.ROCKSDB_CFSTATS";
const STATUS: &str = "SHOW ENGINE ROCKSDB STATUS";
const TRIGGERS: &str = "SELECT CF_NAME, VALUE FROM information_schema.ROCKSDB_CF_OPTIONS \
                        WHERE OPTION_TYPE = 'LEVEL0_FILE_NUM_COMPACTION_TRIGGER'";
const FLUSH: &str = "rocksdb_force_flush_memtable_now";
const OPTIONS: &str = "rocksdb_update_cf_options";

/// Flushes all memtables, and has level 0 compacted as soon as it has one file.
///
/// `rocksdb_force_flush_memtable_and_lzero_now` would do both, but compresses what it writes
/// whatever the configuration says, and `rocksdb_compact_cf` rewrites the whole tree.
pub(super) fn flush_and_compact(
    server: &mut ControlConnection<'_>,
    changed: &mut Changed,
) -> Result<Vec<String>, SettleError> {
    let mut unmet = Vec::new();
    if server.variable(FLUSH)?.is_some() {
        let flush = format!("SET GLOBAL {FLUSH} = 1");
        unmet = server.run("flush of the memtables", vec![flush])?;
    }
    if server.variable(OPTIONS)?.is_none() {
        return Ok(unmet);
    }
    let families = pairs(server.ask(TRIGGERS)?);
    for (family, trigger) in families.filter(|(name, _)| name != OWN_FAMILY) {
        let set = |trigger: &str| {
            format!(
                "SET GLOBAL {OPTIONS} = '{family}={{level0_file_num_compaction_trigger={trigger};}}'"
            )
        };
        changed.run(server, &set("1"), set(&trigger))?;
    }
    Ok(unmet)
}

/// The work that the engine has put off.
pub(super) fn debt(connection: &mut Connection) -> Result<Vec<Debt>, ClientError> {
    let figures = connection.query(STATS)?;
    let status = connection.query(STATUS)?;
    let l0_files = parse_levels(&status)
        .iter()
        .filter(|level| level.level == 0)
        .map(|level| level.files)
        .sum();
    let pending = sum_of(&figures, "COMPACTION_PENDING") + running_compactions(&status);
    let memtables = sum_of(&figures, "CUR_SIZE_ALL_MEM_TABLES");
    let values = [
        (DebtKind::Memtable, memtables),
        (DebtKind::L0Files, l0_files),
        (DebtKind::PendingCompaction, pending),
    ];
    Ok(values.map(|(kind, value)| Debt { kind, value }).to_vec())
}

/// The shape of the tree; nothing for other engines.
pub(super) fn levels(
    server: &mut ControlConnection<'_>,
    engine: Engine,
) -> Result<Vec<Level>, SettleError> {
    if engine != Engine::Rocksdb {
        return Ok(Vec::new());
    }
    Ok(parse_levels(&server.ask(STATUS)?))
}

/// The sum of one statistic over all column families of tables.
fn sum_of(stats: &Answer, kind: &str) -> u64 {
    let of_kind = triples(stats).filter(|[family, name, _]| *family != OWN_FAMILY && *name == kind);
    of_kind
        .filter_map(|[.., value]| value.parse::<u64>().ok())
        .sum()
}

/// The rows of an answer with three columns; those of the status are type, name and text.
fn triples(answer: &Answer) -> impl Iterator<Item = [&str; 3]> {
    answer.rows.iter().filter_map(|row| match row.as_slice() {
        [Some(one), Some(two), Some(three)] => Some([one.as_str(), two, three]),
        _ => None,
    })
}

fn running_compactions(status: &Answer) -> u64 {
    let compacts = |text: &str| {
        let mut lines = text.lines();
        lines.any(|line| line.trim() == "operation_type: Compaction")
    };
    let threads = triples(status).filter(|[kind, ..]| *kind == "BG_THREADS");
    threads.filter(|[.., text]| compacts(text)).count() as u64
}

/// Files and bytes of each level, over all column families of tables.
fn parse_levels(status: &Answer) -> Vec<Level> {
    let mut levels: Vec<Level> = Vec::new();
    let families =
        triples(status).filter(|[kind, name, _]| *kind == "CF_COMPACTION" && *name != OWN_FAMILY);
    for line in families.flat_map(|[.., text]| text.lines()) {
        let Some(found) = level_in(line).filter(|level| level.files > 0) else {
            continue;
        };
        match levels.iter_mut().find(|level| level.level == found.level) {
            Some(level) => {
                level.files += found.files;
                level.bytes += found.bytes;
            }
            None => levels.push(found),
        }
    }
    levels.sort_by_key(|level| level.level);
    levels
}

/// A line of RocksDB's table of levels: `L1  1/0  27.41 MB  0.1 …`, that is level, files and how
/// many of them are being compacted, size with two decimals.
fn level_in(line: &str) -> Option<Level> {
    let mut words = line.split_ascii_whitespace();
    let level = words.next()?.strip_prefix('L')?.parse().ok()?;
    let (files, _) = words.next()?.split_once('/')?;
    let size: f64 = words.next()?.parse().ok()?;
    let unit = words.next()?;
    let power = ["KB", "MB", "GB", "TB"]
        .into_iter()
        .zip(1..)
        .find(|(name, _)| *name == unit)?
        .1;
    Some(Level {
        level,
        files: files.parse().ok()?,
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "sizes of files are far below 2^53 and not negative"
        )]
        bytes: (size * 1024_f64.powi(power)) as u64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(rows: &[[&str; 3]]) -> Answer {
        Answer {
            rows: rows
                .iter()
                .map(|row| row.iter().map(|cell| Some((*cell).to_owned())).collect())
                .collect(),
            ..Answer::default()
        }
    }

    /// As MariaDB 10.11 shows it, shortened.
    const DEFAULT: &str = "\n** Compaction Stats [default] **\n\
        Level    Files   Size     Score Read(GB)\n\
        ------------------------------\n\
        \x20 L0      2/2   27.98 MB   0.0      0.0\n\
        \x20 L1      1/0   590.50 KB   0.1      0.0\n\
        \x20 L6      3/0    1.50 GB   0.1      0.0\n\
        \x20Sum      6/2    1.53 GB   0.0      0.1\n\n\
        Priority    Files   Size     Score\n\
        \x20Low      0/0    0.00 KB   0.0\n";

    #[test]
    fn levels_are_those_of_the_tables() {
        let own = "  L0      1/0    1.26 KB   0.2      0.0\n";
        let empty = "  L0      0/0    0.00 KB   0.2      0.0\n";
        let answer = status(&[
            ["CF_COMPACTION", "__system__", own],
            ["CF_COMPACTION", "default", DEFAULT],
            ["CF_COMPACTION", "other", "  L1      1/0    1.00 KB   0.2\n"],
        ]);
        let level = |level, files, bytes| Level {
            level,
            files,
            bytes,
        };
        assert_eq!(
            parse_levels(&answer),
            [
                level(0, 2, 29_339_156),
                level(1, 2, 604_672 + 1024),
                level(6, 3, 1_610_612_736)
            ]
        );
        assert!(parse_levels(&status(&[["CF_COMPACTION", "default", empty]])).is_empty());
    }

    #[test]
    fn running_compactions_are_counted_once() {
        let busy = "\nthread_type: Low Pri\ncf_name: default\noperation_type: Compaction\n";
        let idle = "\nthread_type: Low Pri\ncf_name: \noperation_type: \n";
        let answer = status(&[
            ["BG_THREADS", "1", busy],
            ["BG_THREADS", "2", idle],
            // Some versions repeat the last thread here.
            ["EXPLICIT_SNAPSHOTS", "rocksdb", busy],
        ]);
        assert_eq!(running_compactions(&answer), 1);
    }

    #[test]
    fn statistics_of_the_dictionary_do_not_count() {
        let stats = status(&[
            ["__system__", "CUR_SIZE_ALL_MEM_TABLES", "1050632"],
            ["default", "CUR_SIZE_ALL_MEM_TABLES", "2048"],
            ["default", "COMPACTION_PENDING", "1"],
            ["other", "CUR_SIZE_ALL_MEM_TABLES", "728"],
        ]);
        assert_eq!(sum_of(&stats, "CUR_SIZE_ALL_MEM_TABLES"), 2776);
        assert_eq!(sum_of(&stats, "COMPACTION_PENDING"), 1);
    }
}
