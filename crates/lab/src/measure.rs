//! The load of one step with the readings at its edges.

use prony_load::{Message, Task};
use prony_model::{PlacementReading, Sample, StepOutcome, Timing};

use crate::drive::drive;
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

/// Drives the load of a step, whose threads are bound, and reads at its edges; `on_message` sees
/// every message after that. The threads are read when the generator holds with all clients
/// connected, or, where it connects within the measured time, when it has.
pub(crate) fn measure(
    lab: &Lab<'_>,
    watched: &mut Watched,
    binding: &mut Binding,
    task: Task,
    on_message: &mut dyn FnMut(&Message),
) -> Result<Measured, Fault> {
    let Watched { server, readers } = watched;
    let cpus = binding.generator_cpus();
    let whole_run = matches!(&task, Task::Drive(task) if task.timing == Timing::WholeRun);
    let mut samples = Vec::new();
    let mut placement = None;
    let outcome = drive(
        lab,
        server,
        cpus.as_ref(),
        task,
        &mut |message, generator| {
            match &message {
                Message::Connecting { thread } => binding.connecting(*thread)?,
                Message::Connected { .. } => {
                    binding.connected()?;
                    if whole_run {
                        placement = Some(binding.read(generator)?);
                    }
                }
                Message::Ready => {
                    if !whole_run {
                        placement = Some(binding.read(generator)?);
                    }
                    samples.push(readers.begin());
                }
                Message::MeasureEnd { .. } => samples.extend(readers.end()),
                _ => {}
            }
            on_message(&message);
            Ok(match message {
                Message::Done { outcome } => Some(outcome),
                _ => None,
            })
        },
    )?;
    Ok(Measured {
        outcome,
        samples,
        placement,
    })
}
