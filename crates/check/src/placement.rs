//! Placement of threads by the kernel, and the price of wake-ups.

use prony_model::FindingState::{Doubtful, Good, Unknown};
use prony_model::HostProperty::Placement;
use prony_model::{Finding, FreeWakeUps, WakeUps};

use crate::steadiness::{per_second, range_percent};
use crate::words::percent;

/// Share of windows from which on a place counts as used.
const USED: f64 = 0.05;
/// Differences between seconds that are left to the kernel, relative to those on one processor,
/// from which on they are the kernel's.
const WILDER: f64 = 2.0;
/// The least difference, in percent, that is worth a doubt.
const WILD_PERCENT: f64 = 20.0;

/// Judges what the kernel does where it may choose. Prony's default placement avoids it, so that
/// it is never worse than doubtful.
pub(crate) fn judge(wake_ups: &WakeUps) -> Finding {
    let Some(same) = wake_ups.on_one() else {
        return Finding::new(Placement, Unknown, "measured for too short a time");
    };
    let Some((across, price)) = wake_ups.across_two().zip(wake_ups.across_by_same()) else {
        return Finding::new(
            Placement,
            Doubtful,
            "this program may use one processor only",
        )
        .effect(
            "load generator and server take turns: the generator's time is part of every figure",
        )
        .remedy("measure on two or more processors (`taskset`, `docker run --cpuset-cpus`)");
    };
    let prices = format!(
        "a round trip between two threads takes {:.0} µs on one processor and {:.0} µs across two",
        same.wall_ns / 1e3,
        across.wall_ns / 1e3
    );
    let finding = |state, more: &str| {
        Finding::new(Placement, state, format!("{prices}{more}"))
            .figure("same_us", same.wall_ns / 1e3)
            .figure("across_us", across.wall_ns / 1e3)
            .figure("across_by_same", price)
    };
    let Some(free) = wake_ups.behaviour() else {
        return finding(Good, "");
    };
    let range = |windows| range_percent(&per_second(windows));
    let ranges = [range(&wake_ups.free), range(&wake_ups.same)];
    let (state, behaviour) = behaviour(&free, ranges);
    let finding = finding(state, &format!("; left to the kernel {behaviour}"))
        .figure("free_near_same_percent", 100.0 * free.near_same)
        .figure("free_near_across_percent", 100.0 * free.near_across)
        .figure("free_changes", free.changes as f64);
    if state == Good {
        return finding;
    }
    // Which of the two prices a step pays is the kernel's choice.
    finding
        .effect(format!(
            "with `placement = \"free\"` and on external servers, steps of few clients pay the one \
             price or the other, up to {price:.1} times as much"
        ))
        .remedy("keep the default placement, or set `placement = \"together\"`")
}

fn behaviour(
    free: &FreeWakeUps,
    [range, fixed]: [Option<f64>; 2],
) -> (prony_model::FindingState, String) {
    let (same, across) = (free.near_same >= USED, free.near_across >= USED);
    let seconds = match (range, fixed) {
        (Some(range), Some(fixed)) => format!(
            "; seconds differ by {}, and by {} on one processor",
            percent(range),
            percent(fixed)
        ),
        _ => String::new(),
    };
    let is_wild = range.is_some_and(|range| {
        range > WILD_PERCENT && fixed.is_none_or(|fixed| range > WILDER * fixed)
    });
    match (same, across) {
        (true, true) => {
            let often = free
                .seconds_between_changes
                .map_or_else(String::new, |mean| format!(", changing every {mean:.1} s"));
            let text = format!(
                "{} of the time the one and {} the other{often}{seconds}",
                percent(100.0 * free.near_same),
                percent(100.0 * free.near_across)
            );
            (Doubtful, text)
        }
        (true, false) if is_wild => {
            let text = format!("it is mostly the one on one processor{seconds}");
            (Doubtful, text)
        }
        (true, false) => (Good, format!("it is the one on one processor{seconds}")),
        // Steady, but the dear one: a server with other threads may be placed differently.
        (false, true) => (Doubtful, format!("it is the one across two{seconds}")),
        (false, false) => (Doubtful, format!("it lies between both{seconds}")),
    }
}

#[cfg(test)]
mod tests {
    use prony_model::WakeUpWindow;

    use super::*;

    fn wake_ups(across_us: u64, free_us: &[u64]) -> WakeUps {
        let window = |us: u64| WakeUpWindow {
            round_trips: 20_000 / us,
            wall_ns: 20_000_000,
            cpu_ns: 1,
        };
        WakeUps {
            window_ns: 20_000_000,
            same: vec![window(5)],
            across: vec![window(across_us)],
            free: free_us.iter().copied().map(window).collect(),
        }
    }

    #[test]
    fn the_kernels_choice_is_doubted_where_it_matters() {
        for (across, free, state, word) in [
            (
                100,
                vec![5, 5, 100, 100],
                Doubtful,
                "50 % of the time the one and 50 % the other",
            ),
            (100, vec![5, 5], Good, "on one processor"),
            (100, vec![100, 100], Doubtful, "across two"),
            (100, vec![22, 22], Doubtful, "between both"),
            (6, vec![5, 6], Good, "6 µs across two"),
        ] {
            let finding = judge(&wake_ups(across, &free));
            assert_eq!(finding.state, state, "{finding:?}");
            assert!(finding.seen.contains(word), "{}", finding.seen);
        }
    }

    #[test]
    fn seconds_that_differ_far_more_than_fixed_ones_are_doubted() {
        // Seconds of the kernel's own choice, near the price on one processor, but not alike.
        let seconds = |prices: &[u64]| {
            let prices = prices.iter().copied();
            prices
                .flat_map(|us| std::iter::repeat_n(us, 50))
                .collect::<Vec<_>>()
        };
        for (free, state) in [([10, 10], Good), ([10, 16], Doubtful)] {
            let mut wake_ups = wake_ups(200, &seconds(&free));
            wake_ups.same = wake_ups_on_one(&seconds(&[10, 10]));
            let finding = judge(&wake_ups);
            assert_eq!(finding.state, state, "{}", finding.seen);
        }
    }

    fn wake_ups_on_one(prices: &[u64]) -> Vec<WakeUpWindow> {
        wake_ups(200, prices).free
    }

    #[test]
    fn one_processor_is_doubtful() {
        let mut one = wake_ups(100, &[]);
        one.across.clear();
        let finding = judge(&one);
        assert_eq!(finding.state, Doubtful);
        assert!(finding.seen.contains("one processor only"));
    }
}
