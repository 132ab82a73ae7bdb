//! Processor time that other programs take.

use std::thread::available_parallelism;

use prony_model::Finding;
use prony_model::FindingState::{Bad, Doubtful, Good, Unknown};
use prony_model::HostProperty::Programs;
use prony_probe::Root;

use crate::processor_time::Others;
use crate::words::percent;

const REMEDY: &str = "end them, or measure when they are done";

/// Judges the measured share, or the kernel's averages where nothing was measured.
pub(super) fn judge(root: &Root, others: Option<&Others>) -> Finding {
    match others {
        Some(others) => measured(others),
        None => recent(root),
    }
}

/// The lower threshold is what the check itself costs beside its own threads: going idle and waking
/// up is charged to no process. The upper one is a ratio of a few percent.
fn measured(others: &Others) -> Finding {
    let state = match others.percent {
        ..3.0 => Good,
        ..5.0 => Doubtful,
        _ => Bad,
    };
    let names: Vec<String> = others
        .culprits
        .iter()
        .map(|culprit| format!("{} {}", culprit.name, percent(culprit.percent)))
        .collect();
    let mut seen = format!("took {} of the processors", percent(others.percent));
    let explained: f64 = others.culprits.iter().map(|culprit| culprit.percent).sum();
    let mut parts = names;
    if state != Good && explained < others.percent / 2.0 {
        parts.push("most of it by programs that have ended or can't be seen from here".to_owned());
    }
    if !parts.is_empty() {
        seen = format!("{seen}: {}", parts.join(", "));
    }
    let finding =
        Finding::new(Programs, state, seen).figure("other_programs_percent", others.percent);
    if state == Good {
        return finding;
    }
    finding
        .effect("a target that they meet is slower by up to that share, and another is not")
        .remedy(REMEDY)
        .error(others.percent)
}

/// The share of the last ten seconds in which a thread waited for a processor, or the load average
/// on kernels that do not report it.
fn recent(root: &Root) -> Finding {
    let waited = root.read("proc/pressure/cpu").ok();
    if let Some(waited) = waited.as_deref().and_then(waited_percent) {
        let state = match waited {
            ..5.0 => Good,
            ..20.0 => Doubtful,
            _ => Bad,
        };
        let seen = format!(
            "programs waited for a processor in {} of the last 10 s",
            percent(waited)
        );
        return wanting(state, seen).figure("waited_percent", waited);
    }
    let load = root.read("proc/loadavg").ok();
    let Some(load) = load.as_deref().and_then(first_number) else {
        let reason = "neither /proc/pressure/cpu nor /proc/loadavg can be read";
        return Finding::new(Programs, Unknown, reason);
    };
    let cpus = available_parallelism().map_or(1.0, |cpus| cpus.get() as f64);
    // The average is of a minute, most of which is over: never more than a doubt.
    let state = if load < 0.3 * cpus { Good } else { Doubtful };
    wanting(state, format!("load average of the last minute: {load}")).figure("load_average", load)
}

fn wanting(state: prony_model::FindingState, seen: String) -> Finding {
    let finding = Finding::new(Programs, state, seen);
    if state == Good {
        return finding;
    }
    finding
        .effect("they take processor time from the targets that they meet, and from others none")
        .remedy(REMEDY)
}

/// The first average of a line such as `some avg10=0.12 avg60=…`.
fn waited_percent(pressure: &str) -> Option<f64> {
    let line = pressure
        .lines()
        .find_map(|line| line.strip_prefix("some "))?;
    let mut words = line.split_ascii_whitespace();
    words
        .find_map(|word| word.strip_prefix("avg10="))?
        .parse()
        .ok()
}

fn first_number(text: &str) -> Option<f64> {
    text.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::processor_time::Culprit;
    use crate::testing::recorded;

    #[test]
    fn measured_shares_are_judged() {
        for (share, state) in [(2.9, Good), (3.0, Doubtful), (40.0, Bad)] {
            let others = Others {
                percent: share,
                culprits: vec![Culprit {
                    name: "cc1plus".into(),
                    percent: share,
                }],
            };
            let finding = judge(&recorded(&[]).1, Some(&others));
            assert_eq!(finding.state, state);
            assert!(finding.seen.contains("cc1plus"), "{}", finding.seen);
            assert_eq!(finding.remedy.is_some(), state != Good);
        }
    }

    #[test]
    fn the_kernels_averages_are_judged_without_a_measurement() {
        let pressure = "proc/pressure/cpu";
        for (files, state) in [
            (vec![(pressure, "some avg10=0.12 avg60=9\n")], Good),
            (vec![(pressure, "some avg10=7.00 avg60=9\n")], Doubtful),
            (vec![(pressure, "some avg10=76.83 avg60=9\n")], Bad),
            (vec![("proc/loadavg", "0.01 0.2 0.3 1/2 3\n")], Good),
            (vec![("proc/loadavg", "4000 0.2 0.3 1/2 3\n")], Doubtful),
            (vec![], Unknown),
        ] {
            let (_folder, root) = recorded(&files);
            assert_eq!(judge(&root, None).state, state, "{files:?}");
        }
    }
}
