//! Raw counters at the exact start and end of a step's measured time.

use std::collections::BTreeMap;

use prony_model::{Counter, Moment, Sample, Source};
use prony_probe::{HostReading, ProcessReading, Root, monotonic_ns};

/// Share of the machine that a hypervisor may take before a figure carries a warning. Below it,
/// the loss is smaller than the spread between trials on a quiet machine.
const STEAL_SHARE_MAX: f64 = 0.01;

/// What was read at one edge. A counter that can't be read is absent, never zero.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edge {
    at_ns: u64,
    server: Option<ProcessReading>,
    host: Option<HostReading>,
}

impl Edge {
    /// Reads the counters now. The process of an external server is not known.
    pub(crate) fn take(root: &Root, server_pid: Option<u32>) -> Self {
        Self {
            at_ns: monotonic_ns(),
            server: server_pid.and_then(|pid| ProcessReading::take(root, pid).ok()),
            host: HostReading::take(root).ok(),
        }
    }

    /// Processor time of the server from `self` until `end`, in nanoseconds. `None` where it is not
    /// known.
    pub(crate) fn server_cpu_ns(&self, end: &Self) -> Option<u64> {
        let total = |edge: &Self| edge.server.map(|server| server.user_ns + server.system_ns);
        total(end)?.checked_sub(total(self)?)
    }

    /// The counters as the result file keeps them.
    pub(crate) fn sample(&self, moment: Moment) -> Sample {
        let mut values = BTreeMap::new();
        if let Some(server) = self.server {
            values.extend([
                (Counter::new(Source::Process, "user_ns"), server.user_ns),
                (Counter::new(Source::Process, "system_ns"), server.system_ns),
                (
                    Counter::new(Source::Memory, "resident_bytes"),
                    server.resident_bytes,
                ),
                (Counter::new(Source::Memory, "threads"), server.threads),
            ]);
        }
        if let Some(host) = self.host {
            values.extend([
                (Counter::new(Source::Host, "steal_ns"), host.steal_ns),
                (Counter::new(Source::Host, "busy_ns"), host.busy_ns),
            ]);
        }
        Sample {
            moment,
            at_ns: self.at_ns,
            took_ns: 0,
            values,
            gaps: Vec::new(),
        }
    }
}

/// The warning about time stolen between two edges on a host with `cpus` processors, if there is
/// something to warn about.
pub(crate) fn steal_warning(start: &Edge, end: &Edge, cpus: u32) -> Option<String> {
    let stolen = end.host?.steal_ns.checked_sub(start.host?.steal_ns)?;
    let elapsed = end
        .at_ns
        .checked_sub(start.at_ns)
        .filter(|elapsed| *elapsed > 0)?;
    let share = stolen as f64 / (elapsed as f64 * f64::from(cpus.max(1)));
    (share > STEAL_SHARE_MAX).then(|| {
        format!(
            "the hypervisor took {:.1} % of the machine's time away",
            share * 100.0
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(at_ns: u64, steal_ns: u64) -> Edge {
        Edge {
            at_ns,
            server: None,
            host: Some(HostReading {
                steal_ns,
                busy_ns: 0,
            }),
        }
    }

    #[test]
    fn steal_is_a_share_of_all_processors() {
        let start = edge(1_000, 500);
        assert_eq!(steal_warning(&start, &edge(101_000, 2_400), 2), None);
        let warning = steal_warning(&start, &edge(101_000, 4_500), 2).unwrap();
        assert_eq!(
            warning,
            "the hypervisor took 2.0 % of the machine's time away"
        );
    }

    #[test]
    fn a_counter_that_ran_backwards_warns_of_nothing() {
        assert_eq!(steal_warning(&edge(1_000, 500), &edge(2_000, 400), 2), None);
        assert_eq!(steal_warning(&edge(2_000, 0), &edge(1_000, 400), 2), None);
    }

    #[test]
    fn what_could_not_be_read_is_absent() {
        let edge = Edge {
            at_ns: 1,
            server: None,
            host: None,
        };
        assert!(edge.sample(Moment::Start).values.is_empty());
    }
}
