//! Conditions of a step that cast doubt on its figures: the load generator, or the rate that was
//! asked of the server, was too much, or a hypervisor took time away. They are derived from stored
//! samples and counts; their bounds are documented in `docs/formats/report.md`.

mod client_host;
mod placement;

use std::fmt;

use prony_model::{
    ClientGroup, Counter, CpuSet, Moment, Pace, PlacementReading, Sample, Schedule, Source, Step,
    StepReadings, Thousandths, ThreadUse,
};

use self::client_host::ClientHostLimit;
pub(crate) use self::client_host::ClientHostUse;
use self::placement::{Misplaced, misplaced, sessions_unknown, unpaired};
use crate::analysis::times::decode;
use crate::words::plural;

/// Share of the measured time from which on a thread of the generator counts as saturated. The rest
/// is less than the kernel's own work takes now and then.
const BUSY_SHARE: f64 = 0.9;
/// Share of the measured time from which on waiting for a processor is reported: that much of each
/// answer's way back may not be the server's.
const WAITED_SHARE: f64 = 0.1;
/// Lateness of the generator, 99th percentile in nanoseconds, below which nothing is reported: a
/// busy machine's scheduler does as much to any program.
const LATE_NS: u64 = 1_000_000;
/// Share of the response time from which on lateness is reported: below it, the response time shown
/// can't be wrong by more.
const LATE_SHARE: f64 = 0.1;
/// Planned operations for each one of a backlog that is not reported: fewer can wait at any instant
/// where arrivals come at random.
const PLANNED_PER_WAITING: u64 = 100;
/// Share of the machine that a hypervisor may take before it is reported. Below it, the loss is
/// smaller than the spread between trials on a quiet machine.
const STEAL_SHARE_MAX: f64 = 0.01;

const STEAL: Counter = Counter::new(Source::Host, "steal_ns");

/// A condition that is shown beside the figures of a step, with its own figures. `Display` gives
/// its words.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Condition {
    /// Threads were not on the processors that the placement gives them.
    Misplaced(Misplaced),
    /// Clients whose session did not share a processor with their thread of the load generator,
    /// though the placement pairs them.
    Unpaired {
        /// Number of these clients, above 0.
        clients: u32,
    },
    /// The sessions of the server could not be told from its other threads, so that the placement
    /// of the sessions is unknown.
    SessionsUnknown,
    /// A hypervisor took time of the machine away.
    Steal {
        /// Share of the machine's time, above 0.
        share: f64,
    },
    /// The clients' host, where it is not the server's, or its network was a limit.
    ClientHost(ClientHostLimit),
    /// A thread of the load generator was saturated.
    GeneratorBusy {
        /// Share of the measured time for which the busiest thread worked.
        share: f64,
    },
    /// A thread of the load generator waited for a processor.
    GeneratorWaited {
        /// Share of the measured time for which the thread waited that waited longest.
        share: f64,
    },
    /// The load generator began operations late although a client was idle.
    ScheduleSlipped {
        /// Index of the client group.
        group: usize,
        /// 99th percentile of its own lateness, in nanoseconds.
        error_ns: u64,
        /// 99th percentile of the response time, in nanoseconds.
        response_ns: u64,
    },
    /// Operations were due and had not begun when the measured time was over.
    Backlog {
        /// Index of the client group.
        group: usize,
        /// Their number.
        backlog: u64,
        /// Operations planned within the measured time.
        planned: u64,
        /// Planned operations per second.
        rate: Thousandths,
    },
    /// Operations were never begun.
    OperationsLeft {
        /// Index of the client group.
        group: usize,
        /// Their number.
        left: u64,
        /// Operations planned within the measured time.
        planned: u64,
        /// Milliseconds within which the backlog was to be worked off.
        drain_ms: u64,
    },
}

/// The stored facts of a step that conditions are derived from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StepFacts<'a> {
    /// The use of the load generator's threads.
    pub(crate) thread_use: &'a [ThreadUse],
    /// The schedule of each client group, in the order of [`Step::groups`]; `None` where operations
    /// have no intended start. May be shorter than the groups.
    pub(crate) schedules: &'a [Option<&'a Schedule>],
    /// Time that a hypervisor took, where it is known.
    pub(crate) stolen: Option<Stolen>,
    /// What the clients' host did, where it is not the server's.
    pub(crate) client_host: Option<ClientHostUse>,
    /// Processors of the host, at least 1.
    pub(crate) cpus: u32,
    /// The placement; `None` where it was not read.
    pub(crate) placement: Option<&'a PlacementReading>,
    /// The processors that Prony may use on the host, where they are known.
    pub(crate) usable: Option<&'a CpuSet>,
}

/// Time that a hypervisor took of the machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stolen {
    /// Summed over the processors.
    ns: u64,
    /// Between the two samples, above 0.
    elapsed_ns: u64,
}

impl Stolen {
    /// From two samples of a step. `None` if they do not tell.
    pub(crate) fn between(start: &Sample, end: &Sample) -> Option<Self> {
        Self::of(
            end.since(start, &STEAL).ok(),
            Some((start.at_ns, end.at_ns)),
        )
    }

    /// From the readings of a step. `None` if they do not tell.
    pub(crate) fn of_step(readings: &impl StepReadings) -> Option<Self> {
        let at = readings
            .at_ns(Moment::Start)
            .zip(readings.at_ns(Moment::End));
        Self::of(readings.difference(&STEAL).ok(), at)
    }

    fn of(ns: Option<u64>, at_ns: Option<(u64, u64)>) -> Option<Self> {
        let (start, end) = at_ns?;
        let elapsed = end.checked_sub(start).filter(|elapsed| *elapsed > 0);
        Some(Self {
            ns: ns?,
            elapsed_ns: elapsed?,
        })
    }
}

/// Derives what must be shown beside the figures of a step of a timed trial. In counting trials
/// times do not matter, and so none of this does.
pub(crate) fn conditions(step: &Step, facts: &StepFacts<'_>) -> Vec<Condition> {
    let mut found = Vec::new();
    if let Some(reading) = facts.placement {
        found.extend(misplaced(reading, facts.usable).map(Condition::Misplaced));
        let clients = unpaired(reading, step.all_clients());
        found.extend((clients > 0).then_some(Condition::Unpaired { clients }));
        found.extend(sessions_unknown(reading).then_some(Condition::SessionsUnknown));
    }
    found.extend(facts.stolen.and_then(|stolen| steal(stolen, facts.cpus)));
    let limits = facts.client_host.iter().flat_map(ClientHostUse::limits);
    found.extend(limits.map(Condition::ClientHost));
    found.extend(busy(facts.thread_use));
    // Where many clients of a closed loop share the processors with the server, waiting is expected.
    let latencies_matter = step
        .groups
        .iter()
        .any(|group| group.clients == 1 || group.pace.is_scheduled());
    if latencies_matter {
        found.extend(waited(facts.thread_use));
    }
    let groups = step.groups.iter().zip(facts.schedules).enumerate();
    for (index, (group, schedule)) in groups {
        if let Some(schedule) = schedule {
            found.extend(of_schedule(index, group, schedule, step.drain_ms()));
        }
    }
    found
}

impl Condition {
    /// The name for programs, as files of results have it.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Misplaced(_) => "misplaced",
            Self::Unpaired { .. } => "unpaired",
            Self::SessionsUnknown => "sessions-unknown",
            Self::Steal { .. } => "steal",
            Self::ClientHost(limit) => limit.code(),
            Self::GeneratorBusy { .. } => "generator-busy",
            Self::GeneratorWaited { .. } => "generator-waited",
            Self::ScheduleSlipped { .. } => "schedule-slipped",
            Self::Backlog { .. } => "backlog",
            Self::OperationsLeft { .. } => "operations-left",
        }
    }

    /// Index of the client group that it is about; `None` where it is about the whole step.
    pub(crate) fn group(&self) -> Option<usize> {
        match *self {
            Self::Misplaced(_)
            | Self::Unpaired { .. }
            | Self::SessionsUnknown
            | Self::Steal { .. }
            | Self::ClientHost(_)
            | Self::GeneratorBusy { .. }
            | Self::GeneratorWaited { .. } => None,
            Self::ScheduleSlipped { group, .. }
            | Self::Backlog { group, .. }
            | Self::OperationsLeft { group, .. } => Some(group),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Misplaced(ref misplaced) => misplaced.fmt(f),
            Self::Unpaired { clients } => write!(
                f,
                "the sessions of {} did not share a processor with the thread of the load generator \
                 that drives them: the step was not placed as planned",
                plural(clients.into(), "client")
            ),
            Self::SessionsUnknown => f.write_str(
                "the sessions of the server could not be told from its other threads: their \
                 placement is unknown",
            ),
            Self::Steal { share } => {
                let percent = share * 100.0;
                write!(
                    f,
                    "the hypervisor took {percent:.1} % of the machine's time away"
                )
            }
            Self::ClientHost(ref limit) => limit.fmt(f),
            Self::GeneratorBusy { share } => write!(
                f,
                "a thread of the load generator was busy for {:.0} % of the measured time: the \
                 figure may be the generator's limit and not the server's",
                share * 100.0
            ),
            Self::GeneratorWaited { share } => write!(
                f,
                "a thread of the load generator waited for a processor for {:.0} % of the \
                 measured time: the latencies include this",
                share * 100.0
            ),
            Self::ScheduleSlipped {
                error_ns,
                response_ns,
                ..
            } => write!(
                f,
                "1 % of the operations began {:.1} ms or more late although a client was idle \
                 (99th percentile of the response time: {:.1} ms): the load generator itself was \
                 delayed",
                error_ns as f64 / 1e6,
                response_ns as f64 / 1e6
            ),
            Self::Backlog {
                backlog,
                planned,
                rate,
                ..
            } => write!(
                f,
                "{backlog} of {planned} operations were due and had not begun at the end of the \
                 measured time: the server, or the generator, did not keep up with {rate}/s"
            ),
            Self::OperationsLeft {
                left,
                planned,
                drain_ms,
                ..
            } => write!(
                f,
                "{left} of {planned} operations were never started, because the backlog was not worked \
                 off within {} s: the longest response times are missing",
                drain_ms as f64 / 1000.0
            ),
        }
    }
}

fn steal(stolen: Stolen, cpus: u32) -> Option<Condition> {
    let share = stolen.ns as f64 / (stolen.elapsed_ns as f64 * f64::from(cpus.max(1)));
    (share > STEAL_SHARE_MAX).then_some(Condition::Steal { share })
}

fn busy(used: &[ThreadUse]) -> Option<Condition> {
    let share = greatest_share(used, |thread| Some(thread.cpu_ns));
    (share >= BUSY_SHARE).then_some(Condition::GeneratorBusy { share })
}

fn waited(used: &[ThreadUse]) -> Option<Condition> {
    let share = greatest_share(used, |thread| thread.run_queue_ns);
    (share >= WAITED_SHARE).then_some(Condition::GeneratorWaited { share })
}

/// The greatest share of its time that a thread spent on something.
fn greatest_share(used: &[ThreadUse], ns: impl Fn(&ThreadUse) -> Option<u64>) -> f64 {
    used.iter()
        .filter_map(|thread| Some(ns(thread)? as f64 / thread.wall_ns.max(1) as f64))
        .fold(0.0, f64::max)
}

fn of_schedule(
    group: usize,
    clients: &ClientGroup,
    schedule: &Schedule,
    drain_ms: u64,
) -> impl Iterator<Item = Condition> {
    let &Schedule {
        planned,
        backlog,
        left,
        ..
    } = schedule;
    let late = slipped(group, schedule);
    let waiting = match clients.pace {
        Pace::Open { rate, .. } => {
            let many = u64::from(clients.clients).max(planned / PLANNED_PER_WAITING);
            (backlog > many).then_some(Condition::Backlog {
                group,
                backlog,
                planned,
                rate,
            })
        }
        Pace::Closed { .. } => None,
    };
    let left = (left > 0).then_some(Condition::OperationsLeft {
        group,
        left,
        planned,
        drain_ms,
    });
    late.into_iter().chain(waiting).chain(left)
}

/// Detects that the generator was so late that the response time means something else.
fn slipped(group: usize, schedule: &Schedule) -> Option<Condition> {
    let error_ns = percentile_99(&schedule.error)?;
    let response_ns = percentile_99(&schedule.response)?;
    let is_late = error_ns >= LATE_NS && error_ns as f64 >= response_ns as f64 * LATE_SHARE;
    is_late.then_some(Condition::ScheduleSlipped {
        group,
        error_ns,
        response_ns,
    })
}

/// The 99th percentile of a stored histogram. `None` where it is empty or can't be read.
fn percentile_99(bytes: &[u8]) -> Option<u64> {
    let histogram = decode(bytes).ok()?;
    (!histogram.is_empty()).then(|| histogram.value_at_quantile(0.99))
}

#[cfg(test)]
mod tests;
