//! A timer that is exact to the microsecond and costs nothing while it waits.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
    timerfd_create, timerfd_settime,
};

use crate::NullError;

const NS_PER_SECOND: u64 = 1_000_000_000;

/// A `timerfd_create(2)`: unlike time-outs of other calls its expiry is not put off by the timer
/// slack of the thread.
#[derive(Debug)]
pub(crate) struct Timer {
    handle: OwnedFd,
    /// The time at which it goes off; 0 if it is not set.
    at_ns: u64,
}

impl Timer {
    pub(crate) fn new() -> Result<Self, NullError> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let handle = timerfd_create(TimerfdClockId::Monotonic, flags)
            .map_err(|errno| NullError::system("make a timer", errno))?;
        Ok(Self { handle, at_ns: 0 })
    }

    /// Lets it go off at this time of the monotonic clock, or at once where that is over. It goes
    /// off once.
    pub(crate) fn set(&mut self, at_ns: u64) -> Result<(), NullError> {
        if self.at_ns == at_ns {
            return Ok(());
        }
        let at = Itimerspec {
            it_interval: Timespec::default(),
            it_value: Timespec {
                tv_sec: (at_ns / NS_PER_SECOND).cast_signed(),
                tv_nsec: (at_ns % NS_PER_SECOND).cast_signed(),
            },
        };
        timerfd_settime(&self.handle, TimerfdTimerFlags::ABSTIME, &at)
            .map_err(|errno| NullError::system("set a timer", errno))?;
        self.at_ns = at_ns;
        Ok(())
    }

    /// It is no longer set.
    pub(crate) fn went_off(&mut self) {
        self.at_ns = 0;
    }
}

impl AsFd for Timer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

/// Nanoseconds of the monotonic clock, which timers go by.
pub(crate) fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // It never runs below zero.
    now.tv_sec.cast_unsigned() * NS_PER_SECOND + now.tv_nsec.cast_unsigned()
}
