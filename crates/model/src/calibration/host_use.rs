//! Use of processors while something ran on them, and the part that others took.

use serde::{Deserialize, Serialize};

/// Use of the processors that a measurement could run on, over its measured time. Times are in
/// nanoseconds and summed over these processors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostUse {
    /// Number of the processors, at least 1.
    pub processors: u32,
    /// From the first reading to the second.
    pub wall_ns: u64,
    /// Idle, with or without a wait for storage.
    pub idle_ns: u64,
    /// In interrupts.
    pub interrupt_ns: u64,
    /// Taken by a hypervisor while this machine wanted to run.
    pub steal_ns: u64,
    /// Used by the measurement: the load generator and the null server.
    pub own_ns: u64,
}

/// Shares of the processors that were taken away from a measurement. In \[0, 1\].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Taken {
    /// By the hypervisor.
    pub hypervisor: f64,
    /// By other programs.
    pub others: f64,
}

impl Taken {
    /// Both together.
    pub fn share(&self) -> f64 {
        (self.hypervisor + self.others).min(1.0)
    }
}

impl HostUse {
    /// Share of the processors above which a measurement is disturbed. A ceiling that all processors
    /// work for is lower by as much. Below it, the kernel's figures can't tell: going idle and waking
    /// up is charged to no process, and is 2 to 3 % of two processors at 30,000 wake-ups per second;
    /// the figures also have steps of [`Self::STEP_NS`], which are 2 % of half a second.
    pub const TAKEN_MAX: f64 = 0.05;
    /// Steps in which kernels count the time of processors, in nanoseconds.
    pub const STEP_NS: u64 = 10_000_000;

    /// The shares that were taken. `None` where the time was too short for the kernel's figures to
    /// tell [`Self::TAKEN_MAX`].
    ///
    /// Time that was neither idle nor spent in interrupts, nor taken by the hypervisor, nor used by
    /// the measurement, was used by other programs. Interrupts are left out because most of them
    /// belong to the measurement.
    pub fn taken(&self) -> Option<Taken> {
        if self.wall_ns as f64 * Self::TAKEN_MAX < Self::STEP_NS as f64 {
            return None;
        }
        let all_ns = self.wall_ns.saturating_mul(self.processors.max(1).into());
        let share = |ns: u64| (ns as f64 / all_ns as f64).clamp(0.0, 1.0);
        let known = [self.idle_ns, self.interrupt_ns, self.steal_ns, self.own_ns];
        let known = known.into_iter().fold(0, u64::saturating_add);
        Some(Taken {
            hypervisor: share(self.steal_ns),
            others: share(all_ns.saturating_sub(known)),
        })
    }

    /// `true` if more than [`Self::TAKEN_MAX`] of the processors was taken.
    pub fn is_disturbed(&self) -> bool {
        self.taken()
            .is_some_and(|taken| taken.share() > Self::TAKEN_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two processors over a second.
    fn second(idle_ms: u64, steal_ms: u64, own_ms: u64) -> HostUse {
        HostUse {
            processors: 2,
            wall_ns: 1_000_000_000,
            idle_ns: idle_ms * 1_000_000,
            interrupt_ns: 10_000_000,
            steal_ns: steal_ms * 1_000_000,
            own_ns: own_ms * 1_000_000,
        }
    }

    #[test]
    fn the_rest_is_used_by_others() {
        let taken = second(900, 20, 1_000).taken().unwrap();
        assert!((taken.hypervisor - 0.01).abs() < 1e-12, "{taken:?}");
        assert!((taken.others - 0.035).abs() < 1e-12, "{taken:?}");
        assert!((taken.share() - 0.045).abs() < 1e-12, "{taken:?}");
    }

    #[test]
    fn more_than_the_bound_disturbs() {
        for (idle_ms, steal_ms, own_ms, disturbed) in [
            (1_000, 0, 990, false),
            (1_000, 0, 891, false),
            (1_000, 0, 889, true),
            (1_000, 60, 931, false),
            (1_000, 110, 880, true),
            (0, 0, 0, true),
            // The figures of processes and of processors don't agree to the last step.
            (1_010, 0, 1_000, false),
        ] {
            let host = second(idle_ms, steal_ms, own_ms);
            assert_eq!(host.is_disturbed(), disturbed, "{host:?}");
        }
    }

    #[test]
    fn a_short_time_tells_nothing() {
        let short = HostUse {
            wall_ns: 190_000_000,
            ..second(0, 0, 0)
        };
        assert_eq!(short.taken(), None);
        assert!(!short.is_disturbed());
        let nothing = HostUse {
            wall_ns: 0,
            ..short
        };
        assert_eq!(nothing.taken(), None);
    }
}
