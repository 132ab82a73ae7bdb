//! Ending a server in valgrind at once when the user wants to stop.
//!
//! Such a server may take minutes to answer a question, and one that hangs never does. Prony waits for the
//! answer and hears of nothing else meanwhile. Once the server is gone, every wait for it ends.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;

use prony_model::StopFlag;
use rustix::io::Result;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::EVERY;

/// Kills a process when stopping is asked for, until it is dropped.
#[derive(Debug)]
pub(super) struct Watchdog {
    /// Its end ends the thread.
    _watched: Sender<()>,
}

impl Watchdog {
    /// Watches over a child that has not been waited for.
    pub(super) fn of(pid: u32, stop: &StopFlag) -> Result<Self> {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or(rustix::io::Errno::SRCH)?;
        // A handle of the process itself: its number may be another's once it has ended.
        let process = pidfd_open(pid, PidfdFlags::empty())?;
        let (watched, end) = mpsc::channel();
        let stop = stop.clone();
        thread::spawn(move || {
            while end.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                if stop.requested() {
                    // One that has ended by itself needs no signal.
                    let _ = pidfd_send_signal(&process, Signal::KILL);
                    return;
                }
            }
        });
        Ok(Self { _watched: watched })
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_process_is_killed_when_stopping_is_asked_for() {
        let stop = StopFlag::default();
        let mut child = Command::new("sleep").arg("600").spawn().unwrap();
        let watchdog = Watchdog::of(child.id(), &stop).unwrap();
        stop.request();
        let status = child.wait().unwrap();
        assert!(!status.success());
        drop(watchdog);
    }

    #[test]
    fn without_its_watchdog_a_process_lives_on() {
        let stop = StopFlag::default();
        let mut child = Command::new("sleep").arg("600").spawn().unwrap();
        drop(Watchdog::of(child.id(), &stop).unwrap());
        stop.request();
        thread::sleep(3 * EVERY);
        assert!(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
