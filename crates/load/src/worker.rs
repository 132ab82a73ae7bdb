//! One thread and its clients.

use std::sync::atomic::Ordering;

use prony_model::ClientGroup;

use crate::LoadError;
use crate::client::{Client, Limit};
use crate::clock::now_ns;
use crate::connection::Link;
use crate::loops::{self, GroupState, Phase, Shared, State};
use crate::pacer::{GroupPace, Pacer, Plan};
use crate::program::Program;
use crate::recorder::{Period, Recorder};
use crate::values::Values;
use crate::values::random::{ClientRandom, scatter};

/// Bytes received at once. Long results take several rounds.
const BUFFER_SIZE: usize = 64 * 1024;

/// Makes the random numbers of arrivals and think times differ from those of values.
const ARRIVALS: u64 = 0x6172_7269_7661_6c73;
const THINKING: u64 = 0x7468_696e_6b69_6e67;

/// A thread's clients, and what they share.
pub(crate) struct Worker<'a> {
    /// The clients with their connections.
    pub(crate) links: Vec<Link>,
    programs: &'a [Program],
    values: Vec<Vec<Values>>,
    buffer: Vec<u8>,
    shared: Shared<'a>,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(links: Vec<Link>, programs: &'a [Program], shared: Shared<'a>) -> Self {
        Self {
            links,
            programs,
            values: programs.iter().map(Program::new_values).collect(),
            buffer: vec![0; BUFFER_SIZE],
            shared,
        }
    }

    /// The clients of a group, after a phase.
    pub(crate) fn clients(&self, group: usize) -> impl Iterator<Item = &Client> {
        self.links
            .iter()
            .map(|link| &link.client)
            .filter(move |client| client.group() == group)
    }

    /// A new record of each group.
    pub(crate) fn new_records(&self, groups: &[ClientGroup]) -> Result<Vec<Recorder>, LoadError> {
        let programs = self.programs.iter().zip(groups);
        programs
            .map(|(program, group)| Recorder::new(program.kinds_max(), group.pace.is_scheduled()))
            .collect()
    }

    /// Runs every client to its limit and returns the groups' records, with what is new; `hand_over`
    /// gets the groups' periods but the last as they end. Ends early, without an error,
    /// when another thread failed.
    ///
    /// # Errors
    /// When a statement fails fatally or the server goes away; other threads are then told.
    pub(crate) fn run(
        &mut self,
        phase: &Phase<'_>,
        records: Vec<Recorder>,
        hand_over: &mut dyn FnMut(Vec<Period>) -> Result<(), LoadError>,
    ) -> Result<Vec<Recorder>, LoadError> {
        let pacer = self.pacer(phase);
        let own = self.clients(0).count();
        self.limit(phase);
        let groups = (self.programs.iter().zip(&mut self.values))
            .zip(records)
            .enumerate();
        let groups = groups.map(|(group, ((program, values), recorder))| GroupState {
            program,
            values,
            recorder,
            scheduled: phase.pace(group).is_scheduled(),
            is_open: phase.is_open(group),
            backlog: 0,
        });
        let mut state = State::new(phase, groups.collect(), pacer, self.shared, hand_over);
        state.count_own(own);
        let failed = self.shared.failed;
        // Nobody begins what another thread has no hope to end.
        if !failed.load(Ordering::Relaxed) {
            loops::run(&mut self.links, &mut self.buffer, phase, &mut state)
                .inspect_err(|_| failed.store(true, Ordering::Relaxed))?;
        }
        Ok(state.into_records(now_ns()))
    }

    /// Tells every client how far it may go. Where operations arrive, the schedule decides.
    fn limit(&mut self, phase: &Phase<'_>) {
        for (link, operations) in self.links.iter_mut().zip(&phase.operations) {
            let open = phase.is_open(link.client.group());
            link.client.begin_phase(Limit {
                end_ns: if open { u64::MAX } else { phase.end_ns },
                operations: if open { u64::MAX } else { *operations },
            });
        }
    }

    fn pacer(&self, phase: &Phase<'_>) -> Pacer {
        let paces = self.programs.iter().enumerate().map(|(group, program)| {
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
            GroupPace::new(phase.pace(group), numbers.len(), limits, |rate, spacing| {
                Plan {
                    rate,
                    spacing,
                    numbers,
                    clients: phase.groups[group].clients,
                    ramp_ns: phase.ramp_ns,
                    start_ns: phase.start_ns,
                    end_ns: phase.end_ns,
                    operations,
                    seed: scatter(program.seed ^ ARRIVALS ^ phase.seed),
                }
            })
        });
        // No two threads have the same first client.
        let first = self.links.first().map_or((0, 0), |link| {
            (link.client.group() as u64, link.client.number())
        });
        let seed = scatter(self.programs[0].seed ^ THINKING ^ phase.seed).wrapping_add(first.0);
        let random = ClientRandom::new(seed, first.1);
        Pacer::new(paces.collect(), self.links.len(), random, phase.end_ns)
    }
}
