//! Purpose of a file of a data directory, by its name.

use std::path::Path;

/// Kinds of files by which sizes are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Rows and indexes, tablespaces of the system included.
    Data,
    /// Logs for recovery and undo: redo, undo, write-ahead log.
    Log,
    /// Binary logs and relay logs, with their lists.
    Binlog,
    /// The rest: definitions, temporary tables, doublewrite files, messages.
    Other,
}

/// Folders that hold only log files.
const LOG_FOLDERS: [&str; 3] = ["#innodb_redo", "pg_wal", "pg_xlog"];
/// Folders of PostgreSQL with tables and indexes.
const DATA_FOLDERS: [&str; 3] = ["base", "global", "pg_tblspc"];
/// Endings of files with rows or indexes: InnoDB, MyISAM and MERGE, Aria, RocksDB, archive, CSV,
/// `TokuDB`, Berkeley DB, old ISAM.
const DATA_ENDINGS: [&str; 13] = [
    "ibd", "MYD", "MYI", "MAD", "MAI", "sst", "ARZ", "CSV", "CSM", "tokudb", "db", "ISD", "ISM",
];

/// The kind of a file, by its path within the data directory.
pub(super) fn kind(path: &Path) -> Kind {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
        return Kind::Other;
    };
    let folders = || {
        path.parent()
            .into_iter()
            .flat_map(Path::components)
            .filter_map(|part| part.as_os_str().to_str())
    };
    if is_temporary(name) || folders().any(|folder| folder == "#innodb_temp") {
        Kind::Other
    } else if is_log(name) || folders().any(|folder| LOG_FOLDERS.contains(&folder)) {
        Kind::Log
    } else if folders().any(|folder| folder == ".rocksdb" || folder == "#rocksdb") {
        rocksdb(name)
    } else if is_data(name)
        || folders()
            .next()
            .is_some_and(|folder| DATA_FOLDERS.contains(&folder))
    {
        Kind::Data
    } else if is_binlog(name) {
        Kind::Binlog
    } else {
        Kind::Other
    }
}

/// Tables that end with the server.
fn is_temporary(name: &str) -> bool {
    name.starts_with("ibtmp")
}

/// Redo and undo of InnoDB, the logs of Aria, of `TokuDB` and of Berkeley DB.
fn is_log(name: &str) -> bool {
    let numbered = |prefix: &str| name.strip_prefix(prefix).is_some_and(is_number);
    numbered("ib_logfile")
        || numbered("undo")
        || numbered("undo_")
        || name == "aria_log_control"
        || numbered("aria_log.")
        || numbered("log.")
        || name.contains(".tokulog")
        || ending(name) == "ibu"
}

fn is_data(name: &str) -> bool {
    name.strip_prefix("ibdata").is_some_and(is_number) || DATA_ENDINGS.contains(&ending(name))
}

/// A log that is written at every commit, beside sorted tables.
fn rocksdb(name: &str) -> Kind {
    match ending(name) {
        "log" => Kind::Log,
        "sst" | "blob" => Kind::Data,
        _ => Kind::Other,
    }
}

/// A name of any choice with six or more digits behind it, the list of these, and the pages that
/// `MariaDB` 12 keeps them in.
fn is_binlog(name: &str) -> bool {
    match ending(name) {
        "index" | "ibb" => true,
        digits => digits.len() >= 6 && is_number(digits),
    }
}

fn ending(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, ending)| ending)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names that servers of all ages were seen to make, and some of their documentation.
    const NAMES: [(&str, Kind); 45] = [
        ("ibdata1", Kind::Data),
        ("prony/sbtest1.ibd", Kind::Data),
        ("mysql.ibd", Kind::Data),
        ("prony/sbtest1.MYD", Kind::Data),
        ("prony/sbtest1.MYI", Kind::Data),
        ("mysql/global_priv.MAD", Kind::Data),
        ("mysql/global_priv.MAI", Kind::Data),
        ("mysql/slow_log.CSV", Kind::Data),
        ("#rocksdb/000012.sst", Kind::Data),
        (".rocksdb/000012.sst", Kind::Data),
        ("base/16384/2619", Kind::Data),
        ("global/pg_control", Kind::Data),
        ("ib_logfile0", Kind::Log),
        ("#innodb_redo/#ib_redo6", Kind::Log),
        ("#innodb_redo/#ib_redo7_tmp", Kind::Log),
        ("undo_001", Kind::Log),
        ("undo001", Kind::Log),
        ("more.ibu", Kind::Log),
        ("aria_log.00000001", Kind::Log),
        ("aria_log_control", Kind::Log),
        ("#rocksdb/000010.log", Kind::Log),
        ("log000000000003.tokulog29", Kind::Log),
        ("log.0000000001", Kind::Log),
        ("pg_wal/000000010000000000000001", Kind::Log),
        ("binlog.000001", Kind::Binlog),
        ("binlog.index", Kind::Binlog),
        ("host-relay-bin.000002", Kind::Binlog),
        ("binlog-000000.ibb", Kind::Binlog),
        ("ibtmp1", Kind::Other),
        ("#innodb_temp/temp_1.ibt", Kind::Other),
        ("#ib_16384_0.dblwr", Kind::Other),
        ("prony/sbtest1.frm", Kind::Other),
        ("prony/db.opt", Kind::Other),
        ("performance_schema/accounts_146.sdi", Kind::Other),
        ("#rocksdb/MANIFEST-000006", Kind::Other),
        ("#rocksdb/LOG", Kind::Other),
        ("#rocksdb/LOG.old.1700000000000000", Kind::Other),
        ("#rocksdb/OPTIONS-000008", Kind::Other),
        ("auto.cnf", Kind::Other),
        ("error.log", Kind::Other),
        ("host.pid", Kind::Other),
        ("ib_buffer_pool", Kind::Other),
        ("undo", Kind::Other),
        ("private_key.pem", Kind::Other),
        ("postgresql.conf", Kind::Other),
    ];

    #[test]
    fn every_name_has_its_kind() {
        for (name, expected) in NAMES {
            assert_eq!(kind(Path::new(name)), expected, "{name}");
        }
    }
}
