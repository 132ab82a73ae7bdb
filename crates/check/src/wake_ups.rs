//! The price of a wake-up on one processor, across two, and where the kernel chooses.

use std::time::Duration;

use prony_model::{StopFlag, WakeUpWindow, WakeUps};
use prony_probe::Root;

use crate::CheckError;
use crate::ping_pong::play;
use crate::processors::Pair;

/// Length of a window: some hundred round trips at 100 µs each, and far less than the time for
/// which the kernel keeps two threads where they are.
const WINDOW_NS: u64 = 20_000_000;

/// Measured time of each placement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shares {
    /// On one processor.
    pub(crate) same: Duration,
    /// Across two.
    pub(crate) across: Duration,
    /// As the kernel chooses.
    pub(crate) free: Duration,
}

/// Measures for `duration`, three fifths of it with the choice of the kernel. `None` if the user
/// stopped it.
///
/// With one processor, all of the time is spent on that one.
///
/// # Errors
/// If the system does not permit threads, sockets, or their processors.
pub fn wake_ups(duration: Duration, stop: &StopFlag) -> Result<Option<WakeUps>, CheckError> {
    let shares = Shares {
        same: duration / 5,
        across: duration / 5,
        free: duration / 5 * 3,
    };
    measure(&shares, stop)
}

/// Measures in one stretch what is left to the kernel. Both fixed placements are measured before
/// and after that stretch, so that a host that slows down in between shows in their spread.
pub(crate) fn measure(shares: &Shares, stop: &StopFlag) -> Result<Option<WakeUps>, CheckError> {
    let pair = Pair::choose(&Root::live())?;
    let same = Some((pair.one, pair.one));
    let mut wake_ups = WakeUps {
        window_ns: WINDOW_NS,
        same: Vec::new(),
        across: Vec::new(),
        free: Vec::new(),
    };
    if let Some(other) = pair.other {
        let across = Some((pair.one, other));
        wake_ups.same = windows(same, shares.same / 2, stop)?;
        wake_ups.across = windows(across, shares.across / 2, stop)?;
        wake_ups.free = windows(None, shares.free, stop)?;
        let again = windows(across, shares.across / 2, stop)?;
        wake_ups.across.extend(again);
        wake_ups.same.extend(windows(same, shares.same / 2, stop)?);
    } else {
        let all = shares.same + shares.across + shares.free;
        wake_ups.same = windows(same, all, stop)?;
    }
    Ok((!stop.requested()).then_some(wake_ups))
}

/// Windows that fill a time, at least one; fewer if the user wants to stop.
fn windows(
    cpus: Option<(usize, usize)>,
    time: Duration,
    stop: &StopFlag,
) -> Result<Vec<WakeUpWindow>, CheckError> {
    let count = (time.as_nanos() / u128::from(WINDOW_NS)).max(1);
    play(cpus, |player| {
        let mut windows = Vec::new();
        for _ in 0..count {
            if stop.requested() {
                break;
            }
            windows.push(player.window(WINDOW_NS)?);
        }
        Ok(windows)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_placement_is_measured_for_its_share() {
        let measured = wake_ups(Duration::from_millis(400), &StopFlag::default());
        let measured = measured.unwrap().unwrap();
        let counts = [&measured.same, &measured.across, &measured.free].map(Vec::len);
        let expected = match Pair::choose(&Root::live()).unwrap().other {
            Some(_) => [4, 4, 12],
            None => [20, 0, 0],
        };
        assert_eq!(counts, expected);
        assert!(measured.on_one().unwrap().wall_ns > 0.0);
    }

    #[test]
    fn a_wish_to_stop_ends_it() {
        let stop = StopFlag::default();
        stop.request();
        let hour = Duration::from_hours(1);
        assert_eq!(wake_ups(hour, &stop).unwrap(), None);
    }
}
