//! The price of a wake-up: two threads send a byte to each other in turn, and each sleeps until the
//! other's byte arrives, as a client and the thread that serves it do.

use serde::{Deserialize, Serialize};

/// Round trips between two threads, in windows of time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WakeUps {
    /// Planned length of a window, in nanoseconds.
    pub window_ns: u64,
    /// Windows with both threads on one processor.
    pub same: Vec<WakeUpWindow>,
    /// Windows with the threads on two processors. Empty if the program may use one processor only.
    pub across: Vec<WakeUpWindow>,
    /// Windows in which the kernel chose the processors, in the order of time and without a break.
    /// Empty if the program may use one processor only.
    pub free: Vec<WakeUpWindow>,
}

/// Raw counts of one window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WakeUpWindow {
    /// Round trips, each of which is two wake-ups.
    pub round_trips: u64,
    /// Length of the window, in nanoseconds.
    pub wall_ns: u64,
    /// Processor time of both threads, in nanoseconds.
    pub cpu_ns: u64,
}

/// Means of a number of windows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WakeUpPrice {
    /// Time of a round trip, in nanoseconds: the median of the windows.
    pub wall_ns: f64,
    /// Processor time of a round trip, both threads together, in nanoseconds: the median of the
    /// windows.
    pub cpu_ns: f64,
    /// Range of the time of a round trip over the windows, as a share of the median.
    pub spread: f64,
}

/// Behaviour of the kernel where it chooses the processors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FreeWakeUps {
    /// Share of the windows that cost about as much as on one processor.
    pub near_same: f64,
    /// Share of the windows that cost about as much as across two processors. The rest lies between
    /// both.
    pub near_across: f64,
    /// Changes from one of the two to the other.
    pub changes: usize,
    /// Mean time between two changes, in seconds: the observed time divided by the changes. `None`
    /// without a change.
    pub seconds_between_changes: Option<f64>,
}

impl WakeUps {
    /// Ratio of the prices of a round trip across two processors and on one, from which on both are
    /// told apart, and from which on placement matters.
    pub const DEAR: f64 = 1.5;

    /// Price on one processor. `None` without windows.
    pub fn on_one(&self) -> Option<WakeUpPrice> {
        price(&self.same)
    }

    /// Price across two processors. `None` without windows, as with one processor.
    pub fn across_two(&self) -> Option<WakeUpPrice> {
        price(&self.across)
    }

    /// Price where the kernel chooses. `None` without windows.
    pub fn left_free(&self) -> Option<WakeUpPrice> {
        price(&self.free)
    }

    /// Time of a round trip across two processors, relative to that on one. `None` with one
    /// processor.
    pub fn across_by_same(&self) -> Option<f64> {
        Some(self.across_two()?.wall_ns / self.on_one()?.wall_ns)
    }

    /// Behaviour of the kernel where it chooses the processors. `None` if it has no choice, and if
    /// both choices cost about the same, so that they can't be told apart.
    ///
    /// The logarithm of the price between both choices is divided into quarters. A window in the
    /// first quarter or below is near `same`, one in the last or above is near `across`.
    pub fn behaviour(&self) -> Option<FreeWakeUps> {
        let (same, across) = (self.on_one()?.wall_ns, self.across_two()?.wall_ns);
        if across / same < Self::DEAR || self.free.is_empty() {
            return None;
        }
        let place = |window: &WakeUpWindow| -> Option<Near> {
            let place = (window.wall_ns_each()? / same).ln() / (across / same).ln();
            Some(match place {
                ..0.25 => Near::Same,
                0.75.. => Near::Across,
                _ => Near::Neither,
            })
        };
        let places: Vec<Near> = self.free.iter().filter_map(place).collect();
        let share = |near| {
            places.iter().filter(|place| **place == near).count() as f64 / places.len() as f64
        };
        let decided: Vec<Near> = places
            .iter()
            .copied()
            .filter(|place| *place != Near::Neither)
            .collect();
        let changes = decided.windows(2).filter(|two| two[0] != two[1]).count();
        let observed_ns: u64 = self.free.iter().map(|window| window.wall_ns).sum();
        Some(FreeWakeUps {
            near_same: share(Near::Same),
            near_across: share(Near::Across),
            changes,
            seconds_between_changes: (changes > 0)
                .then(|| observed_ns as f64 / 1e9 / changes as f64),
        })
    }
}

/// The known price that the price of a window is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Near {
    Same,
    Across,
    Neither,
}

impl WakeUpWindow {
    /// Time of a round trip, in nanoseconds. `None` for a window without one.
    pub fn wall_ns_each(&self) -> Option<f64> {
        self.each(self.wall_ns)
    }

    /// Processor time of a round trip, both threads together, in nanoseconds. `None` for a window
    /// without one.
    pub fn cpu_ns_each(&self) -> Option<f64> {
        self.each(self.cpu_ns)
    }

    fn each(&self, ns: u64) -> Option<f64> {
        (self.round_trips > 0).then(|| ns as f64 / self.round_trips as f64)
    }
}

fn price(windows: &[WakeUpWindow]) -> Option<WakeUpPrice> {
    let sorted = |of: fn(&WakeUpWindow) -> Option<f64>| {
        let mut each: Vec<f64> = windows.iter().filter_map(of).collect();
        each.sort_unstable_by(f64::total_cmp);
        each
    };
    let walls = sorted(WakeUpWindow::wall_ns_each);
    let wall_ns = middle(&walls)?;
    Some(WakeUpPrice {
        wall_ns,
        cpu_ns: middle(&sorted(WakeUpWindow::cpu_ns_each))?,
        spread: (walls.last()? - walls.first()?) / wall_ns,
    })
}

/// The middle of sorted values, or the mean of the two in the middle.
fn middle(sorted: &[f64]) -> Option<f64> {
    let upper = sorted.get(sorted.len() / 2)?;
    match sorted.len() % 2 {
        0 => Some(f64::midpoint(*sorted.get(sorted.len() / 2 - 1)?, *upper)),
        _ => Some(*upper),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window of 10 ms whose round trips take this many microseconds.
    fn window(us: u64) -> WakeUpWindow {
        WakeUpWindow {
            round_trips: 10_000 / us,
            wall_ns: 10_000_000,
            cpu_ns: 5_000_000,
        }
    }

    fn wake_ups(same: &[u64], across: &[u64], free: &[u64]) -> WakeUps {
        let windows = |us: &[u64]| us.iter().copied().map(window).collect();
        WakeUps {
            window_ns: 10_000_000,
            same: windows(same),
            across: windows(across),
            free: windows(free),
        }
    }

    #[test]
    fn prices_are_medians_of_windows() {
        let wake_ups = wake_ups(&[5, 4, 50], &[100, 80], &[]);
        let same = wake_ups.on_one().unwrap();
        assert!((same.wall_ns - 5_000.0).abs() < 1e-9);
        assert!((same.cpu_ns - 2_500.0).abs() < 1e-9);
        assert!((same.spread - 46.0 / 5.0).abs() < 1e-9);
        assert!((wake_ups.across_by_same().unwrap() - 18.0).abs() < 1e-9);
        assert_eq!(wake_ups.left_free(), None);
        assert_eq!(wake_ups.behaviour(), None);
    }

    #[test]
    fn changes_of_the_kernels_mind_are_counted() {
        let (same, across): (&[u64], &[u64]) = (&[4], &[100]);
        for (free, near_same, near_across, changes) in [
            (vec![4, 5, 4, 4], 1.0, 0.0, 0),
            (vec![100, 125], 0.0, 1.0, 0),
            (vec![4, 100, 4, 100], 0.5, 0.5, 3),
            // A window within which the kernel changed its mind is one change and not two.
            (vec![4, 20, 100, 100], 0.25, 0.5, 1),
            (vec![4, 20, 4, 20], 0.5, 0.0, 0),
        ] {
            let behaviour = wake_ups(same, across, &free).behaviour().unwrap();
            assert!((behaviour.near_same - near_same).abs() < 1e-9, "{free:?}");
            assert!(
                (behaviour.near_across - near_across).abs() < 1e-9,
                "{free:?}"
            );
            assert_eq!(behaviour.changes, changes, "{free:?}");
            assert_eq!(behaviour.seconds_between_changes.is_some(), changes > 0);
        }
        let often = wake_ups(same, across, &[4, 100, 4, 100]).behaviour();
        let seconds = often.unwrap().seconds_between_changes.unwrap();
        assert!((seconds - 0.04 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn equal_prices_and_one_processor_have_no_behaviour() {
        assert_eq!(wake_ups(&[10], &[12], &[10, 12]).behaviour(), None);
        let one = wake_ups(&[10], &[], &[]);
        assert_eq!(one.behaviour(), None);
        assert_eq!(one.across_by_same(), None);
        let idle = WakeUpWindow {
            round_trips: 0,
            ..window(10)
        };
        assert_eq!(idle.wall_ns_each(), None);
    }
}
