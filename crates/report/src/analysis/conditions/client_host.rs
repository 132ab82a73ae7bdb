//! The host of the clients, where it is not the server's, as the limit of a step.

use std::fmt;

use prony_model::{Counter, Moment, Source, StepReadings};

use super::STEAL_SHARE_MAX;

/// Share of the time of all its processors from which on the host counts as busy. Threads of the
/// generator wait for one another's processors before all of them are busy.
const BUSY_SHARE: f64 = 0.8;
/// Share of the measured time from which on the processor that handles most of the network's
/// interrupts counts as saturated.
const INTERRUPTS_SHARE: f64 = 0.9;
/// Share of the segments sent again from which on it is reported. Each may have delayed an answer by
/// 200 ms, the least that Linux waits before it sends anew.
const SENT_AGAIN_SHARE: f64 = 1e-4;
/// Packets dropped, as a share of those received, from which on they are reported. Below it they may be
/// what nobody waits for: frames of switches, which no protocol of the host takes, count as dropped too.
const DROPPED_SHARE: f64 = 1e-4;

/// What the host of the clients did within the measured time, as far as it is known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClientHostUse {
    /// Time of all its processors together, in nanoseconds.
    processors_ns: Option<u64>,
    busy_ns: Option<u64>,
    stolen_ns: Option<u64>,
    /// Share of the measured time for which one processor handled software interrupts, the greatest.
    interrupts_share: Option<f64>,
    dropped: Option<u64>,
    received: Option<u64>,
    segments: Option<u64>,
    sent_again: Option<u64>,
}

impl ClientHostUse {
    /// From the readings of a step. `None` where the server's host is the clients' too.
    pub(crate) fn of_step(readings: &impl StepReadings) -> Option<Self> {
        let counter = |name| Counter::new(Source::Client, name);
        let grown = |name| readings.difference(&counter(name)).ok();
        let at_end = |name| readings.value_at(Moment::End, &counter(name));
        let processors = at_end("processors")?;
        let start = readings.at_ns(Moment::Start)?;
        let elapsed = readings.at_ns(Moment::End)?.checked_sub(start);
        let elapsed = elapsed.filter(|elapsed| *elapsed > 0)?;
        let interrupts = at_end("busiest_softirq_ns");
        Some(Self {
            processors_ns: processors.checked_mul(elapsed),
            busy_ns: grown("busy_ns"),
            stolen_ns: grown("steal_ns"),
            interrupts_share: interrupts.map(|ns| ns as f64 / elapsed as f64),
            dropped: grown("drops"),
            received: grown("received_packets"),
            segments: grown("segments"),
            sent_again: grown("segments_sent_again"),
        })
    }

    /// The limits that it reached.
    pub(super) fn limits(&self) -> impl Iterator<Item = ClientHostLimit> {
        let interrupts = self.interrupts_share;
        let found = [
            share(self.busy_ns, self.processors_ns)
                .filter(|share| *share >= BUSY_SHARE)
                .map(|share| ClientHostLimit::Busy { share }),
            interrupts
                .filter(|share| *share >= INTERRUPTS_SHARE)
                .map(|share| ClientHostLimit::Interrupts { share }),
            share(self.stolen_ns, self.processors_ns)
                .filter(|share| *share > STEAL_SHARE_MAX)
                .map(|share| ClientHostLimit::Steal { share }),
            share(self.dropped, self.received)
                .filter(|share| *share > DROPPED_SHARE)
                .map(|share| ClientHostLimit::Dropped { share }),
            share(self.sent_again, self.segments)
                .filter(|share| *share > SENT_AGAIN_SHARE)
                .map(|share| ClientHostLimit::SentAgain { share }),
        ];
        found.into_iter().flatten()
    }
}

fn share(part: Option<u64>, whole: Option<u64>) -> Option<f64> {
    let (part, whole) = part.zip(whole)?;
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// A limit of the clients' host or of its network. `Display` gives its words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ClientHostLimit {
    /// Its processors were busy.
    Busy {
        /// Share of the time of all of them.
        share: f64,
    },
    /// One processor was busy with what the network brought.
    Interrupts {
        /// Share of its time.
        share: f64,
    },
    /// A hypervisor took time of it away.
    Steal {
        /// Share of its processors' time, above 0.
        share: f64,
    },
    /// Its network interface dropped packets.
    Dropped {
        /// Their share of those received, above 0.
        share: f64,
    },
    /// It sent segments of TCP again.
    SentAgain {
        /// Share of the segments, above 0.
        share: f64,
    },
}

impl ClientHostLimit {
    /// The name for programs, as files of results have it.
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::Busy { .. } => "client-host-busy",
            Self::Interrupts { .. } => "client-host-interrupts",
            Self::Steal { .. } => "client-host-steal",
            Self::Dropped { .. } => "client-host-drops",
            Self::SentAgain { .. } => "client-host-sent-again",
        }
    }
}

impl fmt::Display for ClientHostLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Busy { share } => write!(
                f,
                "the processors of the clients' host were busy for {:.0} % of the measured time: \
                 the figure may be that host's limit and not the server's",
                share * 100.0
            ),
            Self::Interrupts { share } => write!(
                f,
                "a processor of the clients' host handled interrupts of the network for {:.0} % of \
                 the measured time: the figure may be that processor's limit and not the server's",
                share * 100.0
            ),
            Self::Steal { share } => write!(
                f,
                "the hypervisor took {:.1} % of the time of the clients' host away",
                share * 100.0
            ),
            Self::Dropped { share } => write!(
                f,
                "the clients' host or its network interface dropped {:.2} % of the packets: the \
                 latencies may include waits for them",
                share * 100.0
            ),
            Self::SentAgain { share } => write!(
                f,
                "the clients' host sent {:.2} % of its segments again: the latencies include the \
                 waits for them",
                share * 100.0
            ),
        }
    }
}
