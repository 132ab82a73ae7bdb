//! The placement of a step, for programs.

use prony_model::{Placement, PlacementReading};
use serde::Serialize;

use super::object;

/// The rule and the processors that a step was given.
pub(super) fn placement(placement: &Placement) -> impl Serialize {
    let processors = &placement.processors;
    object! {
        rule: placement.rule,
        paired: placement.paired,
        sessions: &processors.sessions,
        background: &processors.background,
        generator: &processors.generator,
    }
}

/// The processors that threads could use.
pub(crate) fn placed(reading: &PlacementReading) -> impl Serialize {
    object! {
        placement: placement(&reading.placement),
        sessions: &reading.sessions,
        background: &reading.background,
        generator: &reading.generator,
    }
}
