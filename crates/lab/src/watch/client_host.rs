//! The counters of the host that the load comes from.

use std::collections::BTreeMap;
use std::sync::Arc;

use prony_model::{Counter, Gap, Moment, Sample, Source};

use super::reader::EdgeReader;
use crate::far::Session;

/// Reads the client host at the edges of a step, and where its measured time pauses.
pub(super) struct ClientHostReader {
    session: Arc<Session>,
    /// The reading where the measured time paused.
    paused: BTreeMap<Counter, u64>,
    /// What grew while it paused.
    besides: BTreeMap<Counter, u64>,
}

impl ClientHostReader {
    pub(super) fn new(session: Arc<Session>) -> Self {
        Self {
            session,
            paused: BTreeMap::new(),
            besides: BTreeMap::new(),
        }
    }

    fn read(&self, moment: Moment) -> (BTreeMap<Counter, u64>, Vec<Gap>) {
        match self.session.sample(moment) {
            Ok((values, gaps)) => (values.into_iter().collect(), gaps),
            Err(reason) => {
                let gap = Gap {
                    source: Source::Client,
                    reason,
                };
                (BTreeMap::new(), vec![gap])
            }
        }
    }
}

impl EdgeReader for ClientHostReader {
    fn read_start(&mut self, start: &mut Sample) {
        self.besides.clear();
        let (values, gaps) = self.read(Moment::Start);
        start.values.extend(values);
        start.gaps.extend(gaps);
    }

    fn pause(&mut self) {
        self.paused = self.read(Moment::Period).0;
    }

    fn resume(&mut self) {
        for (counter, value) in self.read(Moment::Period).0 {
            if let Some(before) = self.paused.get(&counter) {
                let grown = value.saturating_sub(*before);
                *self.besides.entry(counter).or_default() += grown;
            }
        }
    }

    fn read_end(&mut self, end: &mut Sample) -> Vec<Sample> {
        let (mut values, gaps) = self.read(Moment::End);
        for (counter, besides) in &self.besides {
            if let Some(value) = values.get_mut(counter) {
                *value = value.saturating_sub(*besides);
            }
        }
        end.values.extend(values);
        end.gaps.extend(gaps);
        Vec::new()
    }
}
