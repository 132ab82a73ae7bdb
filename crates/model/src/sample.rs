//! Samples of counters, and conclusions from two of them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::words::words;

words! {
    /// The place where counters are read. The names are stored and documented in
    /// `docs/formats/result-file.md`.
    pub enum Source {
        /// The server's processes as `/proc` accounts for them: processor time, faults, I/O.
        Process = "process",
        /// Its living threads, summed: time on processors and waiting for them, context switches.
        Threads = "threads",
        /// The control group that the server runs in.
        Cgroup = "cgroup",
        /// Counters of `perf_event_open(2)` opened at the server's birth.
        Perf = "perf",
        /// Instructions counted by running the server in valgrind.
        Valgrind = "valgrind",
        /// The server's memory.
        Memory = "memory",
        /// Sizes of its data directory.
        Files = "files",
        /// The block device that holds it.
        Device = "device",
        /// Pressure stall information of the host.
        Pressure = "pressure",
        /// The host as a whole: busy and stolen time, frequency, throttling.
        Host = "host",
        /// The host that runs the load generator, where that is another one.
        Client = "client",
        /// The cost of sampling itself: Prony's own processor time.
        Lab = "lab",
        /// PostgreSQL's views of statistics.
        Postgres = "postgres",
        /// `SHOW GLOBAL STATUS`.
        Status = "status",
        /// `information_schema.INNODB_METRICS`.
        Innodb = "innodb",
    }
}

impl Source {
    /// True for counters that a server keeps of itself.
    pub const fn is_status(self) -> bool {
        matches!(self, Self::Status | Self::Innodb | Self::Postgres)
    }

    /// True where its values are levels, which rise and fall, and not counts that only grow.
    pub const fn is_level(self) -> bool {
        matches!(self, Self::Memory | Self::Files)
    }
}

/// A counter: whose, and which. The unit is the last part of the name, such as `user_ns`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Counter {
    /// Its source.
    pub source: Source,
    /// Its name within the source.
    pub name: Cow<'static, str>,
}

impl Counter {
    /// A counter of this program's own naming.
    pub const fn new(source: Source, name: &'static str) -> Self {
        Self {
            source,
            name: Cow::Borrowed(name),
        }
    }
}

impl fmt::Display for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.source, self.name)
    }
}

words! {
    /// The moment of a step at which a sample is taken.
    pub enum Moment {
        /// At the start of the measured time: warm-up is over, no statement is under way, and the
        /// clients wait until the sample is taken.
        Start = "start",
        /// In between, at the sampler's period.
        Period = "period",
        /// At the end of the measured time: the last statement has been answered.
        End = "end",
    }
}

/// Everything read at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// The moment of the step.
    pub moment: Moment,
    /// The time when what is exact was read, in nanoseconds of the host's monotonic clock: at
    /// [`Moment::Start`], what is costly is read before.
    pub at_ns: u64,
    /// Time that reading all of it took, in nanoseconds.
    pub took_ns: u64,
    /// The values. A counter that could not be read is not here.
    pub values: BTreeMap<Counter, u64>,
    /// Gaps: sources of which a usual value could not be read, with reasons.
    pub gaps: Vec<Gap>,
}

/// Something that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Gap {
    /// The source.
    pub source: Source,
    /// The reason, in words that can stand alone.
    pub reason: String,
}

/// The identity of a server's process: samples of two processes have no difference. The counter's
/// value is the start time of the server's first process, in clock ticks since the host's start.
pub const IDENTITY: Counter = Counter::new(Source::Process, "started_ticks");

/// Number of threads of [`Source::Threads`] that had ended by the end sample although the start
/// sample had counted them: what they did in between is not known. Read at [`Moment::End`], 0 in
/// others.
pub const THREADS_LOST: Counter = Counter::new(Source::Threads, "lost_threads");

/// The reason why two samples have no difference of a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum NoDifference {
    /// It is in neither sample: it was unreadable, or not requested.
    #[error("not read")]
    NotRead,
    /// It is in one of both only.
    #[error("missing at the end of the step")]
    Lost,
    /// The server of the second sample is not that of the first.
    #[error("the server was restarted in between")]
    Restarted,
    /// It shrank, which counters do not do: it wrapped, or began anew.
    #[error("the counter ran backwards")]
    Backwards,
    /// Threads ended and took their counts with them.
    #[error("threads of the server ended in between")]
    ThreadsEnded,
}

impl Sample {
    /// The value of a counter.
    pub fn value(&self, counter: &Counter) -> Option<u64> {
        self.values.get(counter).copied()
    }

    /// By how much a counter grew from `earlier` to this sample.
    ///
    /// # Errors
    /// When there is no such difference; never a wrong one.
    pub fn since(&self, earlier: &Self, counter: &Counter) -> Result<u64, NoDifference> {
        let value = |counter: &Counter| (earlier.value(counter), self.value(counter));
        let growth = Continuity::of(value(&IDENTITY), self.value(&THREADS_LOST));
        growth.of_counter(counter.source, value(counter))
    }
}

/// Facts that decide if two samples have differences at all.
#[derive(Debug, Clone, Copy)]
pub struct Continuity {
    server: Result<(), NoDifference>,
    threads: Result<(), NoDifference>,
}

impl Continuity {
    /// From the values of [`IDENTITY`] in the earlier and the later sample, and of
    /// [`THREADS_LOST`] in the later one.
    pub fn of(identity: (Option<u64>, Option<u64>), lost: Option<u64>) -> Self {
        Self {
            server: match identity {
                (Some(then), Some(now)) if then != now => Err(NoDifference::Restarted),
                (None, Some(_)) | (Some(_), None) => Err(NoDifference::Lost),
                _ => Ok(()),
            },
            threads: match lost {
                Some(1..) => Err(NoDifference::ThreadsEnded),
                _ => Ok(()),
            },
        }
    }

    /// By how much a counter of a source grew between its values in the two samples.
    ///
    /// # Errors
    /// When there is no such difference; never a wrong one.
    pub fn of_counter(
        self,
        source: Source,
        values: (Option<u64>, Option<u64>),
    ) -> Result<u64, NoDifference> {
        let (from, to) = match values {
            (Some(from), Some(to)) => (from, to),
            (None, None) => return Err(NoDifference::NotRead),
            _ => return Err(NoDifference::Lost),
        };
        let of_server = !matches!(
            source,
            Source::Device | Source::Pressure | Source::Host | Source::Client | Source::Lab
        );
        if of_server {
            self.server?;
        }
        if source == Source::Threads {
            self.threads?;
        }
        to.checked_sub(from).ok_or(NoDifference::Backwards)
    }
}

/// The samples of one step of one trial, in the order of time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StepSamples(pub Vec<Sample>);

/// A counter between two neighbouring samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Period {
    /// From, in nanoseconds of the host's monotonic clock.
    pub start_ns: u64,
    /// Until.
    pub end_ns: u64,
    /// By how much it grew; an error is a gap in the series.
    pub growth: Result<u64, NoDifference>,
}

impl StepSamples {
    /// The sample at a moment; the first, where there are several.
    pub fn at(&self, moment: Moment) -> Option<&Sample> {
        self.0.iter().find(|sample| sample.moment == moment)
    }

    /// By how much a counter grew over the measured time.
    ///
    /// # Errors
    /// When that is not known.
    pub fn difference(&self, counter: &Counter) -> Result<u64, NoDifference> {
        match (self.at(Moment::Start), self.at(Moment::End)) {
            (Some(start), Some(end)) => end.since(start, counter),
            (None, None) => Err(NoDifference::NotRead),
            _ => Err(NoDifference::Lost),
        }
    }

    /// The growth of a counter between the samples that have it or should have it: those before the
    /// first and after the last sample with a value are left out.
    pub fn series(&self, counter: &Counter) -> Vec<Period> {
        let has = |sample: &Sample| sample.value(counter).is_some();
        let Some(first) = self.0.iter().position(has) else {
            return Vec::new();
        };
        let last = self.0.iter().rposition(has).unwrap_or(first);
        self.0[first..=last]
            .windows(2)
            .map(|pair| Period {
                start_ns: pair[0].at_ns,
                end_ns: pair[1].at_ns,
                growth: pair[1].since(&pair[0], counter),
            })
            .collect()
    }
}

/// Readings at the edges of a step, from which metrics are computed, in whatever form they are kept.
pub trait StepReadings {
    /// By how much a counter grew over the measured time.
    ///
    /// # Errors
    /// When that is not known.
    fn difference(&self, counter: &Counter) -> Result<u64, NoDifference>;

    /// The value of a counter in the first sample at a moment.
    fn value_at(&self, moment: Moment, counter: &Counter) -> Option<u64>;

    /// The time of the first sample at a moment, in nanoseconds of the host's monotonic clock.
    fn at_ns(&self, moment: Moment) -> Option<u64>;
}

impl StepReadings for StepSamples {
    fn difference(&self, counter: &Counter) -> Result<u64, NoDifference> {
        Self::difference(self, counter)
    }

    fn value_at(&self, moment: Moment, counter: &Counter) -> Option<u64> {
        self.at(moment)?.value(counter)
    }

    fn at_ns(&self, moment: Moment) -> Option<u64> {
        self.at(moment).map(|sample| sample.at_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USER: Counter = Counter::new(Source::Process, "user_ns");
    const STEAL: Counter = Counter::new(Source::Host, "steal_ns");
    const SWITCHES: Counter = Counter::new(Source::Threads, "voluntary_switches");

    fn sample(moment: Moment, at_ns: u64, values: &[(&Counter, u64)]) -> Sample {
        Sample {
            moment,
            at_ns,
            took_ns: 1,
            values: values
                .iter()
                .map(|(counter, value)| ((*counter).clone(), *value))
                .collect(),
            gaps: Vec::new(),
        }
    }

    #[test]
    fn differences_are_known_or_explained() {
        let start = sample(
            Moment::Start,
            10,
            &[(&IDENTITY, 7), (&USER, 100), (&STEAL, 5)],
        );
        let end = sample(
            Moment::End,
            20,
            &[(&IDENTITY, 7), (&USER, 130), (&STEAL, 4)],
        );
        assert_eq!(end.since(&start, &USER), Ok(30));
        assert_eq!(end.since(&start, &STEAL), Err(NoDifference::Backwards));
        assert_eq!(end.since(&start, &SWITCHES), Err(NoDifference::NotRead));
        let restarted = sample(
            Moment::End,
            20,
            &[(&IDENTITY, 8), (&USER, 130), (&STEAL, 9)],
        );
        assert_eq!(restarted.since(&start, &USER), Err(NoDifference::Restarted));
        assert_eq!(restarted.since(&start, &STEAL), Ok(4));
        let lost = sample(Moment::End, 20, &[(&IDENTITY, 7)]);
        assert_eq!(lost.since(&start, &USER), Err(NoDifference::Lost));
    }

    #[test]
    fn threads_that_ended_took_their_counts_along() {
        let start = sample(Moment::Start, 10, &[(&SWITCHES, 100), (&THREADS_LOST, 0)]);
        let end = |lost| sample(Moment::End, 20, &[(&SWITCHES, 150), (&THREADS_LOST, lost)]);
        assert_eq!(end(0).since(&start, &SWITCHES), Ok(50));
        let gap = end(1).since(&start, &SWITCHES);
        assert_eq!(gap, Err(NoDifference::ThreadsEnded));
    }

    #[test]
    fn a_series_keeps_its_gaps() {
        let samples = StepSamples(vec![
            sample(Moment::Start, 0, &[]),
            sample(Moment::Period, 10, &[(&STEAL, 1)]),
            sample(Moment::Period, 20, &[]),
            sample(Moment::Period, 30, &[(&STEAL, 5)]),
            sample(Moment::Period, 40, &[(&STEAL, 8)]),
            sample(Moment::End, 50, &[]),
        ]);
        let growths: Vec<_> = samples.series(&STEAL).iter().map(|p| p.growth).collect();
        let lost = Err(NoDifference::Lost);
        assert_eq!(growths, [lost, lost, Ok(3)]);
        assert_eq!(samples.difference(&STEAL), Err(NoDifference::NotRead));
    }

    #[test]
    fn names_are_those_of_the_format() {
        for source in Source::ALL {
            let json = serde_json::to_string(&source).unwrap();
            assert_eq!(json, format!("\"{source}\""));
        }
    }
}
