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
    /// Notes a value, if there is one.
    pub(crate) fn put(
        &mut self,
        source: Source,
        name: &'static str,
        value: impl Into<Option<u64>>,
    ) {
        if let Some(value) = value.into() {
            self.values.insert(Counter::new(source, name), value);
        }
    }

    /// Notes that something which is usually read could not be.
    pub(crate) fn gap(&mut self, source: Source, reason: &(impl ToString + ?Sized)) {
        self.gaps.push(gap(source, reason.to_string()));
    }
}

/// A gap of a sample, or an absence.
pub(crate) const fn gap(source: Source, reason: String) -> Gap {
    Gap { source, reason }
}
