//! The first thread's work on the reports of all threads.

use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use prony_model::{Length, StepOutcome};

use crate::clock::now_ns;
use crate::drive::totals::Totals;
use crate::drive::{Run, Start, cpu_time, ns};
use crate::message::Speaker;
use crate::recorder::intervals::{Closed, IntervalBoard};
use crate::recorder::{Period, serialise};
use crate::{LoadError, Message};

/// A report of a thread to the first one.
pub(super) enum Report {
    /// A period of it is over, of each group.
    Periods { thread: usize, periods: Vec<Period> },
    /// It is done.
    Ended {
        thread: usize,
        ended: Result<Totals, LoadError>,
    },
}

/// The first thread's view of the measured time.
pub(super) struct Collector<'a, 's> {
    run: &'a Run<'a>,
    speaker: &'a mut Speaker<'s>,
    receiver: Receiver<Report>,
    /// Of each group.
    boards: Vec<IntervalBoard>,
    /// Start of the measured time, once it has begun.
    start: Option<Start>,
    /// The figures of the threads, added up.
    sum: Option<Totals>,
    threads_left: usize,
    error: Option<LoadError>,
}

impl<'a, 's> Collector<'a, 's> {
    pub(super) fn new(
        run: &'a Run<'a>,
        threads: usize,
        speaker: &'a mut Speaker<'s>,
        receiver: Receiver<Report>,
        start: Option<Start>,
    ) -> Self {
        let task = run.task;
        let board = |group: usize| {
            let histograms = task.interval_histograms && group == 0;
            IntervalBoard::new(ns(task.interval_ms), threads, histograms)
        };
        Self {
            run,
            speaker,
            receiver,
            boards: (0..task.groups.len()).map(board).collect(),
            start,
            sum: None,
            threads_left: threads,
            error: None,
        }
    }

    /// All threads rest. Begins the measured time, which is now, or on command, unless it has begun
    /// already; after a turn the next one, on command, if there is one.
    pub(super) fn at_gate(&mut self) -> Result<(), LoadError> {
        let (task, turns) = (self.run.task, &self.run.turns);
        if turns.current().is_none() {
            let start = match self.start {
                Some(start) => start,
                None => Start::now(task, self.speaker)?,
            };
            self.start = Some(start);
            turns.begin(start.at_ns);
            return Ok(());
        }
        let (Length::Time { ms }, Some(turn_ms)) = (task.length, task.turn_ms) else {
            return Ok(());
        };
        if let Some(end_ns) = turns.end(ns(ms), ns(turn_ms)) {
            self.speaker.say(&Message::TurnEnd)?;
            self.speaker.wait()?;
            turns.go_on(now_ns(), end_ns);
        }
        Ok(())
    }

    /// A period of the first thread is over: a good time to look at the others' reports.
    pub(super) fn own_periods(&mut self, periods: &[Period]) -> Result<(), LoadError> {
        self.periods(0, periods)?;
        while let Ok(report) = self.receiver.try_recv() {
            self.take(report)?;
        }
        Ok(())
    }

    /// The first thread is done. Waits for the others and says what came out.
    pub(super) fn finish(mut self, own: Result<Totals, LoadError>) -> Result<(), LoadError> {
        self.gather(own).inspect_err(|_| {
            // No thread waits for the other threads' figures.
            self.run.failed.store(true, Ordering::Relaxed);
        })?;
        if let Some(error) = self.error {
            return Err(error);
        }
        let (Some(mut sum), Some(start)) = (self.sum.take(), self.start) else {
            return Err(LoadError::Thread);
        };
        let (client_user_ns, client_system_ns) = cpu_time()?.since(start.cpu);
        let end_ns = sum.last_ns().max(start.at_ns);
        self.speaker.say(&Message::MeasureEnd { at_ns: end_ns })?;
        let task = self.run.task;
        if task.hold && task.flush_statistics {
            self.speaker.wait()?;
            let sessions = sum.flush_statistics(Duration::from_millis(task.stall_ms))?;
            self.speaker.say(&Message::StatisticsFlushed { sessions })?;
        }
        if task.hold {
            self.speaker.linger();
        }
        sum.say_goodbye();
        for (group, board) in self.boards.iter_mut().enumerate() {
            let measured_ns = sum.measured_ns(group, self.run.task, start.at_ns);
            let intervals = board.end(measured_ns);
            say_intervals(self.speaker, group, intervals)?;
        }
        let mut groups = sum.outcomes(self.run, start.at_ns, end_ns)?;
        for (group, board) in groups.iter_mut().zip(self.boards) {
            group.intervals = board.into_intervals();
        }
        let thread_use = sum.thread_use;
        let outcome = StepOutcome {
            groups: groups.try_into().map_err(|_| LoadError::Thread)?,
            threads: u32::try_from(thread_use.len()).unwrap_or(u32::MAX),
            client_user_ns,
            client_system_ns,
            timing: self.run.task.timing,
            start_ns: start.at_ns,
            end_ns,
            backend: self.run.task.backend,
            scheduling: self.run.scheduling,
            thread_use,
        };
        self.speaker.say(&Message::Done {
            outcome: Box::new(outcome),
        })
    }

    /// Waits until every thread is done.
    fn gather(&mut self, own: Result<Totals, LoadError>) -> Result<(), LoadError> {
        self.end(0, own)?;
        while self.threads_left > 0 {
            let report = self.receiver.recv().map_err(|_| LoadError::Thread)?;
            self.take(report)?;
        }
        Ok(())
    }

    fn take(&mut self, report: Report) -> Result<(), LoadError> {
        match report {
            Report::Periods { thread, periods } => self.periods(thread, &periods),
            Report::Ended { thread, ended } => self.end(thread, ended),
        }
    }

    fn periods(&mut self, thread: usize, periods: &[Period]) -> Result<(), LoadError> {
        for (group, (board, period)) in self.boards.iter_mut().zip(periods).enumerate() {
            let intervals = board.report(thread, period)?;
            say_intervals(self.speaker, group, intervals)?;
        }
        Ok(())
    }

    /// Takes the figures of a thread. Of several errors the first is kept.
    fn end(&mut self, thread: usize, ended: Result<Totals, LoadError>) -> Result<(), LoadError> {
        self.threads_left -= 1;
        match ended {
            Err(error) => {
                self.error.get_or_insert(error);
            }
            Ok(mut ended) => {
                for (board, period) in self.boards.iter_mut().zip(ended.end_periods()?) {
                    board.finish(thread, &period)?;
                }
                match &mut self.sum {
                    Some(sum) => sum.add(ended)?,
                    None => self.sum = Some(ended),
                }
            }
        }
        Ok(())
    }
}

/// Says the intervals of a step's own clients. Those of groups beside come with the outcome.
fn say_intervals(
    speaker: &mut Speaker<'_>,
    group: usize,
    intervals: Vec<Closed>,
) -> Result<(), LoadError> {
    for Closed {
        interval,
        operations,
    } in intervals.into_iter().filter(|_| group == 0)
    {
        let histogram = operations.as_ref().map(serialise).transpose()?;
        speaker.say(&Message::Interval {
            interval,
            histogram: histogram.unwrap_or_default(),
        })?;
    }
    Ok(())
}
