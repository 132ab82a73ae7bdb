//! Watches a load while it runs: shows it, keeps its intervals, and writes the log of histograms.

use std::time::SystemTime;

use prony_lab::{AdHoc, Event};
use prony_load::Message;
use prony_model::Interval;
use prony_report::adhoc::{HdrFile, HdrLog, HdrLogError, Intervals, interval_line};

use crate::output::talk;
use crate::progress::Progress;
use crate::words::{duration, plural};

/// Watches one load.
pub(super) struct Watch<'a> {
    work: &'a AdHoc,
    /// Until the clients are connected.
    progress: Option<Progress>,
    log: Log<'a>,
    end: Watched,
}

/// The intervals of a load that has ended.
#[derive(Default)]
pub(super) struct Watched {
    pub(super) intervals: Intervals,
    /// The reason why the log ends early, if it does.
    pub(super) log_error: Option<HdrLogError>,
}

enum Log<'a> {
    None,
    Waiting(&'a mut HdrFile),
    Begun(HdrLog<'a>),
}

impl<'a> Watch<'a> {
    pub(super) fn new(work: &'a AdHoc, log: Option<&'a mut HdrFile>) -> Self {
        Self {
            work,
            progress: Some(Progress::start(0, 0)),
            log: log.map_or(Log::None, Log::Waiting),
            end: Watched::default(),
        }
    }

    /// Shows the preparation of the server.
    pub(super) fn event(&mut self, event: &Event<'_>) {
        if let Some(progress) = &mut self.progress {
            progress.show(event);
        }
    }

    /// Shows a message of the load generator.
    pub(super) fn message(&mut self, message: &Message) {
        match message {
            Message::Connected { clients, threads } => {
                self.end_progress();
                talk(&connected(self.work, *clients, *threads));
            }
            Message::MeasureStart { .. } => self.begin_log(),
            Message::Interval {
                interval,
                histogram,
            } => self.interval(interval, histogram),
            _ => {}
        }
    }

    pub(super) fn finish(mut self) -> Watched {
        self.end_progress();
        self.end
    }

    fn end_progress(&mut self) {
        if let Some(progress) = self.progress.take() {
            progress.finish();
        }
    }

    fn begin_log(&mut self) {
        if let Log::Waiting(file) = std::mem::replace(&mut self.log, Log::None) {
            match file.begin(SystemTime::now()) {
                Ok(log) => self.log = Log::Begun(log),
                Err(error) => self.end.log_error = Some(error),
            }
        }
    }

    fn interval(&mut self, interval: &Interval, histogram: &[u8]) {
        let scheduled = self.work.step.own().pace.is_scheduled();
        talk(&interval_line(interval, self.work.interval_ms, scheduled));
        let Some(histogram) = self.end.intervals.add(interval, histogram) else {
            return;
        };
        if let Log::Begun(log) = &mut self.log
            && let Err(error) = log.add(interval, &histogram)
        {
            self.end.log_error = Some(error);
            self.log = Log::None;
        }
    }
}

/// The line that appears when the clients are connected.
fn connected(work: &AdHoc, clients: u32, threads: u32) -> String {
    let warmup = match work.step.warmup_ms.max(work.step.ramp_ms) {
        0 => String::new(),
        ms => format!("; warming up for {}", duration(ms)),
    };
    format!(
        "{} on {}{warmup}",
        plural(clients.into(), "client"),
        plural(threads.into(), "thread")
    )
}
