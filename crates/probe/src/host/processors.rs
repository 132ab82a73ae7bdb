//! How fast the processors run, and how often heat slowed them down.

use prony_model::{Gap, Moment, Source};

use crate::draft::Draft;
use crate::root::Root;
use crate::text::sum;

const FOLDER: &str = "sys/devices/system/cpu";

/// Reads the processors' frequencies and thermal throttling.
#[derive(Debug)]
pub(crate) struct Processors {
    /// Files with a frequency, in kHz.
    frequencies: Vec<String>,
    /// Files that count events of throttling: one for each core, one for each package.
    throttles: Vec<String>,
}

impl Processors {
    /// Finds out what the machine tells. Source of the names: the kernel's documentation,
    /// ABI/testing/sysfs-devices-system-cpu.
    pub(crate) fn find(root: &Root, absences: &mut Vec<Gap>) -> Self {
        let mut names: Vec<String> = root.list(FOLDER).unwrap_or_default();
        names.retain(|name| is_processor(name));
        names.sort_unstable();
        let there = |file: &str| -> Vec<String> {
            let paths = names.iter().map(|name| format!("{FOLDER}/{name}/{file}"));
            paths.filter(|path| number(root, path).is_some()).collect()
        };
        let frequencies = there("cpufreq/scaling_cur_freq");
        let mut throttles = first_of_each(root, &names, "core_cpus_list", "core_throttle_count");
        throttles.extend(first_of_each(
            root,
            &names,
            "package_cpus_list",
            "package_throttle_count",
        ));
        for (found, what) in [
            (&frequencies, "the frequency of its processors (cpufreq)"),
            (&throttles, "thermal throttling of its processors"),
        ] {
            if found.is_empty() {
                absences.push(Gap {
                    source: Source::Host,
                    reason: format!(
                        "this machine does not tell {what}, as most virtual machines do not"
                    ),
                });
            }
        }
        Self {
            frequencies,
            throttles,
        }
    }

    /// Takes a sample.
    pub(crate) fn sample(&self, root: &Root, moment: Moment, draft: &mut Draft) {
        let total = |paths: &[String]| sum(paths.iter().map(|path| number(root, path)));
        if !self.frequencies.is_empty() {
            match total(&self.frequencies) {
                Some(sum) => {
                    draft.put(
                        Source::Host,
                        "frequency_khz",
                        sum / self.frequencies.len() as u64,
                    );
                }
                None => draft.gap(Source::Host, "the frequency of a processor can't be read"),
            }
        }
        if !self.throttles.is_empty() && moment != Moment::Period {
            match total(&self.throttles) {
                Some(sum) => draft.put(Source::Host, "throttles", sum),
                None => draft.gap(Source::Host, "a count of throttling can't be read"),
            }
        }
    }
}

/// The counts of the processors that are the first of their core or package: every thread of a core
/// shows the count of the core.
fn first_of_each(root: &Root, names: &[String], together: &str, count: &str) -> Vec<String> {
    let mut seen = Vec::new();
    let mut paths = Vec::new();
    for name in names {
        let path = format!("{FOLDER}/{name}/thermal_throttle/{count}");
        if number(root, &path).is_none() {
            continue;
        }
        // Without a list, each is on its own.
        let group = root.read(format!("{FOLDER}/{name}/topology/{together}"));
        let group = group.unwrap_or_else(|_| name.clone());
        if !seen.contains(&group) {
            seen.push(group);
            paths.push(path);
        }
    }
    paths
}

fn number(root: &Root, path: &str) -> Option<u64> {
    root.read(path).ok()?.trim().parse().ok()
}

/// Whether a name is `cpu` and a number.
fn is_processor(name: &str) -> bool {
    name.strip_prefix("cpu")
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}
