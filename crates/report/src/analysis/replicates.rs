//! What repeats a measurement independently: blocks, or hosts where several measured.

use std::collections::{BTreeMap, BTreeSet};

use prony_model::TrialState;
use prony_store::{HostRow, TrialRow};

/// The first block of the host of each block, where several hosts measured. Blocks of one host share its
/// own effect on a ratio, so that only their mean is independent of other blocks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Replicates {
    first: BTreeMap<u32, u32>,
    /// By the first block of each.
    hosts: BTreeMap<u32, String>,
}

impl Replicates {
    /// From the trials that count. Hosts without names are one host, at several times.
    pub(crate) fn of<'a>(
        trials: impl IntoIterator<Item = &'a TrialRow>,
        hosts: &[HostRow],
    ) -> Self {
        let mut blocks: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
        for trial in trials {
            let host = hosts.get(trial.host);
            let name = host.and_then(|host| host.host_name.as_deref());
            if let Some(name) = name.filter(|_| trial.state == TrialState::Done) {
                blocks.entry(name).or_default().insert(trial.planned.block);
            }
        }
        let mut replicates = Self::default();
        if blocks.len() > 1 {
            for (name, blocks) in blocks {
                let first = blocks.first().copied().unwrap_or_default();
                let of_host = blocks.into_iter().map(|block| (block, first));
                replicates.first.extend(of_host);
                replicates.hosts.insert(first, name.to_owned());
            }
        }
        replicates
    }

    /// The block that stands for the replicate that a block belongs to, both counted from 0.
    pub(crate) fn at(&self, block: u32) -> u32 {
        self.first.get(&block).copied().unwrap_or(block)
    }

    /// The names of the hosts by the blocks that stand for them; empty where blocks are the replicates.
    pub(crate) fn hosts(&self) -> &BTreeMap<u32, String> {
        &self.hosts
    }
}

/// The mean of the values of each replicate, in the order of the replicates. A single value is its own mean,
/// to the last digit.
pub(crate) fn means<K: Ord>(values: impl IntoIterator<Item = (K, f64)>) -> Vec<(K, f64)> {
    let mut all: BTreeMap<K, Vec<f64>> = BTreeMap::new();
    for (replicate, value) in values {
        all.entry(replicate).or_default().push(value);
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let means = all.into_iter();
    means
        .map(|(replicate, values)| (replicate, mean(&values)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_value_is_its_mean_to_the_last_digit() {
        assert_eq!(means([(3, 0.1), (1, 0.7), (3, 0.3)]), [(1, 0.7), (3, 0.2)]);
    }
}
