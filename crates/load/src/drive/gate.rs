//! Meeting point of threads.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A barrier that opens for good when one of the threads can no longer come.
#[derive(Debug)]
pub(super) struct Gate {
    threads: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: usize,
    /// Number of meetings so far.
    meetings: u64,
    broken: bool,
}

impl Gate {
    pub(super) fn new(threads: usize) -> Self {
        Self {
            threads,
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// Waits until all threads wait here, or one has broken the gate.
    pub(super) fn wait(&self) {
        let mut state = self.lock();
        state.waiting += 1;
        if state.waiting == self.threads {
            state.waiting = 0;
            state.meetings += 1;
            self.changed.notify_all();
            return;
        }
        let meeting = state.meetings;
        let waits = |state: &mut State| state.meetings == meeting && !state.broken;
        let _state = self.changed.wait_while(state, waits);
    }

    /// From now on no thread waits here.
    pub(super) fn break_open(&self) {
        self.lock().broken = true;
        self.changed.notify_all();
    }

    /// What a thread that panicked has left is sound: each change is one step.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn all_come_or_nobody_waits() {
        let gate = Gate::new(3);
        let before = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for round in 1..=50 {
                        before.fetch_add(1, Ordering::SeqCst);
                        gate.wait();
                        assert!(before.load(Ordering::SeqCst) >= 3 * round);
                    }
                });
            }
        });
        thread::scope(|scope| {
            scope.spawn(|| gate.wait());
            scope.spawn(|| gate.wait());
            gate.break_open();
        });
        gate.wait();
    }
}
