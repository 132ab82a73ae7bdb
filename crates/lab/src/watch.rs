//! Reading the cost of a server: sources are opened at its birth and read at the edges of each
//! step.

mod client_host;
mod instructions;
mod pauses;
mod reader;
mod stacks;

use std::path::Path;
use std::time::Duration;

use prony_model::{
    Collect, CountedBy, Counter, CounterSet, Counting, Family, Gap, KeptSamples, Moment, Profiling,
    RidingCounters, Sample, Source,
};
use prony_probe::{
    Cgroup, Counters, Period, Prober, Root, Sampler, ServerPlace, StackEvents, hardware_counters,
};
use prony_profile::{Profile, Sampled};
use prony_servers::{Birth, Callgrind, Instance, Valgrind};

use self::client_host::ClientHostReader;
use self::instructions::Instructions;
use self::reader::{EdgeReader, Status, System};
use self::stacks::Stacks;
use crate::fault::Fault;
use crate::lab::Lab;
use crate::server::{Server, server_fault};

/// Samples that a step keeps within its measured time, where the experiment names no period: two minutes
/// at one a second. A value takes some 14 bytes of the result file, and a sample has some 40.
const SAMPLES_MOST: usize = 120;
/// Limit for the server to answer for its status: nothing else is handled while waiting.
const STATUS_LIMIT: Duration = Duration::from_secs(10);
/// Factor of all limits for a server in valgrind.
pub(crate) const SIMULATED_SLOWER: u32 = 60;

/// The readings of a trial.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) collect: Collect,
    /// Counters to be opened; the trial fails where they are unavailable.
    pub(crate) counters: Option<CounterSet>,
    /// The server runs in valgrind.
    pub(crate) valgrind: bool,
    /// Stacks are sampled so many times per second of a processor.
    pub(crate) stacks: Option<u32>,
    /// The server is paused now and then.
    pub(crate) pauses: bool,
}

impl Wanted {
    /// Those of a timed trial. `auto` rides along where the experiment leaves it to the host.
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
            stacks: None,
            pauses: false,
        }
    }

    /// Those of a profiling trial: no counters ride along, because both would disturb each other.
    pub(crate) fn profiling(collect: Collect, profiling: Profiling) -> Self {
        let collect = Collect {
            // Samples are compared with the processor time that the kernel accounts for.
            system: true,
            ..collect
        };
        Self {
            collect,
            counters: None,
            valgrind: false,
            stacks: Some(profiling.rate),
            pauses: false,
        }
    }

    /// Those of a counting trial, where the cost of reading does not matter.
    pub(crate) fn counting(counting: Counting) -> Self {
        Self {
            collect: Collect::default(),
            counters: (counting.by == CountedBy::Hardware).then_some(CounterSet::Hardware),
            valgrind: counting.by == CountedBy::Valgrind,
            stacks: None,
            pauses: false,
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
            stacks: None,
            pauses: false,
        }
    }
}

/// The sources that were opened on a server when it was born, and the absences.
#[derive(Default)]
struct Opened {
    cgroup: Option<Cgroup>,
    counters: Option<Counters>,
    stacks: Option<StackEvents>,
    callgrind: Option<Callgrind>,
    absent: Vec<Gap>,
}

impl Opened {
    /// Opens the wanted sources on a process that will become the server.
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
                // Those of the kernel alone would not do.
                hardware_counters().map_err(|error| error.to_string())?;
            }
            let counters = Counters::open(pid, set).map_err(|error| error.to_string())?;
            self.counters = Some(counters);
        }
        if let Some(rate) = wanted.stacks {
            let events = StackEvents::open(root, pid, rate).map_err(|error| error.to_string())?;
            self.stacks = Some(events);
        }
        Ok(())
    }
}

/// A server, and the readers of its cost.
pub(crate) struct Watched {
    // In this order: a control group can only be removed when it is empty.
    pub(crate) server: Server,
    pub(crate) readers: Readers,
}

/// Starts an instance, with the sources that must be open before its first instruction.
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
        .map_err(|error| server_fault(&error))?;
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
            reason: "Prony did not start this server, so only the server's own status can be read"
                .to_owned(),
        });
    }
    watch(lab, server, opened, wanted)
}

fn watch(lab: &Lab<'_>, server: Server, opened: Opened, wanted: Wanted) -> Watched {
    let readers = Readers::new(lab, &server, opened, wanted);
    Watched { server, readers }
}

/// The readers of one server, through the steps of a trial.
pub(crate) struct Readers {
    /// The outermost.
    status: Option<Status>,
    /// From the outermost to the innermost: the reading of one is not part of what those after it
    /// read, at both edges.
    others: Vec<Box<dyn EdgeReader>>,
    absent: Vec<Gap>,
}

impl Readers {
    /// Those for a server on which `opened` was opened.
    fn new(lab: &Lab<'_>, server: &Server, opened: Opened, wanted: Wanted) -> Self {
        let Opened {
            cgroup,
            counters,
            stacks,
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
        let period = wanted.collect.period_ms.map(|ms| Period {
            every: Duration::from_millis(ms),
            most: (wanted.collect.kept == KeptSamples::Spread).then_some(SAMPLES_MOST),
        });
        let mut readers: Vec<Box<dyn EdgeReader>> = Vec::new();
        if let Some(client_host) = lab.client_host.filter(|_| server.is_far()) {
            // One that is lost shows when the load is to start.
            let session = client_host.session().ok();
            readers.extend(session.map(|session| {
                let reader: Box<dyn EdgeReader> = Box::new(ClientHostReader::new(session));
                reader
            }));
        }
        if let Some(callgrind) = callgrind {
            readers.push(Box::new(Instructions::of(callgrind)));
        }
        readers.push(Box::new(System::new(Sampler::start(prober, period))));
        if let Some(events) = stacks {
            readers.push(Box::new(Stacks::of(lab.proc.clone(), events)));
        }
        let slower = if wanted.valgrind { SIMULATED_SLOWER } else { 1 };
        let status = Status::within(STATUS_LIMIT * slower, wanted.pauses);
        Self {
            status: wanted.collect.status.then_some(status),
            others: readers,
            absent,
        }
    }

    /// The sources that can't be read of this server, with the reasons.
    pub(crate) fn absent(&self) -> &[Gap] {
        &self.absent
    }

    /// Gets ready for a step, before its load connects.
    pub(crate) fn prepare(&mut self, server: &Server) {
        if let Some(status) = &mut self.status {
            status.prepare(server);
        }
        for reader in &mut self.others {
            reader.prepare(server);
        }
    }

    /// The sample at the start of the measured time.
    pub(crate) fn begin(&mut self) -> Sample {
        let mut sample = empty(Moment::Start);
        if let Some(status) = &mut self.status {
            status.read_start(&mut sample);
        }
        for reader in &mut self.others {
            reader.read_start(&mut sample);
        }
        sample
    }

    /// The measured time pauses: what goes by until it [resumes](Self::resume) does not count.
    pub(crate) fn pause(&mut self) {
        for reader in self.others.iter_mut().rev() {
            reader.pause();
        }
    }

    /// The measured time goes on.
    pub(crate) fn resume(&mut self) {
        for reader in &mut self.others {
            reader.resume();
        }
    }

    /// `true` if the sessions of the load have to publish what they have counted before the server's
    /// status is read.
    pub(crate) fn needs_flush(&self, server: &Server) -> bool {
        self.status.is_some() && server.login().family == Family::Postgresql
    }

    /// The samples in between, and at last the one at the end of the measured time, which still
    /// [lacks](Self::end_status) the server's status.
    pub(crate) fn end(&mut self) -> Vec<Sample> {
        let mut sample = empty(Moment::End);
        let mut samples = Vec::new();
        for reader in self.others.iter_mut().rev() {
            samples.extend(reader.read_end(&mut sample));
        }
        samples.push(sample);
        samples
    }

    /// The functions that the server's work in the measured time belongs to, where it runs in valgrind.
    pub(crate) fn take_profile(&mut self) -> Option<Profile> {
        let mut readers = self.others.iter_mut();
        readers.find_map(|reader| reader.take_profile())
    }

    /// The stacks that were found in the measured time, where they were sampled.
    pub(crate) fn take_stacks(&mut self) -> Option<Result<Sampled, String>> {
        let mut readers = self.others.iter_mut();
        readers.find_map(|reader| reader.take_stacks())
    }

    /// Adds the server's status to the last sample, without the transactions in which sessions were
    /// `asked` to publish what they have counted.
    pub(crate) fn end_status(&mut self, samples: &mut [Sample], asked: u32) {
        if let (Some(status), Some(end)) = (&mut self.status, samples.last_mut()) {
            status.read_end(end, asked);
        }
    }
}

/// A sample before anything is read. The sampler dates it.
fn empty(moment: Moment) -> Sample {
    Sample {
        moment,
        at_ns: 0,
        took_ns: 0,
        values: [].into(),
        gaps: Vec::new(),
    }
}

/// A reason without what differs from one server to the next, so that it is reported once.
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

/// Processor time of the server between two samples, in nanoseconds: by its own clock where that
/// can be read, else in clock ticks. `None` where neither is known.
pub(crate) fn server_cpu_ns(start: &Sample, end: &Sample) -> Option<u64> {
    let grown = |name| end.since(start, &Counter::new(Source::Process, name)).ok();
    grown("cpu_ns").or_else(|| Some(grown("user_ns")? + grown("system_ns")?))
}

#[cfg(test)]
mod tests {
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
    fn a_reason_is_the_same_for_all_servers() {
        let reason = |pid, data_dir: &str| {
            let whole = format!("read /proc/{pid}/task/{pid}/io of {data_dir}: denied");
            let gap = Gap {
                source: Source::Process,
                reason: whole,
            };
            general(gap, Some(pid), Some(Path::new(data_dir))).reason
        };
        let first = reason(12, "/cache/instances/12-1/data");
        assert_eq!(
            first,
            "read /proc/PID/task/PID/io of the data directory: denied"
        );
        assert_eq!(reason(345, "/cache/instances/345-9/data"), first);
    }

    #[test]
    fn the_exact_clock_goes_before_clock_ticks() {
        let ticks = |user, system| sample(&[("user_ns", user), ("system_ns", system)]);
        let (start, end) = (ticks(10, 20), ticks(15, 40));
        assert_eq!(server_cpu_ns(&start, &end), Some(25));
        let exact = |ns| sample(&[("cpu_ns", ns), ("user_ns", 0), ("system_ns", 0)]);
        assert_eq!(server_cpu_ns(&exact(5), &exact(12)), Some(7));
        assert_eq!(server_cpu_ns(&sample(&[]), &end), None);
        assert_eq!(server_cpu_ns(&end, &start), None);
    }
}
