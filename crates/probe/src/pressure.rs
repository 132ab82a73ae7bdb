//! Pressure stall information of the host: time in which something had to wait for a resource.

use prony_model::{Gap, Source};

use crate::draft::{Draft, gap};
use crate::root::Root;
use crate::text::behind;

/// The files, and the names of their two lines. Source of the layout: the kernel's documentation,
/// accounting/psi.
const FILES: [(&str, &str, &str); 3] = [
    ("proc/pressure/cpu", "cpu_some_ns", "cpu_full_ns"),
    ("proc/pressure/io", "io_some_ns", "io_full_ns"),
    ("proc/pressure/memory", "memory_some_ns", "memory_full_ns"),
];

/// Notes the pressure as absent, if the kernel does not report it.
pub(crate) fn is_present(root: &Root, absences: &mut Vec<Gap>) -> bool {
    let first = root.read(FILES[0].0);
    if let Err(error) = &first {
        let reason = format!("{error}: start the kernel with `psi=1` (kernels from 4.20 on)");
        absences.push(gap(Source::Pressure, reason));
    }
    first.is_ok()
}

/// Takes a sample.
pub(crate) fn sample(root: &Root, draft: &mut Draft) {
    for (path, some, full) in FILES {
        let totals = root.parse(path, "a line `some … total=…`", |text| {
            Some((total_ns(text, "some ")?, total_ns(text, "full ")))
        });
        match totals {
            Ok(totals) => {
                draft.put(Source::Pressure, some, totals.0);
                // Older kernels have no such line for processors.
                draft.put(Source::Pressure, full, totals.1);
            }
            Err(error) => draft.gap(Source::Pressure, &error),
        }
    }
}

/// The total of a line such as `some avg10=0.00 avg60=0.00 avg300=0.00 total=12`, which is in
/// microseconds.
fn total_ns(text: &str, word: &str) -> Option<u64> {
    let mut words = behind(text, word)?.split_ascii_whitespace();
    let total = words.find_map(|word| word.strip_prefix("total="))?;
    total.parse::<u64>().ok()?.checked_mul(1_000)
}

#[cfg(test)]
mod tests {
    use prony_model::{Moment, NoDifference};

    use super::*;
    use crate::testing::{Machine, gaps, prober_of_host, value};

    const CPU: &str = "some avg10=0.00 avg60=0.12 avg300=0.00 total=1234\n";
    const BOTH: &str = "some avg10=0.00 avg60=0.00 avg300=0.00 total=9\n\
                        full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";

    #[test]
    fn reads_microseconds() {
        let machine = Machine::new();
        machine.write("proc/pressure/cpu", CPU);
        machine.write("proc/pressure/io", BOTH);
        machine.write("proc/pressure/memory", "some total\n");
        let sample = prober_of_host(&machine).sample(Moment::Period);
        let of = |name| value(&sample, Source::Pressure, name);
        assert_eq!(
            (of("cpu_some_ns"), of("cpu_full_ns")),
            (Some(1_234_000), None)
        );
        assert_eq!(
            (of("io_some_ns"), of("io_full_ns")),
            (Some(9_000), Some(7_000))
        );
        assert_eq!(of("memory_some_ns"), None);
        assert_eq!(gaps(&sample, Source::Pressure).len(), 1);
    }

    #[test]
    fn a_file_that_goes_away_leaves_a_gap() {
        let machine = Machine::new();
        for (path, ..) in FILES {
            machine.write(path, BOTH);
        }
        let mut prober = prober_of_host(&machine);
        let start = prober.sample(Moment::Start);
        machine.remove("proc/pressure/io");
        let end = prober.sample(Moment::End);
        let io = prony_model::Counter::new(Source::Pressure, "io_some_ns");
        assert_eq!(end.since(&start, &io), Err(NoDifference::Lost));
        let cpu = prony_model::Counter::new(Source::Pressure, "cpu_some_ns");
        assert_eq!(end.since(&start, &cpu), Ok(0));
        assert!(gaps(&end, Source::Pressure)[0].contains("proc/pressure/io"));
    }
}
