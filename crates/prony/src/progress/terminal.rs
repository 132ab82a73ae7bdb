//! A live view for terminals: a bar, what is being done, and a line that stays for every trial.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use prony_lab::{Activity, Event};
use prony_servers::FetchEvent;

use super::{CALIBRATING, Clock, trial_words};
use crate::words::{mebibytes, plural, rate, whole};

/// Period at which the live line is drawn while nothing happens, so that the clock moves.
const REDRAW: Duration = Duration::from_millis(500);

/// The live view.
pub(super) struct Terminal {
    bar: ProgressBar,
    trial: String,
    step: String,
}

impl Terminal {
    pub(super) fn start() -> Self {
        let bar = ProgressBar::new(1);
        // The template is fixed; if it could not be read, the default style would do.
        if let Ok(style) =
            ProgressStyle::with_template("{bar:24} {elapsed_precise} {prefix}\n{wide_msg}")
        {
            bar.set_style(style.progress_chars("━━─"));
        }
        bar.enable_steady_tick(REDRAW);
        Self {
            bar,
            trial: String::new(),
            step: String::new(),
        }
    }

    pub(super) fn finish(self) {
        self.bar.finish_and_clear();
    }

    pub(super) fn show(&mut self, event: &Event<'_>, clock: &Clock) {
        if !self.trial.is_empty() {
            self.bar
                .set_prefix(format!("· about {} left", whole(clock.remaining())));
        }
        match event {
            Event::Fetch { event, .. } => self.bar.set_message(fetch(event)),
            Event::Calibrating => self.bar.set_message(CALIBRATING),
            Event::Prepare { target, activity } => {
                self.bar
                    .set_message(format!("{target}: {}", activity_words(*activity)));
            }
            Event::PrepareFailed { target, reason } => {
                self.bar
                    .println(format!("✗ {target} can't be made ready: {reason}"));
            }
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
                self.bar.set_message(format!("{} · starting", self.trial));
            }
            Event::StepStarted {
                number,
                total,
                step,
                clients,
            } => {
                self.step = format!(
                    "{step} ({number}/{total}), {}",
                    plural((*clients).into(), "client")
                );
                self.bar
                    .inc((1_000 / *total as u64) * u64::from(*number > 1));
                self.bar
                    .set_message(format!("{} · {}", self.trial, self.step));
            }
            Event::Settling { step } => {
                self.bar
                    .set_message(format!("{} · settling before {step}", self.trial));
            }
            Event::NotSettled { unmet } => {
                self.remark(&format!("not settled: {}", unmet.join("; ")));
            }
            Event::Rate { queries_per_second } => {
                let rate = rate(*queries_per_second);
                self.bar
                    .set_message(format!("{} · {} · {rate}/s", self.trial, self.step));
            }
            Event::Absent { gap } => {
                self.remark(&format!("not read: {}: {}", gap.source, gap.reason));
            }
            Event::StepDone { .. } => {}
            Event::TrialDone { took, .. } => {
                self.bar
                    .println(format!("✓ {}: {}", self.trial, whole(*took)));
            }
            Event::TrialFailed { reason, .. } => {
                self.bar.println(format!("✗ {}: {reason}", self.trial));
            }
        }
    }
}

impl Terminal {
    /// A line that stays, about the trial under way.
    fn remark(&self, text: &str) {
        self.bar.println(format!("! {}: {text}", self.trial));
    }
}

fn fetch(event: &FetchEvent) -> String {
    match event {
        FetchEvent::Waiting { id } => format!("{id}: waiting for another process that fetches it"),
        FetchEvent::Downloading {
            id,
            what,
            bytes,
            total,
        } => {
            let of = total.map_or(String::new(), |total| format!(" of {}", mebibytes(total)));
            format!("{id}: fetching {what}: {}{of}", mebibytes(*bytes))
        }
        FetchEvent::Unpacking { id, what } => format!("{id}: unpacking {what}"),
    }
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
