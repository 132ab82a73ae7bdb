//! When an engine is quiet.

use prony_model::{Debt, DebtKind, Engine};

/// What must be so for an engine to be quiet.
struct Criterion {
    engine: Engine,
    kind: DebtKind,
    at_most: u64,
}

const CRITERIA: [Criterion; 4] = [
    // Every page that was changed is on disk.
    criterion(Engine::Innodb, DebtKind::DirtyBytes, 0),
    // What a server writes to its log when nobody asks it for anything.
    criterion(Engine::Innodb, DebtKind::CheckpointAge, 1 << 20),
    criterion(Engine::Innodb, DebtKind::HistoryList, 2000),
    criterion(Engine::Innodb, DebtKind::ChangeBuffer, 16384),
];

const fn criterion(engine: Engine, kind: DebtKind, at_most: u64) -> Criterion {
    Criterion {
        engine,
        kind,
        at_most,
    }
}

/// Which criteria are not met, in words; empty when the engine is quiet.
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
