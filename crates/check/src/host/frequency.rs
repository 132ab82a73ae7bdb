//! Frequency of the processors: governor and boost.

use prony_model::Finding;
use prony_model::FindingState::{Bad, Doubtful, Good, Unknown};
use prony_model::HostProperty::Frequency;
use prony_probe::{HostFacts, Root};

use crate::words::percent;

/// Greatest difference of fixed work, in percent, that a constant frequency allows.
const STEADY: f64 = 3.0;
/// Difference of fixed work, in percent, that no ratio of a few percent survives.
const UNSTEADY: f64 = 10.0;

/// Judges the governor and boost. `speed_percent` is the measured difference of fixed work.
pub(super) fn judge(root: &Root, speed_percent: Option<f64>) -> Finding {
    let governor = HostFacts::read(root).governor;
    let boost = boost(root);
    let mut seen = match (&governor, boost) {
        (None, _) => "this machine does not report it, like most virtual machines".to_owned(),
        (Some(governor), Some(true)) => format!("governor {governor}, boost on"),
        (Some(governor), Some(false)) => format!("governor {governor}, boost off"),
        (Some(governor), None) => format!("governor {governor}"),
    };
    if let Some(speed) = speed_percent {
        seen = format!("{seen}; fixed work took up to {} longer", percent(speed));
    }
    let fixed = governor.as_deref() == Some("performance");
    let state = match (&governor, speed_percent) {
        (_, Some(speed)) if speed >= UNSTEADY => Bad,
        (_, Some(speed)) if speed >= STEADY => Doubtful,
        (None, Some(_)) => Good,
        (None, None) => Unknown,
        (Some(_), _) if fixed && boost != Some(true) => Good,
        (Some(_), _) => Doubtful,
    };
    let mut finding = Finding::new(Frequency, state, seen);
    if let Some(speed) = speed_percent {
        finding = finding.figure("slower_percent", speed);
        if state != Good {
            finding = finding.error(speed);
        }
    }
    if state == Good || state == Unknown {
        return finding;
    }
    let finding = finding.effect(
        "a processor is faster when it was idle or cool before, and when few others are busy",
    );
    match governor {
        Some(_) => finding.remedy(
            "`cpupower frequency-set -g performance`, and boost off (/sys/devices/system/cpu/cpufreq/boost, or intel_pstate/no_turbo)",
        ),
        None => finding.remedy("use a machine with processors of its own"),
    }
}

/// `true` if processors may exceed their nominal frequency. `None` if the machine does not tell.
fn boost(root: &Root) -> Option<bool> {
    const CPU: &str = "sys/devices/system/cpu";
    let boost = root.number(format!("{CPU}/cpufreq/boost"));
    let no_turbo = || root.number(format!("{CPU}/intel_pstate/no_turbo"));
    boost
        .map(|on| on != 0)
        .or_else(|| no_turbo().map(|off| off == 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::recorded;

    #[test]
    fn governor_boost_and_speed_decide() {
        let governor = "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
        let boost = "sys/devices/system/cpu/cpufreq/boost";
        let turbo = "sys/devices/system/cpu/intel_pstate/no_turbo";
        let steady = vec![(governor, "performance\n"), (boost, "0\n")];
        for (files, speed, state) in [
            (vec![], None, Unknown),
            (vec![], Some(0.5), Good),
            (vec![], Some(4.0), Doubtful),
            (vec![], Some(30.0), Bad),
            (steady.clone(), None, Good),
            (steady, Some(12.0), Bad),
            (
                vec![(governor, "performance\n"), (boost, "1\n")],
                None,
                Doubtful,
            ),
            (
                vec![(governor, "performance\n"), (turbo, "1\n")],
                None,
                Good,
            ),
            (
                vec![(governor, "powersave\n"), (turbo, "0\n")],
                Some(0.1),
                Doubtful,
            ),
            (vec![(governor, "schedutil\n")], None, Doubtful),
        ] {
            let (_folder, root) = recorded(&files);
            let finding = judge(&root, speed);
            assert_eq!(finding.state, state, "{files:?} {speed:?}");
        }
    }
}
