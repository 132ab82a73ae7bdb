//! A live view for terminals: a bar, what is being done, and a line that stays for every trial.

use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use prony_lab::{Activity, Event};

use super::{
    CALIBRATING, Clock, connected_words, connecting_words, elsewhere_words, fetch_words,
    trial_words,
};
use crate::words::{mebibytes, plural, rate, whole};

/// Period at which the live line is drawn while nothing happens, so that the clock moves.
const REDRAW: Duration = Duration::from_millis(500);

/// The live view.
pub(super) struct Terminal {
    bar: ProgressBar,
    end: ExpectedEnd,
    trial: String,
    step: String,
}

/// The time at which the last trial is expected to end, once the first has begun.
#[derive(Clone, Default)]
struct ExpectedEnd(Arc<Mutex<Option<Instant>>>);

impl ExpectedEnd {
    fn set(&self, end: Option<Instant>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = end;
    }

    /// The time that is left at `now`, in words.
    fn words(&self, now: Instant) -> Option<String> {
        let end = (*self.0.lock().unwrap_or_else(PoisonError::into_inner))?;
        let left = whole(end.saturating_duration_since(now));
        Some(format!("· about {left} left"))
    }
}

impl Terminal {
    pub(super) fn start() -> Self {
        let bar = ProgressBar::new(1);
        let end = ExpectedEnd::default();
        let drawn_end = end.clone();
        // Computed when it is drawn, because minutes can pass between two events.
        let left = move |_: &ProgressState, line: &mut dyn Write| {
            if let Some(words) = drawn_end.words(Instant::now()) {
                let _ = line.write_str(&words);
            }
        };
        // The template is fixed; if it could not be read, the default style would do.
        if let Ok(style) =
            ProgressStyle::with_template("{bar:24} {elapsed_precise} {left}\n{wide_msg}")
        {
            bar.set_style(style.with_key("left", left).progress_chars("━━─"));
        }
        bar.enable_steady_tick(REDRAW);
        Self {
            bar,
            end,
            trial: String::new(),
            step: String::new(),
        }
    }

    pub(super) fn finish(self) {
        self.bar.finish_and_clear();
    }

    pub(super) fn show(&mut self, event: &Event<'_>, clock: &Clock) {
        if clock.has_begun() {
            self.end.set(Instant::now().checked_add(clock.remaining()));
        }
        let trial = &self.trial;
        match event {
            Event::Fetch { event, .. } => self.message(fetch_words(event, size)),
            Event::Connecting { client } => self.message(connecting_words(client)),
            Event::Connected { facts } => self.stay(&connected_words(facts)),
            Event::Calibrating => self.message(CALIBRATING.to_owned()),
            Event::Prepare { target, activity } => {
                self.message(format!("{target}: {}", activity_words(*activity)));
            }
            Event::PrepareFailed { target, reason } => {
                self.stay(&format!("✗ {target}: preparation failed: {reason}"));
            }
            Event::BegunElsewhere { blocks } => self.stay(&elsewhere_words(blocks)),
            Event::TrialStarted {
                number,
                total,
                block,
                blocks,
                target,
                kind,
            } => {
                let target = trial_words(target, *kind);
                self.trial = format!("trial {number}/{total} · block {block}/{blocks} · {target}");
                self.bar.set_length(*total as u64 * 1_000);
                self.bar.set_position((*number as u64 - 1) * 1_000);
                self.message(format!("{} · starting", self.trial));
            }
            Event::StepStarted {
                number,
                total,
                step,
                clients,
            } => {
                let clients = plural((*clients).into(), "client");
                self.step = format!("{step} ({number}/{total}), {clients}");
                self.bar
                    .inc((1_000 / *total as u64) * u64::from(*number > 1));
                self.message(format!("{trial} · {}", self.step));
            }
            Event::Settling { step } => {
                self.message(format!("{trial} · settling before {step}"));
            }
            Event::NotSettled { unmet } => {
                self.stay(&format!("! {trial}: not settled: {}", unmet.join("; ")));
            }
            Event::Rate { queries_per_second } => {
                let rate = rate(*queries_per_second);
                self.message(format!("{trial} · {} · {rate}/s", self.step));
            }
            Event::Absent { gap } => {
                self.stay(&format!(
                    "! {trial}: not read: {}: {}",
                    gap.source, gap.reason
                ));
            }
            Event::StepDone { .. } => {}
            Event::TrialDone { took, .. } => {
                self.stay(&format!("✓ {trial}: {}", whole(*took)));
            }
            Event::TrialExcluded { reason, .. } => {
                self.stay(&format!("↻ {trial}: excluded, run again: {reason}"));
            }
            Event::TrialFailed { reason, .. } => self.stay(&format!("✗ {trial}: {reason}")),
        }
    }

    /// Replaces the text of the live line.
    fn message(&self, text: String) {
        self.bar.set_message(text);
    }

    /// Writes a line that stays.
    pub(super) fn stay(&self, text: &str) {
        self.bar.println(text);
    }
}

/// The size of a download with its growing figure.
fn size(here: u64, total: Option<u64>) -> String {
    let of = total.map_or_else(String::new, |total| format!(" of {}", mebibytes(total)));
    format!(": {}{of}", mebibytes(here))
}

/// As in plain lines, with growing figures.
fn activity_words(activity: Activity) -> String {
    match activity {
        Activity::Load {
            rows_done,
            rows_total,
        } => {
            let [done, total] = [rows_done, rows_total].map(|rows| rate(rows as f64));
            format!("loading {done} of {total} rows")
        }
        other => super::activity_words(other).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_shrinks_between_events() {
        let end = ExpectedEnd::default();
        let now = Instant::now();
        assert_eq!(end.words(now), None);
        end.set(Some(now + Duration::from_secs(90)));
        let drawn = |seconds| end.words(now + Duration::from_secs(seconds));
        assert_eq!(drawn(0).as_deref(), Some("· about 1 min 30 s left"));
        assert_eq!(drawn(60).as_deref(), Some("· about 30 s left"));
        assert_eq!(drawn(100).as_deref(), Some("· about 0 s left"));
    }
}
