//! Collecting: counters that are read while targets are measured, and counting apart from
//! measuring.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::words::words;

/// Milliseconds between two samples within the measured time, where nothing else is asked for.
const PERIOD_MS: u64 = 1_000;

/// The counters that are read in a target's timed trials. Each part can be left out, to find out
/// what it costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Collect {
    /// Milliseconds between two samples within the measured time, at least 10; `None` for samples
    /// at its edges only.
    pub period_ms: Option<u64>,
    /// The samples of long steps that are kept. Unset in plans of earlier versions.
    #[serde(default, skip_serializing_if = "crate::dataset::is_default")]
    pub kept: KeptSamples,
    /// True where the kernel's accounting of server and host is read: `/proc`, `/sys`, the data
    /// directory.
    pub system: bool,
    /// True where the server runs in a control group of its own, where one can be made.
    pub cgroup: bool,
    /// True where the server is asked for its status at the edges.
    pub status: bool,
    /// The counters of `perf_event_open(2)` that ride along.
    pub counters: RidingCounters,
}

words! {
    /// The samples of long steps that are kept.
    #[derive(Default)]
    pub enum KeptSamples {
        /// So many, evenly spread, that files stay small.
        #[default]
        Spread = "spread",
        /// One for every period.
        All = "all",
    }
}

words! {
    /// Counters of `perf_event_open(2)` that are opened together.
    pub enum CounterSet {
        /// Counters of the kernel itself: task clock, context switches, migrations, page faults.
        Software = "software",
        /// These, and what the processor counts: instructions and cycles of user space and kernel,
        /// misses of its last cache and of its branch prediction.
        Hardware = "hardware",
    }
}

words! {
    /// Counters in timed trials.
    #[derive(Default)]
    pub enum RidingCounters {
        /// Those of hardware where their measured price on this host is below the bound; else none.
        #[default]
        Auto = "auto",
        /// None.
        Off = "off",
        /// Those that the kernel counts itself: task clock, context switches, migrations, page
        /// faults.
        Software = "software",
        /// These and those of the processor, whatever they cost.
        Hardware = "hardware",
    }
}

impl Default for Collect {
    fn default() -> Self {
        Self {
            period_ms: Some(PERIOD_MS),
            kept: KeptSamples::Spread,
            system: true,
            cgroup: true,
            status: true,
            counters: RidingCounters::Auto,
        }
    }
}

impl Collect {
    /// Nothing at all.
    pub const NOTHING: Self = Self {
        period_ms: None,
        kept: KeptSamples::Spread,
        system: false,
        cgroup: false,
        status: false,
        counters: RidingCounters::Off,
    };
}

/// The choice in words: `default`, `nothing`, `system, status, every 100ms`. What needs
/// no samples between the edges has no `every`.
impl fmt::Display for Collect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::default() {
            return f.write_str("default");
        }
        if *self == Self::NOTHING {
            return f.write_str("nothing");
        }
        let sources = [
            (self.system, "system"),
            (self.cgroup, "cgroup"),
            (self.status, "status"),
        ];
        let sources = sources.into_iter().filter(|(read, _)| *read);
        let mut words: Vec<_> = sources.map(|(_, word)| word.to_owned()).collect();
        if self.counters != RidingCounters::Off {
            words.push(format!("{} counters", self.counters.name()));
        }
        words.extend(self.period_ms.map(|ms| {
            if ms.is_multiple_of(1_000) {
                format!("every {}s", ms / 1_000)
            } else {
                format!("every {ms}ms")
            }
        }));
        f.write_str(&words.join(", "))
    }
}

/// Trials that count and whose times are never used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Counting {
    /// Counting trials of each target, at least 1 and at most as many as there are blocks.
    pub blocks: u32,
    /// The means of counting.
    pub by: CountedBy,
    /// Operations of each step; `None` for those that the base completed in a part of its first
    /// timed trial. A step whose length is a count keeps it, always.
    pub operations: Option<u64>,
    /// Milliseconds of the base's first timed trial whose operations are counted, at least 1: a
    /// step counts one operation at least. `None` for a fifth of the step, and at least 20
    /// operations.
    #[serde(default)]
    pub time_ms: Option<u64>,
    /// The steps that are counted.
    #[serde(default)]
    pub steps: CountedSteps,
}

words! {
    /// The steps of a counting trial.
    #[derive(Default)]
    pub enum CountedSteps {
        /// All steps.
        #[default]
        All = "all",
        /// Those whose clients, of all groups, only read.
        Reads = "reads",
    }
}

words! {
    /// The means of counting instructions.
    pub enum CountedBy {
        /// The processor's counters.
        Hardware = "hardware",
        /// valgrind, which runs the server some fifty times slower, counts what it executes in user
        /// space, and needs no counters.
        Valgrind = "valgrind",
    }
}

/// Trials in which the stacks of servers are sampled, and whose times are never used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Profiling {
    /// Profiling trials of each target, at least 1 and at most as many as there are blocks.
    pub blocks: u32,
    /// Samples per second of a processor, from 1 to 10,000.
    pub rate: u32,
    /// Milliseconds of each step, at least 1; `None` for those of timed trials. A step whose length is a
    /// count keeps it.
    #[serde(default)]
    pub time_ms: Option<u64>,
}

words! {
    /// The purpose of a trial.
    #[derive(Default)]
    pub enum TrialKind {
        /// Its times count.
        #[default]
        Timed = "timed",
        /// Its counters count, and its times do not.
        Counting = "counting",
        /// The stacks that are found in it count, and its times do not.
        Profiling = "profiling",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_in_words() {
        let words = |change: fn(&mut Collect)| {
            let mut collect = Collect::default();
            change(&mut collect);
            collect.to_string()
        };
        assert_eq!(words(|_| {}), "default");
        assert_eq!(Collect::NOTHING.to_string(), "nothing");
        assert_eq!(
            words(|collect| collect.period_ms = Some(100)),
            "system, cgroup, status, auto counters, every 100ms"
        );
        let status_at_the_edges = |collect: &mut Collect| {
            *collect = Collect {
                status: true,
                ..Collect::NOTHING
            };
        };
        assert_eq!(words(status_at_the_edges), "status");
        assert_eq!(
            words(|collect| {
                collect.counters = RidingCounters::Software;
                collect.period_ms = None;
            }),
            "system, cgroup, status, software counters"
        );
    }
}
