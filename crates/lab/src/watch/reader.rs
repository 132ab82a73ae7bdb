//! Sources that are read at the edges of a step's measured time.

use std::collections::BTreeMap;
use std::time::Duration;

use prony_model::{Counter, Gap, Sample, Source};
use prony_probe::Sampler;
use prony_profile::{Profile, Sampled};
use prony_servers::admin::StatusReader;

use super::pauses::Pauses;
use crate::server::Server;

/// A source that is read at both edges of a step's measured time, while no statement is under way.
pub(super) trait EdgeReader {
    /// Gets ready for a step, before its load connects.
    fn prepare(&mut self, _server: &Server) {}

    /// Adds its readings to the sample at the start of the measured time.
    fn read_start(&mut self, start: &mut Sample);

    /// The measured time pauses.
    fn pause(&mut self) {}

    /// It goes on.
    fn resume(&mut self) {}

    /// Adds its readings to the sample at the end of the measured time, and returns its samples from
    /// in between.
    fn read_end(&mut self, end: &mut Sample) -> Vec<Sample>;

    /// The functions that the server's work in the measured time belongs to, for a source that knows.
    fn take_profile(&mut self) -> Option<Profile> {
        None
    }

    /// The stacks that were found in the measured time, for a source that samples them, or the reason why there
    /// are none.
    fn take_stacks(&mut self) -> Option<Result<Sampled, String>> {
        None
    }
}

/// The operating system's counters of server and host, which also date the samples.
pub(super) struct System {
    sampler: Sampler,
    /// Those of the current step.
    pauses: Pauses,
}

impl System {
    /// Those that a sampler reads.
    pub(super) fn new(sampler: Sampler) -> Self {
        Self {
            sampler,
            pauses: Pauses::default(),
        }
    }
}

impl EdgeReader for System {
    fn read_start(&mut self, start: &mut Sample) {
        self.pauses = Pauses::default();
        add_sample(start, self.sampler.begin());
    }

    fn pause(&mut self) {
        let (between, last) = self.sampler.pause();
        self.pauses.begin(between, last);
    }

    fn resume(&mut self) {
        self.pauses.end(&self.sampler.resume());
    }

    fn read_end(&mut self, end: &mut Sample) -> Vec<Sample> {
        let (between, last) = self.sampler.end();
        let (between, last) = std::mem::take(&mut self.pauses).finish(between, last);
        add_sample(end, last);
        between
    }
}

/// The server's own status.
pub(super) struct Status {
    /// Limit for the server to answer.
    limit: Duration,
    /// The server is paused within steps.
    pauses: bool,
    /// The session of a step. It is open through the whole step, so that no thread of the server comes or
    /// goes for it, and closed between steps, where the server may be idle for longer than it keeps a
    /// connection. PostgreSQL keeps it, and getting ready takes time there: it stays for the next step.
    session: Option<Result<StatusReader, String>>,
}

impl Status {
    /// The status of a server that answers within `limit`, and that is paused within steps where
    /// `pauses` says so.
    pub(super) fn within(limit: Duration, pauses: bool) -> Self {
        Self {
            limit,
            pauses,
            session: None,
        }
    }

    fn ask(&mut self) -> Result<BTreeMap<Counter, u64>, String> {
        match &mut self.session {
            Some(Ok(session)) => session.read().map_err(|error| format!("failed to {error}")),
            Some(Err(reason)) => Err(reason.clone()),
            None => Err("there is no connection for it".to_owned()),
        }
    }

    /// The counter of transactions, and how many a reading adds to it, where that is all that it adds.
    fn own_transactions(&self) -> Option<(Counter, u64)> {
        self.session.as_ref()?.as_ref().ok()?.own_transactions()
    }

    /// Gets ready for a step, before its load connects.
    pub(super) fn prepare(&mut self, server: &Server) {
        if self.own_transactions().is_none() {
            let opened = server
                .connect_within(self.limit)
                .and_then(|connection| StatusReader::open(connection, self.pauses));
            self.session = Some(opened.map_err(|error| format!("failed to {error}")));
        }
    }

    /// Adds the status to the sample at the start of the measured time. Asks three times, so that the cost
    /// of one question for the server's own counters is known; once where it is known.
    pub(super) fn read_start(&mut self, start: &mut Sample) {
        let status = match self.own_transactions() {
            Some((transactions, own)) => self.ask().map(|mut status| {
                status.entry(transactions).and_modify(|count| *count += own);
                status
            }),
            // The first one also pays for what is only done once.
            None => match [self.ask(), self.ask(), self.ask()] {
                [Ok(first), Ok(second), Ok(third)] => Ok(with_own_cost([&first, &second], third)),
                [.., last] => last,
            },
        };
        add_status(start, status);
    }

    /// Adds the status to the sample at the end of the measured time, where sessions were `asked` to publish
    /// what they have counted.
    pub(super) fn read_end(&mut self, end: &mut Sample, asked: u32) {
        let own = self.own_transactions();
        let mut status = self.ask();
        if status.is_err() || own.is_none() {
            self.session = None;
        }
        if let (Ok(status), Some((transactions, _))) = (&mut status, own) {
            status
                .entry(transactions)
                .and_modify(|count| *count = count.saturating_sub(asked.into()));
        }
        add_status(end, status);
    }
}

/// The status, and on top of it the cost of asking once more, which will be in the next answer: rows
/// of the temporary table that holds it, a question, some bytes. It is the lesser of what two
/// questions added, so that other activity is hardly ever taken for it.
fn with_own_cost(
    before: [&BTreeMap<Counter, u64>; 2],
    mut now: BTreeMap<Counter, u64>,
) -> BTreeMap<Counter, u64> {
    for (counter, value) in &mut now {
        let [first, second] = before.map(|status| status.get(counter).copied());
        let added = first.zip(second).and_then(|(first, second)| {
            let earlier = second.checked_sub(first)?;
            Some(earlier.min(value.checked_sub(second)?))
        });
        *value = value.saturating_add(added.unwrap_or(0));
    }
    now
}

fn add_sample(sample: &mut Sample, read: Sample) {
    sample.at_ns = read.at_ns;
    sample.took_ns = read.took_ns;
    sample.values.extend(read.values);
    sample.gaps.extend(read.gaps);
}

fn add_status(sample: &mut Sample, status: Result<BTreeMap<Counter, u64>, String>) {
    match status {
        Ok(values) => sample.values.extend(values),
        Err(reason) => sample.gaps.push(Gap {
            source: Source::Status,
            reason,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_of_asking_for_the_status_is_excluded() {
        let status = |writes, threads| -> BTreeMap<Counter, u64> {
            let counter = |name| Counter::new(Source::Status, name);
            [
                (counter("handler_write"), writes),
                (counter("threads"), threads),
            ]
            .into()
        };
        // Something else wrote between the second and the third.
        let start = with_own_cost([&status(1_000, 5), &status(1_400, 4)], status(1_900, 4));
        assert_eq!(start, status(2_300, 4));
        let nothing = BTreeMap::new();
        let unknown = with_own_cost([&nothing, &status(7, 1)], status(8, 2));
        assert_eq!(unknown, status(8, 2));
    }
}
