//! When an engine is quiet.

use prony_model::{Debt, DebtKind, Engine};

/// The conditions of a quiet engine.
struct Criterion {
    engine: Engine,
    kind: DebtKind,
    at_most: u64,
}

const KIB: u64 = 1024;

const CRITERIA: [Criterion; 9] = [
    // All but a few pages that servers change by themselves.
    criterion(Engine::Innodb, DebtKind::DirtyBytes, 256 * KIB),
    // What servers write to their log by themselves; quiet ones showed up to 20 KiB.
    criterion(Engine::Innodb, DebtKind::CheckpointAge, 1024 * KIB),
    // 5.5 and 5.6 leave their last batches until new transactions come: up to 714 were seen.
    criterion(Engine::Innodb, DebtKind::HistoryList, 1000),
    // Empty: reading every index has merged all there was.
    criterion(Engine::Innodb, DebtKind::ChangeBuffer, 0),
    // Empty: one of 10.5 takes 728 bytes, one of 10.11 takes 2048, with one row a mebibyte.
    criterion(Engine::Rocksdb, DebtKind::Memtable, 64 * KIB),
    // Level 0 has been compacted. Its files overlap, so that reads look into every one.
    criterion(Engine::Rocksdb, DebtKind::L0Files, 0),
    criterion(Engine::Rocksdb, DebtKind::PendingCompaction, 0),
    // Everything is written.
    criterion(Engine::Myisam, DebtKind::DirtyKeyBlocks, 0),
    criterion(Engine::Aria, DebtKind::DirtyKeyBlocks, 0),
];

const fn criterion(engine: Engine, kind: DebtKind, at_most: u64) -> Criterion {
    Criterion {
        engine,
        kind,
        at_most,
    }
}

/// The criteria that are not met, in words; empty when the engine is quiet.
pub(super) fn unmet(engine: Engine, debt: &[Debt]) -> Vec<String> {
    let of_engine = CRITERIA
        .iter()
        .filter(|criterion| criterion.engine == engine);
    of_engine
        .filter_map(|criterion| {
            let debt = debt.iter().find(|debt| debt.kind == criterion.kind)?;
            (debt.value > criterion.at_most).then(|| {
                format!(
                    "{}: {} {}, at most {} is quiet",
                    debt.kind.name(),
                    debt.value,
                    debt.kind.unit(),
                    criterion.at_most
                )
            })
        })
        .collect()
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
            let has = CRITERIA.iter().any(|criterion| criterion.engine == engine);
            assert_eq!(has, engine.persistent(), "{engine}");
        }
    }
}
