//! Connections that work at the same time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use prony_client::Connection;

use crate::LoadError;

/// Interval between reports of progress.
const REPORT: Duration = Duration::from_secs(1);

/// Sent to all threads when one failed.
#[derive(Debug, Default)]
pub(super) struct Halt(AtomicBool);

impl Halt {
    /// Returns `true` if to stop at the next opportunity.
    pub(super) fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `work` on every connection, each in a thread of its own, and calls `report` about once a
/// second meanwhile. The first failure asks the others to halt; it is the result.
pub(super) fn work_on_all(
    connections: &mut [Connection],
    work: impl Fn(&mut Connection, &Halt) -> Result<(), LoadError> + Sync,
    report: &mut dyn FnMut() -> Result<(), LoadError>,
) -> Result<(), LoadError> {
    let halt = Halt::default();
    let (sender, results) = channel();
    thread::scope(|scope| {
        for connection in connections {
            let (sender, work, halt) = (sender.clone(), &work, &halt);
            scope.spawn(move || {
                let result = work(connection, halt);
                // The receiver lives until every thread has ended.
                let _ = sender.send(result);
            });
        }
        drop(sender);
        let mut outcome = Ok(());
        loop {
            let result = match results.recv_timeout(REPORT) {
                Ok(result) => result,
                Err(RecvTimeoutError::Timeout) => report(),
                Err(RecvTimeoutError::Disconnected) => return outcome,
            };
            if result.is_err() {
                halt.request();
                outcome = outcome.and(result);
            }
        }
    })
}
