//! Processors that are threads of one core.

use prony_model::Finding;
use prony_model::FindingState::{Bad, Doubtful, Good, Unknown};
use prony_model::HostProperty::SharedCores;
use prony_probe::Root;

use super::hypervisor::is_virtual;
use crate::neighbour::Sharing;
use crate::processors::allowed;
use crate::words::percent;

/// Judges the processors that this program may use.
pub(super) fn judge(root: &Root, sharing: Option<&Sharing>) -> Finding {
    let siblings = siblings(root);
    if let Some(sharing) = sharing {
        return measured(root, siblings, *sharing);
    }
    match siblings {
        Some(true) => shared(
            "two of the processors are threads of one core".to_owned(),
            Doubtful,
        ),
        // A virtual machine rarely knows the cores of its host.
        Some(false) if is_virtual(root) == Some(false) => {
            Finding::new(SharedCores, Good, "every processor is a core of its own")
        }
        Some(false) => Finding::new(
            SharedCores,
            Good,
            "every processor is a core of its own, as far as this virtual machine knows",
        ),
        None => Finding::new(
            SharedCores,
            Unknown,
            "this machine does not describe its processors in /sys",
        ),
    }
}

/// The measurement decides, because virtual machines often show threads of one core as cores.
fn measured(root: &Root, siblings: Option<bool>, sharing: Sharing) -> Finding {
    let slower = 100.0 * (sharing.slowdown - 1.0).max(0.0);
    let told = match siblings {
        Some(true) => "; /sys shows threads of one core",
        Some(false) if slower >= 15.0 && is_virtual(root) != Some(false) => {
            "; the virtual machine shows them as cores"
        }
        _ => "",
    };
    let seen = format!(
        "a processor works {} slower while its neighbour is busy{told}",
        percent(slower)
    );
    let finding = match slower {
        ..10.0 if siblings == Some(true) => shared(seen, Doubtful),
        // A lower frequency with more busy processors explains as much.
        ..10.0 => Finding::new(SharedCores, Good, seen),
        10.0..40.0 => shared(seen, Doubtful),
        _ => shared(seen, Bad),
    };
    finding.figure("slower_percent", slower)
}

fn shared(seen: String, state: prony_model::FindingState) -> Finding {
    let effect = "a server is slower while the load generator or another of its threads uses the \
                  other half of its core; the ratio depends on how busy both are";
    // With a fixed placement, and unless it is extreme, all targets meet the same.
    let finding = Finding::new(SharedCores, state, seen).effect(effect);
    finding.remedy("turn siblings off (/sys/devices/system/cpu/smt/control), or name processors of different cores in `placement`")
}

/// `true` if two of the processors are on one core. `None` if the machine does not tell.
fn siblings(root: &Root) -> Option<bool> {
    let mut cores = Vec::new();
    for cpu in allowed().ok()? {
        let path = format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        let core = root.read(path).ok()?;
        if cores.contains(&core) {
            return Some(true);
        }
        cores.push(core);
    }
    Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::recorded;

    #[test]
    fn a_slow_neighbour_counts_whatever_the_machine_tells() {
        let (_folder, root) = recorded(&[]);
        for (slowdown, state) in [(0.99, Good), (1.02, Good), (1.2, Doubtful), (1.9, Bad)] {
            let sharing = Sharing { slowdown };
            assert_eq!(judge(&root, Some(&sharing)).state, state, "{slowdown}");
        }
        assert_eq!(judge(&root, None).state, Unknown);
    }

    #[test]
    fn siblings_are_found_by_their_lists() {
        let cpus = allowed().unwrap();
        let path =
            |cpu: &usize| format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        let paths: Vec<String> = cpus.iter().map(path).collect();
        let all_one: Vec<(&str, &str)> =
            paths.iter().map(|path| (path.as_str(), "0-1\n")).collect();
        let (_folder, root) = recorded(&all_one);
        assert_eq!(siblings(&root), Some(cpus.len() > 1));
    }
}
