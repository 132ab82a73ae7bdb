//! One thread and its clients: the event loops.

mod alone;
mod crowd;
mod desk;
mod link;
mod ring;
mod timer;

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

pub(crate) use link::Link;

use prony_model::Backend;

use crate::LoadError;
use crate::client::{Client, Limit};
use crate::clock::now_ns;
use crate::pacer::{GroupPace, Pacer, Plan};
use crate::part::Part;
use crate::program::{Program, Values};
use crate::random::{ClientRandom, scatter};
use crate::recorder::{Period, Recorder};
use crate::setup::Opener;
use crate::worker::desk::{Desk, GroupDesk, Look};

/// Bytes received at once. Long results take several rounds.
const BUFFER_SIZE: usize = 64 * 1024;

/// How often, at least, a thread looks up from its connections.
const LOOK_NS: u64 = 100_000_000;
/// The same for the system calls that wait.
const LOOK_MS: u64 = LOOK_NS / 1_000_000;

/// What makes the random numbers of arrivals and of think times others than those of values.
const ARRIVALS: u64 = 0x6172_7269_7661_6c73;
const THINKING: u64 = 0x7468_696e_6b69_6e67;

/// A part of a run in which every client goes as far as its limit.
#[derive(Debug)]
pub(crate) struct Phase<'a> {
    /// The groups, with the paces that they have in it.
    pub(crate) parts: &'a [Part<'a>],
    /// When it begins.
    pub(crate) start_ns: u64,
    /// When no more operations are begun, or planned.
    pub(crate) end_ns: u64,
    /// When the operations of the first group should all have begun: where they arrive, also if
    /// their number ends the phase.
    pub(crate) over_ns: u64,
    /// Operations of each of this thread's clients.
    pub(crate) operations: Vec<u64>,
    /// Length of a period, at whose end it is handed over.
    pub(crate) period_ns: u64,
    /// Time over which load sets in.
    pub(crate) ramp_ns: u64,
    /// Time after the end in which a backlog is worked off.
    pub(crate) drain_ns: u64,
    /// Threads of which clients of the first group still work: all of them at the start. When none
    /// is left the other groups end. `None` where every group goes to its own limit.
    pub(crate) own_left: Option<&'a AtomicU32>,
    /// Decides, with the seeds of the groups, when operations arrive.
    pub(crate) seed: u64,
}

/// A thread's clients, and what they share.
pub(crate) struct Worker<'a> {
    links: Vec<Link>,
    programs: &'a [Program],
    values: Vec<Vec<Values>>,
    opener: &'a Opener<'a>,
    buffer: Vec<u8>,
    stall_ns: u64,
    /// Set as soon as any thread fails.
    failed: &'a AtomicBool,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(
        links: Vec<Link>,
        programs: &'a [Program],
        opener: &'a Opener<'a>,
        stall_ns: u64,
        failed: &'a AtomicBool,
    ) -> Self {
        Self {
            links,
            programs,
            values: programs.iter().map(Program::new_values).collect(),
            opener,
            buffer: vec![0; BUFFER_SIZE],
            stall_ns,
            failed,
        }
    }

    /// The clients with their connections, which are still open.
    pub(crate) fn into_links(self) -> Vec<Link> {
        self.links
    }

    /// The clients of a group, after a phase.
    pub(crate) fn clients(&self, group: usize) -> impl Iterator<Item = &Client> {
        self.links
            .iter()
            .map(|link| &link.client)
            .filter(move |client| client.group() == group)
    }

    /// How many clients there are.
    pub(crate) fn len(&self) -> usize {
        self.links.len()
    }

    /// Runs every client to its limit and returns what was recorded of each group; `hand_over` gets
    /// each period of the first group but the last as it ends. Ends early, without an error, when
    /// another thread failed.
    ///
    /// # Errors
    /// When a statement fails fatally or the server goes away; other threads are then told.
    pub(crate) fn run(
        &mut self,
        phase: &Phase<'_>,
        hand_over: &mut dyn FnMut(Period) -> Result<(), LoadError>,
    ) -> Result<Vec<Recorder>, LoadError> {
        let pacer = self.pacer(phase);
        let own = self.clients(0).count();
        self.limit(phase);
        let groups = (phase.parts.iter().zip(self.programs).zip(&mut self.values))
            .map(|((part, program), values)| {
                let scheduled = part.pace.is_scheduled();
                Ok(GroupDesk {
                    program,
                    values,
                    recorder: Recorder::new(program.kinds_max(), scheduled)?,
                    scheduled,
                    is_open: part.is_open(),
                    backlog: 0,
                })
            })
            .collect::<Result<Vec<_>, LoadError>>()?;
        let shared = (self.failed, self.stall_ns);
        let mut desk = Desk::new(phase, groups, pacer, self.opener, shared, hand_over);
        desk.count_own(own);
        let result = match self.links.as_mut_slice() {
            [] => Ok(()),
            // Nobody begins what another thread has no hope to end.
            _ if self.failed.load(Ordering::Relaxed) => Ok(()),
            links if self.opener.backend() == Backend::IoUring => ring::run(links, &mut desk),
            [link] if is_simple(phase, &phase.parts[link.client.group()]) => {
                alone::run(link, &mut self.buffer, &mut desk)
            }
            links => crowd::run(links, &mut self.buffer, &mut desk),
        };
        if result.is_err() {
            self.failed.store(true, Ordering::Relaxed);
        }
        result.map(|()| desk.into_records(now_ns()))
    }

    /// Tells every client how far it may go. Where operations arrive, the schedule decides.
    fn limit(&mut self, phase: &Phase<'_>) {
        for (link, operations) in self.links.iter_mut().zip(&phase.operations) {
            let open = phase.parts[link.client.group()].is_open();
            link.client.begin_phase(Limit {
                end_ns: if open { u64::MAX } else { phase.end_ns },
                operations: if open { u64::MAX } else { *operations },
            });
        }
    }

    fn pacer(&self, phase: &Phase<'_>) -> Pacer {
        let paces = phase.parts.iter().enumerate().map(|(group, part)| {
            let numbers: Vec<u32> = self.clients(group).map(Client::number).collect();
            let of_group = |(link, _): &(&Link, &u64)| link.client.group() == group;
            let operations = (self.links.iter().zip(&phase.operations))
                .filter(of_group)
                .fold(0_u64, |sum, (_, count)| sum.saturating_add(*count));
            let over_ns = if group == 0 {
                phase.over_ns
            } else {
                phase.end_ns
            };
            let limits = (over_ns, phase.drain_ns);
            GroupPace::new(part.pace, numbers.len(), limits, |rate, spacing| Plan {
                rate,
                spacing,
                numbers,
                clients: part.clients,
                ramp_ns: phase.ramp_ns,
                start_ns: phase.start_ns,
                end_ns: phase.end_ns,
                operations,
                seed: scatter(part.seed ^ ARRIVALS ^ phase.seed),
            })
        });
        // No two threads have the same first client.
        let first = self.links.first().map_or((0, 0), |link| {
            (link.client.group() as u64, link.client.number())
        });
        let seed = scatter(phase.parts[0].seed ^ THINKING ^ phase.seed).wrapping_add(first.0);
        let random = ClientRandom::new(seed, first.1);
        Pacer::new(paces.collect(), self.links.len(), random, phase.end_ns)
    }
}

/// Whether a single client needs nothing but its connection.
fn is_simple(phase: &Phase<'_>, part: &Part<'_>) -> bool {
    phase.ramp_ns == 0 && part.reconnect_every.is_none() && !part.pace.is_scheduled()
}
