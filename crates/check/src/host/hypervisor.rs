//! Processor time that the hypervisor gives to other machines.

use std::time::Duration;

use prony_model::Finding;
use prony_model::FindingState::{Bad, Doubtful, Good, Unknown};
use prony_model::HostProperty::Hypervisor;
use prony_probe::{HostFacts, Root};

use crate::words::percent;

/// Processor time that was taken while every processor was busy, in percent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Taken {
    /// As the hypervisor reports it. `None` if the kernel's file can't be read.
    pub(crate) steal: Option<f64>,
    /// Time in which a busy thread did not run and no other program did. `None` if the time of
    /// other programs is unknown.
    pub(crate) unexplained: Option<f64>,
    /// The longest interruption of a busy thread.
    pub(crate) longest: Duration,
}

const REMEDY: &str = "use a machine with processors of its own, or measure at another hour";

/// `true` if the kernel sees a hypervisor. `None` if it does not tell.
pub(super) fn is_virtual(root: &Root) -> Option<bool> {
    HostFacts::read(root).virtual_machine
}

/// Judges the measured time, or the time since the host's start where nothing was measured.
pub(super) fn judge(root: &Root, taken: Option<&Taken>) -> Finding {
    match taken {
        Some(taken) => measured(root, *taken),
        None => since_start(root),
    }
}

fn measured(root: &Root, taken: Taken) -> Finding {
    let hidden = match is_virtual(root) {
        // Without a hypervisor, interrupts and the machine's firmware are the reason.
        Some(false) => None,
        _ => taken.unexplained,
    };
    let share = taken.steal.into_iter().chain(hidden).reduce(f64::max);
    let Some(share) = share else {
        let reason = "/proc/stat can't be read, so that its time is not known";
        return Finding::new(Hypervisor, Unknown, reason);
    };
    let state = match share {
        ..1.0 => Good,
        ..3.0 => Doubtful,
        _ => Bad,
    };
    let reported = match taken.steal {
        Some(steal) if share > steal + 1.0 => format!(" (it reports {})", percent(steal)),
        _ => String::new(),
    };
    let longest_ms = taken.longest.as_secs_f64() * 1e3;
    let seen = match is_virtual(root) {
        Some(false) => "none".to_owned(),
        _ => format!(
            "took {} of the time of busy processors{reported}; longest interruption {:.1} ms",
            percent(share),
            longest_ms
        ),
    };
    let finding = Finding::new(Hypervisor, state, seen)
        .figure("taken_percent", share)
        .figure("longest_interruption_ms", longest_ms);
    if state == Good {
        return finding;
    }
    finding
        .effect("a target that it meets is slower by up to that share, and another is not")
        .remedy(REMEDY)
        .error(share)
}

/// A share of the whole time since the host's start says little of now: never more than a doubt.
fn since_start(root: &Root) -> Finding {
    let Some((wanted, steal)) = ticks(root) else {
        return Finding::new(Hypervisor, Unknown, "/proc/stat can't be read");
    };
    if is_virtual(root) == Some(false) {
        return Finding::new(Hypervisor, Good, "none");
    }
    let share = 100.0 * steal as f64 / (wanted as f64).max(1.0);
    let seen = format!(
        "took {} of the processor time that was wanted since the host's start",
        percent(share)
    );
    let finding = |state| {
        Finding::new(Hypervisor, state, seen.clone()).figure("steal_since_start_percent", share)
    };
    if share < 1.0 {
        return finding(Good);
    }
    finding(Doubtful)
        .effect("a target that it meets is slower, and another is not")
        .remedy(REMEDY)
}

/// Time of all processors since the host's start in clock ticks: all that was wanted, and the part
/// that the hypervisor took. Source of the layout: proc(5), stat.
fn ticks(root: &Root) -> Option<(u64, u64)> {
    let text = root.read("proc/stat").ok()?;
    let numbers = text
        .lines()
        .next()?
        .strip_prefix("cpu ")?
        .split_ascii_whitespace();
    let numbers: Vec<u64> = numbers.map_while(|number| number.parse().ok()).collect();
    let [user, nice, system, _idle, _wait, irq, softirq, steal, ..] = numbers[..] else {
        return None;
    };
    Some((user + nice + system + irq + softirq + steal, steal))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::recorded;

    #[test]
    fn time_that_is_not_reported_counts_in_virtual_machines() {
        let physical = [("proc/cpuinfo", "flags\t: fpu\n")];
        let guest = [("proc/cpuinfo", "flags\t: fpu hypervisor\n")];
        for (files, steal, unexplained, state) in [
            (&guest, Some(0.2), Some(0.4), Good),
            (&guest, Some(2.0), Some(0.4), Doubtful),
            (&guest, Some(0.0), Some(8.0), Bad),
            (&guest, None, Some(0.0), Good),
            (&guest, None, None, Unknown),
            (&physical, Some(0.0), Some(8.0), Good),
        ] {
            let (_folder, root) = recorded(files);
            let taken = Taken {
                steal,
                unexplained,
                longest: Duration::from_millis(4),
            };
            let finding = judge(&root, Some(&taken));
            assert_eq!(finding.state, state, "{taken:?}");
        }
    }

    #[test]
    fn the_time_since_the_start_raises_doubts_at_most() {
        let guest = ("proc/cpuinfo", "flags\t: fpu hypervisor\n");
        for (stat, state) in [
            (
                "cpu  10 1 20 500 3 2 1 0 0 0\ncpu0 10 1 20 500 3 2 1 0 0 0\n",
                Good,
            ),
            (
                "cpu  10 1 20 500 3 2 1 9 0 0\ncpu0 10 1 20 500 3 2 1 9 0 0\n",
                Doubtful,
            ),
            ("cpu  1\n", Unknown),
        ] {
            let (_folder, root) = recorded(&[guest, ("proc/stat", stat)]);
            assert_eq!(judge(&root, None).state, state, "{stat}");
        }
    }
}
