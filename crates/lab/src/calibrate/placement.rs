//! Processors of load generator and null server.

use prony_model::{CpuSet, PlacementRule, WakeUps};
use prony_probe::{Root, usable_processors};

/// The rule by which both get their processors, and the processors that there are.
#[derive(Debug, Clone)]
pub(super) struct ChildPlacement {
    pub(super) rule: PlacementRule,
    /// Processors that this program may use; `None` if the kernel does not tell.
    pub(super) usable: Option<CpuSet>,
}

impl ChildPlacement {
    /// The placement by a rule on the live processors.
    pub(super) fn new(rule: PlacementRule, root: &Root) -> Self {
        Self {
            rule,
            usable: usable_processors(root).ok(),
        }
    }

    /// The processors for a number of clients, the last ones of those that are usable: the first
    /// serve interrupts. `None` if all of them are needed, or the kernel chooses.
    pub(super) fn processors(&self, clients: u32) -> Option<CpuSet> {
        let usable = self.usable.as_ref()?.cpus();
        let wanted = usize::try_from(clients.max(1)).unwrap_or(usize::MAX);
        let left_out = usable.len().checked_sub(wanted).filter(|left| *left > 0)?;
        if self.rule != PlacementRule::Together {
            return None;
        }
        let names: Vec<String> = usable.iter().skip(left_out).map(u16::to_string).collect();
        names.join(",").parse().ok()
    }
}

/// The rule for a host: generator and null server share as many processors as there are clients if
/// a wake-up across processors is dear, or its price is unknown.
pub(super) fn rule(cpus: u32, wake_ups: Option<&WakeUps>) -> PlacementRule {
    let ratio = wake_ups.and_then(WakeUps::across_by_same);
    if cpus > 1 && ratio.is_none_or(|ratio| ratio >= WakeUps::DEAR) {
        PlacementRule::Together
    } else {
        PlacementRule::Free
    }
}

#[cfg(test)]
mod tests {
    use prony_model::WakeUpWindow;

    use super::*;

    #[test]
    fn as_many_processors_as_clients_from_the_last() {
        use PlacementRule::{Free, Together};
        for (rule, usable, clients, expected) in [
            (Together, "0-1", 1, Some("1")),
            (Together, "0-1", 0, Some("1")),
            (Together, "0-1", 2, None),
            (Together, "0-1", 16, None),
            (Together, "0", 1, None),
            (Together, "0,2,4-5", 3, Some("2,4-5")),
            (Free, "0-1", 1, None),
        ] {
            let usable = Some(usable.parse().unwrap());
            let placement = ChildPlacement { rule, usable };
            let cpus = placement.processors(clients).map(|cpus| cpus.to_string());
            assert_eq!(cpus.as_deref(), expected, "{clients} in {placement:?}");
        }
        let unknown = ChildPlacement {
            rule: Together,
            usable: None,
        };
        assert_eq!(unknown.processors(1), None);
    }

    #[test]
    fn dear_wake_ups_keep_both_together() {
        let windows = |wall_ns| {
            vec![WakeUpWindow {
                round_trips: 100,
                wall_ns,
                cpu_ns: 1,
            }]
        };
        let costing = |across_ns| WakeUps {
            window_ns: 1,
            same: windows(1_000),
            across: windows(across_ns),
            free: Vec::new(),
        };
        let of = |cpus, wake_ups: Option<&WakeUps>| super::rule(cpus, wake_ups).name();
        assert_eq!(of(1, None), "free");
        assert_eq!(of(2, None), "together");
        assert_eq!(of(2, Some(&costing(1_500))), "together");
        assert_eq!(of(2, Some(&costing(1_499))), "free");
    }
}
