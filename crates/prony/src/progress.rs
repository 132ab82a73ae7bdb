//! Progress that people like to watch: a live line on a terminal, plain lines elsewhere.

mod lines;
mod terminal;

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use prony_lab::Event;

use self::lines::Lines;
use self::terminal::Terminal;

/// Shows the events of a run on standard error.
pub(crate) struct Progress {
    clock: Clock,
    view: View,
}

enum View {
    Terminal(Terminal),
    Lines(Lines),
}

/// What is known of the time that has passed and the time that is left.
pub(crate) struct Clock {
    begin: Instant,
    trial_began: Option<Instant>,
    trial_ms_predicted: u64,
    trials_done: u32,
    time_in_trials: Duration,
    trials_left: u64,
}

impl Progress {
    /// Progress of so many trials, predicted to take `trial_ms` each.
    pub(crate) fn start(trials: usize, trial_ms: u64) -> Self {
        let terminal = std::io::stderr().is_terminal();
        Self {
            clock: Clock::new(trials as u64, trial_ms),
            view: if terminal {
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
        }
    }

    fn observe(&mut self, event: &Event<'_>) {
        match event {
            Event::TrialStarted { number, total, .. } => {
                self.trial_began = Some(Instant::now());
                self.trials_left = (total + 1).saturating_sub(*number) as u64;
            }
            Event::TrialDone { took, .. } => {
                self.trial_began = None;
                self.trials_done += 1;
                self.time_in_trials += *took;
                self.trials_left = self.trials_left.saturating_sub(1);
            }
            Event::TrialFailed { .. } => {
                self.trial_began = None;
                self.trials_left = self.trials_left.saturating_sub(1);
            }
            _ => {}
        }
    }

    /// Time since the run began or was resumed.
    pub(crate) fn elapsed(&self) -> Duration {
        self.begin.elapsed()
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

/// A time in words, to two units: `700 ms`, `2.5 s`, `4 min 10 s`, `3 h 20 min`.
pub(crate) fn duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..10_000 if !ms.is_multiple_of(1_000) => format!("{:.1} s", ms as f64 / 1e3),
        1_000..60_000 => format!("{} s", ms / 1_000),
        60_000..3_600_000 => two(ms / 60_000, "min", ms % 60_000 / 1_000, "s"),
        _ => two(ms / 3_600_000, "h", ms % 3_600_000 / 60_000, "min"),
    }
}

fn two(large: u64, large_unit: &str, small: u64, small_unit: &str) -> String {
    match small {
        0 => format!("{large} {large_unit}"),
        _ => format!("{large} {large_unit} {small} {small_unit}"),
    }
}

/// A time in words, in whole seconds.
pub(crate) fn whole(time: Duration) -> String {
    duration(time.as_secs() * 1_000).replace("0 ms", "0 s")
}

/// A rate with thousands separated.
pub(crate) fn rate(per_second: f64) -> String {
    let digits = format!("{per_second:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Bytes as mebibytes with one decimal.
pub(crate) fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_two_units_at_most() {
        for (ms, text) in [
            (0, "0 ms"),
            (700, "700 ms"),
            (2_500, "2.5 s"),
            (3_000, "3 s"),
            (59_999, "59 s"),
            (250_000, "4 min 10 s"),
            (3_600_000, "1 h"),
            (12_000_000, "3 h 20 min"),
        ] {
            assert_eq!(duration(ms), text);
        }
        assert_eq!(whole(Duration::from_millis(300)), "0 s");
    }

    #[test]
    fn rates_have_separators() {
        assert_eq!(rate(0.4), "0");
        assert_eq!(rate(999.0), "999");
        assert_eq!(rate(1_234_567.0), "1,234,567");
    }

    #[test]
    fn what_is_left_follows_the_trials_done() {
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
