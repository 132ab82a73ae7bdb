//! The load of one step with the readings at its edges.

use prony_load::{Message, Task};
use prony_model::{PlacementReading, Sample, StepOutcome, Timing};

use crate::drive::Drive;
use crate::fault::Fault;
use crate::lab::Lab;
use crate::placement::Binding;
use crate::watch::Watched;

/// The outcome of a step, and its readings.
pub(crate) struct Measured {
    pub(crate) outcome: Box<StepOutcome>,
    pub(crate) samples: Vec<Sample>,
    /// `None` where the generator did not connect.
    pub(crate) placement: Option<PlacementReading>,
}

/// Sees the messages of the load generator.
pub(crate) type OnMessage<'a> = dyn FnMut(&Message) + 'a;

/// Whether the measured time goes on after a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Another follows.
    Paused,
    /// It was the last.
    Over,
}

/// A step whose load generator runs. Between two of its methods the generator waits: no statement
/// is under way.
pub(crate) struct Measurement<'l> {
    drive: Drive<'l>,
    /// The generator connects within the measured time.
    whole_run: bool,
    samples: Vec<Sample>,
    placement: Option<PlacementReading>,
}

impl<'l> Measurement<'l> {
    /// Starts the load of a step, whose threads are bound, and lets it run until its measured time
    /// is to begin.
    pub(crate) fn begin(
        lab: &'l Lab<'l>,
        watched: &mut Watched,
        binding: &mut Binding,
        task: Task,
        on_message: &mut OnMessage<'_>,
    ) -> Result<Self, Fault> {
        let cpus = binding.generator_cpus();
        let mut task = task;
        if let Task::Drive(task) = &mut task {
            task.flush_statistics = watched.readers.needs_flush(&watched.server);
        }
        let mut measurement = Self {
            whole_run: matches!(&task, Task::Drive(task) if task.timing == Timing::WholeRun),
            drive: Drive::start(lab, &watched.server, cpus.as_ref(), task)?,
            samples: Vec::new(),
            placement: None,
        };
        let is_ready = |message: &Message| matches!(message, Message::Ready);
        measurement.run(watched, binding, on_message, is_ready)?;
        if !measurement.whole_run {
            measurement.placement = Some(binding.read(measurement.drive.id())?);
        }
        Ok(measurement)
    }

    /// Lets the measured time begin or go on, until it pauses or ends.
    pub(crate) fn turn(
        &mut self,
        watched: &mut Watched,
        binding: &mut Binding,
        on_message: &mut OnMessage<'_>,
    ) -> Result<Turn, Fault> {
        if self.samples.is_empty() {
            self.samples.push(watched.readers.begin());
        } else {
            watched.readers.resume();
        }
        self.drive.release();
        let ends =
            |message: &Message| matches!(message, Message::TurnEnd | Message::MeasureEnd { .. });
        if self.run(watched, binding, on_message, ends)? == Message::TurnEnd {
            watched.readers.pause();
            return Ok(Turn::Paused);
        }
        self.samples.extend(watched.readers.end());
        let mut asked = 0;
        if watched.readers.needs_flush(&watched.server) {
            self.drive.release();
            let is_flushed =
                |message: &Message| matches!(message, Message::StatisticsFlushed { .. });
            let flushed = self.run(watched, binding, on_message, is_flushed)?;
            if let Message::StatisticsFlushed { sessions } = flushed {
                asked = sessions;
            }
        }
        watched.readers.end_status(&mut self.samples, asked);
        Ok(Turn::Over)
    }

    /// Ends the load, whose measured time is over.
    pub(crate) fn end(
        mut self,
        watched: &mut Watched,
        binding: &mut Binding,
        on_message: &mut OnMessage<'_>,
    ) -> Result<Measured, Fault> {
        self.drive.release();
        let is_done = |message: &Message| matches!(message, Message::Done { .. });
        loop {
            let message = self.run(watched, binding, on_message, is_done)?;
            if let Message::Done { outcome } = message {
                return Ok(Measured {
                    outcome,
                    samples: self.samples,
                    placement: self.placement,
                });
            }
        }
    }

    /// Lets the generator run until it says what ends this part, which is returned.
    fn run(
        &mut self,
        watched: &mut Watched,
        binding: &mut Binding,
        on_message: &mut OnMessage<'_>,
        ends: impl Fn(&Message) -> bool,
    ) -> Result<Message, Fault> {
        loop {
            let message = self.drive.next(&mut watched.server)?;
            match &message {
                Message::Connecting { thread } => binding.connecting(*thread)?,
                Message::Connected { .. } => {
                    binding.connected()?;
                    if self.whole_run {
                        self.placement = Some(binding.read(self.drive.id())?);
                    }
                }
                _ => {}
            }
            on_message(&message);
            if ends(&message) {
                return Ok(message);
            }
            if self.drive.waits_after(&message) {
                self.drive.release();
            }
        }
    }
}

/// Measures a step from the start of its load to the end, without turns of others.
pub(crate) fn measure(
    lab: &Lab<'_>,
    watched: &mut Watched,
    binding: &mut Binding,
    task: Task,
    on_message: &mut OnMessage<'_>,
) -> Result<Measured, Fault> {
    let mut measurement = Measurement::begin(lab, watched, binding, task, on_message)?;
    while measurement.turn(watched, binding, on_message)? == Turn::Paused {}
    measurement.end(watched, binding, on_message)
}
