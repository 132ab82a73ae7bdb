//! What is seen of a load while it runs: shown, kept, and written to the log of histograms.

use std::time::SystemTime;

use hdrhistogram::Histogram;
use prony_lab::{AdHoc, Event};
use prony_load::Message;
use prony_model::Interval;

use super::hdr_log::{HdrFile, HdrLog, HdrLogError};
use super::live;
use super::times::decode;
use crate::output::talk;
use crate::progress::Progress;

/// Watches one load.
pub(super) struct Watch<'a> {
    work: &'a AdHoc,
    /// Until the clients are connected.
    progress: Option<Progress>,
    log: Log<'a>,
    seen: Seen,
}

/// What was seen in the end.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) intervals: Vec<Interval>,
    /// Latencies of the operations in these intervals, in nanoseconds.
    pub(super) service: Option<Histogram<u64>>,
    /// Why the log ends early, if it does.
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
            seen: Seen::default(),
        }
    }

    /// Shows how the server is made ready.
    pub(super) fn event(&mut self, event: &Event<'_>) {
        if let Some(progress) = &mut self.progress {
            progress.show(event);
        }
    }

    /// Shows what the load generator says.
    pub(super) fn message(&mut self, message: &Message) {
        match message {
            Message::Connected { clients, threads } => {
                self.end_progress();
                talk(&live::connected(self.work, *clients, *threads));
            }
            Message::MeasureStart { .. } => self.begin_log(),
            Message::Interval {
                interval,
                histogram,
            } => {
                let histogram = decode(histogram);
                self.interval(interval, histogram.as_ref());
            }
            _ => {}
        }
    }

    pub(super) fn finish(mut self) -> Seen {
        self.end_progress();
        self.seen
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
                Err(error) => self.seen.log_error = Some(error),
            }
        }
    }

    fn interval(&mut self, interval: &Interval, histogram: Option<&Histogram<u64>>) {
        talk(&live::interval(self.work, interval));
        self.seen.intervals.push(interval.clone());
        let Some(histogram) = histogram else {
            return;
        };
        match &mut self.seen.service {
            // Both have the same precision, and the sum grows where it must.
            Some(sum) => drop(sum.add(histogram)),
            None => self.seen.service = Some(histogram.clone()),
        }
        if let Log::Begun(log) = &mut self.log
            && let Err(error) = log.add(interval, histogram)
        {
            self.seen.log_error = Some(error);
            self.log = Log::None;
        }
    }
}
