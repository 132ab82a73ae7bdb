//! What goes by while the measured time of a step pauses, because other servers have their turn.

use std::collections::BTreeMap;

use prony_model::{Counter, Sample};

/// The pauses of a step so far. The server itself stands still in them; host and device do not.
#[derive(Debug, Default)]
pub(super) struct Pauses {
    /// The sample from the beginning of the current pause.
    begun: Option<Sample>,
    /// Their length together, in nanoseconds.
    passed_ns: u64,
    /// By how much counters grew in them.
    grown: BTreeMap<Counter, u64>,
    /// Samples from between the edges, without the pauses.
    between: Vec<Sample>,
}

impl Pauses {
    /// A pause begins with `last`; the other samples were taken since it last went on.
    pub(super) fn begin(&mut self, between: Vec<Sample>, last: Sample) {
        self.keep(between);
        self.begun = Some(last);
    }

    /// A pause ends with `sample`.
    pub(super) fn end(&mut self, sample: &Sample) {
        let Some(begun) = self.begun.take() else {
            return;
        };
        self.passed_ns += sample.at_ns.saturating_sub(begun.at_ns);
        for counter in sample.values.keys().filter(|counter| !is_level(counter)) {
            if let Ok(grown) = sample.since(&begun, counter) {
                *self.grown.entry(counter.clone()).or_default() += grown;
            }
        }
    }

    /// The samples of a step between its edges, and the last one as if there had been no pauses.
    /// `between` were taken since it last went on.
    pub(super) fn finish(mut self, between: Vec<Sample>, last: Sample) -> (Vec<Sample>, Sample) {
        self.keep(between);
        let last = self.without(last);
        (self.between, last)
    }

    fn keep(&mut self, samples: Vec<Sample>) {
        for sample in samples {
            let sample = self.without(sample);
            self.between.push(sample);
        }
    }

    fn without(&self, mut sample: Sample) -> Sample {
        sample.at_ns = sample.at_ns.saturating_sub(self.passed_ns);
        for (counter, value) in &mut sample.values {
            let grown = self.grown.get(counter).copied().unwrap_or(0);
            *value = value.saturating_sub(grown);
        }
        sample
    }
}

/// True for values that rise and fall.
fn is_level(counter: &Counter) -> bool {
    counter.source.is_level() || counter.name.ends_with("_khz")
}

#[cfg(test)]
mod tests {
    use prony_model::{Moment, Source};

    use super::*;

    fn sample(at_ns: u64, busy_ns: u64, khz: u64) -> Sample {
        let counter = |name| Counter::new(Source::Host, name);
        Sample {
            moment: Moment::Period,
            at_ns,
            took_ns: 1,
            values: [
                (counter("busy_ns"), busy_ns),
                (counter("frequency_khz"), khz),
            ]
            .into(),
            gaps: Vec::new(),
        }
    }

    #[test]
    fn what_went_by_in_pauses_is_left_out() {
        let mut pauses = Pauses::default();
        pauses.begin(vec![sample(50, 5, 7)], sample(100, 10, 7));
        pauses.end(&sample(400, 250, 9));
        pauses.begin(vec![sample(450, 260, 8)], sample(500, 270, 9));
        pauses.end(&sample(900, 300, 9));
        let (between, last) = pauses.finish(Vec::new(), sample(1_000, 311, 9));
        // Pauses of 300 and 400 ns, in which others were busy for 240 and 30 ns.
        assert_eq!(between, [sample(50, 5, 7), sample(150, 20, 8)]);
        assert_eq!(last, sample(300, 41, 9));
    }
}
