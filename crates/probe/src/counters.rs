//! Counters of `perf_event_open(2)` on a server, from its first instruction on.
//!
//! They are opened on a process that has not become the server yet, count from its `execve(2)` on,
//! and are inherited by every thread and process that it ever makes. Read, they tell the sum over
//! all of these, ended ones included.

mod error;

use std::collections::BTreeMap;
use std::fmt;
use std::io;

use perf_event::events::{Hardware, Software};
use perf_event::{Builder, Counter as Handle};
use prony_model::{Counter, CounterSet, Gap, Source};

use crate::draft::gap;
use Side::{Any, Kernel, User};

pub use error::CountersError;

/// Open counters. They stop and are gone when this is dropped.
pub struct Counters {
    open: Vec<Open>,
    lacking: Vec<Gap>,
}

struct Open {
    kind: &'static Kind,
    handle: Handle,
}

/// Side of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    User,
    Kernel,
    /// In both.
    Any,
}

/// A counter of ours.
#[derive(Debug, PartialEq)]
struct Kind {
    name: &'static str,
    event: Of,
    side: Side,
    /// Counted at the same time as the one before it, so that both can be set in relation.
    joins: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Of {
    Software(Software),
    Hardware(Hardware),
}

/// The kernel counts the time of user space and kernel together, and asks for no right to that.
/// Switches and migrations happen in the kernel.
const SOFTWARE: [Kind; 4] = [
    software("task_clock_ns", Software::TASK_CLOCK, User),
    software("page_faults", Software::PAGE_FAULTS, Any),
    software("context_switches", Software::CONTEXT_SWITCHES, Any),
    software("migrations", Software::CPU_MIGRATIONS, Any),
];

/// Pairs fit the counters of any processor, and what is divided by each other is in one pair. Where
/// not all pairs fit at once the kernel lets them take turns.
const HARDWARE: [Kind; 6] = [
    hardware("instructions_user", Hardware::INSTRUCTIONS, User, false),
    hardware("cycles_user", Hardware::CPU_CYCLES, User, true),
    hardware("instructions_kernel", Hardware::INSTRUCTIONS, Kernel, false),
    hardware("cycles_kernel", Hardware::CPU_CYCLES, Kernel, true),
    hardware("cache_misses", Hardware::CACHE_MISSES, Any, false),
    hardware("branch_misses", Hardware::BRANCH_MISSES, Any, true),
];

const fn software(name: &'static str, event: Software, side: Side) -> Kind {
    Kind {
        name,
        event: Of::Software(event),
        side,
        joins: false,
    }
}

const fn hardware(name: &'static str, event: Hardware, side: Side, joins: bool) -> Kind {
    Kind {
        name,
        event: Of::Hardware(event),
        side,
        joins,
    }
}

impl Kind {
    fn builder(&self) -> Builder<'static> {
        let mut builder = match self.event {
            Of::Software(event) => Builder::new(event),
            Of::Hardware(event) => Builder::new(event),
        };
        builder
            .exclude_user(self.side == Kernel)
            .exclude_kernel(self.side == User);
        builder
    }

    /// Opens it on a process before its `execve(2)`, beside the counter before it where it is to
    /// be counted together with that one.
    fn open(&self, pid: i32, before: Option<&mut Open>) -> io::Result<Handle> {
        let mut builder = self.builder();
        builder.observe_pid(pid).inherit(true).enable_on_exec(true);
        match before {
            Some(leader) if self.joins => builder
                .build_with_group(&mut leader.handle)
                .or_else(|_| builder.build()),
            _ => builder.build(),
        }
    }

    fn open_error(&self, source: io::Error) -> CountersError {
        let needed = if self.side == User { 2 } else { 1 };
        CountersError::open(self.name, needed, source)
    }

    fn read_error(&self, source: io::Error) -> CountersError {
        let event = self.name;
        CountersError::Read { event, source }
    }
}

impl Counters {
    /// Opens counters on a process of one thread, which is to become the server: they begin at its
    /// next `execve(2)`. Unavailable ones are left out, and [`Self::lacking`] says why.
    ///
    /// # Errors
    /// If none is available.
    pub fn open(pid: u32, set: CounterSet) -> Result<Self, CountersError> {
        let hardware: &'static [Kind] = match set {
            CounterSet::Software => &[],
            CounterSet::Hardware => &HARDWARE,
        };
        let mut counters = Self {
            open: Vec::new(),
            lacking: Vec::new(),
        };
        let mut first_error = None;
        for kind in hardware.iter().chain(&SOFTWARE) {
            if let Err(error) = counters.add(pid, kind) {
                counters.lacking.push(gap(Source::Perf, error.to_string()));
                first_error.get_or_insert(error);
            }
        }
        match first_error {
            Some(error) if counters.open.is_empty() => Err(error),
            _ => Ok(counters),
        }
    }

    fn add(&mut self, pid: u32, kind: &'static Kind) -> Result<(), CountersError> {
        let no_such = |_| kind.open_error(io::Error::from(io::ErrorKind::NotFound));
        let pid = i32::try_from(pid).map_err(no_such)?;
        let handle = kind
            .open(pid, self.open.last_mut())
            .map_err(|source| kind.open_error(source))?;
        self.open.push(Open { kind, handle });
        Ok(())
    }

    /// Unavailable counters of the set, with reasons.
    pub fn lacking(&self) -> &[Gap] {
        &self.lacking
    }

    /// Reads all counters. Each comes with the time for which it was asked for and that for which
    /// it counted, in nanoseconds of the server's threads; the second is the smaller one where
    /// counters had to take turns.
    ///
    /// # Errors
    /// If one of them can't be read.
    pub fn read(&mut self) -> Result<BTreeMap<Counter, u64>, CountersError> {
        let mut values = BTreeMap::new();
        for Open { kind, handle } in &mut self.open {
            let read = handle.read_count_and_time();
            let read = read.map_err(|source| kind.read_error(source))?;
            for (suffix, value) in [
                ("", read.count),
                ("_enabled_ns", read.time_enabled),
                ("_running_ns", read.time_running),
            ] {
                let name = format!("{}{suffix}", kind.name).into();
                let source = Source::Perf;
                values.insert(Counter { source, name }, value);
            }
        }
        Ok(values)
    }
}

impl fmt::Debug for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.open.iter().map(|open| open.kind.name);
        f.debug_set().entries(names).finish()
    }
}

/// Finds out whether this program may use the processor's counters.
///
/// # Errors
/// If it may not, or the machine has none.
pub fn hardware_counters() -> Result<(), CountersError> {
    let kind = &HARDWARE[0];
    let mut handle = kind
        .builder()
        .enabled(true)
        .build()
        .map_err(|source| kind.open_error(source))?;
    let count = handle.read().map_err(|source| kind.read_error(source))?;
    if count == 0 {
        return Err(CountersError::Still { event: kind.name });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_is_documented() {
        let readings = include_str!("../../../docs/readings.md");
        for kind in HARDWARE.iter().chain(&SOFTWARE) {
            assert!(
                readings.contains(&format!("`{}`", kind.name)),
                "{}",
                kind.name
            );
        }
    }
}
