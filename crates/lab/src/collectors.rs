//! What reads the cost of a server: opened at its birth, asked at the edges of each step.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use prony_client::Connection;
use prony_model::{
    Collect, CountedBy, Counter, CounterSet, Counting, Gap, RidingCounters, Sample, Source,
};
use prony_probe::{Cgroup, Counters, Prober, Root, Sampler, ServerPlace, hardware_counters};
use prony_servers::{Birth, Callgrind, Instance, Valgrind, ValgrindError};

use crate::fault::Fault;
use crate::lab::Lab;
use crate::prepare::server_fault;
use crate::server::Server;

/// What valgrind counts from the start of the measured time on.
const INSTRUCTIONS: Counter = Counter::new(Source::Valgrind, "instructions_user");

/// How long the server may take to answer for its status: who waits for it is deaf for everything
/// else.
const STATUS_LIMIT: Duration = Duration::from_secs(10);
/// How much more patience a server in valgrind needs.
pub(crate) const SIMULATED_SLOWER: u32 = 60;

/// What is to be read in a trial.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) collect: Collect,
    /// Counters to be opened; the trial fails where they can't be had.
    pub(crate) counters: Option<CounterSet>,
    /// Whether the server runs in valgrind.
    pub(crate) valgrind: bool,
}

impl Wanted {
    /// In a timed trial. `auto` is what rides along where the experiment leaves it to the host.
    pub(crate) fn timed(collect: Collect, auto: Option<CounterSet>) -> Self {
        let counters = match collect.counters {
            RidingCounters::Auto => auto,
            RidingCounters::Off => None,
            RidingCounters::Software => Some(CounterSet::Software),
            RidingCounters::Hardware => Some(CounterSet::Hardware),
        };
        Self {
            collect,
            counters,
            valgrind: false,
        }
    }

    /// In a counting trial, where looking may cost what it will.
    pub(crate) fn counting(counting: Counting) -> Self {
        Self {
            collect: Collect::default(),
            counters: (counting.by == CountedBy::Hardware).then_some(CounterSet::Hardware),
            valgrind: counting.by == CountedBy::Valgrind,
        }
    }

    /// No more than the processor time of server and host, at the edges.
    pub(crate) fn little() -> Self {
        let collect = Collect {
            system: true,
            ..Collect::NOTHING
        };
        Self {
            collect,
            counters: None,
            valgrind: false,
        }
    }
}

/// What was opened on a server when it was born, and what could not be.
#[derive(Debug, Default)]
struct Opened {
    cgroup: Option<Cgroup>,
    counters: Option<Counters>,
    callgrind: Option<Callgrind>,
    absent: Vec<Gap>,
}

impl Opened {
    /// Opens what is wanted on a process that will become the server.
    fn open(&mut self, root: &Root, wanted: Wanted, pid: u32) -> Result<(), String> {
        if wanted.collect.cgroup {
            let made = Cgroup::create(root, &format!("server-{pid}"));
            let made = made.and_then(|cgroup| cgroup.add(pid).map(|()| cgroup));
            match made {
                Ok(cgroup) => self.cgroup = Some(cgroup),
                Err(error) => self.absent.push(Gap {
                    source: Source::Cgroup,
                    reason: error.to_string(),
                }),
            }
        }
        if let Some(set) = wanted.counters {
            if set == CounterSet::Hardware {
                // Those of the kernel alone are not what was wanted.
                hardware_counters().map_err(|error| error.to_string())?;
            }
            let counters = Counters::open(pid, set).map_err(|error| error.to_string())?;
            self.counters = Some(counters);
        }
        Ok(())
    }
}

/// A server, and what reads its cost.
pub(crate) struct Watched {
    // In this order: a control group can only be removed when nobody is in it any more.
    pub(crate) server: Server,
    pub(crate) collectors: Collectors,
}

/// Starts an instance, with everything on it that must be there before its first instruction.
pub(crate) fn start(lab: &Lab<'_>, instance: Instance, wanted: Wanted) -> Result<Watched, Fault> {
    let mut opened = Opened::default();
    let mut on_birth = |pid: u32| opened.open(&lab.proc, wanted, pid);
    let valgrind = wanted.valgrind.then(|| Valgrind::find(lab.launcher));
    let valgrind = valgrind.transpose().map_err(|error| {
        Fault::failed(format!("failed to count instructions by valgrind: {error}"))
    })?;
    let birth = Birth {
        on_birth: Some(&mut on_birth),
        valgrind,
    };
    let running = instance
        .start_with(birth, lab.stop)
        .map_err(|error| server_fault(lab, &error))?;
    opened.callgrind = running.callgrind().cloned();
    let server = Server::Own(Box::new(running));
    Ok(watch(lab, server, opened, wanted))
}

/// Watches a server that runs already.
pub(crate) fn attend(lab: &Lab<'_>, server: Server, wanted: Wanted) -> Watched {
    let collect = wanted.collect;
    let reads_it = collect.system || collect.cgroup || wanted.counters.is_some();
    let mut opened = Opened::default();
    if reads_it && server.pid().is_none() {
        opened.absent.push(Gap {
            source: Source::Process,
            reason: "Prony did not start this server: its own status is all that can be read of it"
                .to_owned(),
        });
    }
    watch(lab, server, opened, wanted)
}

fn watch(lab: &Lab<'_>, server: Server, opened: Opened, wanted: Wanted) -> Watched {
    let collectors = Collectors::new(lab, &server, opened, wanted);
    Watched { server, collectors }
}

/// What watches a server through the steps of a trial.
pub(crate) struct Collectors {
    sampler: Sampler,
    /// What counts the server's instructions, where it runs in valgrind.
    callgrind: Option<Callgrind>,
    /// Whether the server is asked for its status.
    asks: bool,
    /// How long it may take to answer.
    patience: Duration,
    /// Over which it is asked: open through the whole step, so that no thread of the server comes or
    /// goes for it.
    control: Option<Result<Connection, String>>,
    absent: Vec<Gap>,
}

impl Collectors {
    /// For a server on which `opened` was opened.
    fn new(lab: &Lab<'_>, server: &Server, opened: Opened, wanted: Wanted) -> Self {
        let Opened {
            cgroup,
            counters,
            callgrind,
            mut absent,
        } = opened;
        let data_dir = server.data_dir();
        let place = server.pid().map(|pid| ServerPlace {
            pid,
            data_dir: data_dir.clone(),
            cgroup,
            counters,
        });
        let prober = Prober::new(lab.proc.clone(), place, &wanted.collect);
        let general = |gap: Gap| general(gap, server.pid(), data_dir.as_deref());
        absent.extend(prober.absences().into_iter().map(general));
        let period = wanted.collect.period_ms.map(Duration::from_millis);
        Self {
            sampler: Sampler::start(prober, period),
            asks: wanted.collect.status,
            patience: if wanted.valgrind {
                STATUS_LIMIT * SIMULATED_SLOWER
            } else {
                STATUS_LIMIT
            },
            callgrind,
            control: None,
            absent,
        }
    }

    /// What can't be read of this server, and why.
    pub(crate) fn absent(&self) -> &[Gap] {
        &self.absent
    }

    /// Gets ready for a step, before its load connects.
    pub(crate) fn prepare(&mut self, server: &Server) {
        self.control = self.asks.then(|| {
            let connected = server.connect_within(self.patience);
            connected.map_err(|error| format!("failed to {error}"))
        });
    }

    /// The sample at the start of the measured time. The server is asked first, so that its answer
    /// is not part of what is measured; three times, so that what one question adds to the server's
    /// own counters is known.
    pub(crate) fn begin(&mut self) -> Sample {
        // The first one also pays for what is only done once.
        let looks = [self.status(), self.status(), self.status()];
        let status = match looks {
            [Some(Ok(first)), Some(Ok(second)), Some(Ok(third))] => {
                Some(Ok(with_a_look([&first, &second], third)))
            }
            [.., last] => last,
        };
        let mut sample = self.sampler.begin();
        add(&mut sample, status);
        if let Some(callgrind) = &self.callgrind {
            let zero = callgrind.zero().map(|()| 0);
            add_instructions(&mut sample, zero);
        }
        sample
    }

    /// The samples since, and that at the end of the measured time. The server is asked last.
    pub(crate) fn end(&mut self) -> Vec<Sample> {
        let (mut samples, mut last) = self.sampler.end();
        if let Some(callgrind) = &self.callgrind {
            add_instructions(&mut last, callgrind.instructions());
        }
        add(&mut last, self.status());
        // Closed: between steps the server may be idle for longer than it keeps a connection.
        self.control = None;
        samples.push(last);
        samples
    }

    /// What the server says, or why it could not be asked. `None` where nobody asks.
    fn status(&mut self) -> Option<Result<BTreeMap<Counter, u64>, String>> {
        Some(match self.control.as_mut()? {
            Ok(connection) => prony_servers::admin::status(connection)
                .map_err(|error| format!("failed to {error}")),
            Err(reason) => Err(reason.clone()),
        })
    }
}

/// What the server says, and on top of it what being asked once more adds, which will be in its
/// next answer: rows of the temporary table that holds it, a question, some bytes. It is the lesser
/// of what two questions added, so that what went on meanwhile is hardly ever taken for it.
fn with_a_look(
    before: [&BTreeMap<Counter, u64>; 2],
    mut now: BTreeMap<Counter, u64>,
) -> BTreeMap<Counter, u64> {
    for (counter, value) in &mut now {
        let [first, second] = before.map(|look| look.get(counter).copied());
        let added = first.zip(second).and_then(|(first, second)| {
            let earlier = second.checked_sub(first)?;
            Some(earlier.min(value.checked_sub(second)?))
        });
        *value = value.saturating_add(added.unwrap_or(0));
    }
    now
}

/// A reason without what differs from one server to the next, so that it is said once.
fn general(gap: Gap, pid: Option<u32>, data_dir: Option<&Path>) -> Gap {
    let mut reason = gap.reason;
    if let Some(data_dir) = data_dir {
        reason = reason.replace(&data_dir.display().to_string(), "the data directory");
    }
    if let Some(pid) = pid {
        for folder in ["proc", "task"] {
            reason = reason.replace(&format!("{folder}/{pid}"), &format!("{folder}/PID"));
        }
    }
    Gap { reason, ..gap }
}

fn add_instructions(sample: &mut Sample, counted: Result<u64, ValgrindError>) {
    match counted {
        Ok(count) => {
            sample.values.insert(INSTRUCTIONS, count);
        }
        Err(error) => sample.gaps.push(Gap {
            source: Source::Valgrind,
            reason: format!("failed to {error}"),
        }),
    }
}

fn add(sample: &mut Sample, status: Option<Result<BTreeMap<Counter, u64>, String>>) {
    match status {
        Some(Ok(values)) => sample.values.extend(values),
        Some(Err(reason)) => sample.gaps.push(Gap {
            source: Source::Status,
            reason,
        }),
        None => {}
    }
}

/// Processor time of the server between two samples, in nanoseconds: by its own clock where that can
/// be read, else in clock ticks. `None` where neither is known.
pub(crate) fn server_cpu_ns(start: &Sample, end: &Sample) -> Option<u64> {
    let grown = |name| end.since(start, &Counter::new(Source::Process, name)).ok();
    grown("cpu_ns").or_else(|| Some(grown("user_ns")? + grown("system_ns")?))
}

#[cfg(test)]
mod tests {
    use prony_model::Moment;

    use super::*;

    fn sample(values: &[(&'static str, u64)]) -> Sample {
        Sample {
            moment: Moment::Start,
            at_ns: 0,
            took_ns: 0,
            values: values
                .iter()
                .map(|(name, value)| (Counter::new(Source::Process, name), *value))
                .collect(),
            gaps: Vec::new(),
        }
    }

    #[test]
    fn what_is_the_same_for_all_servers_is_said_in_the_same_words() {
        let said = |pid, data_dir: &str| {
            let reason = format!("read /proc/{pid}/task/{pid}/io of {data_dir}: denied");
            let gap = Gap {
                source: Source::Process,
                reason,
            };
            general(gap, Some(pid), Some(Path::new(data_dir))).reason
        };
        let first = said(12, "/cache/instances/12-1/data");
        assert_eq!(
            first,
            "read /proc/PID/task/PID/io of the data directory: denied"
        );
        assert_eq!(said(345, "/cache/instances/345-9/data"), first);
    }

    #[test]
    fn what_a_look_adds_is_not_an_operations() {
        let said = |writes, threads| -> BTreeMap<Counter, u64> {
            let counter = |name| Counter::new(Source::Status, name);
            [
                (counter("handler_write"), writes),
                (counter("threads"), threads),
            ]
            .into()
        };
        // Something else wrote between the second and the third.
        let start = with_a_look([&said(1_000, 5), &said(1_400, 4)], said(1_900, 4));
        assert_eq!(start, said(2_300, 4));
        let nothing = BTreeMap::new();
        let unknown = with_a_look([&nothing, &said(7, 1)], said(8, 2));
        assert_eq!(unknown, said(8, 2));
    }

    #[test]
    fn the_servers_clock_goes_before_clock_ticks() {
        let ticks = |user, system| sample(&[("user_ns", user), ("system_ns", system)]);
        let (start, end) = (ticks(10, 20), ticks(15, 40));
        assert_eq!(server_cpu_ns(&start, &end), Some(25));
        let exact = |ns| sample(&[("cpu_ns", ns), ("user_ns", 0), ("system_ns", 0)]);
        assert_eq!(server_cpu_ns(&exact(5), &exact(12)), Some(7));
        assert_eq!(server_cpu_ns(&sample(&[]), &end), None);
        assert_eq!(server_cpu_ns(&end, &start), None);
    }
}
