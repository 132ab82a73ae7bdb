//! What is loaded before anything is measured.

use serde::{Deserialize, Serialize};

/// The sbtest dataset: `tables` tables `sbtest1..N`, each with `rows` rows of `id`, `k`, `c`,
/// `pad`. Its logical content is a pure function of this value and [`Dataset::VERSION`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Dataset {
    /// Number of tables, at least 1.
    pub tables: u32,
    /// Rows of each table, at least 1; ids are `1..=rows`.
    pub rows: u64,
    /// Decides the values of `k`, `c` and `pad`.
    pub seed: u64,
}

impl Dataset {
    /// Version of the definition: changes whenever the same value would give other rows.
    pub const VERSION: u32 = 1;

    /// The name of table `index`, counted from 0.
    pub fn table_name(index: u32) -> String {
        format!("sbtest{}", index + 1)
    }

    /// The name of the secondary index on `k` of table `index`, counted from 0.
    pub fn index_name(index: u32) -> String {
        format!("k_{}", index + 1)
    }
}
