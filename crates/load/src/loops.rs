//! The event loops in which a thread runs its clients.

mod blocking;
mod epoll;
mod many;
mod state;
mod timer;
mod uring;

use std::sync::atomic::{AtomicBool, AtomicU32};

use prony_model::{Backend, ClientGroup, Pace};

use crate::LoadError;
use crate::connection::{Link, Opener};
use crate::message::IsClosed;

pub(crate) use state::{GroupState, State};

/// The longest time between two rounds of a thread's housekeeping.
const HOUSEKEEPING_NS: u64 = 100_000_000;
/// The same for the system calls that wait.
const HOUSEKEEPING_MS: u64 = HOUSEKEEPING_NS / 1_000_000;

/// A part of a run in which every client goes as far as its limit.
#[derive(Debug)]
pub(crate) struct Phase<'a> {
    /// The groups of clients.
    pub(crate) groups: &'a [ClientGroup],
    /// Whether clients begin each operation as soon as the last is done, whatever their pace.
    pub(crate) is_unpaced: bool,
    /// The time when it begins.
    pub(crate) start_ns: u64,
    /// The time when no more operations are begun, or planned.
    pub(crate) end_ns: u64,
    /// The time when the operations of the first group should all have begun: where they arrive,
    /// also if their number ends the phase.
    pub(crate) over_ns: u64,
    /// Operations of each of this thread's clients.
    pub(crate) operations: Vec<u64>,
    /// Length of a period, at whose end it is handed over.
    pub(crate) period_ns: u64,
    /// The time when the first period began, or would have, had no pause come in between: that of
    /// an earlier phase goes on.
    pub(crate) period_start_ns: u64,
    /// Time over which load sets in.
    pub(crate) ramp_ns: u64,
    /// Time after the end in which a backlog is worked off.
    pub(crate) drain_ns: u64,
    /// Threads on which clients of the first group still work: all of them at the start. When none
    /// is left the other groups end. `None` where every group goes to its own limit.
    pub(crate) own_left: Option<&'a AtomicU32>,
    /// Decides, with the seeds of the groups, when operations arrive.
    pub(crate) seed: u64,
}

/// The same for all threads of a run.
#[derive(Clone, Copy)]
pub(crate) struct Shared<'a> {
    pub(crate) opener: &'a Opener<'a>,
    /// Silence after which the server counts as hung.
    pub(crate) stall_ns: u64,
    /// Set as soon as any thread fails.
    pub(crate) failed: &'a AtomicBool,
    /// Tells whether nobody controls the generator any more.
    pub(crate) is_abandoned: IsClosed<'a>,
}

/// Runs every client of a thread to its limit.
pub(crate) fn run(
    links: &mut [Link],
    buffer: &mut [u8],
    phase: &Phase<'_>,
    state: &mut State<'_>,
) -> Result<(), LoadError> {
    match links {
        [] => Ok(()),
        links if state.shared.opener.backend() == Backend::IoUring => uring::run(links, state),
        [link] if is_simple(phase, link.client.group()) => blocking::run(link, buffer, state),
        links => epoll::run(links, buffer, state),
    }
}

/// Whether a single client of a group needs nothing but its connection.
fn is_simple(phase: &Phase<'_>, group: usize) -> bool {
    phase.ramp_ns == 0
        && phase.groups[group].reconnect_every.is_none()
        && !phase.pace(group).is_scheduled()
}

impl Phase<'_> {
    /// When clients of a group begin their operations.
    pub(crate) fn pace(&self, group: usize) -> Pace {
        if self.is_unpaced {
            return Pace::default();
        }
        self.groups[group].pace
    }

    /// Whether operations of a group arrive by a schedule that no answer changes.
    pub(crate) fn is_open(&self, group: usize) -> bool {
        matches!(self.pace(group), Pace::Open { .. })
    }
}
