//! One task of the load generator against a null server, and the use of the processors meanwhile.

use std::thread;
use std::time::Duration;

use prony_host::usable_cpus;
use prony_load::{DriveTask, Job, Message, Task};
use prony_model::{CalibrationCounts, CpuSet, Family, HostUse, StepOutcome, Tls};
use prony_probe::{ProcessorTimes, Root, monotonic_ns, process_cpu_ns};

use super::null_server::NullServer;
use super::placement::ChildPlacement;
use super::{CalibrationError, CalibrationEvent, Calibrator, POLL};
use crate::drive::{Generator, Next};
use crate::fault::Stop;

/// The result of a task.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) outcome: StepOutcome,
    /// The processors of generator and null server; `None` where the kernel chose.
    pub(super) cpus: Option<CpuSet>,
    /// Use of these processors, or of all usable ones; `None` where it can't be read.
    pub(super) host: Option<HostUse>,
    /// Processor time of the null server, in nanoseconds.
    server_ns: u64,
}

impl Measured {
    pub(super) fn counts(&self) -> CalibrationCounts {
        let outcome = &self.outcome;
        CalibrationCounts {
            queries: outcome.groups.own().queries,
            wall_ns: outcome.end_ns.saturating_sub(outcome.start_ns),
            client_user_ns: outcome.client_user_ns,
            client_system_ns: outcome.client_system_ns,
            server_ns: self.server_ns,
        }
    }
}

/// Share of the processors that was taken away; 0 where nothing is known of it.
pub(super) fn taken_share(host: Option<HostUse>) -> f64 {
    let taken = host.and_then(|host| host.taken());
    taken.map_or(0.0, |taken| taken.share())
}

/// Clocks at one edge of the measured time.
struct Edge {
    at_ns: u64,
    server_ns: u64,
    generator_ns: Option<u64>,
    times: Option<ProcessorTimes>,
}

impl Calibrator<'_> {
    /// Runs a task in the protocol of a family, on the processors of its number of clients, and again, `repeats` times at most,
    /// while it was disturbed. The result is the least disturbed of all.
    pub(super) fn measure_task(
        &self,
        (family, task): (Family, &DriveTask),
        placement: &ChildPlacement,
        repeats: u32,
        events: &mut dyn FnMut(CalibrationEvent<'_>),
    ) -> Result<Measured, Stop<CalibrationError>> {
        let cpus = placement.processors(task.groups.own().clients);
        let once = || {
            let mut null = self.start_null(family, cpus.as_ref())?;
            self.drive(&mut null, task, cpus.as_ref())
        };
        let mut best = once()?;
        for _ in 0..repeats {
            let Some(host) = best.host.filter(HostUse::is_disturbed) else {
                break;
            };
            events(CalibrationEvent::Again {
                backend: task.backend,
                clients: task.groups.own().clients,
                host: &host,
            });
            let again = once()?;
            if taken_share(again.host) < taken_share(best.host) {
                best = again;
            }
        }
        Ok(best)
    }

    /// Starts a null server on processors, or on all.
    pub(super) fn start_null(
        &self,
        family: Family,
        cpus: Option<&CpuSet>,
    ) -> Result<NullServer, Stop<CalibrationError>> {
        NullServer::start(self.roots, self.launcher, self.prony, family, cpus)
            .map_err(|reason| CalibrationError::NullServer { reason }.into())
    }

    /// Runs a task to its end, with the generator on processors, or on all.
    pub(super) fn drive(
        &self,
        null: &mut NullServer,
        task: &DriveTask,
        cpus: Option<&CpuSet>,
    ) -> Result<Measured, Stop<CalibrationError>> {
        let failed = |reason: String| drive_error(task, reason);
        let job = Job {
            family: null.family(),
            address: null.address(),
            user: "prony".to_owned(),
            password: String::new(),
            tls: Tls::Off,
            database: "sbtest".to_owned(),
            task: Task::Drive(Box::new(task.clone())),
        };
        let mut generator = Generator::start(self.launcher, self.prony, cpus, &job)
            .map_err(|error| failed(format!("failed to {error}")))?;
        let mut edges = Vec::new();
        let outcome = loop {
            match generator.next(POLL) {
                Next::Message(Message::MeasureStart { .. } | Message::MeasureEnd { .. }) => {
                    edges.push(self.edge(null, &generator, cpus).map_err(failed)?);
                }
                Next::Message(Message::Done { outcome }) => break *outcome,
                Next::Message(Message::Failed { reason }) => {
                    return Err(failed(with_last_words(reason, null)).into());
                }
                Next::Ended(how) => {
                    let reason = format!("the load generator ended early: {how}");
                    return Err(failed(with_last_words(reason, null)).into());
                }
                Next::Message(_) | Next::Quiet => {}
            }
            if self.stop.requested() {
                return Err(Stop::Interrupted);
            }
        };
        let [start, end] = edges.as_slice() else {
            return Err(failed("it did not report when it measured".to_owned()).into());
        };
        Ok(Measured {
            outcome,
            cpus: cpus.cloned(),
            host: host_use(start, end),
            server_ns: end.server_ns.saturating_sub(start.server_ns),
        })
    }

    fn edge(
        &self,
        null: &NullServer,
        generator: &Generator,
        cpus: Option<&CpuSet>,
    ) -> Result<Edge, String> {
        Ok(Edge {
            at_ns: monotonic_ns(),
            server_ns: null.cpu_ns(self.proc)?,
            generator_ns: generator
                .id()
                .and_then(|pid| process_cpu_ns(self.proc, pid)),
            times: processor_times(self.proc, cpus),
        })
    }

    /// Use of all usable processors while nothing of a calibration runs. `None` where it can't be
    /// read.
    pub(super) fn look_at_host(&self, time: Duration) -> Option<HostUse> {
        let edge = || Edge {
            at_ns: monotonic_ns(),
            server_ns: 0,
            generator_ns: Some(0),
            times: processor_times(self.proc, None),
        };
        let start = edge();
        thread::sleep(time);
        host_use(&start, &edge())
    }
}

/// Times of processors, or of all usable ones; `None` where they can't be read.
fn processor_times(proc: &Root, cpus: Option<&CpuSet>) -> Option<ProcessorTimes> {
    let cpus = match cpus {
        Some(cpus) => cpus.clone(),
        None => usable_cpus().ok()?,
    };
    ProcessorTimes::read(proc, &cpus).ok()
}

fn host_use(start: &Edge, end: &Edge) -> Option<HostUse> {
    let (before, after) = (start.times?, end.times?);
    let generator_ns = end.generator_ns?.saturating_sub(start.generator_ns?);
    let server_ns = end.server_ns.saturating_sub(start.server_ns);
    let wall_ns = end.at_ns.saturating_sub(start.at_ns);
    Some(after.since(before, wall_ns, generator_ns + server_ns))
}

pub(super) fn drive_error(task: &DriveTask, reason: String) -> CalibrationError {
    CalibrationError::Drive {
        backend: task.backend,
        clients: task.groups.own().clients,
        reason,
    }
}

/// The reason from the generator, and the words of the null server where it has ended.
fn with_last_words(reason: String, null: &mut NullServer) -> String {
    match null.last_words() {
        Some(said) if !said.is_empty() => format!("{reason}; output of the null server: {said}"),
        _ => reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn use_is_the_difference_of_two_edges() {
        let times = |idle_ns| ProcessorTimes {
            processors: 2,
            idle_ns,
            interrupt_ns: 10,
            steal_ns: 3,
        };
        let edge = |by: u64| Edge {
            at_ns: 1_000 + by,
            server_ns: by / 2,
            generator_ns: Some(by / 4),
            times: Some(times(by)),
        };
        let host = host_use(&edge(0), &edge(100)).unwrap();
        let expected = HostUse {
            processors: 2,
            wall_ns: 100,
            idle_ns: 100,
            interrupt_ns: 0,
            steal_ns: 0,
            own_ns: 75,
        };
        assert_eq!(host, expected);
        let blind = Edge {
            times: None,
            ..edge(0)
        };
        assert_eq!(host_use(&blind, &edge(100)), None);
        let without_clock = Edge {
            generator_ns: None,
            ..edge(0)
        };
        assert_eq!(host_use(&without_clock, &edge(100)), None);
    }
}
