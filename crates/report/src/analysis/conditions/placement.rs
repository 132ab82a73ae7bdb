//! Threads that were not on the processors that the placement gives them.

use std::fmt;

use prony_model::{CpuSet, PlacementReading, ThreadsOn};

use crate::words::plural;

/// Threads of one role that the kernel had on other processors than planned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Misplaced {
    role: Role,
    threads: u32,
    /// The processors that they could use.
    cpus: CpuSet,
    /// The processors that the placement gives them.
    planned: CpuSet,
}

/// The part of threads in the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Sessions,
    Background,
    Generator,
}

impl fmt::Display for Misplaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = u64::from(self.threads);
        let threads = match self.role {
            Role::Sessions => format!("{} of the server", plural(count, "session thread")),
            Role::Background => format!("{} of the server", plural(count, "background thread")),
            Role::Generator => format!("{} of the load generator", plural(count, "thread")),
        };
        write!(
            f,
            "{threads} could use {} instead of {}: the step was not placed as planned",
            processors(&self.cpus),
            processors(&self.planned)
        )
    }
}

fn processors(set: &CpuSet) -> String {
    let noun = match set.cpus() {
        [_] => "processor",
        _ => "processors",
    };
    format!("{noun} {set}")
}

/// The threads that were not where they were planned. Roles that the placement does not bind may
/// use all `usable` processors; without these, they are not checked. Paired threads may have a part
/// of the planned processors.
pub(super) fn misplaced<'a>(
    reading: &'a PlacementReading,
    usable: Option<&'a CpuSet>,
) -> impl Iterator<Item = Misplaced> + 'a {
    let processors = &reading.placement.processors;
    let roles = [
        (Role::Sessions, &processors.sessions, &reading.sessions),
        (
            Role::Background,
            &processors.background,
            &reading.background,
        ),
        (Role::Generator, &processors.generator, &reading.generator),
    ];
    roles.into_iter().flat_map(move |(role, planned, threads)| {
        let planned = planned.as_ref().or(usable);
        let in_part = reading.placement.paired && role != Role::Background;
        let elsewhere = move |on: &ThreadsOn| {
            let is_there = |planned: &CpuSet| {
                let has = |cpu| planned.cpus().contains(cpu);
                *planned == on.cpus || (in_part && on.cpus.cpus().iter().all(has))
            };
            let planned = planned.filter(|planned| !is_there(planned))?;
            Some(Misplaced {
                role,
                threads: on.threads,
                cpus: on.cpus.clone(),
                planned: planned.clone(),
            })
        };
        threads.iter().filter_map(elsewhere)
    })
}

/// Number of clients whose session does not share a processor with the thread of the load generator
/// that drives them, where all should. Clients are dealt to the threads in turn.
pub(super) fn unpaired(reading: &PlacementReading, clients: u32) -> u32 {
    let placement = &reading.placement;
    let shared = match &placement.processors.sessions {
        Some(shared) if placement.paired => shared.cpus(),
        _ => return 0,
    };
    let on = |threads: &[ThreadsOn], cpu: u16| -> u32 {
        let alone = threads.iter().filter(|on| on.cpus.cpus() == [cpu]);
        alone.map(|on| on.threads).sum()
    };
    let threads = u32::try_from(shared.len()).unwrap_or(u32::MAX);
    let of_thread = |(thread, cpu): (u32, &u16)| {
        let clients = clients / threads + u32::from(thread < clients % threads);
        match on(&reading.generator, *cpu) {
            1 => clients.saturating_sub(on(&reading.sessions, *cpu)),
            _ => clients,
        }
    };
    (0..).zip(shared).map(of_thread).sum()
}

/// Returns `true` if sessions have processors of their own, and were not told from other threads
/// of the server.
pub(super) fn sessions_unknown(reading: &PlacementReading) -> bool {
    let processors = &reading.placement.processors;
    processors.sessions != processors.background
        && reading.sessions.is_empty()
        && !reading.background.is_empty()
}
