//! The change of a canary relative to others of the same host, and the bound on it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::CanaryReading;
use crate::Thousandths;
use crate::words::words;

words! {
    /// The side of a trial on which a canary ran.
    pub enum CanaryMoment {
        /// Before the server was started.
        Before = "before",
        /// After the server was stopped.
        After = "after",
    }
}

words! {
    /// A part of the canary.
    pub enum CanaryPart {
        /// Integer arithmetic.
        Processor = "processor",
        /// Loads from memory.
        Memory = "memory",
        /// System calls.
        SystemCalls = "system-calls",
        /// Wake-ups across processors.
        WakeUp = "wake-up",
    }
}

/// The bound on the change of canaries, and its effect on trials, as an experiment declares them
/// before it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CanaryRule {
    /// Change of a part in percent, in either direction, above which a trial is reported.
    pub bound_percent: Thousandths,
    /// `true` if such trials are excluded and run again.
    pub exclude: bool,
}

/// The change of one part of a canary relative to the median of others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CanaryChange {
    /// The part.
    pub part: CanaryPart,
    /// Time ÷ median − 1: above 0 the host was slower.
    pub share: f64,
}

impl Default for CanaryRule {
    fn default() -> Self {
        Self {
            bound_percent: Self::BOUND_PERCENT,
            exclude: false,
        }
    }
}

impl CanaryRule {
    /// The bound of an experiment that sets none.
    pub const BOUND_PERCENT: Thousandths = Thousandths(10_000);
    /// Canaries that must be on record before a trial can be excluded: a median of fewer is decided
    /// by one or two of them.
    pub const CANARIES_MIN: usize = 5;
    /// Repetitions of an excluded trial, after which it fails.
    pub const REPEATS_MAX: u32 = 3;

    /// Factor of the bound on wake-ups: on a virtual machine whose other parts stayed within
    /// 16 % while other programs were busy, wake-ups were off by 10 % or more in half of the
    /// canaries.
    pub const WAKE_UPS: u32 = 5;

    /// The bound on a part.
    pub const fn bound_percent_of(&self, part: CanaryPart) -> Thousandths {
        match part {
            CanaryPart::WakeUp => Thousandths(self.bound_percent.0.saturating_mul(Self::WAKE_UPS)),
            CanaryPart::Processor | CanaryPart::Memory | CanaryPart::SystemCalls => {
                self.bound_percent
            }
        }
    }

    /// A change ÷ the bound on its part, without direction: above 1 it exceeds the bound.
    pub fn excess(&self, change: &CanaryChange) -> f64 {
        change.share.abs() * 100.0 / self.bound_percent_of(change.part).as_f64()
    }

    /// Returns `true` if a change exceeds the bound.
    pub fn is_exceeded_by(&self, change: &CanaryChange) -> bool {
        self.excess(change) > 1.0
    }
}

impl CanaryReading {
    /// The time of a part, in nanoseconds.
    pub const fn ns(&self, part: CanaryPart) -> Option<u64> {
        match part {
            CanaryPart::Processor => Some(self.processor_ns),
            CanaryPart::Memory => Some(self.memory_ns),
            CanaryPart::SystemCalls => Some(self.system_calls_ns),
            CanaryPart::WakeUp => self.wake_up_ns,
        }
    }

    /// The median of each part over several readings, those without the part left out. `None` if
    /// there is no reading.
    pub fn median(readings: &[Self]) -> Option<Self> {
        let of = |part| median(readings.iter().filter_map(|reading| reading.ns(part)));
        Some(Self {
            processor_ns: of(CanaryPart::Processor)?,
            memory_ns: of(CanaryPart::Memory)?,
            system_calls_ns: of(CanaryPart::SystemCalls)?,
            wake_up_ns: of(CanaryPart::WakeUp),
        })
    }

    /// The change of each part that both readings have.
    pub fn changes(&self, median: &Self) -> impl Iterator<Item = CanaryChange> + use<> {
        let (this, median) = (*self, *median);
        CanaryPart::ALL.into_iter().filter_map(move |part| {
            let usual = median.ns(part).filter(|usual| *usual > 0)?;
            let share = this.ns(part)? as f64 / usual as f64 - 1.0;
            Some(CanaryChange { part, share })
        })
    }
}

impl CanaryPart {
    /// The part as people read it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Processor => "processor",
            Self::Memory => "memory",
            Self::SystemCalls => "system calls",
            Self::WakeUp => "wake-ups",
        }
    }
}

/// The part, the amount and the direction, such as `memory took 12.5 % longer`.
impl fmt::Display for CanaryChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = if self.share > 0.0 {
            "longer"
        } else {
            "less time"
        };
        let percent = self.share.abs() * 100.0;
        write!(f, "{} took {percent:.1} % {direction}", self.part.words())
    }
}

/// The middle value, or the mean of the two in the middle. `None` if there is none.
fn median(values: impl Iterator<Item = u64>) -> Option<u64> {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    let upper = *values.get(values.len() / 2)?;
    let lower = *values.get(values.len().checked_sub(1)? / 2)?;
    Some(lower.midpoint(upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(processor_ns: u64, wake_up_ns: Option<u64>) -> CanaryReading {
        CanaryReading {
            processor_ns,
            memory_ns: 2000,
            system_calls_ns: 3000,
            wake_up_ns,
        }
    }

    #[test]
    fn a_median_is_taken_part_by_part() {
        assert_eq!(CanaryReading::median(&[]), None);
        let odd = [
            reading(900, None),
            reading(5000, Some(70)),
            reading(1000, Some(40)),
        ];
        assert_eq!(CanaryReading::median(&odd), Some(reading(1000, Some(55))));
        let even = [reading(1000, None), reading(1100, None)];
        assert_eq!(CanaryReading::median(&even), Some(reading(1050, None)));
    }

    #[test]
    fn changes_have_a_direction_and_a_part() {
        let usual = reading(1000, Some(100));
        let shares = |reading: CanaryReading| {
            let changes = reading.changes(&usual);
            changes
                .map(|change| (change.part, (change.share * 1000.0).round()))
                .filter(|(_, share)| *share != 0.0)
                .collect::<Vec<_>>()
        };
        assert_eq!(shares(usual), []);
        assert_eq!(
            shares(reading(1250, Some(60))),
            [(CanaryPart::Processor, 250.0), (CanaryPart::WakeUp, -400.0)]
        );
        // One processor is missing now.
        assert_eq!(shares(reading(1000, None)), []);
        assert_eq!(reading(1000, None).changes(&usual).count(), 3);
        let nothing = CanaryReading {
            processor_ns: 0,
            ..usual
        };
        assert_eq!(usual.changes(&nothing).count(), 3, "no division by zero");
    }

    #[test]
    fn a_bound_holds_in_both_directions() {
        let rule = CanaryRule::default();
        let change = |share| CanaryChange {
            part: CanaryPart::Memory,
            share,
        };
        for (share, exceeded) in [
            (0.0, false),
            (0.0999, false),
            (0.1001, true),
            (-0.0999, false),
            (-0.1001, true),
            (4.0, true),
        ] {
            assert_eq!(rule.is_exceeded_by(&change(share)), exceeded, "{share}");
        }
        let wake_up = |share| CanaryChange {
            part: CanaryPart::WakeUp,
            share,
        };
        assert!(!rule.is_exceeded_by(&wake_up(0.4999)));
        assert!(rule.is_exceeded_by(&wake_up(-0.5001)));
        assert!(rule.excess(&change(0.2)) > rule.excess(&wake_up(0.9)));
        assert_eq!(change(-0.3).to_string(), "memory took 30.0 % less time");
        assert_eq!(change(1.004).to_string(), "memory took 100.4 % longer");
    }
}
