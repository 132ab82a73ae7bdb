//! Debt of engines: work that they have put off.

use serde::{Deserialize, Serialize};

/// One kind of work left over, measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Debt {
    /// Its kind.
    pub kind: DebtKind,
    /// The amount, in the unit of the kind.
    pub value: u64,
}

/// Kinds of work that engines put off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DebtKind {
    /// Bytes of pages that are newer in memory than on disk.
    DirtyBytes,
    /// Bytes of redo log behind the last checkpoint.
    CheckpointAge,
    /// Transactions whose old row versions are not purged yet.
    HistoryList,
    /// Bytes of secondary index changes that are buffered, not merged.
    ChangeBuffer,
    /// Bytes in memtables of tables.
    Memtable,
    /// Files of tables in level 0 of an LSM tree.
    L0Files,
    /// Compactions of an LSM tree that are due or running.
    PendingCompaction,
    /// Bytes of blocks of MyISAM's key cache, or of Aria's page cache, that are not written.
    DirtyKeyBlocks,
    /// Old row versions that no vacuum has removed yet, as PostgreSQL counts them.
    DeadRows,
    /// Pages of tables that are not marked as visible to all: PostgreSQL looks into them although an
    /// index holds what a statement asks for.
    NotVisible,
    /// Vacuums that are under way.
    RunningVacuums,
}

/// Facts of a kind of debt.
struct Facts {
    kind: DebtKind,
    name: &'static str,
    unit: &'static str,
    bound: u64,
}

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// The bounds are above all that quiet servers of 4.1 to 9.7 and MariaDB 10.1 to 11.8 showed after
/// settling (20 KiB of log, 714 transactions), and far below what a second of writes leaves behind
/// (tens of mebibytes). Files in level 0 are looked into by every read, so one more is a
/// difference, and so is every vacuum beside a step. Quiet servers of PostgreSQL had no dead row and
/// no page that is not all-visible; a second of updates leaves thousands of each.
const KINDS: [Facts; 11] = [
    facts(DebtKind::DirtyBytes, "dirty pages", "bytes", 8 * MIB),
    facts(DebtKind::CheckpointAge, "checkpoint age", "bytes", 16 * MIB),
    facts(DebtKind::HistoryList, "history list", "transactions", 2000),
    facts(DebtKind::ChangeBuffer, "change buffer", "bytes", MIB),
    facts(DebtKind::Memtable, "memtables", "bytes", 8 * MIB),
    facts(DebtKind::L0Files, "L0 files", "files", 0),
    facts(
        DebtKind::PendingCompaction,
        "pending compactions",
        "compactions",
        0,
    ),
    facts(DebtKind::DirtyKeyBlocks, "dirty key blocks", "bytes", MIB),
    facts(DebtKind::DeadRows, "dead rows", "rows", 1000),
    facts(DebtKind::NotVisible, "pages not all-visible", "pages", 100),
    facts(DebtKind::RunningVacuums, "running vacuums", "vacuums", 0),
];

const fn facts(kind: DebtKind, name: &'static str, unit: &'static str, bound: u64) -> Facts {
    Facts {
        kind,
        name,
        unit,
        bound,
    }
}

impl DebtKind {
    /// Every kind, in the order of the documentation.
    pub fn all() -> impl Iterator<Item = Self> {
        KINDS.iter().map(|facts| facts.kind)
    }

    /// Its name for people.
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// The unit of its value: `bytes`, `files`, `transactions`, `compactions`, `rows`, `pages` or `vacuums`.
    pub fn unit(self) -> &'static str {
        self.facts().unit
    }

    /// The greatest difference between two targets that is not worth a warning.
    pub fn bound(self) -> u64 {
        self.facts().bound
    }

    fn facts(self) -> &'static Facts {
        // The table has every kind, in the order of their declaration; a test holds it to that.
        &KINDS[self as usize]
    }
}

/// The outcome of settling.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettleOutcome {
    /// Milliseconds from its begin until the last criterion was met, or until it was given up.
    pub took_ms: u64,
    /// Milliseconds that were waited after that, to make up the common idle time.
    pub waited_ms: u64,
    /// The criteria that were not met within the limit, with their values, in words; empty when
    /// the engine is quiet.
    pub unmet: Vec<String>,
    /// Debt that is left all the same.
    pub debt: Vec<Debt>,
    /// The shape of the tree of an engine that keeps its rows in levels, level 0 first; levels
    /// without files are left out.
    #[serde(default)]
    pub levels: Vec<Level>,
}

/// One level of an LSM tree, all column families together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Level {
    /// Its number, from 0.
    pub level: u32,
    /// Files in it.
    pub files: u64,
    /// Bytes of its files.
    pub bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_kinds() {
        for (place, kind) in DebtKind::all().enumerate() {
            assert_eq!(kind as usize, place);
            assert_eq!(kind.facts().kind, kind);
        }
    }
}
