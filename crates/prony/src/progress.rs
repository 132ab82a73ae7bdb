//! Progress that people like to watch: a live line on a terminal, plain lines elsewhere.

mod lines;
mod terminal;

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use prony_lab::{Activity, Event};
use prony_model::{ClientHostFacts, TrialKind};
use prony_report::client_host_lines;
use prony_servers::FetchEvent;

use self::lines::Lines;
use self::terminal::Terminal;
use crate::output::{is_quiet, talk};
use crate::words::listed;

/// Shown when a run is the first on its machine.
const CALIBRATING: &str = "calibrating the load generator";

/// The start of Prony on another host.
fn connecting_words(client: &str) -> String {
    format!("connecting to client {client}, and measuring the network to it")
}

/// The client host, and what is open meanwhile.
fn connected_words(facts: &ClientHostFacts) -> String {
    format!(
        "client {}\nwhile they run, servers listen on {}, ports 20000 to 31999, for {}; old versions have \
         known holes: let no other host reach them",
        client_host_lines(facts).join("\n  "),
        facts.listen,
        facts.address
    )
}

/// The target of a trial, and what the trial is for where it does not measure.
fn trial_words(target: &str, kind: TrialKind) -> String {
    match kind {
        TrialKind::Timed => target.to_owned(),
        TrialKind::Counting => format!("{target}, counting"),
        TrialKind::Profiling => format!("{target}, profiling"),
    }
}

/// A fetch: the size of a download is `size` of the bytes that are here and of all.
fn fetch_words(event: &FetchEvent, size: impl Fn(u64, Option<u64>) -> String) -> String {
    match event {
        FetchEvent::Waiting { id } => {
            format!("{id}: waiting for another process that is fetching it")
        }
        FetchEvent::Downloading {
            id,
            what,
            bytes,
            total,
        } => format!("{id}: fetching {what}{}", size(*bytes, *total)),
        FetchEvent::Unpacking { id, what } => format!("{id}: unpacking {what}"),
    }
}

/// Blocks whose trials stay missing.
fn elsewhere_words(blocks: &BTreeSet<u32>) -> String {
    let numbers: Vec<String> = blocks.iter().map(u32::to_string).collect();
    let blocks = if numbers.len() == 1 {
        "block"
    } else {
        "blocks"
    };
    format!(
        "trials of {blocks} {} stay missing: another host began them, and only there can they be \
         completed, with `prony resume`",
        listed(&numbers)
    )
}

/// The activity on a target, without growing figures.
const fn activity_words(activity: Activity) -> &'static str {
    match activity {
        Activity::ImageFound => "using the stored data image",
        Activity::Bootstrap => "starting an empty server",
        Activity::Survey => "reading its variables",
        Activity::Load { .. } => "loading the dataset",
        Activity::Settle => "refreshing statistics and settling",
        Activity::Publish => "stopping, storing the data image",
    }
}

/// Shows the events of a run on standard error.
pub(crate) struct Progress {
    clock: Clock,
    view: View,
}

enum View {
    Terminal(Terminal),
    Lines(Lines),
    /// The user wants no progress.
    Quiet,
}

/// The time that has passed, and the time that is left.
pub(crate) struct Clock {
    begin: Instant,
    trial_began: Option<Instant>,
    trial_ms_predicted: u64,
    trials_done: u32,
    time_in_trials: Duration,
    trials_left: u64,
    /// Trials that have begun and not ended: several where they run together.
    running: u64,
}

impl Progress {
    /// Progress of this number of trials, predicted to take `trial_ms` each.
    pub(crate) fn start(trials: usize, trial_ms: u64) -> Self {
        Self {
            clock: Clock::new(trials as u64, trial_ms),
            view: if is_quiet() {
                View::Quiet
            } else if std::io::stderr().is_terminal() {
                View::Terminal(Terminal::start())
            } else {
                View::Lines(Lines::default())
            },
        }
    }

    /// Shows one event.
    pub(crate) fn show(&mut self, event: &Event<'_>) {
        self.clock.observe(event);
        match &mut self.view {
            View::Terminal(terminal) => terminal.show(event, &self.clock),
            View::Lines(lines) => lines.show(event, &self.clock),
            View::Quiet => {}
        }
    }

    /// Writes a line that stays.
    pub(crate) fn say(&self, line: &str) {
        match &self.view {
            View::Terminal(terminal) => terminal.stay(line),
            View::Lines(_) | View::Quiet => talk(line),
        }
    }

    /// Clears what is live.
    pub(crate) fn finish(self) {
        if let View::Terminal(terminal) = self.view {
            terminal.finish();
        }
    }
}

impl Clock {
    fn new(trials: u64, trial_ms_predicted: u64) -> Self {
        Self {
            begin: Instant::now(),
            trial_began: None,
            trial_ms_predicted,
            trials_done: 0,
            time_in_trials: Duration::ZERO,
            trials_left: trials,
            running: 0,
        }
    }

    fn end_one(&mut self) {
        self.trial_began = None;
        self.running = self.running.saturating_sub(1);
    }

    fn observe(&mut self, event: &Event<'_>) {
        match event {
            Event::TrialStarted { number, total, .. } => {
                self.trial_began = Some(Instant::now());
                self.running += 1;
                self.trials_left = total.saturating_sub(*number) as u64 + self.running;
            }
            Event::TrialDone { took, .. } => {
                self.end_one();
                self.trials_done += 1;
                self.time_in_trials += *took;
                self.trials_left = self.trials_left.saturating_sub(1);
            }
            Event::TrialExcluded { .. } => self.end_one(),
            Event::TrialFailed { .. } => {
                self.end_one();
                self.trials_left = self.trials_left.saturating_sub(1);
            }
            _ => {}
        }
    }

    /// Time since the run began or was resumed.
    pub(crate) fn elapsed(&self) -> Duration {
        self.begin.elapsed()
    }

    /// The first trial has begun. What comes before it is not in the time left.
    pub(crate) fn has_begun(&self) -> bool {
        self.trial_began.is_some() || self.trials_done > 0
    }

    /// Time that the trials left will take: as long as those done took on average, and as
    /// predicted before the first is done.
    pub(crate) fn remaining(&self) -> Duration {
        let trial = match self.trials_done {
            0 => Duration::from_millis(self.trial_ms_predicted),
            done => self.time_in_trials / done,
        };
        let all = trial * u32::try_from(self.trials_left).unwrap_or(u32::MAX);
        all.saturating_sub(
            self.trial_began
                .map_or(Duration::ZERO, |began| began.elapsed()),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_follows_the_trials_done() {
        let mut clock = Clock::new(4, 10_000);
        assert_eq!(clock.remaining(), Duration::from_secs(40));
        let took = Duration::from_secs(5);
        clock.observe(&Event::TrialDone { target: "a", took });
        assert_eq!(clock.remaining(), Duration::from_secs(15));
        clock.observe(&Event::TrialFailed {
            target: "a",
            block: 1,
            reason: "",
        });
        assert_eq!(clock.remaining(), Duration::from_secs(10));
    }
}
