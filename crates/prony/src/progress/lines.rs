//! One line for each event worth one, for logs and pipes.

use prony_lab::Event;

use super::{
    CALIBRATING, Clock, activity_words, connected_words, connecting_words, elsewhere_words,
    fetch_words, trial_words,
};
use crate::output::talk;
use crate::words::{mebibytes, plural, rate, whole};

/// Writes plain lines. Remembers what was said last, so that growing figures give no line each.
#[derive(Default)]
pub(super) struct Lines {
    said: String,
}

impl Lines {
    pub(super) fn show(&mut self, event: &Event<'_>, clock: &Clock) {
        let Some(line) = line(event, clock) else {
            return;
        };
        if line != self.said {
            talk(&line);
            self.said = line;
        }
    }
}

/// The line for an event; `None` for those that come too often.
fn line(event: &Event<'_>, clock: &Clock) -> Option<String> {
    Some(match event {
        Event::Fetch { event, .. } => fetch_words(event, size),
        Event::Connecting { client } => connecting_words(client),
        Event::Connected { facts } => connected_words(facts),
        Event::Calibrating => CALIBRATING.to_owned(),
        Event::Prepare { target, activity } => format!("{target}: {}", activity_words(*activity)),
        Event::PrepareFailed { target, reason } => {
            format!("{target}: preparation failed: {reason}")
        }
        Event::BegunElsewhere { blocks } => elsewhere_words(blocks),
        Event::TrialStarted {
            number,
            total,
            block,
            blocks,
            target,
            kind,
        } => format!(
            "trial {number}/{total} (block {block}/{blocks}): {}; {} passed, about {} left",
            trial_words(target, *kind),
            whole(clock.elapsed()),
            whole(clock.remaining())
        ),
        Event::StepDone {
            target,
            step,
            clients,
            queries_per_second,
        } => {
            let rate = queries_per_second.map_or("nothing done".to_owned(), |rate_| {
                format!("{} queries/s", rate(rate_))
            });
            let target = target.map_or_else(String::new, |target| format!("{target}: "));
            let clients = plural((*clients).into(), "client");
            format!("  {target}{step}, {clients}: {rate}")
        }
        Event::Settling { step } => format!("  settling before {step}"),
        Event::NotSettled { unmet } => format!("  not settled: {}", unmet.join("; ")),
        Event::Absent { gap } => format!("  not read: {}: {}", gap.source, gap.reason),
        Event::TrialDone { took, .. } => format!("  done after {}", whole(*took)),
        Event::TrialExcluded {
            target,
            block,
            reason,
        } => format!("  excluded, run again: {target} in block {block}: {reason}"),
        Event::TrialFailed {
            target,
            block,
            reason,
        } => format!("  failed: {target} in block {block}: {reason}"),
        Event::StepStarted { .. } | Event::Rate { .. } => return None,
    })
}

/// The size of a download without its growing figure.
fn size(_here: u64, total: Option<u64>) -> String {
    total.map_or_else(String::new, |total| format!(" ({})", mebibytes(total)))
}

#[cfg(test)]
mod tests {
    use prony_lab::Activity;

    use super::*;

    #[test]
    fn growing_figures_make_the_same_line() {
        let clock = Clock::new(1, 1);
        let load = |rows_done| Event::Prepare {
            target: "a",
            activity: Activity::Load {
                rows_done,
                rows_total: 9,
            },
        };
        assert_eq!(line(&load(1), &clock), line(&load(2), &clock));
        assert_eq!(
            line(
                &Event::Rate {
                    queries_per_second: 1.0
                },
                &clock
            ),
            None
        );
    }

    #[test]
    fn a_step_says_its_rate() {
        let clock = Clock::new(1, 1);
        let event = Event::StepDone {
            target: None,
            step: "point-query",
            clients: 4,
            queries_per_second: Some(12_345.6),
        };
        let expected = "  point-query, 4 clients: 12,346 queries/s";
        assert_eq!(line(&event, &clock).as_deref(), Some(expected));
    }
}
