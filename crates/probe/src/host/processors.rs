//! Frequency of the processors, and throttling by heat.

use prony_model::{Gap, Moment, Source};

use crate::draft::{Draft, gap};
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
            paths.filter(|path| root.number(path).is_some()).collect()
        };
        let frequencies = there("cpufreq/scaling_cur_freq");
        let mut throttles = first_of_each(root, &names, "core");
        throttles.extend(first_of_each(root, &names, "package"));
        for (found, what) in [
            (&frequencies, "the frequency of its processors (cpufreq)"),
            (&throttles, "thermal throttling of its processors"),
        ] {
            if found.is_empty() {
                let reason =
                    format!("this machine does not report {what}, like most virtual machines");
                absences.push(gap(Source::Host, reason));
            }
        }
        Self {
            frequencies,
            throttles,
        }
    }

    /// Takes a sample.
    pub(crate) fn sample(&self, root: &Root, moment: Moment, draft: &mut Draft) {
        let total = |paths: &[String]| sum(paths.iter().map(|path| root.number(path)));
        if !self.frequencies.is_empty() {
            match total(&self.frequencies) {
                Some(sum) => {
                    let mean = sum / self.frequencies.len() as u64;
                    draft.put(Source::Host, "frequency_khz", mean);
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

/// The counts of the processors that are the first of their `core` or `package`: every thread of a
/// core shows the count of the core.
fn first_of_each(root: &Root, names: &[String], unit: &str) -> Vec<String> {
    let mut seen = Vec::new();
    let mut paths = Vec::new();
    for name in names {
        let path = format!("{FOLDER}/{name}/thermal_throttle/{unit}_throttle_count");
        if root.number(&path).is_none() {
            continue;
        }
        // Without a list, each is on its own.
        let group = root.read(format!("{FOLDER}/{name}/topology/{unit}_cpus_list"));
        let group = group.unwrap_or_else(|_| name.clone());
        if !seen.contains(&group) {
            seen.push(group);
            paths.push(path);
        }
    }
    paths
}

/// Returns `true` if a name is `cpu` and a number.
fn is_processor(name: &str) -> bool {
    name.strip_prefix("cpu")
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use prony_model::{Counter, NoDifference};

    use super::*;
    use crate::testing::{Machine, gaps, prober_of_host, value};

    /// Two cores of two threads each, in one package.
    fn machine() -> Machine {
        let machine = Machine::new();
        for (processor, core) in [(0, "0,2"), (1, "1,3"), (2, "0,2"), (3, "1,3"), (10, "10")] {
            let write = |file: &str, text: String| {
                machine.write(&format!("{FOLDER}/cpu{processor}/{file}"), text);
            };
            write(
                "cpufreq/scaling_cur_freq",
                format!("{}\n", 1_000_000 + processor),
            );
            write("thermal_throttle/core_throttle_count", "5\n".into());
            write("thermal_throttle/package_throttle_count", "3\n".into());
            write("topology/core_cpus_list", format!("{core}\n"));
            write("topology/package_cpus_list", "0-3,10\n".into());
        }
        machine.write(&format!("{FOLDER}/cpuidle/x"), "9");
        machine
    }

    #[test]
    fn frequencies_have_a_mean_and_throttling_a_sum_over_cores_and_packages() {
        let machine = machine();
        let mut prober = prober_of_host(&machine);
        let sample = prober.sample(Moment::Start);
        assert_eq!(
            value(&sample, Source::Host, "frequency_khz"),
            Some(1_000_003)
        );
        assert_eq!(value(&sample, Source::Host, "throttles"), Some(3 * 5 + 3));
        let period = prober.sample(Moment::Period);
        assert_eq!(
            value(&period, Source::Host, "frequency_khz"),
            Some(1_000_003)
        );
        assert_eq!(value(&period, Source::Host, "throttles"), None);
        let of_host = |gap: &&Gap| gap.source == Source::Host;
        assert_eq!(prober.absences().iter().find(of_host), None);
    }

    #[test]
    fn a_processor_that_goes_away_leaves_a_gap() {
        let machine = machine();
        let mut prober = prober_of_host(&machine);
        let start = prober.sample(Moment::Start);
        machine.remove(&format!("{FOLDER}/cpu1"));
        let end = prober.sample(Moment::End);
        for name in ["frequency_khz", "throttles"] {
            let growth = end.since(&start, &Counter::new(Source::Host, name));
            assert_eq!(growth, Err(NoDifference::Lost));
        }
        assert_eq!(gaps(&end, Source::Host).len(), 2);
    }

    #[test]
    fn what_a_virtual_machine_does_not_tell_is_absent() {
        let absences = prober_of_host(&Machine::new()).absences();
        let told = |what| absences.iter().any(|gap| gap.reason.contains(what));
        assert!(told("cpufreq") && told("thermal throttling"));
    }
}
