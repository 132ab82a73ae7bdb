//! Running a workload: connect, warm up, measure, add up.
//!
//! Between warm-up and measured time every client rests for an instant, and so it does after the
//! measured time: whatever others read at these two edges (processor time, server counters)
//! belongs to the measured operations alone. The connections live through both edges. Where the
//! whole run is timed, the measured time begins before the first connection is made and ends when
//! the last one is closed. Who needs longer than that instant to read lets the job hold.

mod collect;

mod gate;
mod share;
mod totals;
mod turns;

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use prony_model::{Length, Pace, Scheduling, ThreadUse, Timing, Tls};

use rustix::thread::set_current_timer_slack;

use crate::clock::{CpuTime, ThreadTime, now_ns};
use crate::connection::{Opener, flush_statistics};
use crate::dataset::marks;
use crate::drive::collect::{Collector, Report};
use crate::drive::gate::Gate;
use crate::drive::share::Share;
use crate::drive::totals::{Spent, Totals};
use crate::drive::turns::{Turn, Turns};
use crate::limits::make_room;
use crate::loops::{Phase, Shared};
use crate::message::{IsClosed, Speaker};
use crate::program::Program;
use crate::recorder::{Period, Recorder};
use crate::scheduling::{bind_to, schedule_as, usual_scheduling};
use crate::worker::Worker;
use crate::{DriveTask, Job, JobError, LoadError, Message, choose_backend};

const NS_PER_MS: u64 = 1_000_000;
/// Rates are in operations per thousand seconds.
const MS_PER_1000_S: u64 = 1_000_000;

/// Makes arrivals of the warm-up differ from those of the measured time.
const WARMUP_SEED: u64 = 0x77;
const MEASURED_SEED: u64 = 0;

/// State shared by the threads of a run.
struct Run<'a> {
    task: &'a DriveTask,
    /// The policy in force.
    scheduling: Scheduling,
    programs: &'a [Program],
    opener: &'a Opener<'a>,
    is_abandoned: IsClosed<'a>,
    failed: AtomicBool,
    /// Meeting point of all threads at the start of the measured time, and after each turn.
    gate: Gate,
    /// Held by the thread whose sessions publish what they have counted.
    flushing: Mutex<()>,
    turns: Turns,
    /// Threads of which own clients still work: in the warm-up, and in the measured time.
    own_left: [AtomicU32; 2],
}

/// Runs the task to its end, telling `speaker` how it goes.
pub(crate) fn drive(
    job: &Job,
    task: &DriveTask,
    speaker: &mut Speaker<'_>,
) -> Result<(), LoadError> {
    task.check()?;
    choose_backend(Some(task.backend), job.tls != Tls::Off)?;
    let programs = compile(job, task)?;
    let connections = task.connections();
    let threads = task.threads();
    make_room(connections, threads)?;
    let usual = || usual_scheduling(&task.groups, processors());
    let scheduling = schedule_as(task.scheduling.unwrap_or_else(usual))?;
    let start = match task.timing {
        Timing::Operations => None,
        Timing::WholeRun => Some(Start::now(task, speaker)?),
    };
    let opener = Opener::new(job, task, &programs)?;
    let links = opener.connect_all(speaker)?;
    let shares = links.into_iter().map(|links| Share::new(task, links));
    let mut shares: Vec<Share> = shares.collect();
    speaker.say(&Message::Connected {
        clients: connections,
        threads,
    })?;
    if task.hold && !task.thread_cpus.is_empty() {
        speaker.wait()?;
    }
    let run = Run {
        task,
        scheduling,
        programs: &programs,
        opener: &opener,
        is_abandoned: speaker.is_closed,
        failed: AtomicBool::new(false),
        gate: Gate::new(shares.len()),
        flushing: Mutex::default(),
        turns: Turns::default(),
        own_left: [AtomicU32::new(threads), AtomicU32::new(threads)],
    };
    let own = shares.swap_remove(0);
    thread::scope(|scope| {
        let (sender, receiver) = channel();
        for (index, share) in shares.into_iter().enumerate() {
            let (run, sender) = (&run, sender.clone());
            thread::Builder::new()
                .name(format!("load-{}", index + 1))
                .spawn_scoped(scope, move || run.work_elsewhere(index + 1, share, &sender))
                .inspect_err(|_| run.give_up())
                .map_err(LoadError::system("start a thread"))?;
        }
        drop(sender);
        let collector = Collector::new(&run, threads as usize, speaker, receiver, start);
        run.work_here(own, collector)
    })
}

/// The programs of all groups, which share the marks of the tables.
fn compile(job: &Job, task: &DriveTask) -> Result<Vec<Program>, LoadError> {
    let uses_marks = task.groups.iter().any(|group| group.workload.uses_marks());
    let marks = uses_marks.then(|| marks::of_tables(job, &task.dataset).map(Arc::new));
    let marks = marks.transpose()?;
    let compile = |group: usize| {
        let workload = &task.groups[group].workload;
        Program::compile(job.family, task, group, marks.as_ref())
            .map_err(JobError::compiling(workload))
    };
    let programs: Result<_, JobError> = (0..task.groups.len()).map(compile).collect();
    Ok(programs?)
}

impl Run<'_> {
    /// Lets all threads end that wait or work.
    fn give_up(&self) {
        self.failed.store(true, Ordering::Relaxed);
        self.gate.break_open();
    }

    /// Work of every thread except the first.
    fn work_elsewhere(&self, thread: usize, share: Share, sender: &Sender<Report>) {
        // Sending fails only when the first thread is gone, and then the report is not needed.
        let mut hand_over = |periods| {
            let _ = sender.send(Report::Periods { thread, periods });
            Ok(())
        };
        let ended = self.work(thread, share, &mut || Ok(()), &mut hand_over);
        let _ = sender.send(Report::Ended { thread, ended });
    }

    /// Work of the first thread: the same, and all messages.
    fn work_here(&self, share: Share, collector: Collector<'_, '_>) -> Result<(), LoadError> {
        // Both closures below talk, at different times.
        let collector = std::cell::RefCell::new(collector);
        let mut at_gate = || collector.borrow_mut().at_gate();
        let mut hand_over = |periods: Vec<Period>| collector.borrow_mut().own_periods(&periods);
        let ended = self.work(0, share, &mut at_gate, &mut hand_over);
        collector.into_inner().finish(ended)
    }

    /// Warms up, meets the other threads, and measures. `at_gate` runs when all threads are quiet.
    fn work(
        &self,
        thread: usize,
        share: Share,
        at_gate: &mut dyn FnMut() -> Result<(), LoadError>,
        hand_over: &mut dyn FnMut(Vec<Period>) -> Result<(), LoadError>,
    ) -> Result<Totals, LoadError> {
        // A thread that panics lets the others go.
        let _guard = PanicGuard(self);
        let shared = Shared {
            opener: self.opener,
            stall_ns: ns(self.task.stall_ms),
            failed: &self.failed,
            is_abandoned: self.is_abandoned,
        };
        let mut worker = Worker::new(share.links, self.programs, shared);
        let mut ready = (self.take_place(thread))
            .and_then(|()| self.be_punctual())
            .and_then(|()| self.warm_up(&mut worker));
        if self.task.flush_statistics && self.task.timing == Timing::Operations {
            // Threads that still work would keep the counts of others back.
            self.gate.wait();
            ready = ready.and_then(|()| self.flush_statistics(&mut worker));
        }
        let mut measured = Measured::new(worker.new_records(&self.task.groups)?);
        loop {
            // A thread that failed still comes to the gate, for the others wait there.
            self.gate.wait();
            if ready.is_ok() && !self.failed.load(Ordering::Relaxed) {
                ready = at_gate();
                if ready.is_err() {
                    self.failed.store(true, Ordering::Relaxed);
                }
            }
            self.gate.wait();
            ready?;
            let Some(turn) = self.turns.current() else {
                break;
            };
            if self.failed.load(Ordering::Relaxed) {
                break;
            }
            let operations = share.operations.clone();
            ready = self.take_turn(turn, &mut worker, operations, &mut measured, hand_over);
            if self.task.turn_ms.is_none() {
                ready?;
                break;
            }
        }
        let mut totals = Totals::new(
            measured.records,
            measured.spent,
            worker.links,
            measured.used,
        );
        if self.task.timing == Timing::WholeRun {
            totals.say_goodbye();
            totals.end_at(now_ns());
        }
        Ok(totals)
    }

    /// Runs the clients of a thread through a turn.
    fn take_turn(
        &self,
        turn: Turn,
        worker: &mut Worker<'_>,
        operations: Vec<u64>,
        measured: &mut Measured,
        hand_over: &mut dyn FnMut(Vec<Period>) -> Result<(), LoadError>,
    ) -> Result<(), LoadError> {
        let phase = self.measured(turn, operations, measured.periods);
        let periods = &mut measured.periods;
        let before = ThreadTime::now();
        let records = std::mem::take(&mut measured.records);
        measured.records = worker.run(&phase, records, &mut |of_groups| {
            *periods += 1;
            hand_over(of_groups)
        })?;
        let used = ThreadTime::now().since(before);
        measured.used = Some(measured.used.map_or(used, |earlier| earlier.plus(used)));
        for (group, spent) in measured.spent.iter_mut().enumerate() {
            let last_ns = spent.add(worker.clients(group), turn);
            self.turns.ended(last_ns);
        }
        Ok(())
    }

    /// Makes the sessions of a thread publish what they have counted before the measured time.
    fn flush_statistics(&self, worker: &mut Worker<'_>) -> Result<(), LoadError> {
        let _alone = self.flushing.lock().unwrap_or_else(PoisonError::into_inner);
        let timeout = Duration::from_millis(self.task.stall_ms);
        flush_statistics(&mut worker.links, |link| link.ask_nothing(timeout)).map(drop)
    }

    /// Binds this thread to its processor, if it has one of its own.
    fn take_place(&self, thread: usize) -> Result<(), LoadError> {
        let cpu = self.task.thread_cpus.get(thread);
        cpu.copied().map_or(Ok(()), bind_to)
    }

    /// Where operations have an intended start, lets this thread be woken when it asked to be, and
    /// not when it suits the kernel.
    fn be_punctual(&self) -> Result<(), LoadError> {
        let mut groups = self.task.groups.iter();
        if !groups.any(|group| group.pace.is_scheduled()) {
            return Ok(());
        }
        set_current_timer_slack(NonZeroU64::new(1))
            .map_err(LoadError::system("set the timer slack"))
    }

    /// A turn of the measured time, or all of it, of which `periods` were handed over before.
    fn measured(&self, turn: Turn, operations: Vec<u64>, periods: u64) -> Phase<'_> {
        let start_ns = turn.start;
        let (end_ns, over_ns) = match (self.task.length, self.task.groups.own().pace) {
            (Length::Time { ms }, _) => {
                let turn_ns = self.task.turn_ms.map_or(u64::MAX, ns);
                let end_ns = turn.end_ns(ns(ms)).min(start_ns.saturating_add(turn_ns));
                (end_ns, end_ns)
            }
            (Length::Count { operations }, Pace::Open { rate, .. }) => {
                let planned_ns =
                    operations.saturating_mul(NS_PER_MS * MS_PER_1000_S) / u64::from(rate.0).max(1);
                (u64::MAX, start_ns.saturating_add(planned_ns))
            }
            (Length::Count { .. }, Pace::Closed { .. }) => (u64::MAX, u64::MAX),
        };
        Phase {
            groups: &self.task.groups,
            is_unpaced: false,
            start_ns,
            end_ns,
            over_ns,
            operations,
            period_ns: ns(self.task.interval_ms),
            period_start_ns: turn.end_ns(periods.saturating_mul(ns(self.task.interval_ms))),
            ramp_ns: 0,
            drain_ns: ns(self.task.drain_ms),
            own_left: Some(&self.own_left[1]),
            seed: MEASURED_SEED,
        }
    }

    /// Warms up without keeping the figures: for a time at each group's pace; or every client does
    /// so many operations, as fast as they go, whatever the pace.
    fn warm_up(&self, worker: &mut Worker<'_>) -> Result<(), LoadError> {
        let ms = self.task.warmup_ms.max(self.task.ramp_ms);
        let by_time = ms > 0;
        let operations = match (self.task.timing, self.task.warmup_operations) {
            (Timing::WholeRun, _) => return Ok(()),
            _ if by_time => u64::MAX,
            (_, 0) => return Ok(()),
            (_, operations) => operations,
        };
        let start_ns = now_ns();
        let end_ns = if by_time {
            start_ns.saturating_add(ns(ms))
        } else {
            u64::MAX
        };
        let phase = Phase {
            groups: &self.task.groups,
            is_unpaced: !by_time,
            start_ns,
            end_ns,
            over_ns: end_ns,
            operations: vec![operations; worker.links.len()],
            period_ns: u64::MAX,
            period_start_ns: start_ns,
            ramp_ns: ns(self.task.ramp_ms),
            drain_ns: 0,
            own_left: by_time.then_some(&self.own_left[0]),
            seed: WARMUP_SEED,
        };
        let records = worker.new_records(&self.task.groups)?;
        worker.run(&phase, records, &mut |_| Ok(())).map(|_| ())
    }
}

/// What a thread has measured.
struct Measured {
    /// Of each group.
    records: Vec<Recorder>,
    spent: Vec<Spent>,
    /// Periods handed over.
    periods: u64,
    /// `None` before its first turn.
    used: Option<ThreadUse>,
}

impl Measured {
    fn new(records: Vec<Recorder>) -> Self {
        Self {
            spent: records.iter().map(|_| Spent::default()).collect(),
            records,
            periods: 0,
            used: None,
        }
    }
}

/// Ensures that no thread waits for one that has panicked.
struct PanicGuard<'a>(&'a Run<'a>);

impl Drop for PanicGuard<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.give_up();
        }
    }
}

/// Processors that this process may use. Where that is not known, it is treated as one.
fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

const fn ns(ms: u64) -> u64 {
    ms.saturating_mul(NS_PER_MS)
}

/// Start of the measured time.
#[derive(Debug, Clone, Copy)]
struct Start {
    at_ns: u64,
    cpu: CpuTime,
}

impl Start {
    /// It begins now, or on command, and `speaker` reports it.
    fn now(task: &DriveTask, speaker: &mut Speaker<'_>) -> Result<Self, LoadError> {
        if task.hold {
            speaker.hold()?;
        }
        let cpu = cpu_time()?;
        let at_ns = now_ns();
        speaker.say(&Message::MeasureStart { at_ns })?;
        Ok(Self { at_ns, cpu })
    }
}

fn cpu_time() -> Result<CpuTime, LoadError> {
    CpuTime::of_process().map_err(LoadError::system("read the processor time of this process"))
}
