//! The events of a run, as values for those who show progress; the lab prints nothing.

use std::collections::BTreeSet;
use std::time::Duration;

use prony_model::{ClientHostFacts, Gap, Target, TrialKind};
use prony_servers::FetchEvent;

/// Something that happened. Borrowed: consumers copy what they keep.
#[derive(Debug)]
pub enum Event<'a> {
    /// A server build is being fetched.
    Fetch {
        /// The build's id.
        build: &'a str,
        /// The progress of it.
        event: &'a FetchEvent,
    },
    /// Prony is started on the client host, and the network to it is measured.
    Connecting {
        /// Its name.
        client: &'a str,
    },
    /// The client host is ready.
    Connected {
        /// What it is.
        facts: &'a ClientHostFacts,
    },
    /// The load generator is calibrated, which takes some seconds.
    Calibrating,
    /// A target is being made ready: its image is looked up or made.
    Prepare {
        /// The target's name.
        target: &'a str,
        /// The activity.
        activity: Activity,
    },
    /// A target can't be made ready; its trials fail, the others go on.
    PrepareFailed {
        /// The target's name.
        target: &'a str,
        /// The reason.
        reason: &'a str,
    },
    /// Trials of blocks that were begun on another host stay missing.
    BegunElsewhere {
        /// The blocks, counted from 1.
        blocks: &'a BTreeSet<u32>,
    },
    /// A trial begins.
    TrialStarted {
        /// Its place in the plan, counted from 1.
        number: usize,
        /// Trials in the plan.
        total: usize,
        /// Its block, counted from 1.
        block: u32,
        /// Blocks in the plan.
        blocks: u32,
        /// The target's name.
        target: &'a str,
        /// Its kind.
        kind: TrialKind,
    },
    /// A step begins.
    StepStarted {
        /// Its place in the sequence, counted from 1.
        number: usize,
        /// Steps in the sequence.
        total: usize,
        /// The step's name.
        step: &'a str,
        /// Its number of clients.
        clients: u32,
    },
    /// The engine is brought to a quiet state before a step.
    Settling {
        /// The step's name.
        step: &'a str,
    },
    /// An engine did not become quiet within its limit; the run goes on.
    NotSettled {
        /// The criteria that were not met, in words.
        unmet: &'a [String],
    },
    /// The rate of the last interval of a step.
    Rate {
        /// Queries per second, in that interval alone.
        queries_per_second: f64,
    },
    /// A step ended.
    StepDone {
        /// The target's name, where trials run together.
        target: Option<&'a str>,
        /// The step's name.
        step: &'a str,
        /// Its number of clients.
        clients: u32,
        /// Queries per second over the step; `None` when nothing was done.
        queries_per_second: Option<f64>,
    },
    /// A source of a server's cost can't be read here. Reported once.
    Absent {
        /// The source and the reason.
        gap: &'a Gap,
    },
    /// A trial ended well and is stored.
    TrialDone {
        /// The target's name.
        target: &'a str,
        /// From restore to stop; of trials that run together, its share.
        took: Duration,
    },
    /// A trial was excluded by its canary, and is run again.
    TrialExcluded {
        /// The target's name.
        target: &'a str,
        /// Its block, counted from 1.
        block: u32,
        /// The reason, in one line.
        reason: &'a str,
    },
    /// A trial failed; the run goes on.
    TrialFailed {
        /// The target's name.
        target: &'a str,
        /// Its block, counted from 1.
        block: u32,
        /// The reason, in one line.
        reason: &'a str,
    },
}

/// An activity that makes a target ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// A fitting image is there.
    ImageFound,
    /// The server makes its system tables.
    Bootstrap,
    /// The server is asked for its variables.
    Survey,
    /// Rows are being loaded.
    Load {
        /// Rows loaded.
        rows_done: u64,
        /// Rows to load.
        rows_total: u64,
    },
    /// Statistics are refreshed and the engine is brought to a quiet state.
    Settle,
    /// The server is stopped, the image is put in place.
    Publish,
}

/// The receiver of events.
pub type Events<'e> = dyn FnMut(Event<'_>) + 'e;

/// Reports the activities of making a target ready.
pub(crate) fn activities(target: &Target, events: &mut Events<'_>) -> impl FnMut(Activity) {
    move |activity| {
        events(Event::Prepare {
            target: &target.name,
            activity,
        });
    }
}
