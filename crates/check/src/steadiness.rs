//! Differences between equal pieces of work on a fixed processor, second by second.

use prony_model::FindingState::{Bad, Doubtful, Good, Unknown};
use prony_model::HostProperty::Steadiness;
use prony_model::{CanaryReading, Finding, WakeUpWindow};
use prony_stats::Summary;

use crate::words::percent;

/// Windows in a second.
const WINDOWS: usize = 50;
/// Seconds of which a standard deviation says something.
const SECONDS_MIN: usize = 4;
/// Difference between processor parts of canaries, in percent, that is none of the machine's speed.
const STEADY: f64 = 3.0;
/// The same that no ratio of a few percent survives.
const UNSTEADY: f64 = 10.0;
/// Length of the steps for which the effect is stated, in seconds.
const STEP_SECONDS: f64 = 10.0;

/// Round trips per second in each whole second.
pub(crate) fn per_second(windows: &[WakeUpWindow]) -> Vec<f64> {
    windows
        .chunks_exact(WINDOWS)
        .filter_map(|second| {
            let wall_ns: u64 = second.iter().map(|window| window.wall_ns).sum();
            let round_trips: u64 = second.iter().map(|window| window.round_trips).sum();
            (wall_ns > 0).then(|| round_trips as f64 / (wall_ns as f64 / 1e9))
        })
        .collect()
}

/// Range of numbers relative to their mean, in percent. `None` for fewer than two.
pub(crate) fn range_percent(values: &[f64]) -> Option<f64> {
    let summary = Summary::of(values).ok()?;
    (summary.n > 1).then(|| 100.0 * (summary.max - summary.min) / summary.mean)
}

/// Greatest difference of one part of the canaries, in percent of the least. `None` for fewer than
/// two.
pub(crate) fn canaries_percent(
    canaries: &[CanaryReading],
    part: impl Fn(&CanaryReading) -> Option<u64>,
) -> Option<f64> {
    let times: Vec<f64> = canaries
        .iter()
        .filter_map(part)
        .map(|ns| ns as f64)
        .collect();
    let summary = Summary::of(&times).ok()?;
    (summary.n > 1).then(|| 100.0 * (summary.max / summary.min - 1.0))
}

/// Judges windows on one processor, and canaries over the same time.
pub(crate) fn judge(fixed: &[WakeUpWindow], canaries: &[CanaryReading]) -> Finding {
    let seconds = per_second(fixed);
    let variation = match Summary::of(&seconds) {
        Ok(summary) if summary.n >= SECONDS_MIN => summary.variation,
        _ => None,
    };
    let Some(variation) = variation else {
        return Finding::new(Steadiness, Unknown, "measured for too short a time");
    };
    // Two means over independent seconds, at two standard errors.
    let error = 200.0 * variation * (2.0 / STEP_SECONDS).sqrt();
    let by_seconds = match error {
        ..2.0 => Good,
        2.0..6.0 => Doubtful,
        _ => Bad,
    };
    let speed = canaries_percent(canaries, |canary| Some(canary.processor_ns)).unwrap_or(0.0);
    let by_canaries = match speed {
        ..STEADY => Good,
        STEADY..UNSTEADY => Doubtful,
        _ => Bad,
    };
    // States are in order, the worst first.
    let state = by_seconds.min(by_canaries);
    let part = |name, of: fn(&CanaryReading) -> Option<u64>| {
        let range = canaries_percent(canaries, of)?;
        Some(format!("{name} {}", percent(range)))
    };
    let parts: Vec<String> = [
        part("processor", |canary| Some(canary.processor_ns)),
        part("memory", |canary| Some(canary.memory_ns)),
        part("system calls", |canary| Some(canary.system_calls_ns)),
        part("wake-ups", |canary| canary.wake_up_ns),
    ]
    .into_iter()
    .flatten()
    .collect();
    let mut seen = format!(
        "equal work on one processor differs from second to second by {} (standard deviation)",
        percent(100.0 * variation)
    );
    if !parts.is_empty() {
        seen = format!("{seen}; canaries by up to: {}", parts.join(", "));
    }
    let finding = Finding::new(Steadiness, state, seen)
        .figure("second_deviation_percent", 100.0 * variation)
        .error(error.max(speed));
    if state == Good {
        return finding;
    }
    finding
        .effect(format!(
            "the ratio of two steps of {STEP_SECONDS} s is off by up to {} for the seconds alone; \
             trials at different times differ by as much as canaries do",
            percent(error)
        ))
        .remedy("longer steps and more blocks: four times the time halves it")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seconds of 50 windows with this many round trips each.
    fn seconds(round_trips: &[u64]) -> Vec<WakeUpWindow> {
        let window = |round_trips: u64| WakeUpWindow {
            round_trips,
            wall_ns: 20_000_000,
            cpu_ns: 1,
        };
        round_trips
            .iter()
            .flat_map(|count| std::iter::repeat_n(window(*count), WINDOWS))
            .collect()
    }

    #[test]
    fn deviations_are_judged_by_the_error_of_a_ratio() {
        for (round_trips, state) in [
            (vec![1000, 1001, 999, 1000], Good),
            (vec![1000, 1050, 950, 1000], Doubtful),
            (vec![1000, 400, 1000, 2000], Bad),
            (vec![1000, 1000, 1000], Unknown),
            (vec![], Unknown),
        ] {
            assert_eq!(
                judge(&seconds(&round_trips), &[]).state,
                state,
                "{round_trips:?}"
            );
        }
    }

    #[test]
    fn the_error_is_that_of_two_independent_means() {
        // Standard deviation 0.1 of the mean.
        let rates: Vec<u64> = vec![900, 900, 1100, 1100, 1000];
        let finding = judge(&seconds(&rates), &[]);
        let error = finding.error_percent.unwrap();
        let expected = 2.0 * 10.0 * (2.0_f64 / 10.0).sqrt();
        assert!((error - expected).abs() < 0.01, "{error} {expected}");
    }

    #[test]
    fn canaries_are_named_by_their_parts() {
        let canary = |ns| CanaryReading {
            processor_ns: 100,
            memory_ns: ns,
            system_calls_ns: 100,
            wake_up_ns: None,
        };
        let canaries = [canary(100), canary(130)];
        let seen = judge(&seconds(&[5, 5, 5, 5]), &canaries).seen;
        assert!(
            seen.contains("processor 0.0 %, memory 30 %, system calls 0.0 %"),
            "{seen}"
        );
        assert!(!seen.contains("wake-ups"), "{seen}");
    }

    #[test]
    fn a_machine_that_changes_its_speed_is_not_steady() {
        let steady = seconds(&[1000, 1001, 999, 1000]);
        for (slower, state) in [(101, Good), (104, Doubtful), (110, Bad)] {
            let canary = |processor_ns| CanaryReading {
                processor_ns,
                memory_ns: 100,
                system_calls_ns: 100,
                wake_up_ns: None,
            };
            let finding = judge(&steady, &[canary(100), canary(slower)]);
            assert_eq!(finding.state, state, "{slower}");
        }
    }

    #[test]
    fn a_range_is_relative_to_the_mean() {
        assert!((range_percent(&[90.0, 110.0]).unwrap() - 20.0).abs() < 1e-9);
        assert_eq!(range_percent(&[90.0]), None);
        assert_eq!(per_second(&seconds(&[7])), [350.0]);
    }
}
