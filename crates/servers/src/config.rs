//! Configuration: what an experiment may ask for, and how each version is told.

pub(crate) mod intents;
pub(crate) mod render;
