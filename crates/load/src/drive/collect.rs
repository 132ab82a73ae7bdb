//! What the first thread makes of the other threads' reports.

use std::sync::mpsc::Receiver;

use prony_model::{Interval, StepOutcome, Timing};

use crate::client::Client;
use crate::drive::{NS_PER_MS, Start, cpu_time};
use crate::message::Speaker;
use crate::program::Program;
use crate::recorder::intervals::IntervalBoard;
use crate::recorder::{Period, Recorder, serialise};
use crate::worker::Worker;
use crate::{DriveTask, LoadError, Message};

/// What a thread tells the first one.
pub(super) enum Report {
    /// A period of it is over.
    Period { thread: usize, period: Period },
    /// It is done.
    Ended {
        thread: usize,
        ended: Result<Ended, LoadError>,
    },
}

/// What a thread leaves behind. A thread that ended early because another failed leaves the same.
pub(super) struct Ended {
    recorder: Recorder,
    busy_ns: u64,
    last_ns: u64,
}

/// The first thread's view of the measured time.
pub(super) struct Collector<'a, 's> {
    task: &'a DriveTask,
    program: &'a Program,
    speaker: &'a mut Speaker<'s>,
    receiver: Receiver<Report>,
    board: IntervalBoard,
    /// Where the measured time began, once it did.
    start: Option<Start>,
    /// What the threads left behind, added up.
    sum: Option<Ended>,
    threads_left: u32,
    error: Option<LoadError>,
}

impl Ended {
    pub(super) fn new(recorder: Recorder, worker: &Worker<'_>) -> Self {
        let clients = || worker.links().iter().map(|link| &link.client);
        Self {
            recorder,
            busy_ns: clients().map(Client::busy_ns).sum(),
            last_ns: clients().map(Client::last_ns).max().unwrap_or(0),
        }
    }

    /// Only now it is over.
    pub(super) const fn end_at(&mut self, now_ns: u64) {
        self.last_ns = now_ns;
    }

    fn add(&mut self, other: &Self) -> Result<(), LoadError> {
        self.busy_ns += other.busy_ns;
        self.last_ns = self.last_ns.max(other.last_ns);
        self.recorder.merge(&other.recorder)
    }
}

impl<'a, 's> Collector<'a, 's> {
    pub(super) fn new(
        task: &'a DriveTask,
        program: &'a Program,
        speaker: &'a mut Speaker<'s>,
        receiver: Receiver<Report>,
        start: Option<Start>,
    ) -> Self {
        let threads = task.clients.min(task.threads_max);
        let interval_ns = task.interval_ms.saturating_mul(NS_PER_MS);
        Self {
            task,
            program,
            speaker,
            receiver,
            board: IntervalBoard::new(interval_ns, threads as usize),
            start,
            sum: None,
            threads_left: threads,
            error: None,
        }
    }

    /// The start of the measured time, which is now unless it has begun already.
    pub(super) fn start_ns(&mut self) -> Result<u64, LoadError> {
        let start = match self.start {
            Some(start) => start,
            None => Start::now(self.speaker)?,
        };
        self.start = Some(start);
        Ok(start.at_ns)
    }

    /// A period of the first thread is over: a good time to look at the others' reports.
    pub(super) fn own_period(&mut self, period: &Period) -> Result<(), LoadError> {
        self.period(0, period)?;
        while let Ok(report) = self.receiver.try_recv() {
            self.take(report)?;
        }
        Ok(())
    }

    /// The first thread is done. Waits for the others and says what came out.
    pub(super) fn finish(mut self, own: Result<Ended, LoadError>) -> Result<(), LoadError> {
        self.end(0, own)?;
        while self.threads_left > 0 {
            let report = self.receiver.recv().map_err(|_| LoadError::Thread)?;
            self.take(report)?;
        }
        if let Some(error) = self.error {
            return Err(error);
        }
        let (Some(sum), Some(start)) = (self.sum.take(), self.start) else {
            return Err(LoadError::Thread);
        };
        let (client_user_ns, client_system_ns) = cpu_time()?.since(start.cpu);
        let end_ns = sum.last_ns.max(start.at_ns);
        self.speaker.say(&Message::MeasureEnd { at_ns: end_ns })?;
        let intervals = self.board.end(end_ns - start.at_ns);
        self.say_intervals(intervals)?;
        let busy_ns = match self.task.timing {
            Timing::Operations => sum.busy_ns,
            Timing::WholeRun => u64::from(self.task.clients) * (end_ns - start.at_ns),
        };
        let outcome = StepOutcome {
            clients: self.task.clients,
            threads: self.task.clients.min(self.task.threads_max),
            operations: sum.recorder.operations().len(),
            queries: sum.recorder.operations().len() * self.program.queries_per_operation,
            busy_ns,
            histogram: serialise(sum.recorder.operations())?,
            statements: sum.recorder.statements(self.program.kinds())?,
            errors: sum.recorder.errors(),
            intervals: self.board.into_intervals(),
            client_user_ns,
            client_system_ns,
            timing: self.task.timing,
            start_ns: start.at_ns,
            end_ns,
            backend: self.task.backend,
            schedule: None,
            thread_use: Vec::new(),
            beside: Vec::new(),
        };
        self.speaker.say(&Message::Done {
            outcome: Box::new(outcome),
        })
    }

    fn take(&mut self, report: Report) -> Result<(), LoadError> {
        match report {
            Report::Period { thread, period } => self.period(thread, &period),
            Report::Ended { thread, ended } => self.end(thread, ended),
        }
    }

    fn period(&mut self, thread: usize, period: &Period) -> Result<(), LoadError> {
        let intervals = self.board.report(thread, period)?;
        self.say_intervals(intervals)
    }

    /// Takes what a thread left behind. Of several errors the first is kept.
    fn end(&mut self, thread: usize, ended: Result<Ended, LoadError>) -> Result<(), LoadError> {
        self.threads_left -= 1;
        match ended {
            Err(error) => {
                self.error.get_or_insert(error);
            }
            Ok(mut ended) => {
                self.board.finish(thread, &ended.recorder.end_period()?)?;
                match &mut self.sum {
                    Some(sum) => sum.add(&ended)?,
                    None => self.sum = Some(ended),
                }
            }
        }
        Ok(())
    }

    fn say_intervals(&mut self, intervals: Vec<Interval>) -> Result<(), LoadError> {
        intervals.into_iter().try_for_each(|interval| {
            self.speaker.say(&Message::Interval {
                interval,
                histogram: Vec::new(),
            })
        })
    }
}
