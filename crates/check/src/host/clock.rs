//! The price of reading the clock.

use std::hint::black_box;
use std::time::Instant;

use prony_model::Finding;
use prony_model::FindingState::{Bad, Doubtful, Good};
use prony_model::HostProperty::Clock;
use prony_probe::Root;

/// Readings of the clock for one price: 1 ms, or 20 ms where each is a system call.
const TIMES: u32 = 20_000;

/// Measures the price, and names the source.
pub(super) fn judge(root: &Root) -> Finding {
    let begin = Instant::now();
    for _ in 0..TIMES {
        black_box(Instant::now());
    }
    let ns = begin.elapsed().as_nanos() as f64 / f64::from(TIMES);
    let source = root.read("sys/devices/system/clocksource/clocksource0/current_clocksource");
    let source = source.ok().map(|name| name.trim().to_owned());
    of(source.as_deref(), ns)
}

/// Clocks that are read without a system call take 20 to 60 ns.
fn of(source: Option<&str>, ns: f64) -> Finding {
    let state = match ns {
        ..200.0 => Good,
        ..1_000.0 => Doubtful,
        _ => Bad,
    };
    let name = source.unwrap_or("source unknown");
    let finding = Finding::new(
        Clock,
        state,
        format!("{name}, {ns:.0} ns each time it is read"),
    )
    .figure("reading_ns", ns);
    if state == Good {
        return finding;
    }
    finding
        .effect("load generator and servers read it several times for each operation, which makes all of them look more alike")
        .remedy("choose tsc in /sys/devices/system/clocksource/clocksource0/current_clocksource, if it is available there")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::recorded;

    #[test]
    fn the_price_counts_and_not_the_name() {
        for (source, ns, state) in [
            (Some("tsc"), 25.0, Good),
            (None, 25.0, Good),
            (Some("kvm-clock"), 400.0, Doubtful),
            (Some("acpi_pm"), 3_000.0, Bad),
        ] {
            assert_eq!(of(source, ns).state, state);
        }
        let finding = judge(&recorded(&[]).1);
        assert!(finding.figures["reading_ns"] > 0.0);
    }
}
