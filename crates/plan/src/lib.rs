//! Experiment and workload files: parsing, validation with messages that point at the line, and
//! expansion into a [`prony_model::Plan`].
//!
//! Reads no files and starts nothing: texts and the facts they are checked against come from the
//! caller. The formats are described in `docs/formats`.

mod accuracy;
mod argument;
mod confirmation;
mod duration;
mod embedded;
mod endpoint;
mod experiment;
mod fields;
mod invalid;
mod percent;
mod predict;
mod schema;
mod sql;
mod suggest;
mod workload;

pub use accuracy::{Accuracy, Change, accuracy, has_accuracy};
pub use argument::{
    BadArgument, parse_address, parse_database, parse_duration, parse_intent, parse_parameter,
    parse_rate, parse_short_duration, workload_on,
};
pub use confirmation::{FlaggedCell, confirmation};
pub use embedded::{embedded_definitions, embedded_presets, embedded_workloads};
pub use experiment::{
    Digest, Honours, Knowledge, Preset, Refused, more_trials, parse_experiment, parse_preset,
};
pub use invalid::Invalid;
pub use predict::{Assumptions, backlogs_ms, predicted_block_ms, predicted_ms};
pub use suggest::help as suggestion;
pub use workload::{Definition, parse_definitions, parse_workloads};

#[cfg(test)]
mod tests;
