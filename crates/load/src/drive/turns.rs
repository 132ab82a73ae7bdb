//! The turns of the measured time: it pauses after each, so that other generators have theirs.
//!
//! Times of turns are the clock's. All that is told outside is without the pauses: an instant of a
//! turn less all pauses before it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::clock::now_ns;

/// A rest of the measured time that is a smaller part of a turn than this is left out: it would be
/// little but a beginning and an end.
const LEAST_PART: u64 = 10;

/// A turn. All in nanoseconds of the host's monotonic clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Turn {
    /// When it began.
    pub(super) start: u64,
    /// All pauses before it.
    pub(super) paused: u64,
    /// When the measured time began.
    pub(super) first: u64,
}

impl Turn {
    /// The whole measured time as one turn.
    fn first(start_ns: u64) -> Self {
        Self {
            start: start_ns,
            paused: 0,
            first: start_ns,
        }
    }

    /// An instant of this turn, less all pauses.
    pub(super) const fn without_pauses(self, at_ns: u64) -> u64 {
        at_ns.saturating_sub(self.paused)
    }

    /// When `measured_ns` of measured time will have passed, unless it pauses again.
    pub(super) const fn end_ns(self, measured_ns: u64) -> u64 {
        let first_ns = self.first.saturating_add(self.paused);
        first_ns.saturating_add(measured_ns)
    }

    /// The next one, which begins at `start_ns`; this one ended at `end_ns`.
    const fn next(self, start_ns: u64, end_ns: u64) -> Self {
        Self {
            start: start_ns,
            paused: start_ns.saturating_sub(self.without_pauses(end_ns)),
            first: self.first,
        }
    }
}

/// The turns of all threads. The first thread decides, while all others wait at the gate.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// `None` before the measured time and after it.
    current: Mutex<Option<Turn>>,
    /// When the last operation of the current turn ended, of any thread; 0 until one did.
    last_ns: AtomicU64,
}

impl Turns {
    /// The measured time begins.
    pub(super) fn begin(&self, start_ns: u64) {
        *self.lock() = Some(Turn::first(start_ns));
    }

    /// The turn that a thread is to take; `None` when there are no more.
    pub(super) fn current(&self) -> Option<Turn> {
        *self.lock()
    }

    /// The last operation of a thread in the current turn ended then.
    pub(super) fn ended(&self, last_ns: u64) {
        self.last_ns.fetch_max(last_ns, Ordering::Relaxed);
    }

    /// The current turn is over: when its last operation ended, or now if none has. `None` if the
    /// measured time is over as well: `length_ns` of it were wanted, `turn_ns` a turn.
    pub(super) fn end(&self, length_ns: u64, turn_ns: u64) -> Option<u64> {
        let mut current = self.lock();
        let turn = (*current)?;
        let end_ns = match self.last_ns.load(Ordering::Relaxed) {
            last_ns if last_ns > turn.start => last_ns,
            _ => now_ns(),
        };
        let measured_ns = turn.without_pauses(end_ns).saturating_sub(turn.first);
        let left_ns = length_ns.saturating_sub(measured_ns);
        if left_ns.saturating_mul(LEAST_PART) < turn_ns {
            *current = None;
            return None;
        }
        Some(end_ns)
    }

    /// The next turn begins; the one before it ended at `end_ns`.
    pub(super) fn go_on(&self, start_ns: u64, end_ns: u64) {
        let mut current = self.lock();
        *current = current.map(|turn| turn.next(start_ns, end_ns));
        self.last_ns.store(0, Ordering::Relaxed);
    }

    /// What a thread that panicked has left is sound: each change is one step.
    fn lock(&self) -> MutexGuard<'_, Option<Turn>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_do_not_count() {
        let turns = Turns::default();
        assert_eq!(turns.current(), None);
        turns.begin(1_000);
        turns.ended(1_090);
        turns.ended(1_110);
        let end_ns = turns.end(300, 100).unwrap();
        assert_eq!(end_ns, 1_110);
        turns.go_on(5_000, end_ns);
        let turn = turns.current().unwrap();
        assert_eq!(turn.without_pauses(turn.start), 1_110);
        turns.ended(5_185);
        assert_eq!(turns.end(300, 100), None, "5 of 300 ns are left");
        assert_eq!(turns.current(), None);
    }

    #[test]
    fn a_turn_without_an_operation_ends_now() {
        let turns = Turns::default();
        let start_ns = now_ns();
        turns.begin(start_ns);
        assert!(turns.end(u64::MAX, 1).unwrap() >= start_ns);
    }
}
