//! The check of a host: everything that makes ratios untrustworthy here, and how much.

use std::path::Path;
use std::time::Duration;

use prony_model::{CanaryReading, Finding, FindingState, HostProperty, StopFlag, sort_findings};
use prony_probe::Root;

use crate::canary::canary;
use crate::host::{self, Measured, Taken};
use crate::interruptions::interruptions;
use crate::neighbour::sharing;
use crate::processor_time::Account;
use crate::processors::Pair;
use crate::wake_ups::{Shares, measure};
use crate::{CheckError, placement, steadiness};

/// Share of the processors, in percent, from which on other programs spoil measurements of the
/// processors' speed.
const DISTURBED_PERCENT: f64 = 5.0;

/// A check of this host. It changes nothing.
#[derive(Debug, Clone, Copy)]
pub struct HostCheck<'a> {
    /// The root under which `/proc` and `/sys` are read.
    pub root: &'a Root,
    /// The folder in which builds and images are kept.
    pub cache: &'a Path,
    /// Lengths of the measurements.
    pub lengths: Lengths,
}

/// Lengths of the measurements.
#[derive(Debug, Clone, Copy)]
pub struct Lengths {
    /// Time for which every processor is kept busy.
    pub busy: Duration,
    /// Time of wake-ups on one processor.
    pub same: Duration,
    /// Time of wake-ups across two.
    pub across: Duration,
    /// Time of wake-ups that are left to the kernel.
    pub free: Duration,
    /// Canaries before the wake-ups, and as many after them.
    pub canaries: u32,
}

/// A part of the check that begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckStage {
    /// Every processor is kept busy, to see which time is taken from it.
    Busy,
    /// One processor works beside another.
    Neighbour,
    /// Canaries run.
    Canaries,
    /// Two threads wake each other.
    WakeUps,
}

impl Default for Lengths {
    fn default() -> Self {
        Self {
            busy: Duration::from_secs(2),
            same: Duration::from_secs(8),
            across: Duration::from_secs(2),
            free: Duration::from_secs(8),
            canaries: 4,
        }
    }
}

impl Lengths {
    /// Time of the whole check, about: canaries take 150 ms each.
    pub fn sum(&self) -> Duration {
        let canaries = Duration::from_millis(150) * 2 * self.canaries;
        self.busy + self.same + self.across + self.free + canaries
    }
}

impl HostCheck<'_> {
    /// Reads the properties of the host and measures nothing, in less than 0.2 s. The most harmful
    /// come first.
    pub fn quick(root: &Root, cache: &Path) -> Vec<Finding> {
        let mut findings = host::read(root, cache, &Measured::default());
        sort_findings(&mut findings);
        findings
    }

    /// Reads the properties of the host and measures its speed. The most harmful come first. A
    /// measurement that the system does not permit is an unknown property. `None` if the user
    /// stopped it.
    pub fn run(&self, stop: &StopFlag, events: &mut dyn FnMut(CheckStage)) -> Option<Vec<Finding>> {
        let before = Account::take(self.root);
        events(CheckStage::Busy);
        let taken = self.taken(stop);
        events(CheckStage::Neighbour);
        let sharing = Pair::choose(self.root).and_then(sharing);
        events(CheckStage::Canaries);
        let mut readings = canaries(self.lengths.canaries, stop);
        events(CheckStage::WakeUps);
        let shares = Shares {
            same: self.lengths.same,
            across: self.lengths.across,
            free: self.lengths.free,
        };
        let wake_ups = measure(&shares, stop);
        events(CheckStage::Canaries);
        readings.extend(canaries(self.lengths.canaries, stop));
        if stop.requested() {
            return None;
        }
        let others = Account::take(self.root).others_since(&before, self.root);
        // What other programs did to the machine says nothing of the machine.
        let is_quiet = others
            .as_ref()
            .is_none_or(|others| others.percent < DISTURBED_PERCENT);
        let measured = Measured {
            taken: taken.ok(),
            others,
            sharing: sharing.ok().flatten().filter(|_| is_quiet),
        };
        let mut findings = host::read(self.root, self.cache, &measured);
        match wake_ups {
            Ok(Some(wake_ups)) => {
                findings.push(placement::judge(&wake_ups));
                findings.push(steadiness::judge(&wake_ups.same, &readings));
            }
            Ok(None) => return None,
            Err(error) => {
                findings.push(not_permitted(HostProperty::Placement, &error));
                findings.push(not_permitted(HostProperty::Steadiness, &error));
            }
        }
        sort_findings(&mut findings);
        Some(findings)
    }

    /// Time that is taken from busy processors.
    fn taken(&self, stop: &StopFlag) -> Result<Taken, CheckError> {
        let before = Account::take(self.root);
        let gaps = interruptions(self.lengths.busy, stop)?;
        let taken = Account::take(self.root).taken_since(&before);
        let lost = gaps.lost.as_secs_f64() / gaps.wall.as_secs_f64().max(1e-9);
        Ok(Taken {
            steal: taken.map(|taken| 100.0 * taken.hypervisor),
            unexplained: taken.map(|taken| 100.0 * (lost - taken.others).max(0.0)),
            longest: gaps.longest,
        })
    }
}

/// Canaries, as many as the system permits.
fn canaries(count: u32, stop: &StopFlag) -> Vec<CanaryReading> {
    let wanted = (0..count).take_while(|_| !stop.requested());
    wanted.filter_map(|_| canary().ok()).collect()
}

fn not_permitted(property: HostProperty, error: &CheckError) -> Finding {
    Finding::new(
        property,
        FindingState::Unknown,
        format!("failed to {error}"),
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::testing::recorded;

    fn short() -> Lengths {
        Lengths {
            busy: Duration::from_millis(20),
            same: Duration::from_millis(40),
            across: Duration::from_millis(40),
            free: Duration::from_millis(40),
            canaries: 1,
        }
    }

    fn properties(findings: &[Finding]) -> BTreeSet<HostProperty> {
        findings.iter().map(|finding| finding.property).collect()
    }

    #[test]
    fn every_property_is_found_once_on_any_machine() {
        let empty = recorded(&[]).1;
        for root in [&empty, &Root::live()] {
            let check = HostCheck {
                root,
                cache: Path::new("/"),
                lengths: short(),
            };
            let mut stages = Vec::new();
            let findings = check
                .run(&StopFlag::default(), &mut |stage| stages.push(stage))
                .unwrap();
            assert_eq!(findings.len(), HostProperty::ALL.len());
            assert_eq!(properties(&findings), HostProperty::ALL.into());
            assert!(findings.is_sorted_by_key(|finding| finding.state));
            assert_eq!(stages.len(), 5);
        }
    }

    #[test]
    fn the_quick_half_has_what_needs_no_time() {
        let findings = HostCheck::quick(&Root::live(), Path::new("/"));
        let measured = [HostProperty::Placement, HostProperty::Steadiness];
        assert_eq!(findings.len(), HostProperty::ALL.len() - measured.len());
        assert!(
            measured
                .iter()
                .all(|one| !properties(&findings).contains(one))
        );
    }

    #[test]
    fn a_wish_to_stop_ends_it() {
        let stop = StopFlag::default();
        stop.request();
        let check = HostCheck {
            root: &Root::live(),
            cache: Path::new("/"),
            lengths: Lengths::default(),
        };
        assert_eq!(check.run(&stop, &mut |_| {}), None);
    }
}
