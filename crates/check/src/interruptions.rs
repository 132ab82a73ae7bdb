//! Time in which a busy thread does not run: the hypervisor, other programs and interrupts take it,
//! if they report it or not.

use std::thread::{Builder, scope};
use std::time::{Duration, Instant};

use prony_model::StopFlag;

use crate::CheckError;
use crate::processors::{allowed, bind};

/// The shortest gap between two readings of the clock that counts: longer than the kernel's timer
/// interrupt, also on virtual machines.
const GAP: Duration = Duration::from_micros(50);

/// Gaps of busy threads, one on each processor of this program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Interruptions {
    /// Time of all processors.
    pub(crate) wall: Duration,
    /// Time in gaps.
    pub(crate) lost: Duration,
    /// The longest gap.
    pub(crate) longest: Duration,
}

/// Keeps every processor busy for a time.
pub(crate) fn interruptions(
    duration: Duration,
    stop: &StopFlag,
) -> Result<Interruptions, CheckError> {
    let cpus = allowed()?;
    scope(|threads| {
        let start = |cpu: usize| {
            Builder::new()
                .spawn_scoped(threads, move || {
                    bind(cpu)?;
                    Ok(spin(duration, stop))
                })
                .map_err(CheckError::Thread)
        };
        let started: Vec<_> = cpus.into_iter().map(start).collect::<Result<_, _>>()?;
        let mut sum = Interruptions::default();
        for thread in started {
            let gaps: Interruptions = thread.join().map_err(|_| CheckError::Panicked)??;
            sum.wall += gaps.wall;
            sum.lost += gaps.lost;
            sum.longest = sum.longest.max(gaps.longest);
        }
        Ok(sum)
    })
}

fn spin(duration: Duration, stop: &StopFlag) -> Interruptions {
    let begin = Instant::now();
    let mut last = begin;
    let mut gaps = Interruptions::default();
    while last.duration_since(begin) < duration && !stop.requested() {
        let now = Instant::now();
        let gap = now.duration_since(last);
        if gap >= GAP {
            gaps.lost += gap;
            gaps.longest = gaps.longest.max(gap);
        }
        last = now;
    }
    gaps.wall = last.duration_since(begin);
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_processor_is_busy_for_the_time() {
        let time = Duration::from_millis(20);
        let gaps = interruptions(time, &StopFlag::default()).unwrap();
        let cpus = u32::try_from(allowed().unwrap().len()).unwrap();
        assert!(gaps.wall >= cpus * time);
        assert!(gaps.longest <= gaps.lost && gaps.lost <= gaps.wall);
    }

    #[test]
    fn a_wish_to_stop_ends_it() {
        let stop = StopFlag::default();
        stop.request();
        let hour = Duration::from_hours(1);
        assert!(interruptions(hour, &stop).unwrap().wall < Duration::from_mins(1));
    }
}
