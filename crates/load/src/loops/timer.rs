//! A timer for an epoll loop: the time-outs of `epoll_wait(2)` are whole milliseconds.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

use crate::LoadError;

const NS_PER_SECOND: u64 = 1_000_000_000;

/// A `timerfd_create(2)` that goes off once at a time of the monotonic clock. To be watched by its
/// edges, which setting it anew makes new ones.
#[derive(Debug)]
pub(super) struct Timer {
    handle: OwnedFd,
    /// The time when it goes off; 0 where it is not set.
    at_ns: u64,
}

impl Timer {
    pub(super) fn new() -> Result<Self, LoadError> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let handle = timerfd_create(TimerfdClockId::Monotonic, flags).map_err(|errno| {
            LoadError::System {
                action: "make a timer",
                source: errno.into(),
            }
        })?;
        Ok(Self { handle, at_ns: 0 })
    }

    /// Lets it go off then, or at once where that is over.
    pub(super) fn set(&mut self, at_ns: u64) -> Result<(), LoadError> {
        // Zero would stop it.
        let at_ns = at_ns.max(1);
        if self.at_ns == at_ns {
            return Ok(());
        }
        let zero = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let at = Itimerspec {
            it_interval: zero,
            it_value: Timespec {
                tv_sec: (at_ns / NS_PER_SECOND).cast_signed(),
                tv_nsec: (at_ns % NS_PER_SECOND).cast_signed(),
            },
        };
        timerfd_settime(&self.handle, TimerfdTimerFlags::ABSTIME, &at).map_err(|errno| {
            LoadError::System {
                action: "set a timer",
                source: errno.into(),
            }
        })?;
        self.at_ns = at_ns;
        Ok(())
    }

    /// It went off.
    pub(super) const fn went_off(&mut self) {
        self.at_ns = 0;
    }
}

impl AsFd for Timer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}
