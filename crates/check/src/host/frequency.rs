//! Frequency of the processors: governor and boost.

use prony_model::Finding;
use prony_model::FindingState::{Doubtful, Good, Unknown};
use prony_model::HostProperty::Frequency;
use prony_probe::{HostFacts, Root};

/// Judges the governor and boost.
pub(super) fn judge(root: &Root) -> Finding {
    let facts = HostFacts::read(root);
    let Some(governor) = facts.governor else {
        let reason = "this machine does not report it, like most virtual machines";
        return Finding::new(Frequency, Unknown, reason);
    };
    let seen = match facts.turbo {
        Some(true) => format!("governor {governor}, boost on"),
        Some(false) => format!("governor {governor}, boost off"),
        None => format!("governor {governor}"),
    };
    if governor == "performance" && facts.turbo != Some(true) {
        return Finding::new(Frequency, Good, seen);
    }
    Finding::new(Frequency, Doubtful, seen)
        .effect(
            "a processor is faster when it was idle or cool before, and when few others are busy",
        )
        .remedy(
            "`cpupower frequency-set -g performance`, and boost off (/sys/devices/system/cpu/cpufreq/boost, or intel_pstate/no_turbo)",
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::recorded;

    #[test]
    fn governor_and_boost_decide() {
        let governor = "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
        let boost = "sys/devices/system/cpu/cpufreq/boost";
        let turbo = "sys/devices/system/cpu/intel_pstate/no_turbo";
        let performance = (governor, "performance\n");
        for (files, state) in [
            (vec![], Unknown),
            (vec![performance], Good),
            (vec![performance, (boost, "0\n")], Good),
            (vec![performance, (boost, "1\n")], Doubtful),
            (vec![performance, (turbo, "1\n")], Good),
            (vec![(governor, "powersave\n"), (turbo, "0\n")], Doubtful),
            (vec![(governor, "schedutil\n")], Doubtful),
        ] {
            let (_folder, root) = recorded(&files);
            assert_eq!(judge(&root).state, state, "{files:?}");
        }
    }
}
