//! Criteria of a quiet engine.

use prony_model::{Debt, DebtKind, Engine};

const KIB: u64 = 1024;

/// The conditions of a quiet engine: each kind of debt, and how much of it a quiet one may have.
const CRITERIA: [(Engine, DebtKind, u64); 14] = [
    // All but a few pages that servers change by themselves.
    (Engine::Innodb, DebtKind::DirtyBytes, 256 * KIB),
    // What servers write to their log by themselves; quiet ones showed up to 20 KiB.
    (Engine::Innodb, DebtKind::CheckpointAge, 1024 * KIB),
    // 5.5 and 5.6 leave their last batches until new transactions come: up to 714 were seen.
    (Engine::Innodb, DebtKind::HistoryList, 1000),
    // Empty: reading every index has merged all there was.
    (Engine::Innodb, DebtKind::ChangeBuffer, 0),
    // Empty: one of 10.5 takes 728 bytes, one of 10.11 takes 2048, with one row a mebibyte.
    (Engine::Rocksdb, DebtKind::Memtable, 64 * KIB),
    // Level 0 has been compacted. Its files overlap, so that reads look into every one.
    (Engine::Rocksdb, DebtKind::L0Files, 0),
    (Engine::Rocksdb, DebtKind::PendingCompaction, 0),
    // Everything is written.
    (Engine::Myisam, DebtKind::DirtyKeyBlocks, 0),
    (Engine::Aria, DebtKind::DirtyKeyBlocks, 0),
    // A checkpoint has just been made: none was seen right after it, 90 pages after a while.
    (Engine::Heap, DebtKind::DirtyBytes, 1024 * KIB),
    // The record of the checkpoint itself takes some 200 bytes.
    (Engine::Heap, DebtKind::CheckpointAge, 64 * KIB),
    // VACUUM has removed all, and has marked every page.
    (Engine::Heap, DebtKind::DeadRows, 0),
    (Engine::Heap, DebtKind::NotVisible, 0),
    (Engine::Heap, DebtKind::RunningVacuums, 0),
];

/// The criteria that are not met, in words; empty when the engine is quiet.
pub(super) fn unmet(engine: Engine, debt: &[Debt]) -> Vec<String> {
    let mut unmet = Vec::new();
    for (_, kind, at_most) in CRITERIA.iter().filter(|(of, ..)| *of == engine) {
        let found = debt.iter().find(|debt| debt.kind == *kind);
        unmet.extend(found.filter(|debt| debt.value > *at_most).map(|debt| {
            let (name, unit) = (kind.name(), kind.unit());
            format!("{name}: {} {unit}, at most {at_most} is quiet", debt.value)
        }));
    }
    unmet
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unmet_is_said_with_its_value() {
        let debt = |kind, value| Debt { kind, value };
        let left = [
            debt(DebtKind::DirtyBytes, 9_000_000),
            debt(DebtKind::HistoryList, 714),
        ];
        assert_eq!(
            unmet(Engine::Innodb, &left),
            ["dirty pages: 9000000 bytes, at most 262144 is quiet"]
        );
        assert!(unmet(Engine::Memory, &left).is_empty());
    }

    #[test]
    fn every_engine_that_puts_work_off_has_criteria() {
        for engine in Engine::ALL {
            let has = CRITERIA.iter().any(|(of, ..)| *of == engine);
            assert_eq!(has, engine.persistent(), "{engine}");
        }
    }
}
