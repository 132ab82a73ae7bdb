//! The load generator's messages: JSON lines.

use std::io::{BufRead, Write};

use prony_model::{Interval, LoadOutcome, StepOutcome};
use serde::{Deserialize, Serialize};

use crate::{CheckOutcome, Hello, LoadError};

/// One line of the generator's output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Message {
    /// The generator is there and waits for its job.
    Hello(Hello),
    /// The clients of a thread are about to connect, and all clients of the threads before it rest:
    /// they begin when a line comes on the generator's input, where the job
    /// [holds](crate::DriveTask::hold). Said where threads have
    /// [processors](crate::DriveTask::thread_cpus) of their own.
    Connecting {
        /// Number of the thread, from 0.
        thread: u32,
    },
    /// All clients are connected, their statements prepared. Where threads have processors of their
    /// own and the job holds, they rest until a line comes on the generator's input.
    Connected {
        /// Connections.
        clients: u32,
        /// Threads that drive them.
        threads: u32,
    },
    /// All clients rest, and no statement is under way: the measured time begins when a line comes
    /// on the generator's input. Said where the job [holds](crate::DriveTask::hold), and so before
    /// a fill that [holds](crate::FillTask::hold).
    Ready,
    /// The measured time began; no statement is under way. Where the whole run is timed this comes
    /// before `Connected`.
    MeasureStart {
        /// The instant, in nanoseconds of the host's monotonic clock.
        at_ns: u64,
    },
    /// A period of measured time of the task's own clients is over.
    Interval {
        /// Counts of the interval.
        interval: Interval,
        /// Latency of the operations that ended in it, where the job asks for it: HDR histogram V2,
        /// deflated, in nanoseconds; else empty.
        #[serde(
            default,
            skip_serializing_if = "Vec::is_empty",
            with = "prony_model::hex"
        )]
        histogram: Vec<u8>,
    },
    /// A turn ended where the job [takes turns](crate::DriveTask::turn_ms), and it is not the last:
    /// all clients rest, no statement is under way, and the measured time goes on when a line comes
    /// on the generator's input.
    TurnEnd,
    /// The last measured operation ended; no statement is under way. The connections are still
    /// open, and where the job [holds](crate::DriveTask::hold) they are so until a line comes on
    /// the generator's input, or its end. Where the whole run is timed they are closed. After a fill
    /// that [holds](crate::FillTask::hold) the rows are checked when a line has come.
    MeasureEnd {
        /// The instant, in nanoseconds of the host's monotonic clock, less all pauses between turns.
        at_ns: u64,
    },
    /// The sessions have published their counters, where the job
    /// [wants it](crate::DriveTask::flush_statistics): they can be read until a line has come on the
    /// generator's input, or its end.
    StatisticsFlushed {
        /// Number of transactions that this took, which are in the counters now.
        sessions: u32,
    },
    /// The workload ran to its end.
    Done {
        /// Outcome of the step.
        outcome: Box<StepOutcome>,
    },
    /// A dataset is being filled.
    Filling {
        /// Rows inserted, over all tables.
        rows_done: u64,
        /// Rows in the end.
        rows_total: u64,
        /// Current activity, such as `rows` or `indexes`.
        phase: String,
    },
    /// A dataset was filled and checked.
    Filled {
        /// Rows, time and method of the load.
        outcome: LoadOutcome,
    },
    /// A workload was checked.
    Checked {
        /// Checks of its answers, and the tables before and after.
        outcome: Box<CheckOutcome>,
    },
    /// The job failed.
    Failed {
        /// The reason, for people.
        reason: String,
    },
}

/// Writes messages, each at once, and waits for an answer where one is due.
pub(crate) struct Speaker<'a> {
    input: &'a mut (dyn BufRead + Send),
    out: &'a mut (dyn Write + Send),
    /// Tells whether the input is closed.
    pub(crate) is_closed: IsClosed<'a>,
}

/// Tells whether the other end of the input is closed.
pub(crate) type IsClosed<'a> = &'a (dyn Fn() -> bool + Sync);

impl<'a> Speaker<'a> {
    /// A speaker that takes its input's end for a sign only where it waits for a line.
    pub(crate) fn new(
        input: &'a mut (dyn BufRead + Send),
        out: &'a mut (dyn Write + Send),
    ) -> Self {
        Self::watching(input, out, &|| false)
    }

    /// A speaker that ends as soon as its input is closed.
    pub(crate) fn watching(
        input: &'a mut (dyn BufRead + Send),
        out: &'a mut (dyn Write + Send),
        is_closed: IsClosed<'a>,
    ) -> Self {
        Self {
            input,
            out,
            is_closed,
        }
    }

    /// Fails when the input is closed.
    pub(crate) fn check_input(&self) -> Result<(), LoadError> {
        if (self.is_closed)() {
            return Err(LoadError::Abandoned);
        }
        Ok(())
    }

    /// Says `Ready`, and returns when a line has come.
    pub(crate) fn hold(&mut self) -> Result<(), LoadError> {
        self.say(&Message::Ready)?;
        self.wait()
    }

    /// Returns when a line has come.
    pub(crate) fn wait(&mut self) -> Result<(), LoadError> {
        let mut line = Vec::new();
        self.input
            .read_until(b'\n', &mut line)
            .map_err(LoadError::Input)?;
        match line.last() {
            Some(b'\n') => Ok(()),
            _ => Err(LoadError::Abandoned),
        }
    }

    /// Returns when a line has come, or the input has ended: all that was to be measured is.
    pub(crate) fn linger(&mut self) {
        let _ = self.input.read_until(b'\n', &mut Vec::new());
    }

    /// Writes a line and flushes it, so that its reader can act at this instant.
    pub(crate) fn say(&mut self, message: &Message) -> Result<(), LoadError> {
        write_message(self.out, message)
    }
}

/// Writes a message as a line and flushes it.
pub(crate) fn write_message(out: &mut dyn Write, message: &Message) -> Result<(), LoadError> {
    let mut line = serde_json::to_vec(message).map_err(|error| LoadError::Output(error.into()))?;
    line.push(b'\n');
    out.write_all(&line)
        .and_then(|()| out.flush())
        .map_err(LoadError::Output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_each() {
        let mut out = Vec::new();
        let mut nothing = std::io::empty();
        let mut speaker = Speaker::new(&mut nothing, &mut out);
        let said = Message::MeasureStart { at_ns: 5 };
        speaker.say(&said).unwrap();
        assert_eq!(out, b"{\"event\":\"measure-start\",\"at_ns\":5}\n");
        assert_eq!(serde_json::from_slice::<Message>(&out).unwrap(), said);
    }

    #[test]
    fn one_line_is_the_word_to_go_on() {
        let mut out = Vec::new();
        let mut input: &[u8] = b"go\n\nhalf a line";
        let mut speaker = Speaker::new(&mut input, &mut out);
        speaker.hold().unwrap();
        speaker.hold().unwrap();
        assert!(matches!(speaker.hold(), Err(LoadError::Abandoned)));
        assert!(matches!(speaker.hold(), Err(LoadError::Abandoned)));
        assert_eq!(out, b"{\"event\":\"ready\"}\n".repeat(4));
    }

    #[test]
    fn one_line_ends_lingering_and_so_does_the_end() {
        let mut out = Vec::new();
        let mut input: &[u8] = b"go\nnext";
        let mut speaker = Speaker::new(&mut input, &mut out);
        speaker.linger();
        speaker.linger();
        speaker.linger();
        assert!(input.is_empty());
        assert!(out.is_empty());
        let mut input: &[u8] = b"go\nnext";
        Speaker::new(&mut input, &mut out).linger();
        assert_eq!(input, b"next");
    }
}
