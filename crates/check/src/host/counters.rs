//! Permission to count instructions.

use prony_model::Finding;
use prony_model::FindingState::{Doubtful, Good};
use prony_model::HostProperty::Counters;
use prony_probe::hardware_counters;

/// Judges if the processor's counters can be read.
pub(super) fn judge() -> Finding {
    match hardware_counters() {
        Ok(()) => Finding::new(Counters, Good, "the processor's counters can be read"),
        // The error names its remedy.
        Err(error) => Finding::new(Counters, Doubtful, format!("failed to {error}")).effect(
            "costs of an operation are processor time, which varies with the host, and not instructions",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_never_bad() {
        assert!(judge().state >= Doubtful);
    }
}
