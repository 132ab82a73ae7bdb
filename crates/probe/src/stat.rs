//! `/proc/PID/stat`: what the kernel accounts a process, or a thread, for.

use crate::root::{ProbeError, Root};
use crate::text::sum;

/// The signal that a forked process sends to its parent when it ends.
const SIGCHLD: i64 = 17;

/// The fields of proc(5), stat, that are used here. Times are in clock ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stat {
    /// `true` if it was on a processor, or waiting for one.
    pub(crate) running: bool,
    pub(crate) parent: u32,
    pub(crate) group: u32,
    /// Its own; second, those of children that have ended and been waited for, and of theirs.
    pub(crate) minor_faults: [u64; 2],
    pub(crate) major_faults: [u64; 2],
    pub(crate) user_ticks: [u64; 2],
    pub(crate) system_ticks: [u64; 2],
    pub(crate) threads: u64,
    /// Start time, in clock ticks since the host's start.
    pub(crate) started_ticks: u64,
    pub(crate) resident_pages: u64,
    exit_signal: i64,
}

impl Stat {
    /// Reads and parses a file.
    pub(crate) fn read(root: &Root, path: &str) -> Result<Self, ProbeError> {
        root.parse(path, "the fields of proc(5), stat", Self::parse)
    }

    /// Reads that of a process.
    pub(crate) fn of(root: &Root, pid: u32) -> Result<Self, ProbeError> {
        Self::read(root, &format!("proc/{pid}/stat"))
    }

    /// Fields are counted behind the command's closing parenthesis, since the command may hold
    /// spaces and parentheses.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (_, behind) = text.rsplit_once(')')?;
        let mut fields = [""; 36];
        let mut words = behind.split_ascii_whitespace();
        for field in &mut fields {
            *field = words.next()?;
        }
        // proc(5) counts from 1 and the state, the first field here, is number 3.
        let number = |number: usize| fields[number - 3].parse::<u64>().ok();
        Some(Self {
            running: fields[0] == "R",
            parent: fields[4 - 3].parse().ok()?,
            group: fields[5 - 3].parse().ok()?,
            minor_faults: [number(10)?, number(11)?],
            major_faults: [number(12)?, number(13)?],
            user_ticks: [number(14)?, number(16)?],
            system_ticks: [number(15)?, number(17)?],
            threads: number(20)?,
            started_ticks: number(22)?,
            resident_pages: number(24)?,
            exit_signal: fields[38 - 3].parse().ok()?,
        })
    }

    /// Processor time, that of reaped children included, in clock ticks.
    pub(crate) fn all_ticks(&self) -> Option<u64> {
        sum(self.user_ticks.into_iter().chain(self.system_ticks))
    }

    /// Processor time of reaped children, in clock ticks.
    pub(crate) fn reaped_ticks(&self) -> Option<u64> {
        sum([self.user_ticks[1], self.system_ticks[1]])
    }

    /// Returns `true` if it is a thread in the disguise of a process, as the library `LinuxThreads`
    /// makes them: those share their parent's memory and tell it of their end by another signal
    /// than that of forked processes.
    pub(crate) fn shares_memory(&self) -> bool {
        self.exit_signal != SIGCHLD
    }
}
