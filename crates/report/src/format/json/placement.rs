//! The placement of a step, for programs.

use prony_model::{Placement, PlacementReading};
use serde::{Serialize, Serializer};

use super::object;

/// The placement of an ad-hoc load.
#[derive(Debug)]
pub(crate) struct Placed(pub(crate) PlacementReading);

impl Serialize for Placed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        placed(&self.0).serialize(serializer)
    }
}

/// The rule and the processors that a step was given.
pub(super) fn placement(placement: &Placement) -> impl Serialize {
    let processors = &placement.processors;
    object! {
        rule: placement.rule,
        sessions: &processors.sessions,
        background: &processors.background,
        generator: &processors.generator,
    }
}

/// The processors that threads could use.
pub(super) fn placed(reading: &PlacementReading) -> impl Serialize {
    object! {
        placement: placement(&reading.placement),
        sessions: &reading.sessions,
        background: &reading.background,
        generator: &reading.generator,
    }
}
