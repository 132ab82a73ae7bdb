//! The scheduler's figures of the living threads of a server.

use std::collections::BTreeSet;

use prony_model::{Gap, Moment, Source, THREADS_LOST};

use crate::clock::process_cpu_ns;
use crate::draft::{Draft, gap};
use crate::members::Member;
use crate::root::{ProbeError, Root};
use crate::stat::Stat;
use crate::text::{add, numbers, sum, value};

/// Counters of the living threads of one process, summed since each began. The difference of two
/// samples is exact to the nanosecond, but for the clock tick under way, as long as no thread
/// ends in between: what a thread used goes with it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ThreadsSample {
    /// Time on a processor, in nanoseconds.
    pub run_ns: u64,
    /// Time ready to run and without a processor, in nanoseconds.
    pub run_queue_ns: u64,
    /// Number of times that a thread was put on a processor.
    pub slices: u64,
}

impl ThreadsSample {
    /// Reads `/proc/PID/task/*/schedstat`. Source of the layout: the kernel's
    /// Documentation/scheduler/sched-stats.rst.
    ///
    /// # Errors
    /// If the process is gone, the kernel keeps no such statistics, or a file is not as
    /// documented.
    pub fn take(root: &Root, pid: u32) -> Result<Self, ProbeError> {
        let folder = format!("proc/{pid}/task");
        let mut total = [0; SCHEDULE];
        for thread in root.list(&folder)? {
            let figures = match schedule(root, &format!("{folder}/{thread}")) {
                Ok(figures) => figures,
                Err(error) if error.is_gone() => continue,
                Err(error) => return Err(error),
            };
            let too_large = || root.unexpected(&folder, "numbers that can be");
            total = add(total, figures).ok_or_else(too_large)?;
        }
        let [run_ns, run_queue_ns, slices] = total;
        Ok(Self {
            run_ns,
            run_queue_ns,
            slices,
        })
    }
}

/// Reads the figures of the scheduler of the thread whose folder is `thread`.
fn schedule(root: &Root, thread: &str) -> Result<[u64; SCHEDULE], ProbeError> {
    let path = format!("{thread}/schedstat");
    root.parse(path, "three numbers of schedstat", numbers)
}

/// The counters of a thread: those of the scheduler first, then switches.
const FIGURES: [&str; 5] = [
    "run_ns",
    "run_queue_ns",
    "slices",
    "voluntary_switches",
    "involuntary_switches",
];

/// Number of figures in `schedstat`.
const SCHEDULE: usize = 3;

/// The longest clock tick that kernels are built with. The scheduler's figure of a thread that is
/// on a processor is as old as the last tick.
const TICK_NS_MAX: u64 = 10_000_000;

/// A thread: its number, and when it began, since numbers are used again.
type Thread = (u32, u64);

/// Reads the threads of a server.
#[derive(Debug)]
pub(crate) struct Threads {
    has_schedule: bool,
    /// Threads at the start of the step.
    start: Option<Census>,
}

/// All threads of a server at one moment.
#[derive(Debug, Default)]
struct Census {
    threads: BTreeSet<Thread>,
    figures: [u64; FIGURES.len()],
    /// Threads that were on a processor when they were read.
    running: u64,
    /// Processes that ended before their threads were read.
    missed: u64,
    ended: Option<Ended>,
}

/// Processor time of threads that have ended: that of the processes less that of the threads that
/// live. Threads run on while they are read, so that it is known to lie between two values.
#[derive(Debug, Clone, Copy)]
struct Ended {
    least_ns: u64,
    most_ns: u64,
    /// Processor time of processes that have ended, in clock ticks.
    reaped_ticks: u64,
}

impl Threads {
    /// Finds out what the kernel tells of threads.
    pub(crate) fn new(root: &Root, pid: u32, absences: &mut Vec<Gap>) -> Self {
        let schedule = schedule(root, &format!("proc/{pid}/task/{pid}"));
        if let Err(error) = &schedule {
            let reason = format!(
                "{error}: the kernel was built without the scheduler's figures (CONFIG_SCHED_INFO)"
            );
            absences.push(gap(Source::Threads, reason));
        }
        Self {
            has_schedule: schedule.is_ok(),
            start: None,
        }
    }

    /// Takes a sample at an edge of the measured time.
    pub(crate) fn sample(
        &mut self,
        root: &Root,
        members: &[Member],
        moment: Moment,
        draft: &mut Draft,
    ) {
        if moment == Moment::Start {
            self.start = None;
        }
        if members.is_empty() {
            return;
        }
        let census = match Census::take(root, members, self.has_schedule) {
            Ok(census) => census,
            Err(error) => return draft.gap(Source::Threads, &error),
        };
        let absent = if self.has_schedule { 0 } else { SCHEDULE };
        for (name, value) in FIGURES.into_iter().zip(census.figures).skip(absent) {
            draft.put(Source::Threads, name, value);
        }
        let living = census.threads.len() as u64;
        draft.put(Source::Threads, "living_threads", living);
        let lost = match (&self.start, moment) {
            (Some(start), Moment::End) => census.lost_since(start),
            _ => 0,
        };
        draft.values.insert(THREADS_LOST.clone(), lost);
        if moment == Moment::Start {
            self.start = Some(census);
        }
    }
}

impl Census {
    fn take(root: &Root, members: &[Member], has_schedule: bool) -> Result<Self, ProbeError> {
        let mut census = Self::default();
        let clock = |member: &Member| process_cpu_ns(root, member.pid);
        let before: Vec<_> = members.iter().map(clock).collect();
        let mut living = Vec::new();
        for (index, member) in members.iter().enumerate() {
            let folder = format!("proc/{}/task", member.pid);
            let names = match root.list(&folder) {
                Err(error) if index > 0 && error.is_gone() => {
                    census.missed += 1;
                    continue;
                }
                listed => listed?,
            };
            living.push(index);
            for name in names {
                match census.count(root, &folder, &name, has_schedule) {
                    Err(error) if error.is_gone() => {}
                    other => other?,
                }
            }
        }
        let before_ns = sum(living.iter().map(|index| before[*index]));
        let after_ns = sum(living.iter().map(|index| clock(&members[*index])));
        let reaped = sum(members.iter().map(|member| member.stat.reaped_ticks()));
        if let (Some(before), Some(after), Some(reaped_ticks), true) =
            (before_ns, after_ns, reaped, has_schedule)
        {
            let [run_ns, ..] = census.figures;
            census.ended = Some(Ended {
                least_ns: before
                    .saturating_sub(run_ns)
                    .saturating_sub(census.running * TICK_NS_MAX),
                most_ns: after.saturating_sub(run_ns),
                reaped_ticks,
            });
        }
        Ok(census)
    }

    fn count(
        &mut self,
        root: &Root,
        folder: &str,
        name: &str,
        has_schedule: bool,
    ) -> Result<(), ProbeError> {
        let thread = format!("{folder}/{name}");
        let odd = || root.unexpected(&thread, "the files of a thread");
        let status = root.read(format!("{thread}/status"))?;
        let switches = |word| value(&status, word).ok_or_else(odd);
        let voluntary = switches("voluntary_ctxt_switches:")?;
        let involuntary = switches("nonvoluntary_ctxt_switches:")?;
        let [run, queue, slices] = if has_schedule {
            schedule(root, &thread)?
        } else {
            [0; SCHEDULE]
        };
        let stat = Stat::read(root, &format!("{thread}/stat"))?;
        let figures = [run, queue, slices, voluntary, involuntary];
        self.figures = add(self.figures, figures).ok_or_else(odd)?;
        self.running += u64::from(stat.running);
        let number = name.parse().map_err(|_| odd())?;
        self.threads.insert((number, stat.started_ticks));
        Ok(())
    }

    /// Number of threads that have taken their counts with them since `start`: those that were there then
    /// and are not now, or that ended just now, and at least one where processor time says that threads have
    /// come and gone in between.
    fn lost_since(&self, start: &Self) -> u64 {
        let gone = start.threads.difference(&self.threads).count() as u64;
        let came_and_went = match (&start.ended, &self.ended) {
            (Some(then), Some(now)) => {
                now.least_ns > then.most_ns || now.reaped_ticks > then.reaped_ticks
            }
            _ => false,
        };
        gone.max(self.missed).max(u64::from(came_and_went))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_up_the_threads() {
        let folder = tempfile::tempdir().unwrap();
        for (thread, text) in [("42", "1000 20 3\n"), ("43", "5 6 7\n")] {
            let task = folder.path().join("proc/42/task").join(thread);
            std::fs::create_dir_all(&task).unwrap();
            std::fs::write(task.join("schedstat"), text).unwrap();
        }
        // A thread that has ended since it was listed.
        std::fs::create_dir_all(folder.path().join("proc/42/task/44")).unwrap();
        let sample = ThreadsSample::take(&Root::recorded(folder.path()), 42).unwrap();
        let expected = ThreadsSample {
            run_ns: 1005,
            run_queue_ns: 26,
            slices: 10,
        };
        assert_eq!(sample, expected);
    }

    #[test]
    fn what_is_missing_or_odd_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::recorded(folder.path());
        let error = ThreadsSample::take(&root, 7).unwrap_err();
        assert!(error.to_string().contains("proc/7/task"), "{error}");
        let task = folder.path().join("proc/7/task/7");
        std::fs::create_dir_all(&task).unwrap();
        std::fs::write(task.join("schedstat"), "12 x 3\n").unwrap();
        let error = ThreadsSample::take(&root, 7).unwrap_err();
        assert!(error.to_string().contains("three numbers"), "{error}");
    }

    #[test]
    fn reads_itself() {
        let sample = ThreadsSample::take(&Root::live(), std::process::id()).unwrap();
        assert!(sample.run_ns > 0 && sample.slices > 0);
    }
}
