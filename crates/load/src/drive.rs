//! Running a workload: connect, warm up, measure, add up.
//!
//! Between warm-up and measured time every client rests for an instant, and so it does after the
//! measured time: whatever others read at these two edges (processor time, server counters)
//! belongs to the measured operations alone. Where the whole run is timed, the measured time begins
//! before the first connection is made and ends when the last one is closed.

mod collect;

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;

use prony_model::{Length, Timing};

use crate::clock::{CpuTime, now_ns};
use crate::drive::collect::{Collector, Ended, Report};
use crate::limits::make_room;
use crate::message::Speaker;
use crate::program::Program;
use crate::recorder::Period;
use crate::setup::connect_clients;
use crate::worker::{Link, Phase, Worker};
use crate::{DriveTask, Job, JobError, LoadError, Message};

const NS_PER_MS: u64 = 1_000_000;

/// What the threads of a run share.
struct Run<'a> {
    task: &'a DriveTask,
    program: &'a Program,
    failed: AtomicBool,
    /// Where all threads meet at the start of the measured time.
    gate: Barrier,
    start_ns: AtomicU64,
}

/// The clients of one thread, and the operations of each in count mode.
struct Share {
    links: Vec<Link>,
    operations: Vec<u64>,
}

/// Runs the task to its end, telling `speaker` how it goes.
pub(crate) fn drive(
    job: &Job,
    task: &DriveTask,
    speaker: &mut Speaker<'_>,
) -> Result<(), LoadError> {
    task.check()?;
    let program = Program::compile(task).map_err(|source| JobError::Workload {
        workload: task.workload.name.clone(),
        source: Box::new(source),
    })?;
    let threads = task.clients.min(task.threads_max);
    make_room(task.clients, threads)?;
    let start = match task.timing {
        Timing::Operations => None,
        Timing::WholeRun => Some(Start::now(speaker)?),
    };
    let links = connect_clients(job, task, &program)?;
    speaker.say(&Message::Connected {
        clients: task.clients,
        threads,
    })?;
    let mut shares = share_out(task, links, threads);
    let run = Run {
        task,
        program: &program,
        failed: AtomicBool::new(false),
        gate: Barrier::new(shares.len()),
        start_ns: AtomicU64::new(0),
    };
    let own = shares.swap_remove(0);
    thread::scope(|scope| {
        let (sender, receiver) = channel();
        for (index, share) in shares.into_iter().enumerate() {
            let (run, sender) = (&run, sender.clone());
            thread::Builder::new()
                .name(format!("load-{}", index + 1))
                .spawn_scoped(scope, move || run.work_elsewhere(index + 1, share, &sender))
                .map_err(|source| LoadError::System {
                    action: "start a thread",
                    source,
                })?;
        }
        drop(sender);
        let collector = Collector::new(task, &program, speaker, receiver, start);
        run.work_here(own, collector)
    })
}

/// Deals clients to threads in turn, and operations to clients, the remainder to the first ones.
fn share_out(task: &DriveTask, links: Vec<Link>, threads: u32) -> Vec<Share> {
    let mut shares: Vec<Share> = (0..threads)
        .map(|_| Share {
            links: Vec::new(),
            operations: Vec::new(),
        })
        .collect();
    let count = shares.len();
    let clients = links.len() as u64;
    for (index, link) in links.into_iter().enumerate() {
        let share = &mut shares[index % count];
        share.links.push(link);
        share.operations.push(match task.length {
            Length::Time { .. } => u64::MAX,
            Length::Count { operations } => {
                operations / clients + u64::from((index as u64) < operations % clients)
            }
        });
    }
    shares
}

impl Run<'_> {
    /// What every thread but the first does.
    fn work_elsewhere(&self, thread: usize, share: Share, sender: &Sender<Report>) {
        // Sending fails only when the first thread is gone, and then nobody wants to know.
        let mut hand_over = |period| {
            let _ = sender.send(Report::Period { thread, period });
            Ok(())
        };
        let ended = self.work(share, &mut || Ok(()), &mut hand_over);
        let _ = sender.send(Report::Ended { thread, ended });
    }

    /// What the first thread does: the same, and all the talking.
    fn work_here(&self, share: Share, collector: Collector<'_, '_>) -> Result<(), LoadError> {
        // Both closures below talk, at different times.
        let collector = std::cell::RefCell::new(collector);
        let mut at_gate = || {
            let start_ns = collector.borrow_mut().start_ns()?;
            self.start_ns.store(start_ns, Ordering::Relaxed);
            Ok(())
        };
        let mut hand_over = |period: Period| collector.borrow_mut().own_period(&period);
        let ended = self.work(share, &mut at_gate, &mut hand_over);
        collector.into_inner().finish(ended)
    }

    /// Warms up, meets the other threads, and measures. `at_gate` runs when all threads are quiet.
    fn work(
        &self,
        share: Share,
        at_gate: &mut dyn FnMut() -> Result<(), LoadError>,
        hand_over: &mut dyn FnMut(Period) -> Result<(), LoadError>,
    ) -> Result<Ended, LoadError> {
        let stall_ns = self.task.stall_ms.saturating_mul(NS_PER_MS);
        let mut worker = Worker::new(
            share.links,
            self.program,
            stall_ns,
            &self.failed,
            self.task.backend,
        );
        let mut ready = self.warm_up(&mut worker);
        // Whoever failed still comes to the gate, for the others wait there.
        self.gate.wait();
        if ready.is_ok() && !self.failed.load(Ordering::Relaxed) {
            ready = at_gate();
            if ready.is_err() {
                self.failed.store(true, Ordering::Relaxed);
            }
        }
        self.gate.wait();
        ready?;
        let start_ns = self.start_ns.load(Ordering::Relaxed);
        let phase = Phase {
            start_ns,
            end_ns: match self.task.length {
                Length::Time { ms } => start_ns.saturating_add(ms.saturating_mul(NS_PER_MS)),
                Length::Count { .. } => u64::MAX,
            },
            operations: share.operations,
            period_ns: self.task.interval_ms.saturating_mul(NS_PER_MS),
        };
        let recorder = worker.run(&phase, hand_over)?;
        let mut ended = Ended::new(recorder, &worker);
        if self.task.timing == Timing::WholeRun {
            // The clients say goodbye.
            drop(worker);
            ended.end_at(now_ns());
        }
        Ok(ended)
    }

    /// Runs the clients without keeping what they measure.
    fn warm_up(&self, worker: &mut Worker<'_>) -> Result<(), LoadError> {
        if self.task.warmup_ms == 0 || self.task.timing == Timing::WholeRun {
            return Ok(());
        }
        let start_ns = now_ns();
        let phase = Phase {
            start_ns,
            end_ns: start_ns.saturating_add(self.task.warmup_ms.saturating_mul(NS_PER_MS)),
            operations: vec![u64::MAX; worker.links().len()],
            period_ns: u64::MAX,
        };
        worker.run(&phase, &mut |_| Ok(())).map(|_| ())
    }
}

/// Where the measured time begins.
#[derive(Debug, Clone, Copy)]
struct Start {
    at_ns: u64,
    cpu: CpuTime,
}

impl Start {
    /// It begins now, and `speaker` says so.
    fn now(speaker: &mut Speaker<'_>) -> Result<Self, LoadError> {
        let cpu = cpu_time()?;
        let at_ns = now_ns();
        speaker.say(&Message::MeasureStart { at_ns })?;
        Ok(Self { at_ns, cpu })
    }
}

fn cpu_time() -> Result<CpuTime, LoadError> {
    CpuTime::of_process().map_err(|source| LoadError::System {
        action: "read the processor time of this process",
        source,
    })
}
