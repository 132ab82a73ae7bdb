//! A sample while it is being taken.

use std::collections::BTreeMap;

use prony_model::{Counter, Gap, Source};

/// A sample in progress: values so far, and gaps.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) values: BTreeMap<Counter, u64>,
    pub(crate) gaps: Vec<Gap>,
}

impl Draft {
    /// Notes a value.
    pub(crate) fn put(&mut self, source: Source, name: &'static str, value: u64) {
        self.values.insert(Counter::new(source, name), value);
    }

    /// Notes a value where there is one.
    pub(crate) fn put_known(&mut self, source: Source, name: &'static str, value: Option<u64>) {
        if let Some(value) = value {
            self.put(source, name, value);
        }
    }

    /// Notes that something which is usually read could not be.
    pub(crate) fn gap(&mut self, source: Source, reason: &(impl ToString + ?Sized)) {
        self.gaps.push(Gap {
            source,
            reason: reason.to_string(),
        });
    }
}
